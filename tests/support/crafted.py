"""Files with right checksums and wrong content, and everything that can be done with those that load.

`python -m tests.support.crafted --files 20000` tries many and says which do what they must not.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import struct
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from taskscope.analysis.redaction import redacted
from taskscope.errors import DamagedFileError, OptionError
from taskscope.export import documents, native
from taskscope.export.chrome_trace import write_chrome_trace
from taskscope.export.frames import CutOffError, FrameWriter, read_frames
from taskscope.export.load import _read
from taskscope.export.pack import Packed, pack, pack_json, unpack
from taskscope.export.schema import (
    ACTIVITIES,
    ACTIVITY_SIZES,
    GRAPH,
    HOLDINGS,
    LANDED,
    ROWS,
    SAMPLES,
    STACKS,
    TASK,
    Kinds,
)
from taskscope.export.speedscope import write_speedscope
from taskscope.jupyter.widgets import (
    CacheWidget,
    Dashboard,
    FlameWidget,
    GanttWidget,
    ProgressWidget,
    ResourceWidget,
)
from taskscope.model.records import GroupTotal, Message
from taskscope.model.tables import TABLES
from taskscope.recording import Recording
from taskscope.report import result_bundle
from tests.support.cluster_recordings import cluster_recording
from tests.support.fake_clock import FakeClock
from tests.support.recordings import ZERO_S, recording_of, run_of
from tests.support.stacks import Sample, stacks_of
from tests.support.streaming import streamed
from tests.support.task_blocks import Row

Frame = tuple[str, bytes]

COLUMNS: Mapping[str, Kinds] = {
    "TASK": TASK,
    "GRPH": GRAPH,
    "PART": GRAPH,
    "ROWS": ROWS,
    "LAND": LANDED,
    "SMPL": SAMPLES,
    "HOLD": HOLDINGS,
    "STCK": STACKS,
    "STKP": STACKS,
    "ACTV": ACTIVITIES,
    "ACTP": ACTIVITIES,
    "ACTB": ACTIVITY_SIZES,
}
"""The frames of columns; all others are JSON."""

MAX_BYTES = 2**20
MAX_OUTPUT_BYTES = 2**21
"""Most that a face may make of one of these small files."""

_FILES = Path(__file__).parents[1] / "fixtures" / "files"
_WIDGETS = (CacheWidget, FlameWidget, GanttWidget, ProgressWidget, ResourceWidget, Dashboard)

_SCALARS: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    1,
    -1,
    255,
    2**31 - 1,
    2**31,
    -(2**31),
    2**53,
    2**63,
    -(2**63) - 1,
    10**30,
    10**400,
    0.5,
    -0.0,
    -0.5,
    1e-310,
    1e9,
    9.9e9,
    1e10,
    -1e10,
    1e15,
    1e20,
    1e292,
    1e308,
    -1e308,
    float("nan"),
    float("inf"),
    float("-inf"),
    "",
    "x",
    "NaN",
    "1",
    "running",
    "erred",
    "distributed",
    "distributed, other clients",
    "</script><b>&",
    "\ud800",
    "\x00\x1b[2J\u202e",
    "x" * 70_000,
    "2026-01-02",
    "0001-01-01T00:00:00+00:00",
    "9999-12-31T23:59:59+00:00",
    "2026-01-02T03:04:05+00:00:00.000001",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
)
_NESTED: tuple[Any, ...] = ([], {}, [[]], {"a": {"b": None}}, [None] * 1000, {"": ""}, [1, "a", None], ["x"])
_FLOATS = [v for v in _SCALARS if isinstance(v, float)]


def _deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


def bases() -> list[list[Frame]]:
    """Return the frames of small files of all kinds."""
    return [list(frames) for frames in _bases()]


@cache
def _bases() -> tuple[tuple[Frame, ...], ...]:
    samples = [
        Sample(("f", "g"), 3, 0.3, start_s=1.0),
        Sample(("f",), 1, 0.1),
        Sample((), 2, 0.25, prefix="y", worker="5678"),
    ]
    local = recording_of(
        [
            Row(key=("inc-1", 0, 7), stop_s=1.0, cpu_s=0.5, size_bytes=8.0),
            Row(key="x", lane=1, stop_s=0.5, status="erred", size_bytes=5e9),
            Row(key=("add-1",), run=1, start_s=1.0, stop_s=1.5, observed_by="scheduler"),
        ],
        [run_of(n_tasks=2, status="erred", error="ValueError: no"), run_of(1, n_tasks=1, start_s=1.0)],
        resources=[(0.5, 150.0, 7e6, 1, 0.0), (0.75, 100.0, 8e6, 2, 1.0)],
        messages=[Message(ZERO_S, "info", "hello")],
        dropped=2,
        metadata={
            "label": "crafted",
            "host": "here",
            "pid": 7,
            "metric": "nbytes",
            "error": None,
            "dt_s": 0.25,
            "n_cores": 2,
            "memory_limit_bytes": 8_000_000_000,
            "interrupted": False,
        },
    )
    local = replace(local, totals=(GroupTotal("inc-1", "inc", 1, 0, 1.0, 0.5, 8.0),))
    wholes = [local, replace(local, stacks=stacks_of(samples)), cluster_recording()]
    contents = [_saved(recording) for recording in wholes]
    contents += [path.read_bytes() for path in sorted(_FILES.glob("*.taskscope"))]
    contents += [streamed(FakeClock())[0], _growing()]
    return tuple(tuple(_frames(content)) for content in contents)


def _growing() -> bytes:
    """Return a file as one that is written while recording and ended is just before it is replaced."""
    content, live = streamed(FakeClock())
    last = pack_json({"now_s": live.now_s, "dropped": 0})
    return rebuilt([*_frames(content), ("LAST", last)])


def _saved(recording: Any) -> bytes:
    file = BytesIO()
    native.write(recording, file)
    return file.getvalue()


def _frames(content: bytes) -> Iterator[Frame]:
    with suppress(CutOffError):
        yield from read_frames(BytesIO(content), 2**30)


def rebuilt(frames: list[Frame]) -> bytes:
    """Return the file that has these frames."""
    file = BytesIO()
    writer = FrameWriter(file)
    for kind, content in frames:
        writer.write(kind, content)
    return file.getvalue()


def crafted(seed: int) -> bytes:
    """Return a file with up to three things in it that are wrong."""
    rng = random.Random(seed)
    frames = rng.choice(bases())
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        place = rng.randrange(len(frames))
        if rng.random() < 0.05:
            _mutate_order(rng, frames, place)
            continue
        kind, content = frames[place]
        frames[place] = (kind, _mutated(rng, kind, content))
    # What is nested so deeply can neither be written nor read.
    deep = b"[" * 100_000 + b"]" * 100_000
    return rebuilt([(kind, content.replace(b'"very deep"', deep)) for kind, content in frames])


def _mutate_order(rng: random.Random, frames: list[Frame], place: int) -> None:
    other = rng.randrange(len(frames))
    match rng.randrange(3):
        case 0:
            frames[place], frames[other] = frames[other], frames[place]
        case 1 if len(frames) > 1:
            del frames[place]
        case _:
            frames.insert(other, frames[place])


def _mutated(rng: random.Random, kind: str, content: bytes) -> bytes:
    if kind not in COLUMNS:
        return pack_json(_mutated_json(rng, json.loads(content)))
    try:
        head, columns = unpack(content, COLUMNS[kind])
    except DamagedFileError:
        # Something else was already wrong with it.
        return content
    listed = head.pop("columns")
    if rng.random() < 0.3:
        head = _mutated_json(rng, head) if rng.random() < 0.8 else {**head, "columns": 1}
        return pack(head, columns) if isinstance(head, dict) else pack_json(head)
    if rng.random() < 0.1:
        text = pack_json({**head, "columns": _mutated_json(rng, listed)})
        return struct.pack("<I", len(text)) + text + content[-sum(c.nbytes for c in columns.values()) :]
    return pack(head, _mutated_columns(rng, columns, COLUMNS[kind]))


def _mutated_columns(rng: random.Random, columns: Packed, kinds: Kinds) -> Packed:
    changed = dict(columns)
    name = rng.choice(list(columns) or list(kinds))
    values = changed.get(name, np.empty(0, kinds[name][0]))
    match rng.randrange(8):
        case 0:
            changed.pop(name, None)
        case 1:
            changed[name] = values[: rng.randrange(len(values) + 1)]
        case 2:
            changed[name] = np.concatenate([values, values[:1], values])
        case 3:
            other = np.dtype(rng.choice(kinds[name]))
            with np.errstate(all="ignore"):
                changed[name] = values.astype(other)
        case 4:
            # All columns of one length, so that it is about what is in them.
            wanted = rng.choice([0, 1, 2, 500])
            changed = {n: np.resize(v, wanted).astype(v.dtype) for n, v in changed.items()}
        case _:
            changed[name] = _odd_values(rng, values)
    return changed


def _odd_values(rng: random.Random, values: Any) -> Any:
    values = values.copy()
    if not len(values):
        return np.array([_odd_value(rng, values.dtype)], values.dtype)
    places = [rng.randrange(len(values))] if rng.random() < 0.7 else range(len(values))
    one = _odd_value(rng, values.dtype) if rng.random() < 0.5 else None
    for place in places:
        values[place] = _odd_value(rng, values.dtype) if one is None else one
    return values


def _odd_value(rng: random.Random, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.array([rng.choice(_FLOATS)]).astype(dtype)[0]
    limits = np.iinfo(dtype)
    near = [limits.min, limits.max, limits.max - 1, 0, 1, 2, 3, -1, 100, rng.randint(limits.min, limits.max)]
    return rng.choice([value for value in near if limits.min <= value <= limits.max])


def _mutated_json(rng: random.Random, value: Any) -> Any:
    """Return a value in which one place is something else."""
    if not isinstance(value, (dict, list)):
        return value
    value = copy.deepcopy(value)
    places = list(_places(value))
    if not places or rng.random() < 0.02:
        return rng.choice([*_SCALARS, *_NESTED])
    holder, at = rng.choice(places)
    alike = [odd for odd in _SCALARS if type(odd) is type(holder[at])]
    odd = {
        "deep": lambda: rng.choice(["very deep", *map(_deep, (3, 50, 200))]),
        "nested": lambda: rng.choice([[holder[at]], *_NESTED]),
        "odd": lambda: rng.choice(_SCALARS),
        "alike": lambda: rng.choice(alike or _SCALARS),
    }
    how = rng.choice(["gone", "more", "deep", "nested", "odd", "odd", *["alike"] * 5])
    if how == "gone":
        del holder[at]
    elif how == "more" and isinstance(holder, list):
        holder.extend(holder[:50] * 3)
    elif how == "more":
        holder[rng.choice(["x", "", "run", "label", "columns"])] = rng.choice([*_SCALARS, *_NESTED])
    else:
        holder[at] = odd[how]()
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for at, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, at
        if isinstance(inner, (dict, list)):
            yield from _places(inner)


def loaded(content: bytes) -> Recording | None:
    """Return the recording in a file, None where it is refused as damaged."""
    try:
        return Recording.of(_read(BytesIO(content), partial=False, max_bytes=MAX_BYTES))
    except DamagedFileError:
        return None


def _tables(recording: Recording) -> bytes:
    for name in TABLES:
        recording.to_pandas(name)
    return b""


def _analysis(recording: Recording) -> bytes:
    path = recording.critical_path()
    cases = [recording.what_if(), recording.what_if(workers=2)]
    made = [path.to_dict(), *(case.to_dict() for case in cases), recording.explain().to_dict()]
    return f"{path}{cases}{json.dumps(made, allow_nan=False)}".encode()


def _summary(recording: Recording) -> bytes:
    return recording.summary().encode()


def _result(recording: Recording) -> bytes:
    return json.dumps(result_bundle(recording), allow_nan=False).encode()


def _written(write: Callable[..., None], recording: Recording) -> bytes:
    file = BytesIO()
    write(redacted(recording), file)
    return file.getvalue()


def _page(recording: Recording) -> bytes:
    return _written(documents.write_html, recording)


def _trace(recording: Recording) -> bytes:
    content = _written(write_chrome_trace, recording)
    json.loads(content, parse_constant=_no_number)
    return content


def _stacks(recording: Recording) -> bytes:
    with suppress(OptionError):
        content = _written(write_speedscope, recording)
        json.loads(content, parse_constant=_no_number)
        return content
    return b""


def _no_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON")


def _saved_again(recording: Recording) -> bytes:
    content = _written(native.write, recording)
    again = _read(BytesIO(content), partial=False, max_bytes=2**30)
    assert repr(redacted(recording)) == repr(again)
    return content


def _widgets(recording: Recording) -> bytes:
    states = []
    for widget in _WIDGETS:
        with closing(widget(recording)) as shown:
            states.append(shown._still(recording))
    return json.dumps(states, allow_nan=False, default=_bytes).encode()


def _bytes(value: object) -> str:
    # A widget sends these beside its JSON.
    return memoryview(value).hex()  # type: ignore[arg-type]  # else it raises


FACES: tuple[Callable[[Recording], bytes], ...] = (
    _tables,
    _summary,
    _analysis,
    _result,
    _page,
    _trace,
    _stacks,
    _saved_again,
    _widgets,
)
"""All that is made of a recording."""


def fault(content: bytes) -> str | None:
    """Return what a file made fail that neither was refused nor can be used; None where there is nothing."""
    step = "load"
    try:
        recording = loaded(content)
        for face in FACES if recording is not None else ():
            step = face.__name__.strip("_")
            made = face(recording)  # type: ignore[arg-type]  # it is one
            assert len(made) < MAX_OUTPUT_BYTES, f"{len(made):,} bytes"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        place = traceback.extract_tb(error.__traceback__)[-1]
        ours = [f for f in traceback.extract_tb(error.__traceback__) if "taskscope" in f.filename]
        where = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}" if ours else place.filename
        return f"{step}: {where}: {type(error).__name__}: {error!s:.120}"
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    faults: dict[str, list[int]] = {}
    slow: list[tuple[float, int]] = []
    n_loaded = 0
    for seed in range(options.first, options.first + options.files):
        content = crafted(seed)
        start = time.process_time()
        found = fault(content)
        slow.append((round(time.process_time() - start, 2), seed))
        n_loaded += loaded(content) is not None if found is None else 0
        if found:
            faults.setdefault(found, []).append(seed)
    lines = [f"{len(seeds)} times {found}, as with {seeds[:3]}" for found, seeds in faults.items()]
    n_failed = sum(map(len, faults.values()))
    lines += [f"{options.files} files, {n_loaded} load and can be used, {n_failed} fail"]
    lines += [f"slowest, in seconds of CPU: {sorted(slow)[-5:]}"]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
