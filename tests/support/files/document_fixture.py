"""Make what both languages read files for: ``python -m tests.support.files.document_fixture``.

Recordings of real computes, and what the browser is to make of each file: the messages that Python makes.
"""

from __future__ import annotations

import base64
import contextlib
import json
import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import dask
import dask.array as da

import taskscope
from taskscope.analysis.display.page_tables import recorded_frames
from taskscope.recording import Recording
from tests.support.clusters.recordings import cluster_recording
from tests.support.clusters.repeated_tasks import record_repeated_tasks
from tests.support.fakes.clock import FakeClock
from tests.support.wire_decoder import PageReader

FIXTURES = Path(__file__).parents[2] / "fixtures"
FOLDER = FIXTURES / "documents"


def files() -> list[Path]:
    """Return the files of which there are messages."""
    return sorted([*FOLDER.glob("*.taskscope"), *(FIXTURES / "files").glob("*.taskscope")])


def messages_path(path: Path) -> Path:
    """Return where the messages of a file are kept."""
    return FOLDER / f"{path.stem}.messages.json"


def messages_of(recording: Recording) -> list[dict[str, Any]]:
    """Return the messages of a recording as JSON holds them."""
    return [
        {
            "message": {"protocol": 1, "kind": "batch"},
            "buffers": [base64.b64encode(frames).decode()],
        }
        for frames in recorded_frames(recording)
    ]


def told_by(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what these messages say, whatever number their stream has."""
    reader = PageReader()
    return [
        reader.read(buffers)
        for buffers in ([base64.b64decode(b) for b in message["buffers"]] for message in messages)
    ]


def _record() -> None:
    def weight(value: object) -> float | None:
        return float(value.nbytes) / 2 if hasattr(value, "nbytes") else None

    x = da.ones((60, 60), chunks=(15, 20))
    with taskscope.profile(display=False, metric=weight, label="busy") as run:
        (x @ x.T).rechunk((30, 30)).sum().compute(scheduler="threads", num_workers=3)
    run.recording.save(FOLDER / "busy.taskscope", overwrite=True)

    def slow(value: object) -> object:
        time.sleep(0.02)
        return value

    def fails(value: object) -> None:
        raise ValueError(f"no {value} </script>")

    graph: dict[Any, Any] = {
        "data": 7,
        b"raw": (slow, "data"),
        ("pair", 1): (slow, b"raw"),
        "ü<b>": (fails, ("pair", 1)),
    }
    early: list[Recording] = []
    with taskscope.profile(display=False, label="odd") as run:
        graph["look"] = (lambda _: early.append(run.recording), ("pair", 1))
        dask.threaded.get(graph, ["look", ("pair", 1)], num_workers=2)
        with contextlib.suppress(ValueError):
            dask.threaded.get(graph, "ü<b>", num_workers=2)
    run.recording.save(FOLDER / "odd.taskscope", overwrite=True)
    early[0].save(FOLDER / "running.taskscope", overwrite=True)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    _record()
    cluster_recording().save(FOLDER / "cluster.taskscope", overwrite=True)
    Recording.of(record_repeated_tasks(FakeClock())[0].snapshot()).save(
        FOLDER / "repeated.taskscope", overwrite=True
    )
    for path in files():
        with patch("taskscope.codec.secrets.randbits", return_value=1):
            text = json.dumps(messages_of(taskscope.load(path)), indent=1)
        messages_path(path).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
