from __future__ import annotations

import math
import re
from typing import Any

import pytest

from taskscope.errors import OptionError, TaskscopeError
from taskscope.options import Options
from taskscope.session import Session


def test_what_is_not_said_is_the_default() -> None:
    options = Options()
    assert (options.dt, options.metric, options.max_tasks) == (0.25, "nbytes", 1_000_000)


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
            "unknown metric 'weight'; Known: 'nbytes', 'count', or a function of a result",
        ),
        ({"metric": None}, "unknown metric None; Known: 'nbytes', 'count', or a function of a result"),
        ({"max_tasks": 0}, "max_tasks must be a positive whole number of tasks, got 0"),
        ({"max_tasks": 1e6}, "max_tasks must be a positive whole number of tasks, got 1000000.0"),
    ],
)
def test_a_value_that_cannot_work_is_refused_with_what_would(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$") as caught:
        Options(**options)
    assert isinstance(caught.value, (TaskscopeError, ValueError))


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="interval"):
        Options(interval=1)  # type: ignore[call-arg]  # that is the point


@pytest.mark.parametrize("metric", ["nbytes", "count", len])
def test_metrics_that_work_are_names_and_functions(metric: Any) -> None:
    assert Options(metric=metric).metric is metric


def test_a_holder_without_a_say_leaves_interval_and_metric_to_the_others() -> None:
    session = Session()
    first, second = object(), object()
    session.hold(first, Options(dt=2.0, metric="count"))
    session.hold(second, Options(dt="any", metric="any"))
    assert (session.sampler.dt, session.metric_name) == (2.0, "count")
    session.release(first)
    assert (session.sampler.dt, session.metric_name) == (0.25, "nbytes")
    session.release(second)


def test_a_recording_has_the_limits_of_threads_that_are_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")
    assert Session().metadata()["thread_limits"] == {"OPENBLAS_NUM_THREADS": "1"}
