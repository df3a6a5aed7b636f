from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

ROOT = Path(__file__).parents[2]
BUILT = ("src/taskscope/labextension", "src/taskscope/nbextension", "src/taskscope/static")


@dataclass(frozen=True, slots=True)
class Distributions:
    """The wheel and the sdist of this tree, and the names of the files inside."""

    wheel: Path
    sdist: Path

    def wheel_names(self) -> set[str]:
        with zipfile.ZipFile(self.wheel) as archive:
            return set(archive.namelist())

    def sdist_names(self) -> set[str]:
        with tarfile.open(self.sdist) as archive:
            return {name.partition("/")[2] for name in archive.getnames()}


def shared() -> Distributions:
    """Return the distributions of these sources; they are built once, whichever process needs them first."""
    folder = ROOT / "build" / "distributions"
    folder.mkdir(parents=True, exist_ok=True)
    into = folder / _digest()
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not into.exists():
            for old in (each for each in folder.iterdir() if each.is_dir()):
                shutil.rmtree(old)
            unfinished = folder / "unfinished"
            unfinished.mkdir()
            build(unfinished)
            unfinished.rename(into)
    return _found(into)


def _digest() -> str:
    """Return what differs for other sources, or another front end made of them."""
    found = blake2b(digest_size=16)
    contents = {name: (ROOT / name).read_bytes() for name in committed()} | built_files(ROOT)
    for name, content in sorted(contents.items()):
        found.update(f"{name}\0{len(content)}\0".encode() + content)
    return found.hexdigest()


def _found(folder: Path) -> Distributions:
    return Distributions(wheel=next(folder.glob("*.whl")), sdist=next(folder.glob("*.tar.gz")))


def build(into: Path) -> Distributions:
    """Build the sdist, and the wheel from that sdist as an installer would, where npm is of no use."""
    without_npm = into / "without-npm"
    without_npm.mkdir()
    npm = without_npm / "npm"
    npm.write_text("#!/bin/sh\necho 'the front end is not of these sources: run make setup' >&2; exit 1\n")
    npm.chmod(0o755)
    run_build(ROOT, "--outdir", str(into), PATH=f"{without_npm}{os.pathsep}{os.environ['PATH']}")
    return _found(into)


def run_build(folder: Path, *options: str, **environment: str) -> None:
    command = [sys.executable, "-m", "build", *options, str(folder)]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def committed() -> list[str]:
    """List the files of the repository that are there."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def copy_tree(to: Path) -> Path:
    """Copy what is committed, and the front end as it was built."""
    for name in [*committed(), "labextension/built-from"]:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)
    for name in BUILT:
        shutil.copytree(ROOT / name, to / name)
    return to


def built_files(root: Path) -> dict[str, bytes]:
    """Read what npm makes of the sources in this folder."""
    paths = [path for top in BUILT for path in (root / top).rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
