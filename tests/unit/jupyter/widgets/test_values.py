from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from taskscope.analysis.progress import PrefixCount, Progress
from taskscope.analysis.time_left import TimeLeft
from taskscope.jupyter.widgets.sender import TraitSender
from taskscope.jupyter.widgets.values import progress_values
from taskscope.model.tables.workers import Scheduled
from taskscope.record.pump import Tick


def progress(**values: Any) -> Progress:
    fields: dict[str, Any] = {
        "total": 4,
        "finished": 1,
        "running": 2,
        "erred": 1,
        "interrupted": 0,
        "fraction": 0.25,
        "elapsed_s": 2.0,
        "left": TimeLeft(3.0, 2.0, 5.0, 3),
        "state": "running",
        "prefixes": (PrefixCount("inc", 4, 1, 2, 1),),
    }
    return Progress(**{**fields, **values})


def test_traits_are_the_counts_as_plain_json() -> None:
    unknown = dict.fromkeys(("queued", "waiting", "no_worker", "asked", "asked_s"))
    assert progress_values(progress()) == {
        "total": 4,
        "finished": 1,
        "running": 2,
        "starting": "",
        "erred": 1,
        "skipped": 0,
        **unknown,
        "fraction": 0.25,
        "elapsed_s": 2.0,
        "eta_s": 3.0,
        "eta_low_s": 2.0,
        "eta_high_s": 5.0,
        "eta_unseen": 3,
        "state": "running",
        "groups": [{"prefix": "inc", "total": 4, "finished": 1, "running": 2, "erred": 1}],
    }


def test_what_a_scheduler_said_of_tasks_ahead_is_told_with_its_time_and_of_how_many_it_is() -> None:
    some = Scheduled(1.5, 20, False, 3, 16, 1)
    values = progress_values(
        progress(scheduled=some, prefixes=(PrefixCount("inc", 4, 1, 2, 1, replace(some, is_all=True)),))
    )
    told = {"queued": 3, "waiting": 16, "no_worker": 1, "asked": 20, "asked_s": 1.5}
    assert {name: values[name] for name in told} == told
    assert values["groups"] == [
        {"prefix": "inc", "total": 4, "finished": 1, "running": 2, "erred": 1, **told, "asked": None}
    ]


def test_unknown_numbers_are_none_and_any_text_can_be_sent() -> None:
    odd = progress(
        left=TimeLeft(math.inf, 0.0, math.inf),
        elapsed_s=math.nan,
        prefixes=(PrefixCount("\ud800" + "x" * 10_000, 1, 0, 0, 0),),
    )
    values = progress_values(odd)
    json.dumps(values, allow_nan=False, ensure_ascii=False).encode("utf-8")
    groups = values["groups"]
    assert isinstance(groups, list)
    assert (values["eta_s"], values["elapsed_s"], len(groups[0]["prefix"]) < 600) == (None, 0.0, True)


def test_at_most_two_hundred_groups_are_sent() -> None:
    many = progress(prefixes=tuple(PrefixCount(str(i), 1, 0, 0, 0) for i in range(300)))
    groups = progress_values(many)["groups"]
    assert isinstance(groups, list)
    assert [g["prefix"] for g in groups] == [str(i) for i in range(200)]


class FakeRecorder:
    version = 0
    cursor = 0


def test_a_widget_asks_for_its_turn_only_when_there_is_news() -> None:
    recorder = FakeRecorder()
    sent: list[float] = []
    told: list[str] = []
    sender = TraitSender("w", recorder, sent.append, lambda: bool(told))  # type: ignore[arg-type]  # the two numbers it reads
    idle, active = Tick(1.0, active=False, final=False), Tick(2.0, active=True, final=False)
    assert sender.wants(idle)
    sender.send(idle)
    assert (sender.wants(idle), sender.wants(active), sender.wants(Tick(3.0, active=False, final=True))) == (
        False,
        True,
        True,
    )
    recorder.cursor = 5
    assert sender.wants(idle)
    sender.send(idle)
    told.append("a person chose something")
    assert (sender.wants(idle), sent) == (True, [1.0, 1.0])
