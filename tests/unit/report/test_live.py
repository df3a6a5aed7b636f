from __future__ import annotations

import re
from base64 import b64decode

import pytest

from taskscope.analysis.display.pictures import PALETTE
from taskscope.analysis.progress import Progress
from taskscope.model.tables.records import Estimate, Group, PrefixProgress, RunningTask
from taskscope.model.tables.workers import Scheduled
from taskscope.report import live_bundle


def test_a_running_block_says_how_far_it_is_and_labels_its_estimate() -> None:
    progress = Progress(
        10,
        4,
        2,
        1,
        0,
        0.4,
        2.0,
        Estimate(3.0, 2.2, 4.1),
        "running",
        (PrefixProgress(0, "<inc>", 10, 4, 1, 2, 0, 0.0),),
    )
    bundle = live_bundle(progress, [RunningTask(0, 0, 0, "<inc>", 1.0)], [Group(0, "<inc>", "<inc>", 0)])
    assert bundle["text/plain"] == (
        "taskscope · running · 4 of 10 tasks (40%) · 2 running · 2 s elapsed · 1 failed"
        " · about 3 s left (up to 5 s)"
    )
    assert "longest running: &lt;inc&gt;" in bundle["text/html"]


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (
            Progress(10, 4, 2, 0, 0, 0.4, 2.0, None, "running", (), Scheduled(1.0, 3, True, 0, 0, 3)),
            "4 of 10 tasks (40%) · 2 running · 2 s elapsed · 3 that no worker can run",
        ),
        (
            Progress(60, 52, 4, 0, 0, 0.0, 2.0, None, "running", ()),
            "52 finished, total not known yet · 4 running · 2 s elapsed",
        ),
    ],
    ids=["hangs", "total not known"],
)
def test_without_an_estimate_it_says_what_is_known(progress: Progress, text: str) -> None:
    bundle = live_bundle(progress, [], [])
    assert bundle["text/plain"] == f"taskscope · running · {text} · too early to estimate"


def test_a_task_type_has_the_colour_that_it_has_in_all_views_of_its_session() -> None:
    # The second one of this compute is the seventh of its session.
    prefixes = (PrefixProgress(0, "inc", 10, 10, 0, 0, 0, 0.0), PrefixProgress(0, "dec", 10, 4, 0, 2, 0, 0.0))
    progress = Progress(20, 14, 2, 0, 0, 0.7, 2.0, None, "running", prefixes)
    groups = [Group(0, "inc-1", "inc", 3), Group(1, "dec-1", "dec", 26), Group(2, "dec-2", "dec", 26)]
    data = re.search(r"base64,([^\"]+)", live_bundle(progress, [], groups)["text/html"])
    assert data is not None
    drawn = b64decode(data[1]).decode()
    fills = re.findall(r'height="12" fill="(#......)"', drawn)
    assert fills == [*["#59636e"] * 2, *[PALETTE[3]] * 2, *[PALETTE[6]] * 2]
