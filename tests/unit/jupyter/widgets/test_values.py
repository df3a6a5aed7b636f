from __future__ import annotations

import json
import math
from typing import Any

from taskscope.analysis.progress import Progress
from taskscope.jupyter.widgets.values import progress_values
from taskscope.model.keys import MAX_TEXT
from taskscope.model.tables.records import Estimate, PrefixProgress


def progress(**values: Any) -> Progress:
    fields: dict[str, Any] = {
        "total": 4,
        "finished": 1,
        "running": 2,
        "erred": 1,
        "interrupted": 0,
        "fraction": 0.25,
        "elapsed_s": 2.0,
        "left": Estimate(3.0, 2.0, 5.0, 3),
        "state": "running",
        "prefixes": (PrefixProgress(0, "inc", 4, 1, 1, 2, 0, 0.0),),
    }
    return Progress(**{**fields, **values})


def test_unknown_numbers_are_none_and_any_text_can_be_sent() -> None:
    odd = progress(
        left=Estimate(math.inf, 0.0, math.inf),
        elapsed_s=math.nan,
        prefixes=(PrefixProgress(0, "\ud800" + "x" * 10_000, 1, 0, 0, 0, 0, 0.0),),
    )
    values = progress_values(odd)
    json.dumps(values, allow_nan=False, ensure_ascii=False).encode("utf-8")
    groups = values["groups"]
    assert isinstance(groups, list)
    assert (values["eta_s"], values["elapsed_s"], len(groups[0]["prefix"])) == (None, 0.0, MAX_TEXT)


def test_at_most_two_hundred_groups_are_sent() -> None:
    many = progress(prefixes=tuple(PrefixProgress(0, str(i), 1, 0, 0, 0, 0, 0.0) for i in range(300)))
    groups = progress_values(many)["groups"]
    assert isinstance(groups, list)
    assert [g["prefix"] for g in groups] == [str(i) for i in range(200)]
