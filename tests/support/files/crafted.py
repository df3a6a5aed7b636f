"""Files with right checksums and wrong content."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from taskscope.codec import BATCH, END, Budget, Encoder, Section
from taskscope.errors import DamagedFileError
from taskscope.export.native.reader import read
from taskscope.model.streams import FILE
from taskscope.model.tables.records import GroupTotal, Message
from taskscope.recording import Recording
from tests.support.clusters.recordings import cluster_recording
from tests.support.fakes.clock import FakeClock
from tests.support.files.cases import Apart, apart, together
from tests.support.files.streaming import streamed
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.tables import written
from tests.support.recordings.task_blocks import Row

MAX_BYTES = 2**22
_FILES = Path(__file__).parents[2] / "fixtures" / "files"

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


def bases() -> list[bytes]:
    """Return small files of all kinds."""
    return list(_bases())


@cache
def _bases() -> tuple[bytes, ...]:
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
    contents = [written(recording) for recording in wholes]
    contents += [path.read_bytes() for path in sorted(_FILES.glob("*.taskscope"))]
    contents += [streamed(FakeClock())[0], _growing()]
    return tuple(contents)


def _growing() -> bytes:
    """Return a file that was written while recording, and has an end."""
    parts = apart(streamed(FakeClock())[0])
    for batch in parts.batches:
        batch.pop("running", None)
    parts.kinds[-1] = END
    return together(parts)


class _UnwritableError(Exception):
    """Nobody can write that."""


def crafted(seed: int) -> bytes:
    """Return a file with up to three things in it that are wrong."""
    rng = random.Random(seed)
    while True:
        parts = copy.deepcopy(apart(rng.choice(bases())))
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            _mutate(rng, parts)
        with suppress(ValueError, TypeError, OverflowError, KeyError, _UnwritableError):
            return _mutated_bytes(rng, parts) if rng.random() < 0.2 else _put(parts)


def _put(parts: Apart) -> bytes:
    content = together(parts)
    # What is nested so deeply can neither be written nor read.
    if b"very deep" not in json.dumps(parts.header, default=str).encode():
        return content
    deep = "[" * 100_000 + "]" * 100_000
    header = json.dumps(parts.header, default=str).replace('"very deep"', deep)
    encoder = Encoder(parts.tables, {}, level=1, stream=7)
    first = encoder._frame(0, header.encode())
    return first + content[32 + int.from_bytes(content[16:20], "little") :]


def _mutated_bytes(rng: random.Random, parts: Apart) -> bytes:
    """Return a file in whose frames some bytes are other ones, and checksums are right."""
    header = dict(parts.header)
    tick_s = header.pop("tick_s", None)
    if not isinstance(tick_s, float):
        raise _UnwritableError
    inner = Encoder(parts.tables, header, tick_s=tick_s, stream=7)
    contents = [inner.header()[32:], *(inner.batch(batch)[32:] for batch in parts.batches)]
    place = rng.randrange(len(contents))
    content = bytearray(contents[place])
    for _ in range(rng.choice([1, 1, 2, 8])):
        content[rng.randrange(len(content))] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
    contents[place] = bytes(content)
    outer = Encoder(parts.tables, {}, level=1, stream=7)
    return b"".join(outer._frame(k, c) for k, c in zip([0, *parts.kinds], contents, strict=True))


def _mutate(rng: random.Random, parts: Apart) -> None:
    at = rng.random()
    place = rng.randrange(len(parts.batches))
    if at < 0.05:
        _mutate_order(rng, parts, place)
    elif at < 0.15:
        header = _mutated_json(rng, parts.header)
        parts.header = header if isinstance(header, dict) else {"x": header}
    elif at < 0.25:
        _mutate_metadata(rng, parts)
    elif at < 0.3:
        name = rng.choice(list(FILE))
        columns = parts.tables[name].columns
        gone = rng.choice(columns)
        kept = tuple(c for c in columns if c is not gone)
        if kept:
            parts.tables[name] = replace(parts.tables[name], columns=kept)
    elif parts.batches[place]:
        name = rng.choice(list(parts.batches[place]))
        parts.batches[place][name] = _mutated_section(rng, parts.batches[place][name])


def _mutate_metadata(rng: random.Random, parts: Apart) -> None:
    for batch in parts.batches:
        if "metadata" in batch:
            try:
                said = json.loads("".join(map(str, batch["metadata"].columns["text"])))
            except ValueError:
                # Something else was already wrong with it.
                return
            text = json.dumps(_mutated_json(rng, said), default=str)
            deep = "[" * 1_500 + "]" * 1_500
            text = text.replace('"very deep"', deep)
            pieces = [text[i : i + 3_000] for i in range(0, len(text), 3_000)]
            batch["metadata"] = Section(0, {"text": pieces})
            return


def _mutate_order(rng: random.Random, parts: Apart, place: int) -> None:
    other = rng.randrange(len(parts.batches))
    batches, kinds = parts.batches, parts.kinds
    match rng.randrange(3):
        case 0:
            batches[place], batches[other] = batches[other], batches[place]
        case 1 if len(batches) > 1:
            del batches[place], kinds[place]
        case _:
            batches.insert(other, batches[place])
            kinds.insert(other, BATCH)


def _mutated_section(rng: random.Random, section: Section) -> Section:
    columns = dict(section.columns)
    n = len(next(iter(columns.values())))
    name = rng.choice(list(columns))
    match rng.randrange(8):
        case 0:
            return section._replace(first=rng.choice([0, 1, section.first + 1, 2**31, 2**52]))
        case 1:
            wanted = rng.choice([0, 1, 2, 500])
            rows = [i % n for i in range(wanted)]
            return section._replace(columns={k: _taken(v, rows) for k, v in columns.items()})
        case 2:
            rows = rng.sample(range(n), n)
            columns[name] = _taken(columns[name], rows)
        case _:
            columns[name] = _odd_values(rng, columns[name])
    return section._replace(columns=columns)


def _taken(values: Any, rows: list[int]) -> Any:
    return [values[i] for i in rows] if isinstance(values, list) else values[rows]


def _odd_values(rng: random.Random, values: Any) -> Any:
    places = [rng.randrange(len(values))] if rng.random() < 0.7 else range(len(values))
    one = _odd_value(rng, values) if rng.random() < 0.5 else None
    changed = list(values)
    for place in places:
        changed[place] = _odd_value(rng, values) if one is None else one
    return changed if isinstance(values, list) else np.array(changed, values.dtype)


_WHOLE = (
    0,
    1,
    2,
    3,
    -1,
    -2,
    100,
    255,
    65_535,
    2**16,
    2**31 - 1,
    2**31,
    2**32 - 1,
    2**32,
    2**52 - 1,
    -(2**31),
)


def _odd_value(rng: random.Random, values: Any) -> Any:
    if isinstance(values, list):
        return rng.choice([v for v in _SCALARS if v is None or (isinstance(v, str) and len(v) < 4_096)])
    if values.dtype.kind == "f":
        with np.errstate(all="ignore"):
            return np.array([rng.choice([*_FLOATS, *map(float, _WHOLE)])]).astype(values.dtype)[0]
    return rng.choice([*_WHOLE, rng.randrange(2**32)])


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
        holder[rng.choice(["x", "", "run", "label", "grows"])] = rng.choice([*_SCALARS, *_NESTED])
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
        return Recording.of(read(BytesIO(content), Budget(MAX_BYTES)))
    except DamagedFileError:
        return None
