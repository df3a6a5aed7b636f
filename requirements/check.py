"""Check, without a network, that the pins satisfy pyproject.toml, and that they name no registry."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PINS = Path(__file__).parent
PIN = re.compile(r"^([a-zA-Z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
EXTRAS = {"demo": ("lab", "distributed"), "dev": ("dev",)}


def wanted(project: dict[str, dict[str, list[str]]], extras: tuple[str, ...]) -> list[Requirement]:
    """List what the project and these extras require, extras of extras included."""
    texts = [
        *project["dependencies"],
        *(text for extra in extras for text in project["optional-dependencies"][extra]),
    ]
    found: list[Requirement] = []
    for requirement in map(Requirement, texts):
        if requirement.name == "taskscope":
            found += wanted(project, tuple(requirement.extras))
        else:
            found.append(requirement)
    return found


def faults(name: str, text: str, requirements: list[Requirement]) -> list[str]:
    """Name each requirement without a pin that satisfies it."""
    pins: dict[str, list[str]] = {}
    for package, version in PIN.findall(text):
        pins.setdefault(canonicalize_name(package), []).append(version)
    found = [f"{name}: names a registry in {line!r}" for line in text.splitlines() if "://" in line]
    for requirement in requirements:
        pinned = pins.get(canonicalize_name(requirement.name), [])
        if not any(requirement.specifier.contains(version) for version in pinned):
            found.append(f"{name}: {requirement} has the pins {pinned}; run make lock")
    return found


def main() -> int:
    """Print the faults of both files, and return how many there are."""
    project = tomllib.loads((PINS.parent / "pyproject.toml").read_text("utf-8"))["project"]
    texts = {name: (PINS / f"{name}.txt").read_text("utf-8") for name in EXTRAS}
    found = [
        fault
        for name, extras in EXTRAS.items()
        for fault in faults(name, texts[name], wanted(project, extras))
    ]
    strangers = set(PIN.findall(texts["demo"])) - set(PIN.findall(texts["dev"]))
    found += [
        f"demo: {package} {version} is not the release in dev; run make lock"
        for package, version in sorted(strangers)
    ]
    print(*found, sep="\n", end="\n" if found else "")
    return min(len(found), 1)


if __name__ == "__main__":
    sys.exit(main())
