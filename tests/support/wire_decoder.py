"""What a page makes of the messages of the feed, row by row."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from taskscope.codec import BATCH, END, HEADER, CutOffError, Decoder, Section, budget_for, read_frames
from taskscope.model.streams import PAGE, STOP_WAYS
from taskscope.model.tables.records import OBSERVED_BY, STATUSES, Run
from taskscope.schema import columns_of


@dataclass(frozen=True, slots=True)
class DecodedRow:
    key: str
    lane: int
    group: int
    start_s: float
    stop_s: float
    cpu_s: float | None
    size_bytes: float | None
    status: str
    observed_by: str
    error: str | None = None


@dataclass(slots=True)
class PageReader:
    """Reads the messages of one page after the other; a header begins a stream."""

    names: list[str] = field(default_factory=list)
    header: dict[str, Any] = field(default_factory=dict)
    keys: list[dict[str, Any]] = field(default_factory=list)
    _stream: bytes = b""
    _n_read: int = 0

    def read(self, buffers: Sequence[bytes]) -> dict[str, Any]:
        """Return what the one buffer of a message says, each table as a list of its rows."""
        (frames,) = buffers
        if frames[12:16] == b"\0\0\0\0":
            self._stream, self._n_read, self.names = b"", 0, []
        # From the beginning, for frames and rows are numbered on.
        self._stream += frames
        batches = list(self._batches())
        assert len(batches) == self._n_read + 1
        self._n_read += 1
        sections = batches[-1]
        if "groups" in sections:
            self.names += sections["groups"].columns["name"]  # type: ignore[arg-type]  # texts
        if "keys" in sections:
            self.keys[sections["keys"].first :] = dicts(sections["keys"])
        return told(sections, self._n_read - 1, self.header, self.names, self.keys)

    def _batches(self) -> Iterator[dict[str, Section]]:
        budget = budget_for(len(self._stream))
        decoder = Decoder(PAGE, budget)
        try:
            for kind, content in read_frames(io.BytesIO(self._stream), budget):
                if kind == HEADER:
                    self.header = decoder.header(content)
                else:
                    assert kind in {BATCH, END}
                    batch = decoder.batch(content)
                    yield {name: self._moved(name, section) for name, section in batch.items()}
        except CutOffError as error:
            assert "before part" in str(error)  # noqa: PT017 - a stream to a page has no end

    def _moved(self, name: str, section: Section) -> Section:
        """Return a section with times after the zero of the stream."""
        times = [column.name for column in PAGE[name].columns if column.wire.startswith("time")]
        moved = {time: np.asarray(section.columns[time]) - self.header["zero_s"] for time in times}
        return Section(section.first, {**section.columns, **moved})


def told(
    sections: Mapping[str, Section],
    seq: int,
    header: Mapping[str, Any],
    names: Sequence[str],
    keys: Sequence[dict[str, Any]],
) -> dict[str, Any]:
    """Return a batch as records."""
    state = dicts(sections["state"])[0]
    rows = {name: dicts(sections[name]) if name in sections else [] for name in PAGE}
    for table in ("tasks", "running"):
        rows[table] = [keys[int(row["key"])] | row for row in rows[table]]
    tasks = sections.get("tasks")
    return {
        "recorder": header["recorder"],
        "epoch": header["epoch"],
        "seq": seq,
        "now_s": state["now_s"],
        "active": bool(state["active"]),
        "final": bool(state["final"]),
        "cursor": state["n_tasks"],
        "dropped": state["n_dropped"],
        "first": state["n_tasks"] if tasks is None else tasks.first,
        "count": 0 if tasks is None else len(tasks.columns["key"]),
        "errors": [row["text"] for row in rows["errors"]],
        "groups": [(i, *row.values()) for i, row in _numbered(sections, "groups")],
        "lanes": [(i, *row.values()) for i, row in _numbered(sections, "lanes")],
        "runs": [_run(row) for row in rows["runs"]],
        "progress": [_progress(row) for row in rows["progress"]],
        "estimates": [tuple(row.values()) for row in rows["estimates"]],
        "stops": [(row["run"], STOP_WAYS[row["way"]]) for row in rows["stops"]],
        "running": [
            tuple(row[name] for name in ("run", "lane", "group", "key_text", "start_s"))
            for row in rows["running"]
        ],
        "messages": [
            (row["time_s"], ("info", "warning")[row["level"]], row["text"]) for row in rows["messages"]
        ],
        "rows": list(_rows(rows["tasks"], names, [row["text"] for row in rows["errors"]])),
        "state": state,
        "tables": rows,
        "firsts": {name: section.first for name, section in sections.items()},
    }


def dicts(section: Section) -> list[dict[str, Any]]:
    """Return the rows of a section; what is unknown is None."""
    columns = {
        name: [
            None if isinstance(v, float) and math.isnan(v) else v
            for v in (values.tolist() if isinstance(values, np.ndarray) else values)
        ]
        for name, values in section.columns.items()
    }
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _numbered(sections: Mapping[str, Section], name: str) -> list[tuple[int, dict[str, Any]]]:
    section = sections.get(name)
    return [] if section is None else list(enumerate(dicts(section), start=section.first))


def _run(row: dict[str, Any]) -> dict[str, Any]:
    statuses = {c.name: c.choices for c in columns_of(Run)}["status"]
    return row | {"status": statuses[row["status"]]}


def _progress(row: dict[str, Any]) -> tuple[Any, ...]:
    counts = [row[n] for n in ("total", "finished", "erred", "running", "interrupted", "skipped", "again")]
    scheduled = [row[n] for n in ("scheduled_s", "asked", "is_all", "queued", "waiting", "no_worker")]
    known = None if scheduled[0] is None else (*scheduled[:2], bool(scheduled[2]), *scheduled[3:])
    return (row["run"], row["prefix"], *counts, row["duration_s"], row["first_s"], known)


def _rows(
    rows: Sequence[Mapping[str, Any]], names: Sequence[str], errors: Sequence[str]
) -> Iterator[DecodedRow]:
    for row in rows:
        ints = [row[f"i{i}"] for i in range(row["dims"])] if row["dims"] != 255 else []
        yield DecodedRow(
            key=row["key_text"] if row["dims"] == 255 else repr((names[row["group"]], *ints)),
            lane=row["lane"],
            group=row["group"],
            start_s=row["stop_s"] - row["duration_s"],
            stop_s=row["stop_s"],
            cpu_s=row["cpu_s"],
            size_bytes=row["nbytes"],
            status=STATUSES[row["status"]],
            observed_by=OBSERVED_BY[row["observed_by"]],
            error=None if row["error"] is None else errors[int(row["error"])],
        )
