from __future__ import annotations

import subprocess
import sys
import time

import dask
import distributed.diagnostics
import pytest

from taskscope.diagnostics import MemorySampler
from taskscope.errors import OptionError
from taskscope.session import current
from tests.support.waiting import until


def enough(ms: MemorySampler, interval: float, n: int) -> list[tuple[float, int]]:
    """Return samples of a block that lasts until the sampler has taken some."""
    recorder = current().recorder
    with ms.sample("x", interval=interval):
        first = recorder.resources.cursor
        until(lambda: recorder.resources.cursor >= first + n)
    return ms.samples["x"]


def test_this_process_is_sampled_from_the_first_moment_to_the_last() -> None:
    before = time.time()
    samples = enough(MemorySampler(), 0.02, 3)
    times, sizes = zip(*samples, strict=True)
    assert len(samples) >= 5
    # They are measured on another clock, which drifts against this one in the hours of a process.
    assert before - 1.0 <= times[0] <= times[-1] <= time.time() + 1.0
    assert list(times) == sorted(times)
    assert all(type(size) is int and size > 10e6 for size in sizes)


_TAKES_MEMORY = """
from taskscope.diagnostics import MemorySampler
ms = MemorySampler()
with ms.sample("x", interval=0.05):
    held = b"x" * 200_000_000
(_, first), *_, (_, last) = ms.samples["x"]
print(last - first)
"""


def test_memory_that_the_block_takes_is_seen() -> None:
    # In a process of its own: what earlier tests have used is given back to the system at any time.
    ended = subprocess.run([sys.executable, "-c", _TAKES_MEMORY], check=True, capture_output=True, text=True)
    assert 195e6 < int(ended.stdout) < 260e6


_WITHOUT_DISTRIBUTED = """
import sys
sys.modules["distributed"] = None
from taskscope.diagnostics import MemorySampler
ms = MemorySampler()
with ms.sample("x"):
    pass
print(len(ms.samples["x"]) > 0)
try:
    ms.to_pandas()
except ImportError as error:
    print(error)
"""


def test_it_samples_where_distributed_is_not_installed() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", _WITHOUT_DISTRIBUTED], check=True, capture_output=True, text=True
    )
    assert ended.stdout == "True\nto_pandas is distributed's: pip install distributed\n"


def test_the_shortest_block_has_samples_and_a_label_is_made_up_where_none_is_given() -> None:
    ms = MemorySampler()
    with ms.sample():
        pass
    ((label, samples),) = ms.samples.items()
    assert len(label) > 10
    assert len(samples) >= 1


def test_blocks_can_overlap_and_nothing_is_left_behind() -> None:
    ms = MemorySampler()
    with ms.sample("outer", interval=0.02):
        with ms.sample("inner", interval=0.02):
            dask.delayed(sum)([1]).compute(scheduler="synchronous")
        assert len(ms.samples["inner"]) >= 1
        assert current().held
    assert len(ms.samples["outer"]) >= len(ms.samples["inner"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"measure": "managed"}, "measure must be 'process' without a cluster, got 'managed'; pass client="),
        ({"interval": 0}, "interval must be a positive number of seconds, got 0"),
        ({"interval": "fast"}, "interval must be a positive number of seconds, got 'fast'"),
    ],
)
def test_what_cannot_work_is_refused_at_once(options: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        MemorySampler().sample("x", **options)  # type: ignore[arg-type]  # that is what is tested


def test_series_of_this_process_are_compared_as_distributed_compares_those_of_clusters() -> None:
    ms = MemorySampler()
    for label in ("one", "two"):
        with ms.sample(label, interval=0.01):
            pass
    assert isinstance(ms, distributed.diagnostics.MemorySampler)
    frame = ms.to_pandas(align=True)
    assert list(frame.columns) == ["one", "two"]
    assert frame.iloc[0].tolist() == [ms.samples["one"][0][1], ms.samples["two"][0][1]]
