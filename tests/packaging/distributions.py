from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
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


def build(into: Path) -> Distributions:
    """Build the sdist, and the wheel from that sdist as an installer would, where npm is of no use."""
    without_npm = into / "without-npm"
    without_npm.mkdir()
    npm = without_npm / "npm"
    npm.write_text("#!/bin/sh\necho 'the front end is not of these sources: run make setup' >&2; exit 1\n")
    npm.chmod(0o755)
    run_build(ROOT, "--outdir", str(into), PATH=f"{without_npm}{os.pathsep}{os.environ['PATH']}")
    return Distributions(wheel=next(into.glob("*.whl")), sdist=next(into.glob("*.tar.gz")))


def run_build(folder: Path, *options: str, **environment: str) -> None:
    command = [sys.executable, "-m", "build", *options, str(folder)]
    done = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stdout + done.stderr


def copy_tree(to: Path) -> Path:
    """Copy what is committed, and the front end as it was built."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    for name in [*names, "labextension/built-from"]:
        (to / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to / name)
    for name in BUILT:
        shutil.copytree(ROOT / name, to / name)
    return to


def built_files(root: Path) -> dict[str, bytes]:
    """Read what npm makes of the sources in this folder."""
    paths = [path for top in BUILT for path in (root / top).rglob("*") if path.is_file()]
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in paths}
