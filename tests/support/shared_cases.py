"""Cases that Python and TypeScript are both held to: whoever changes one side has to change the other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "labextension" / "test" / "cases"


def shared_cases(name: str) -> dict[str, Any]:
    """Return what a file of cases holds, without what it says of itself."""
    cases: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    del cases["about"]
    return cases
