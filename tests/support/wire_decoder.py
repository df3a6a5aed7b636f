"""A plain decoder of the wire's task columns: what the browser reads, one row at a time."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from taskscope.model.records import OBSERVED_BY, STATUSES
from taskscope.wire.schema import BUFFERS


@dataclass(frozen=True, slots=True)
class DecodedRow:
    key: str
    lane: int
    group: int
    start_s: float
    stop_s: float
    cpu_share: float | None
    size_bytes: float | None
    status: str
    observed_by: str
    error: str | None = None


def decode_rows(
    message: Mapping[str, Any], buffers: Sequence[bytes], names: Mapping[int, str] | None = None
) -> list[DecodedRow]:
    lane_status, group, stop_us, duration_s, cpu, size, dims, ints, lengths, text, error = (
        struct.unpack(f"<{len(buffer) // struct.calcsize(code)}{code}", buffer)
        for code, buffer in zip("HHIfHHBiHBH", buffers[: len(BUFFERS)], strict=True)
    )
    errors = iter(error)
    names = names or {row[0]: row[1] for row in message["groups"]}
    keys = _keys(dims, iter(ints), iter(lengths), bytes(text), [names.get(g, "?") for g in group])
    return [
        DecodedRow(
            key=keys[i],
            lane=lane_status[i] & 0x1FFF,
            group=group[i],
            start_s=message["base_s"] + stop_us[i] * 1e-6 - duration_s[i],
            stop_s=message["base_s"] + stop_us[i] * 1e-6,
            cpu_share=None if cpu[i] == 65535 else cpu[i] / 65534,
            size_bytes=None if size[i] == 65535 else 2 ** (size[i] / 1024) - 1,
            status=STATUSES[lane_status[i] >> 13 & 3],
            observed_by=OBSERVED_BY[lane_status[i] >> 15],
            error=_error(message["errors"], errors) if lane_status[i] >> 13 & 3 else None,
        )
        for i in range(message["count"])
    ]


def _error(texts: Sequence[str], codes: Iterator[int]) -> str | None:
    code = next(codes)
    return None if code == 65535 else texts[code]


def _keys(dims: Any, ints: Any, lengths: Any, text: bytes, names: list[str]) -> list[str]:
    keys: list[str] = []
    at = 0
    for n_ints, name in zip(dims, names, strict=True):
        if n_ints == 255:
            length = next(lengths)
            keys.append(text[at : at + length].decode())
            at += length
        else:
            keys.append(repr((name, *(next(ints) for _ in range(n_ints)))))
    return keys
