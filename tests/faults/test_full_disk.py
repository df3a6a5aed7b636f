"""A disk that is full: a process that may write no file of more than a few kilobytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import json, resource, sys
from pathlib import Path
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

config = Config()
config.HistoryManager.enabled = False
shell = InteractiveShell.instance(config=config)
shell.run_cell("%load_ext taskscope")
shell.run_cell("import dask; parts = [dask.delayed(hash)(str(i)) for i in range(3_000)]")
shell.run_cell("total = dask.delayed(sum)(parts)")
shell.run_cell("expected = total.compute(scheduler='synchronous')")
resource.setrlimit(resource.RLIMIT_FSIZE, (8_192, resource.RLIM_INFINITY))
header = f"%%profile -q -o run -D {sys.argv[1]}\\n"
cell = shell.run_cell(header + "actual = total.compute(scheduler='synchronous')")
run, found = shell.user_ns["run"], shell.user_ns
print(json.dumps({
    "same": found["actual"] == found["expected"],
    "success": cell.success,
    "n_tasks": len(run.table("tasks")["key"]),
    "messages": [m.text for m in run.messages],
    "files": sorted(path.name for path in Path().iterdir()),
}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize("name", ["run.taskscope", "run.html"])
def test_a_full_disk_costs_the_file_and_nothing_else(tmp_path: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, name], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    seen = json.loads(done.stdout.splitlines()[-1])
    # Where the cell lasts long enough to be written meanwhile, that this failed is told as well.
    (message,) = [text for text in seen.pop("messages") if text.startswith("not saved")]
    # A file that is written while the cell runs keeps what it had until the disk was full.
    left = set(seen.pop("files"))
    assert left <= ({name} if name.endswith(".taskscope") else set())
    assert seen == {"same": True, "success": True, "n_tasks": 3_001}
    assert message.startswith(f"not saved: FileError: cannot write '{name}': File too large"), message
