"""A recording as a trace of Perfetto's own (ui.perfetto.dev); fields have the numbers of its ``trace.proto``.

A worker is a process, a lane a thread, a task a slice; computes and other activities of workers are slices of
tracks of their own, and CPU, memory and cache usage are counters.

Each track is a sequence of packets: names are written once, and times as steps from the event before. A
million tasks make two million packets, so many are written at once, part by part, each for all of them.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count, pairwise
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.model.dataframes import Columns, text_column
from taskscope.model.recording import RecordedData, Tables, cache_usage
from taskscope.model.tables.records import FINISHED, STATUSES, Lane

_AT_ONCE = 20_000
_MOST_COUNTS = 10_000
_TOUCH_NS = 2
_LEVEL = 3
_REALTIME, _BOOTTIME, _STEPS = 1, 6, 64
_CLEARED, _NEEDS_STATE = 1, 2
_BEGIN, _END, _COUNTER = 1, 2, 4

_Ints = NDArray[np.int64]


class _Column(NamedTuple):
    """The bytes of a part of each row, one after another."""

    lengths: _Ints
    data: NDArray[np.uint8]


_Part: TypeAlias = "bytes | _Column"
"""A part of rows; bytes are the same in all of them."""


def _varints(values: _Ints) -> _Column:
    n_bytes = max(1, -(-int(values.max(initial=0)).bit_length() // 7))
    digits = values.astype(np.uint64)[:, None] >> (7 * np.arange(n_bytes, dtype=np.uint64))
    used = digits > 0
    used[:, 0] = True
    data = (digits & 127).astype(np.uint8)
    data[:, :-1] |= used[:, 1:].astype(np.uint8) << 7
    return _Column(used.sum(axis=1), data[used])


def _texts(texts: Sequence[str]) -> _Column:
    encoded = [text.encode("utf-8", "backslashreplace") for text in texts]
    data = np.frombuffer(b"".join(encoded), np.uint8)
    return _Column(np.fromiter(map(len, encoded), np.int64, len(encoded)), data)


def _number(field: int, value: int | _Ints) -> list[_Part]:
    return [_tag(field, 0), _varint(value) if isinstance(value, int) else _varints(value)]


def _text(field: int, value: str | _Column) -> list[_Part]:
    return _message(field, [_texts([value]).data.tobytes() if isinstance(value, str) else value])


def _message(field: int, parts: Sequence[_Part]) -> list[_Part]:
    """Return a message, or a text, in a field of another."""
    length = sum(len(part) if isinstance(part, bytes) else part.lengths for part in parts)
    return [_tag(field, 2), *_number(0, length)[1:], *parts]


def _tag(field: int, kind: int) -> bytes:
    return _varint(field << 3 | kind)


def _varint(value: int) -> bytes:
    return _varints(np.array([value])).data.tobytes()


def _joined(parts: Sequence[_Part], n: int = 1) -> _Column:
    """Return rows made of these parts."""
    lengths = np.zeros(n, np.int64)
    for part in parts:
        lengths += len(part) if isinstance(part, bytes) else part.lengths
    place = np.cumsum(lengths) - lengths
    data = np.empty(int(lengths.sum()), np.uint8)
    for part in parts:
        if isinstance(part, bytes):
            data[place[:, None] + np.arange(len(part))] = np.frombuffer(part, np.uint8)
            place += len(part)
        else:
            firsts = np.cumsum(part.lengths) - part.lengths
            data[np.repeat(place - firsts, part.lengths) + np.arange(len(part.data))] = part.data
            place += part.lengths
    return _Column(lengths, data)


def write_perfetto(recording: RecordedData, file: BinaryIO) -> None:
    """Write a recording; a task in flight ends now, and a task whose status is not said is finished."""
    trace, tables, lanes = _Trace(recording, file), Tables(recording), recording.lanes
    for counter in filter(lambda counter: len(counter.time), _counters(recording)):
        trace.add_counts(counter, trace.track([*_text(2, counter.name), *_message(8, [])]))
    runs = dict(tables.get("runs"))
    runs["label"] = text_column([run.label or run.name for run in recording.runs])
    trace.add_slices(runs, "label", ("scheduler", "status", "error"), trace.track(_text(2, "computes")))
    tasks, n_others = tables.get("tasks"), len(recording.activities.rows)
    tasks["status"][tasks["status"] == STATUSES[FINISHED]] = None
    activities = tables.get("activities") if n_others else tasks
    others = {name: values[len(values) - n_others :] for name, values in activities.items()}
    pids = {worker: pid for pid, worker in enumerate(dict.fromkeys(lane.worker for lane in lanes), start=1)}
    processes = {
        worker: trace.track(_message(3, [*_number(1, pid), *_text(6, f"worker {worker}")]))
        for worker, pid in pids.items()
    }
    for lane, computed, besides in zip(lanes, _by_lane(tasks, lanes), _by_lane(others, lanes), strict=True):
        # A thread whose number is its process's would be the main one.
        ids = [*_number(1, pids[lane.worker]), *_number(2, len(pids) + 1 + lane.id)]
        thread = _message(4, [*ids, *_text(5, lane.label)])
        track = trace.track([*_number(5, processes[lane.worker]), *thread])
        trace.add_slices(computed, "prefix", ("key", "status", "error", "cpu_s", "result_bytes"), track)
        if len(besides["lane"]):
            below = trace.track([*_number(5, track), *_text(2, "activities")])
            trace.add_slices(besides, "activity", ("source", "error", "nbytes"), below)
    trace.flush()


def _by_lane(table: Columns, lanes: Sequence[Lane]) -> Iterator[Columns]:
    order = np.argsort(table["lane"], kind="stable")
    ends = np.searchsorted(table["lane"][order], np.arange(len(lanes) + 1)).tolist()
    for first, end in pairwise(ends):
        yield {name: values[order[first:end]] for name, values in table.items()}


class _Trace:
    """Adds packets to a trace."""

    def __init__(self, recording: RecordedData, file: BinaryIO) -> None:
        self._recording, self._file = recording, file
        self._numbers = count(1)
        self._made: list[bytes] = []

    def _add(self, packets: Sequence[_Part], n: int = 1) -> None:
        self._made.append(_joined(packets, n).data.tobytes())
        if n == _AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write the added packets, compressed as Perfetto compresses them."""
        packets = zlib.compress(b"".join(self._made), _LEVEL)
        self._file.write(_joined(_message(1, _message(50, [packets]))).data.tobytes())
        self._made = []

    def track(self, descriptor: Sequence[_Part]) -> int:
        """Add a track and return its number."""
        number = next(self._numbers)
        self._add(_message(1, _message(60, [*_number(1, number), *descriptor])))
        return number

    def add_slices(self, table: Columns, name: str, notes: Sequence[str], track: int) -> None:
        """Add a slice for each row of a table; slices that overlap go to tracks below."""
        now_s = self._recording.now_s - self._recording.zero_s
        stop_s = np.where(np.isnan(table["stop_s"]), now_s, table["stop_s"])
        start, stop = _nanoseconds(table["start_s"]), _nanoseconds(stop_s)
        for depth, (rows, stops) in enumerate(_layers(start, np.maximum(start, stop))):
            own = self.track([*_number(5, track), *_text(2, "at the same time")]) if depth else track
            texts = table[name][rows].tolist()
            places = {text: place for place, text in enumerate(dict.fromkeys(texts), start=1)}
            codes = np.fromiter(map(places.__getitem__, texts), np.int64, len(texts))
            sequence, zero = self._sequence(own, start[rows], places, notes)
            waits, lasts = start[rows] - np.append(zero, stops[:-1]), stops - start[rows]
            for first in range(0, len(rows), _AT_ONCE):
                some = slice(first, first + _AT_ONCE)
                said = [_note(iid, table[note][rows[some]]) for iid, note in enumerate(notes, start=1)]
                begin = [*_number(9, _BEGIN), *_number(10, codes[some]), *said]
                end = _event(sequence, lasts[some], _number(9, _END))
                self._add([*_event(sequence, waits[some], begin), *end], len(lasts[some]))

    def add_counts(self, counter: _Counter, track: int) -> None:
        """Add the values of a counter, of many the maximum of each of many stretches of time."""
        time, values = counter.time, counter.values
        if len(time) > _MOST_COUNTS:
            stretch = (time - time[0]) * _MOST_COUNTS // (time[-1] - time[0] + 1)
            firsts = np.flatnonzero(np.diff(stretch, prepend=-1))
            time, values = time[firsts], np.maximum.reduceat(values, firsts)
        sequence, zero = self._sequence(track, time)
        event = [*_number(9, _COUNTER), *_double(44, values)]
        self._add(_event(sequence, np.diff(time, prepend=zero), event), len(time))

    def _sequence(
        self, track: int, start: _Ints, names: Iterable[str] = (), notes: Iterable[str] = ()
    ) -> tuple[int, int]:
        """Begin packets that each have an event of a track, and how long it was after the one before."""
        number, zero = next(self._numbers), max(int(start[0]), 0)
        interned = [
            _message(field, [*_number(1, iid), *_text(2, text)])
            for field, texts in ((2, names), (3, notes))
            for iid, text in enumerate(texts, start=1)
        ]
        wall_ns = int(self._recording.started_at.timestamp() * 1e6) * 1000 + zero
        clocks = [
            _message(1, [*_number(1, clock), *_number(2, time), *_number(3, clock == _STEPS)])
            for clock, time in ((_REALTIME, wall_ns), (_BOOTTIME, zero), (_STEPS, 0))
        ]
        defaults = [*_number(58, _STEPS), *_message(11, _number(11, track))]
        state = [*_message(59, defaults), *_message(12, [*chain(*interned)])]
        for flags, content in ((_CLEARED, state), (_NEEDS_STATE, _message(6, [*chain(*clocks)]))):
            self._add(_message(1, [*_number(10, number), *_number(13, flags), *content]))
        return number, zero


