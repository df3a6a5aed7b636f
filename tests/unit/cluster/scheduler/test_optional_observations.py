"""What cannot be observed of a compute is unknown; the compute is recorded all the same."""

from __future__ import annotations

from typing import Any, ClassVar

import dask
import pytest
from dask._expr import Expr
from distributed import Client

import taskscope
from taskscope.sources.cluster import adapter, runs
from taskscope.sources.sampler import Sampler
from tests.support.clusters.recordings import rows

LARGE = b"x" * 2_000_000


def fail(*_: Any, **__: Any) -> Any:
    raise RuntimeError("odd")


@pytest.mark.parametrize(
    ("place", "name"),
    [
        (adapter, "largest_argument"),
        (adapter, "functions_of"),
        (adapter, "_is_single"),
        (adapter, "_note_size"),
        (runs, "current_cell"),
        (runs, "current_execution"),
        (runs, "calling_line"),
        (runs.TrackedRun, "note_functions"),
        (Sampler, "compute_started"),
        (Sampler, "compute_stopped"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_observation_that_fails_costs_no_other(
    client: Client, monkeypatch: pytest.MonkeyPatch, place: object, name: str
) -> None:
    monkeypatch.setattr(place, name, fail)
    with taskscope.profile(display=False) as run:
        assert dask.delayed(len)(LARGE).compute() == len(LARGE)
    recording = run.wait()
    assert rows(recording, "runs", "status", "n_tasks") == [("finished", 1)]
    assert rows(recording, "tasks", "status") == [("finished",)]
    texts = [text for (text,) in rows(recording, "messages", "text")]
    assert texts
    assert all("RuntimeError: odd; the computation was not affected" in text for text in texts)


class Sized:
    """Its size cannot be had, as that of a lazy array with chunks of unknown sizes."""

    @property
    def nbytes(self) -> int:
        raise NotImplementedError


class Foreign(Expr):
    """An expression of another package than Dask's."""

    _parameters: ClassVar = ["values"]  # type: ignore[misc]  # Dask does so, too

    @property
    def nbytes(self) -> int:
        raise NotImplementedError


@pytest.mark.parametrize(
    "make",
    [lambda: [Sized(), LARGE], lambda: Foreign([LARGE])],  # type: ignore[no-untyped-call]  # of Dask
    ids=["value", "expression"],
)
def test_the_largest_value_is_found_where_the_size_of_another_cannot_be_had(make: Any) -> None:
    found = adapter.largest_argument(make())
    assert found is not None
    assert found[1] == len(LARGE)
