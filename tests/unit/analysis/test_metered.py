from __future__ import annotations

from dataclasses import replace

import pytest

from taskscope.analysis.cluster import cpu_by_prefix
from taskscope.model.tables.workers import Metric
from tests.support.recordings.spelled_out import recording_of
from tests.support.shared_cases import shared_cases


@pytest.mark.parametrize(("activity", "is_of_cpu"), shared_cases("metered")["on the CPU"])
def test_metered_seconds_are_cpu_time_as_in_live_charts(
    activity: str,
    is_of_cpu: bool | None,  # noqa: FBT001 - as the case has it
) -> None:
    metered = Metric(0, "tcp://a:1", "load", activity, 2.0, 0.0, 1.0)
    recording = replace(recording_of([]), metrics=(metered,))
    assert cpu_by_prefix(recording) == {"load": 2.0 if is_of_cpu else 0.0}
