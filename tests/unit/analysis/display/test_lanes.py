from __future__ import annotations

import pytest

from taskscope.analysis.display.pictures import lane_names
from taskscope.model.tables.records import Lane
from tests.support.shared_cases import shared_cases


@pytest.mark.parametrize(("labels", "names"), shared_cases("lanes")["names"])
def test_lanes_of_pictures_have_the_names_of_live_charts(labels: list[str], names: list[str]) -> None:
    lanes = [Lane(i, "7", i, label) for i, label in enumerate(labels)]
    assert lane_names(lanes) == dict(enumerate(names))
