"""A reader of Perfetto's traces that shares nothing with the writer: the wire format of protobuf, by numbers.

The numbers are those of ``protos/perfetto/trace/perfetto_trace.proto``; any other field is an error.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Message: TypeAlias = dict[int, list[Any]]
_BEGIN, _END, _COUNTER = 1, 2, 4


def fields_of(data: bytes) -> Message:
    """Return the values of each field of a message, in order."""
    found: Message = {}
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        value: Any
        if tag & 7 == 0:
            value, place = _varint(data, place)
        elif tag & 7 == 1:
            (value,), place = struct.unpack_from("<d", data, place), place + 8
        else:
            assert tag & 7 == 2, f"no kind of field: {tag & 7}"
            length, place = _varint(data, place)
            value, place = data[place : place + length], place + length
        found.setdefault(tag >> 3, []).append(value)
    assert place == len(data), "a field is longer than its message"
    return found


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[place]
        value, shift, place = value | (byte & 127) << shift, shift + 7, place + 1
        if byte < 128:
            return value, place


def packets_of(trace: bytes) -> Iterator[Message]:
    """Yield the packets of a trace, those that were deflated as well."""
    content = fields_of(trace)
    assert content.keys() <= {1}
    for packet in map(fields_of, content.get(1, [])):
        if 50 in packet:
            yield from packets_of(zlib.decompress(packet[50][0]))
        else:
            yield packet


@dataclass
class Trace:
    """What a trace shows; times are nanoseconds after its zero."""

    tracks: dict[int, str] = field(default_factory=dict)
    """Names with those of the tracks above."""
    slices: list[tuple[str, str, int, int, dict[str, object]]] = field(default_factory=list)
    """Track, name, begin, end and notes."""
    counters: dict[str, list[tuple[int, float]]] = field(default_factory=dict)
    zero_ns: set[int] = field(default_factory=set)
    """Wall-clock times of the zero, by each sequence."""


@dataclass
class _Sequence:
    track: int
    names: dict[int, str]
    notes: dict[int, str]
    now: int = -1
    opened: tuple[str, int, dict[str, object]] | None = None


def read_trace(data: bytes) -> Trace:
    """Return what a trace shows."""
    trace, sequences = Trace(), dict[int, _Sequence]()
    for packet in packets_of(data):
        if 60 in packet:
            assert packet.keys() == {60}
            _describe(fields_of(packet[60][0]), trace)
            continue
        (number,), (flags,) = packet[10], packet[13]
        if flags == 1:
            assert packet.keys() == {10, 12, 13, 59}
            assert number not in sequences
            defaults, interned = fields_of(packet[59][0]), fields_of(packet[12][0])
            assert defaults[58] == [64]
            (track,) = fields_of(defaults[11][0])[11]
            assert track in trace.tracks
            names, notes = (_names(interned.pop(kind, [])) for kind in (2, 3))
            sequences[number] = _Sequence(track, names, notes)
            assert not interned
            continue
        assert flags == 2
        sequence = sequences[number]
        if 6 in packet:
            clocks = {c[1][0]: c for c in map(fields_of, fields_of(packet[6][0])[1])}
            assert clocks[64] == {1: [64], 2: [0], 3: [1]}
            sequence.now = clocks[6][2][0]
            trace.zero_ns.add(clocks[1][2][0] - sequence.now)
            continue
        assert packet.keys() == {8, 10, 11, 13}
        sequence.now += packet[8][0]
        _happen(fields_of(packet[11][0]), sequence, trace)
    assert all(sequence.opened is None for sequence in sequences.values())
    return trace


def _describe(track: Message, trace: Trace) -> None:
    (number,), above = track.pop(1), track.pop(5, [])
    assert number not in trace.tracks
    kinds = [(2, None), (3, 6), (4, 5)]
    names = [
        track[k][0] if within is None else fields_of(track[k][0])[within][0]
        for k, within in kinds
        if k in track
    ]
    trace.tracks[number] = "/".join([*(trace.tracks[each] for each in above), names[0].decode()])
    assert len(names) == 1
    assert track.keys() - {2, 3, 4, 8} == set()
    if 8 in track:
        trace.counters[trace.tracks[number]] = []


def _happen(event: Message, sequence: _Sequence, trace: Trace) -> None:
    (kind,) = event.pop(9)
    track = trace.tracks[sequence.track]
    if kind == _COUNTER:
        trace.counters[track].append((sequence.now, *event.pop(44)))
    elif kind == _BEGIN:
        assert sequence.opened is None
        notes = map(fields_of, event.pop(4, []))
        (name,) = event.pop(10)
        sequence.opened = sequence.names[name], sequence.now, dict(_note(note, sequence) for note in notes)
    else:
        assert kind == _END
        assert sequence.opened is not None
        name_, begin, said = sequence.opened
        trace.slices.append((track, name_, begin, sequence.now, said))
        sequence.opened = None
    assert not event


def _note(note: Message, sequence: _Sequence) -> tuple[str, object]:
    (name,) = note.pop(1)
    ((kind, (value,)),) = note.items()
    assert kind in (5, 6)
    return sequence.notes[name], value if kind == 5 else value.decode()


def _names(entries: list[bytes]) -> dict[int, str]:
    found = {entry[1][0]: entry[2][0].decode() for entry in map(fields_of, entries)}
    assert 0 not in found
    return found
