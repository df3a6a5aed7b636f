from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

from tests.packaging.distributions import ROOT, built_files, copy_tree, run_build

EDITED = "labextension/src/hosts/report/index.ts"


def test_an_edited_source_is_in_the_wheel(tmp_path: Path) -> None:
    copy = copy_tree(tmp_path / "copy")
    with (copy / EDITED).open("a") as source:
        source.write("\n(globalThis as { edited?: string }).edited = 'edited after the build';\n")
    run_build(copy, "--wheel", "--outdir", str(tmp_path))
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as archive:
        assert b"edited after the build" in archive.read("taskscope/static/report.js")


def test_the_front_end_does_not_depend_on_the_folder_it_is_built_in(tmp_path: Path) -> None:
    copy = copy_tree(tmp_path / "another folder")
    # Not a link: the bundler sorts by the real paths, and a package must lie where it lies for everybody.
    shutil.copytree(ROOT / "node_modules", copy / "node_modules", symlinks=True)
    subprocess.run(["npm", "run", "build"], cwd=copy, check=True, capture_output=True)
    assert built_files(copy) == built_files(ROOT)
