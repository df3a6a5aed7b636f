from __future__ import annotations

import dask
import pytest

import taskscope
from taskscope.analysis.display.colours import colours_of, prefix_colours
from taskscope.analysis.display.page_tables import compact_tables


def _fail(_: object) -> None:
    raise ValueError("no")


def test_a_task_type_of_which_nothing_ran_has_its_colour_in_pages() -> None:
    with taskscope.profile(display=False) as run:
        dask.get({"page_first": (int, 1)}, "page_first")
        with pytest.raises(ValueError, match="no"):
            dask.get({"page_fails": (_fail, 1), "page_never": (_fail, "page_fails")}, "page_never")
    tables = compact_tables(run.recording)
    assert [row.prefix for row in tables.progress] == ["page_first", "page_fails", "page_never"]
    assert colours_of(tables.groups) == prefix_colours(run.recording)
    assert [group.id for group in tables.groups] == [0, 1, 2]