def _layers(start: _Ints, stop: _Ints) -> Iterator[tuple[_Ints, _Ints]]:
    """Yield rows in the order of time, and their ends, in layers without overlaps: nearly always in one."""
    left = np.lexsort((stop, start))
    while len(left):
        begins, ends = start[left], stop[left]
        over = ends[:-1] - begins[1:]
        # Two roundings of one moment are no overlap.
        ends[:-1] -= np.where((over > 0) & (over <= _TOUCH_NS), np.minimum(over, (ends - begins)[:-1]), 0)
        is_in = np.ones(len(left), np.bool_)
        if (ends[:-1] > begins[1:]).any():
            until = begins[0]
            for place, (begin, end) in enumerate(zip(begins.tolist(), ends.tolist(), strict=True)):
                is_in[place] = begin >= until
                until = end if begin >= until else until
        yield left[is_in], ends[is_in]
        left = left[~is_in]


def _event(sequence: int, step: _Ints, event: Sequence[_Part]) -> list[_Part]:
    """Return the packet of an event."""
    state = [*_number(10, sequence), *_number(13, _NEEDS_STATE)]
    return _message(1, [*_number(8, np.maximum(step, 0)), *state, *_message(11, event)])


def _note(iid: int, values: NDArray[Any]) -> _Column:
    """Return annotations of slices; none where the value is unknown."""
    is_number = values.dtype.kind == "f"
    rows = np.flatnonzero(~np.isnan(values) if is_number else values != None)  # noqa: E711 - of each value
    known = values[rows]
    value = _double(5, known) if is_number else _text(6, _texts(known.tolist()))
    found = _joined(_message(4, [*_number(1, iid), *value]), len(rows))
    lengths = np.zeros(len(values), np.int64)
    lengths[rows] = found.lengths
    return found._replace(lengths=lengths)


