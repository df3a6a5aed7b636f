"""What Binder will read; `make binder` also builds it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_environment_has_a_python_and_a_node_that_suffice() -> None:
    (listed,) = re.findall(r"dependencies: \[(.*)\]", (ROOT / "binder/environment.yml").read_text("utf-8"))
    versions = dict(text.partition("=")[::2] for text in listed.split(", "))
    assert list(versions) == ["python", "nodejs", "make", "pip"]
    assert versions["python"] in SpecifierSet(PROJECT["requires-python"])
    assert int(versions["nodejs"]) >= 20


def test_what_is_installed_after_it_exists() -> None:
    script = ROOT / "binder/postBuild"
    subprocess.run(["bash", "-n", script], check=True)
    assert script.stat().st_mode & 0o111
    ours, dask = re.findall(r"'([^']+)'", script.read_text("utf-8"))
    assert Requirement(ours.replace(".", PROJECT["name"], 1)).extras <= set(PROJECT["optional-dependencies"])
    assert Requirement(dask).name == "dask"


def test_the_readme_leads_to_the_first_notebook() -> None:
    (link,) = re.findall(r"https://mybinder\.org[^)]*", (ROOT / "README.md").read_text("utf-8"))
    assert urlsplit(link).path == f"/v2/gh{urlsplit(PROJECT['urls']['Source']).path}/HEAD"
    (notebook,) = parse_qs(urlsplit(link).query)["labpath"]
    assert (ROOT / notebook).is_file()
