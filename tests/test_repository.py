"""What may not be committed: the machine it was written on, or the registry a package came from."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Spelled so that this file does not match itself.
FORBIDDEN = re.compile(
    r"registry[.](npmjs|yarnpkg)|files[.]pythonhosted|/(root|home|Users)/[a-z]", re.IGNORECASE
)


def committed_files() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True)
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_file_names_a_registry_host_or_a_directory_of_somebody() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:80]}"
        for path in committed_files()
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), start=1)
        if FORBIDDEN.search(line)
    ]
    assert found == []


def test_the_lock_file_pins_versions_and_contents_but_not_where_they_came_from() -> None:
    packages = json.loads((ROOT / "package-lock.json").read_text("utf-8"))["packages"]
    assert [name for name, package in packages.items() if "resolved" in package] == []
    assert [name for name, package in packages.items() if name and "integrity" not in package] == []


def test_no_cluster_of_a_test_takes_a_port_that_another_process_may_have() -> None:
    usual_port = re.compile(r"""dashboard_address=(None|""|'')""")
    tests = [
        path for path in committed_files() if path.suffix == ".py" and path.is_relative_to(ROOT / "tests")
    ]
    assert [str(path.relative_to(ROOT)) for path in tests if usual_port.search(path.read_text("utf-8"))] == []
