"""The call stacks of a recording in the format of speedscope (speedscope.app).

The types are the used part of its JSON schema, ``file-format-schema.json``. One profile is one worker; where
source lines are known, another one has them, without what they called.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO, Literal, NotRequired, TypedDict

import numpy as np

from taskscope.errors import OptionError
from taskscope.model.recording import RecordedData
from taskscope.model.tables.columns import distinct
from taskscope.model.tables.stacks import StackColumns

SCHEMA = "https://www.speedscope.app/file-format-schema.json"


class Frame(TypedDict):
    """A function, or the prefix of the tasks that called it."""

    name: str
    file: NotRequired[str]
    line: NotRequired[int]


class Shared(TypedDict):
    """The frames that all profiles refer to."""

    frames: list[Frame]


class SampledProfile(TypedDict):
    """Stacks from the outermost call on, as places in `Shared`, and the seconds of each."""

    type: Literal["sampled"]
    name: str
    unit: Literal["seconds"]
    startValue: float
    endValue: float
    samples: list[list[int]]
    weights: list[float]


File = TypedDict(
    "File",
    {
        "$schema": str,
        "shared": Shared,
        "profiles": list[SampledProfile],
        "name": str,
        "activeProfileIndex": int,
        "exporter": str,
    },
)
"""The whole document."""


def write_speedscope(recording: RecordedData, file: BinaryIO) -> None:
    """Write the call stacks as one JSON document; without any it raises."""
    stacks = recording.stacks.of_tasks
    if stacks.interval_s is None:
        raise OptionError("this recording has no call stacks to export; record it with stacks=True")
    frames = list(_frames(stacks))
    profiles = [_profile(stacks, worker) for worker in range(len(stacks.workers))]
    of_lines = distinct(stacks.lines.worker).tolist()
    profiles += [_lines_profile(stacks, worker, frames) for worker in of_lines]
    content: File = {
        "$schema": SCHEMA,
        "shared": {"frames": frames},
        "profiles": profiles,
        "name": str(recording.metadata.get("label") or "taskscope"),
        "activeProfileIndex": 0,
        "exporter": f"taskscope {recording.metadata.get('taskscope', '')}".strip(),
    }
    file.write(json.dumps(content, separators=(",", ":"), allow_nan=False).encode())


def _frames(stacks: StackColumns) -> Iterator[Frame]:
    """Yield functions, then prefixes."""
    for function in stacks.functions:
        frame: Frame = {"name": function.name, "file": function.file}
        # speedscope counts lines from 1, and 0 is an unknown one here.
        yield {**frame, "line": function.line} if function.line > 0 else frame
    for prefix in stacks.prefixes:
        yield {"name": f"task {prefix}"}


def _profile(stacks: StackColumns, worker: int) -> SampledProfile:
    rows = stacks.rows.part(stacks.rows.worker == worker)
    order = np.argsort(rows.start, kind="stable")
    weights = rows.seconds[order].tolist()
    nodes, prefixes = rows.node[order].tolist(), rows.prefix[order].tolist()
    first = len(stacks.functions)
    return {
        "type": "sampled",
        "name": f"worker {stacks.workers[worker]}",
        "unit": "seconds",
        "startValue": 0.0,
        "endValue": float(sum(weights)),
        "samples": [[first + p, *_calls(stacks, n)] for n, p in zip(nodes, prefixes, strict=True)],
        "weights": weights,
    }


def _lines_profile(stacks: StackColumns, worker: int, frames: list[Frame]) -> SampledProfile:
    """Return the time of lines themselves, below their function; frames of lines are added to `frames`."""
    lines = stacks.lines
    mine = lines.part((lines.worker == worker) & (lines.self_seconds > 0))
    of_line: dict[tuple[int, int], int] = {}
    samples = []
    for prefix, place, line in zip(
        mine.prefix.tolist(), mine.function.tolist(), mine.line.tolist(), strict=True
    ):
        samples.append([len(stacks.functions) + prefix])
        if place < 0:
            continue
        if (place, line) not in of_line:
            of_line[place, line] = len(frames)
            function = stacks.functions[place]
            frame: Frame = {"name": f"{function.name}:{line}", "file": function.file}
            frames.append({**frame, "line": line} if line > 0 else frame)
        samples[-1] += [place, of_line[place, line]]
    return {
        "type": "sampled",
        "name": f"lines of worker {stacks.workers[worker]}",
        "unit": "seconds",
        "startValue": 0.0,
        "endValue": float(mine.self_seconds.sum()),
        "samples": samples,
        "weights": mine.self_seconds.tolist(),
    }


def _calls(stacks: StackColumns, node: int) -> list[int]:
    """Return the functions on a stack, the outermost first."""
    found = []
    while node >= 0:
        found.append(int(stacks.function[node]))
        node = int(stacks.parent[node])
    return found[::-1]
