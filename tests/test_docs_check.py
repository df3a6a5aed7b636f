from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from docs import check


def test_links_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("# One two\n[a](#one-two) [b](#three) [c](missing.md) [d](https://example.org/x)\n")
    assert list(check.check(document)) == [
        "links to #three, which a.md does not have",
        "links to missing.md, which does not exist",
    ]


def test_commands_that_fail_and_targets_that_do_not_exist_are_found(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("```sh\ntest -f script.py   # there is one\nfalse\nmake test\nmake nonsense\n```\n")
    found = [fault.partition(":")[0] for fault in check.check(document)]
    assert found == ["`false` exits with 1", "`make nonsense` exits with 2"]


def test_a_python_block_that_fails_is_told_with_its_error(tmp_path: Path) -> None:
    document = tmp_path / "a.md"
    document.write_text("```python\nx = 1\n```\n```python\nassert x == 2, x\n```\n")
    ran = subprocess.run(
        [sys.executable, "-m", "docs.check", document],
        capture_output=True,
        text=True,
        cwd=check.ROOT,
        check=False,
    )
    assert ran.returncode == 1
    told = re.sub(r"\x1b\[[0-9;]*m", "", ran.stdout)
    assert told.startswith(f"{document}: a Python block fails: ")
    assert told.endswith("AssertionError: 1\n\n1 documents, 1 faults\n")
