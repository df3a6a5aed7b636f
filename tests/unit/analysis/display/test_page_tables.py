from __future__ import annotations

import dask
import pytest

import taskscope
from taskscope.analysis.display.page_tables import recorded_frames
from taskscope.analysis.display.pictures import N_COLOURS, prefix_colours
from tests.support.wire_decoder import PageReader


def _fail(_: object) -> None:
    raise ValueError("no")


def test_a_task_type_of_which_nothing_ran_has_its_colour_in_pages() -> None:
    with taskscope.profile(display=False) as run:
        dask.get({"page_first": (int, 1)}, "page_first")
        with pytest.raises(ValueError, match="no"):
            dask.get({"page_fails": (_fail, 1), "page_never": (_fail, "page_fails")}, "page_never")
    told = PageReader().read(recorded_frames(run.recording))["tables"]
    assert [row["prefix"] for row in told["progress"]] == ["page_first", "page_fails", "page_never"]
    colours = {row["prefix"]: row["colour"] % N_COLOURS for row in told["groups"]}
    assert colours == prefix_colours(run.recording)
