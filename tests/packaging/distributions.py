from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


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
    """Build the sdist, and the wheel from that sdist as an installer would."""
    command = [sys.executable, "-m", "build", "--outdir", str(into), str(ROOT)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return Distributions(wheel=next(into.glob("*.whl")), sdist=next(into.glob("*.tar.gz")))