def _double(field: int, values: NDArray[np.float64]) -> list[_Part]:
    data = values.astype("<f8").view(np.uint8)
    return [_tag(field, 1), _Column(np.full(len(values), 8), data)]


def _nanoseconds(seconds: NDArray[np.float64]) -> _Ints:
    """Return times as whole nanoseconds."""
    return np.rint(seconds * 1e9).astype(np.int64)


class _Counter(NamedTuple):
    """A value at each of its changes."""

    name: str
    time: _Ints
    values: NDArray[np.float64]


def _counters(recording: RecordedData) -> Iterator[_Counter]:
    """Yield CPU, memory and cache usage; results of unknown size do not count."""
    samples = recording.resources
    for name, values in (("CPU (%)", samples.cpu_percent), ("memory (bytes)", samples.rss_bytes)):
        known = np.isfinite(values)
        yield _Counter(name, _nanoseconds(samples.time[known] - recording.zero_s), values[known])
    usage = [columns for _, _, columns in cache_usage(recording)]
    amount, start, stop = (
        np.concatenate([np.empty(0), *(columns[name] for columns in usage)])
        for name in ("metric", "enter_s", "exit_s")
    )
    known = ~np.isnan(stop)
    metric = recording.metadata.get("metric") or "nbytes"
    yield _sums(f"results in memory ({metric})", start[known], stop[known], np.nan_to_num(amount[known]))
    seen, zero_s = recording.holdings, recording.zero_s
    yield _sums(
        "results in workers' memory (nbytes)",
        seen.time - zero_s,
        seen.until(recording.now_s) - zero_s,
        seen.nbytes,
    )


def _sums(
    name: str, start: NDArray[np.float64], stop: NDArray[np.float64], amount: NDArray[np.float64]
) -> _Counter:
    """Return the sum of amounts at each change, each amount from its start to its stop."""
    times, changes = _nanoseconds(np.concatenate([start, stop])), np.concatenate([amount, -amount])
    order = np.argsort(times, kind="stable")
    times, sums = times[order], np.maximum(np.cumsum(changes[order]), 0.0)
    # Changes at one moment make one event.
    is_last = np.diff(times, append=-1) != 0
    return _Counter(name, times[is_last], sums[is_last])
