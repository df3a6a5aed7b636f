from __future__ import annotations

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

from tests.packaging.distributions import ROOT, Distributions, build

LABEXTENSION = "share/jupyter/labextensions/taskscope"
NBEXTENSION = ("extension.js", "index.js", "third-party-licenses.txt")


def data_directory(names: set[str]) -> str:
    return next(name for name in names if ".data/data/" in name).partition(".data/")[0] + ".data/data"


def test_the_wheel_holds_the_whole_front_end(built: Distributions) -> None:
    names = built.wheel_names()
    extension = f"{data_directory(names)}/{LABEXTENSION}"
    expected = {
        f"{extension}/install.json",
        f"{extension}/package.json",
        f"{extension}/schemas/taskscope/plugin.json",
        *(f"{data_directory(names)}/share/jupyter/nbextensions/taskscope/{name}" for name in NBEXTENSION),
        "taskscope/py.typed",
        "taskscope/static/report.js",
    }
    assert expected <= names
    with zipfile.ZipFile(built.wheel) as archive:
        package = json.loads(archive.read(f"{extension}/package.json"))
        report = archive.read("taskscope/static/report.js")
    assert b"taskscope-data" in report  # the marker it looks for in the page
    assert f"{extension}/{package['jupyterlab']['_build']['load']}" in names


def test_the_wheel_holds_each_file_once_and_no_sources_of_the_front_end(built: Distributions) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        names = archive.namelist()
    assert sorted(names) == sorted(set(names))
    assert [name for name in names if name.endswith((".ts", ".tsx", ".map"))] == []
    assert [name for name in names if name.startswith(("taskscope/labextension", "taskscope/nbext"))] == []


def test_the_wheel_bundles_preact_alone_with_its_licence(built: Distributions) -> None:
    names = built.wheel_names()
    licences = f"{data_directory(names)}/{LABEXTENSION}/static/third-party-licenses.json"
    with zipfile.ZipFile(built.wheel) as archive:
        packages = json.loads(archive.read(licences))["packages"]
    # The second is a folder of the first.
    assert {package["name"]: package["licenseId"] for package in packages} == {
        "preact": "MIT",
        "jsx-runtime": "MIT",
    }
    (text,) = [package["extractedText"] for package in packages if package["name"] == "preact"]
    assert text.startswith("The MIT License (MIT)")


def test_the_scripts_of_vs_code_come_with_the_licence_of_each_package_in_them(built: Distributions) -> None:
    name = f"{data_directory(built.wheel_names())}/share/jupyter/nbextensions/taskscope/{NBEXTENSION[-1]}"
    with zipfile.ZipFile(built.wheel) as archive:
        text = archive.read(name).decode()
    lumino = ["@lumino/algorithm", "@lumino/coreutils", "@lumino/signaling"]
    assert re.findall(r"^(\S+) [\d.]+ \(\S+\)$", text, re.MULTILINE) == [*lumino, "preact"]
    assert (text.count("Redistributions in binary form"), text.count("The MIT License (MIT)")) == (3, 1)


def test_the_sdist_builds_without_node(built: Distributions) -> None:
    names = built.sdist_names()
    wanted = {"LICENSE", "README.md", "package-lock.json", "labextension/install.json"}
    prebuilt = {
        "labextension/built-from",
        "src/taskscope/labextension/package.json",
        "src/taskscope/nbextension/index.js",
        "src/taskscope/static/report.js",
    }
    assert wanted | prebuilt <= names
    assert [name for name in names if name.startswith(("node_modules", "labextension/lib"))] == []


def test_two_builds_of_one_tree_are_equal_byte_for_byte(built: Distributions, tmp_path: Path) -> None:
    again = build(tmp_path)
    assert again.wheel.read_bytes() == built.wheel.read_bytes()
    assert again.sdist.read_bytes() == built.sdist.read_bytes()


def test_a_registry_would_accept_the_metadata(built: Distributions) -> None:
    command = [sys.executable, "-m", "twine", "check", "--strict", str(built.wheel), str(built.sdist)]
    checked = subprocess.run(command, check=False, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout


def test_links_and_pictures_of_the_description_need_no_files_beside_it(built: Distributions) -> None:
    with zipfile.ZipFile(built.wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        description = archive.read(name).decode()
    page = "https://github.com/taskscope/taskscope"
    raw = "https://raw.githubusercontent.com/taskscope/taskscope"
    assert f"]({page}/blob/main/docs/how-it-works.md)" in description
    assert f'src="{raw}/main/docs/pictures/slow-cell-light.png"' in description
    targets = re.findall(r"\]\(([^)]+)\)|(?:src|srcset)=\"([^\"]+)\"", description)
    assert [target for pair in targets for target in pair if target and "://" not in target] == []


def test_python_and_npm_agree_on_the_version(built: Distributions) -> None:
    assert built.wheel.name.split("-")[1] == json.loads((ROOT / "package.json").read_text())["version"]
