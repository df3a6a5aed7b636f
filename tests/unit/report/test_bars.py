from __future__ import annotations

import struct
import zlib

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from taskscope.analysis.display.coverage import ENDED_BADLY, Coverage
from taskscope.report.picture import LANE_PX, STEPS, bar_palette, bar_pixels, encode_png


def one_lane(busy: list[float], colour: int = 3) -> Coverage:
    shape = (1, len(busy))
    return Coverage(np.array([0]), 0.0, 1.0, np.array([busy]), np.full(shape, colour, np.uint8))


def opacity(pixels: NDArray[np.uint8]) -> NDArray[np.float64]:
    alphas = np.array([alpha for *_, alpha in bar_palette()], np.float64)
    return alphas[pixels] / 255


@given(st.lists(st.floats(0, 1), min_size=1, max_size=50))
def test_the_coloured_area_of_a_column_is_its_busy_share(busy: list[float]) -> None:
    area = opacity(bar_pixels(one_lane(busy))[:LANE_PX]).sum(axis=0) / LANE_PX
    # Half a step of rounding, or a whole one for a column that would vanish.
    assert np.abs(area - busy).max() <= 1 / (LANE_PX * STEPS) + 1e-3


def test_a_column_that_was_busy_at_all_is_never_empty() -> None:
    assert opacity(bar_pixels(one_lane([1e-9, 0.0]))).sum(axis=0).tolist() == [32 / 255, 0.0]


def test_what_ended_badly_is_hatched() -> None:
    shades = np.unique(bar_pixels(one_lane([1.0] * 12, ENDED_BADLY))[:LANE_PX])
    assert len(shades) == 2


def test_the_palette_fits_into_a_png() -> None:
    assert len(bar_palette()) == 1 + 21 * STEPS <= 256


def test_a_png_holds_the_pixels_it_was_given() -> None:
    pixels = np.array([[0, 1, 2], [2, 1, 0]], np.uint8)
    data = encode_png(pixels, [(0, 0, 0, 0), (1, 2, 3, 255), (4, 5, 6, 128)])
    chunks, at = {}, 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        body = data[at + 4 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length]) == (zlib.crc32(body),)
        chunks[body[:4]] = body[4:]
        at += 12 + length
    assert chunks == {
        b"IHDR": struct.pack(">IIBBBBB", 3, 2, 8, 3, 0, 0, 0),
        b"PLTE": bytes([0, 0, 0, 1, 2, 3, 4, 5, 6]),
        b"tRNS": bytes([0, 255, 128]),
        b"IDAT": chunks[b"IDAT"],
        b"IEND": b"",
    }
    assert zlib.decompress(chunks[b"IDAT"]) == bytes([0, 0, 1, 2, 0, 2, 1, 0])
