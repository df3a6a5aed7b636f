"""Whatever a file holds, it says nothing about where to read or to write."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from tests.support.files.hostile import hostile
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.waiting import PATIENCE_S

READ_AND_WRITE = """
import sys
from pathlib import Path
import taskscope
from tests.support.waiting import PATIENCE_S
source, folder = map(Path, sys.argv[1:])
# What is imported is not what is asked about.
recording = taskscope.load(source)
recording.to_html(folder / "a.html")
opened = []
def note(event, args):
    if event in ("open", "os.rename"):
        opened.append((event, str(args[0])))
sys.addaudithook(note)
recording = taskscope.load(source)
recording.summary()
recording.profile()
for name in ("a.taskscope", "a.html", "a.txt", "a.json", "a.csv"):
    recording.save(folder / name, overwrite=True)
recording.to_csv(folder / "csv")
recording.to_perfetto(folder / "a.pftrace")
recording.to_speedscope(folder / "speedscope.json")
for event, path in opened:
    if "inside" in path:
        print(event, path)
print(len(opened) > 20)
"""


def test_no_path_in_a_file_is_ever_opened(tmp_path: Path) -> None:
    recording = hostile("../inside/of/it")
    stacks = stacks_of([Sample(("../inside/call",), prefix="../inside/of/it", worker="/inside/worker")])
    (tmp_path / "out").mkdir()
    replace(recording, stacks=stacks).save(tmp_path / "a.taskscope")
    done = subprocess.run(
        [sys.executable, "-c", READ_AND_WRITE, str(tmp_path / "a.taskscope"), str(tmp_path / "out")],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE_S,
    )
    assert done.stdout == "True\n"
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*")}
    assert {name for name in written if not name.startswith("csv/")} == {
        *("a.taskscope", "a.html", "a.txt", "a.json", "a.csv", "a.pftrace", "speedscope.json")
    }
    assert sorted(tmp_path.iterdir()) == [tmp_path / "a.taskscope", tmp_path / "out"]
