from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.distributions import Distributions, shared


@pytest.fixture(scope="session")
def built() -> Distributions:
    return shared()


@pytest.fixture(scope="session")
def installed_without_node(built: Distributions, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into a fresh environment on whose PATH there is no Node; return its bin."""
    environment = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", environment], check=True)
    bin_directory = environment / "bin"
    assert shutil.which("node", path=str(bin_directory)) is None
    subprocess.run(
        [bin_directory / "python", "-m", "pip", "install", "-qq", f"{built.wheel}[lab]"],
        check=True,
        env={"PATH": str(bin_directory), "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
    )
    return bin_directory
