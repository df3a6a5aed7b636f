from __future__ import annotations

import math
import re
from typing import Any

import pytest

import taskscope
from taskscope.errors import OptionError, TaskscopeError


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dt": -1}, "dt must be a positive number of seconds, got -1"),
        ({"dt": math.nan}, "dt must be a positive number of seconds, got nan"),
        (
            {"metric": "nbyte"},
            (
                "unknown metric 'nbyte'; did you mean 'nbytes'?"
                " Known: 'nbytes', 'count', or a function of a result"
            ),
        ),
        (
            {"metric": "weight"},
            "unknown metric 'weight'. Known: 'nbytes', 'count', or a function of a result",
        ),
        ({"metric": None}, "unknown metric None. Known: 'nbytes', 'count', or a function of a result"),
        ({"max_tasks": 0}, "max_tasks must be a positive whole number of tasks, got 0"),
        ({"max_tasks": 1e6}, "max_tasks must be a positive whole number of tasks, got 1000000.0"),
        ({"display": "no"}, "display must be True or False, got 'no'"),
        ({"overwrite": 1}, "overwrite must be True or False, got 1"),
        ({"label": 3}, "label must be text, got 3"),
        ({"save": 3}, "save must be a path, as text or a Path, got 3"),
        ({"save": ["a.html"]}, "save must be a path, as text or a Path, got ['a.html']"),
    ],
)
def test_a_value_that_cannot_work_is_refused_with_what_would(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$") as caught:
        taskscope.profile(**options)
    assert isinstance(caught.value, (TaskscopeError, ValueError))
