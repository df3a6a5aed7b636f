"""Make the golden files of the current version of the format: ``python -m tests.support.files.golden_files``.

Files of older versions stay as they are, for every later taskscope has to load them.
"""

from __future__ import annotations

import json
from pathlib import Path

import taskscope
from taskscope.codec import FORMAT
from taskscope.model.tables.records import Message
from tests.support.fakes.clock import FakeClock
from tests.support.files.streaming import streamed
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.tables import as_lists
from tests.support.recordings.task_blocks import Row

FOLDER = Path(__file__).parents[2] / "fixtures" / "files"


def main() -> None:
    whole, killed = (FOLDER / f"v{FORMAT}-{name}.taskscope" for name in ("whole", "killed"))
    recording_of(
        [
            Row(key=("inc-1", 0, 7), stop_s=1.0, cpu_s=0.5, size_bytes=8.0),
            Row(key="<b>ünï", lane=1, stop_s=0.5, status="erred", size_bytes=5e9),
            Row(key=("add-1",), run=1, start_s=1.0, stop_s=1.5, observed_by="scheduler"),
        ],
        [run_of(n_tasks=2, status="erred", error="ValueError: no"), run_of(1, n_tasks=1, start_s=1.0)],
        resources=[(0.5, 150.0, 7e6, 1, 0.0), (0.75, 100.0, 8e6, 2, 1.0)],
        messages=[Message(ZERO_S, "info", "hello")],
        dropped=2,
        metadata={"label": "golden", "dt_s": 0.25},
    ).save(whole, overwrite=True)
    killed.write_bytes(streamed(FakeClock())[0])
    for path in (whole, killed):
        recording = taskscope.load(path)
        facts = {"started_at": recording.started_at.isoformat(), "metadata": dict(recording.metadata)}
        expected = {**facts, "dropped": recording.dropped, "tables": as_lists(recording)}
        path.with_suffix(".json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
