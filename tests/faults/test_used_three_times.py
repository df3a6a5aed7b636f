"""Every feature a first, second and third time in one process: each use has its own tasks, and all of them.

The use in the middle may fail, or be interrupted from a task, and the extension may hold the session
meanwhile: state that outlives its first use shows in the uses after it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import dask.threaded
import pytest
from IPython.core.interactiveshell import InteractiveShell

import taskscope
from taskscope.diagnostics import (
    CacheProfiler,
    Callback,
    MemorySampler,
    Profiler,
    ProgressBar,
    ResourceProfiler,
)
from taskscope.jupyter.feed import current as current_feed
from taskscope.model.tables.stacks import CLIENT_RUN
from taskscope.recording import Recording
from taskscope.session import current
from tests.support.shell import shell_with_taskscope
from tests.support.waiting import until

USES = ("first", "second", "third")
ENDS = {"finished": None, "erred": ValueError, "interrupted": KeyboardInterrupt}


@dataclass
class Use:
    """One use of a feature: three tasks and then one that ends as it should.

    Parameters
    ----------
    name
        The prefix of its tasks.
    end
        How it ends.
    seen
        Whether the feature has seen enough of the first task.
    """

    name: str
    end: str
    folder: Path
    seen: Callable[[], bool] = field(default=lambda: True)

    @property
    def tasks(self) -> dict[str, str]:
        """What became of its tasks."""
        return {**{f"('{self.name}', {i})": "finished" for i in range(3)}, f"('{self.name}', 3)": self.end}

    @property
    def n_finished(self) -> int:
        """How many of its tasks gave a result."""
        return list(self.tasks.values()).count("finished")

    def compute(self) -> None:
        """Compute, and raise what a task raises."""
        keys = [(self.name, i) for i in range(3)]
        graph: dict[Any, Any] = dict.fromkeys(keys, (self._wait,))
        graph[self.name, 3] = (self._finish, keys)
        assert dask.threaded.get(graph, (self.name, 3), num_workers=2) == 3

    def try_compute(self) -> None:
        """Compute, and swallow what it is meant to raise."""
        with suppress(*(error for error in [ENDS[self.end]] if error is not None)):
            self.compute()

    def _wait(self) -> int:
        until(self.seen)
        return 1

    def _finish(self, ones: list[int]) -> int:
        error = ENDS[self.end]
        if error is not None:
            raise error
        return sum(ones)


def tasks_of(recording: Recording) -> dict[str, str]:
    table = recording.table("tasks")
    assert len(table["key"]) == len(set(table["key"]))
    return dict(zip(table["key"], table["status"], strict=True))


def recorded_by_a_block(use: Use, **options: Any) -> Recording:
    with suppress(BaseException), taskscope.profile(display=False, **options) as block:
        use.compute()
    return block.recording


# Each returns what the feature has of one use, and what is right ----------------------------------------


def in_a_block(use: Use) -> tuple[object, object]:
    found = recorded_by_a_block(use, label=use.name)
    return [(run.label, run.status) for run in found.runs] + [tasks_of(found)], [
        (use.name, use.end),
        use.tasks,
    ]


def cache(use: Use) -> tuple[object, object]:
    found = recorded_by_a_block(use)
    results = [key for key, status in use.tasks.items() if status == "finished"]
    return sorted(found.table("cache")["key"]), sorted(results)


def file_that_is_written_meanwhile(use: Use) -> tuple[object, object]:
    path = use.folder / f"{use.name}.taskscope"
    use.seen = path.exists
    found = recorded_by_a_block(use, save=path)
    loaded = taskscope.load(path)
    return (tasks_of(loaded), loaded.messages), (use.tasks, found.messages)


def memory_sampler(sampler: MemorySampler, use: Use) -> tuple[object, object]:
    before = dict(sampler.samples)
    with sampler.sample(use.name, interval=0.01):
        use.try_compute()
    found = sampler.samples[use.name]
    times = [time_s for time_s, _ in found]
    return (
        (len(found) >= 2, times == sorted(times), list(sampler.samples), all(n > 0 for _, n in found)),
        (True, True, [*before, use.name], True),
    )


class _Counting(Callback):
    def __init__(self) -> None:
        self.seen: list[str] = []

    def _start(self, dsk: object) -> None:
        self.seen = ["start"]

    def _posttask(self, key: object, *_: object) -> None:
        self.seen.append(str(key))

    def _finish(self, dsk: object, state: object, failed: bool) -> None:  # noqa: FBT001 - Dask calls it so
        self.seen.append("failed" if failed else "finished")


def callback(callback: _Counting, use: Use) -> tuple[object, object]:
    with callback:
        use.try_compute()
    first, *tasks, last = callback.seen
    results = {key for key, status in use.tasks.items() if status == "finished"}
    return (first, set(tasks), last), ("start", results, "finished" if use.end == "finished" else "failed")


def registered_progress_bar(bar: ProgressBar, use: Use) -> tuple[object, object]:
    out = bar._text._stream = io.StringIO()
    bar.register()
    try:
        use.try_compute()
    finally:
        bar.unregister()
    last = out.getvalue().rpartition("| ")[0].rpartition("| ")[2]
    return (last, out.getvalue()[-1:]), (f"{100 * use.n_finished // 4}% Completed ", "\n")


def progress_bar(bar: ProgressBar, use: Use) -> tuple[object, object]:
    out = bar._text._stream = io.StringIO()
    with bar:
        use.try_compute()
    last = out.getvalue().rpartition("| ")[0].rpartition("| ")[2]
    return (last, out.getvalue()[-1:]), (f"{100 * use.n_finished // 4}% Completed ", "\n")


def profiler(profiler: Profiler, use: Use) -> tuple[object, object]:
    profiler.clear()
    with profiler:
        use.try_compute()
    # As upstream: a task that gave no result has no row.
    results = {key for key, status in use.tasks.items() if status == "finished"}
    return {str(row.key) for row in profiler.results}, results


def cache_profiler(profiler: CacheProfiler, use: Use) -> tuple[object, object]:
    profiler.clear()
    with profiler:
        use.try_compute()
    return (
        {str(row.key): row.metric for row in profiler.results},
        {key: 1 for key, status in use.tasks.items() if status == "finished"},
    )


def resource_profiler(profiler: ResourceProfiler, use: Use) -> tuple[object, object]:
    profiler.clear()
    log, start_s = current().recorder.resources, current().recorder.clock.perf_counter()
    with profiler:
        before = log.cursor
        use.seen = lambda: log.cursor >= before + 4
        use.try_compute()
    return (len(profiler.results) >= 4, all(row.time >= start_s for row in profiler.results)), (True, True)


def progress_widget(use: Use) -> tuple[object, object]:
    widget = taskscope.ProgressWidget()
    use.try_compute()
    found = widget.state, widget.total, widget.finished, widget.erred, widget.running
    widget.close()
    return found, (use.end, 4, use.n_finished, int(use.end == "erred"), 0)


def dashboard(use: Use) -> tuple[object, object]:
    widget = taskscope.Dashboard()
    use.try_compute()
    found = widget.state, widget.total, widget.finished, widget.n_tasks, widget.peak_n_keys
    widget.close()
    return found, (use.end, 4, use.n_finished, 4, 3)


Feature = Callable[[Use], tuple[object, object]]
FEATURES: dict[str, Callable[[], Feature]] = {
    **{
        made.__name__: (lambda made=made: made)  # type: ignore[misc]  # bound now, not called with it
        for made in (
            in_a_block,
            cache,
            file_that_is_written_meanwhile,
            progress_widget,
            dashboard,
        )
    },
    "progress_bar": lambda: partial(progress_bar, ProgressBar(out=io.StringIO())),
    "registered_progress_bar": lambda: partial(registered_progress_bar, ProgressBar(out=io.StringIO())),
    "callback": lambda: partial(callback, _Counting()),
    "memory_sampler": lambda: partial(memory_sampler, MemorySampler()),
    "profiler": lambda: partial(profiler, Profiler()),
    "cache_profiler": lambda: partial(cache_profiler, CacheProfiler()),
    "resource_profiler": lambda: partial(resource_profiler, ResourceProfiler(dt=0.01)),
}


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    with shell_with_taskscope() as shell:
        yield shell


@pytest.fixture(autouse=True)
def closed_feed() -> Iterator[None]:
    yield
    current_feed().close()


@pytest.fixture(params=["with the extension", "without"])
def extension(request: pytest.FixtureRequest) -> None:
    if request.param == "with the extension":
        request.getfixturevalue("shell")


def three_uses(middle: str, folder: Path) -> list[Use]:
    ends = ("finished", middle, "finished")
    return [Use(name, end, folder) for name, end in zip(USES, ends, strict=True)]


@pytest.mark.usefixtures("extension")
@pytest.mark.parametrize("middle", ENDS)
@pytest.mark.parametrize("feature", FEATURES)
def test_each_use_has_its_own_tasks_and_all_of_them(feature: str, middle: str, tmp_path: Path) -> None:
    use_feature = FEATURES[feature]()
    found, right = zip(*(use_feature(use) for use in three_uses(middle, tmp_path)), strict=True)
    assert found == right


@pytest.mark.parametrize("middle", ENDS)
def test_each_profiled_cell_has_its_own_tasks_and_call_stacks(
    middle: str, shell: InteractiveShell, tmp_path: Path
) -> None:
    def n_samples() -> int:
        """Return how often a task was sampled; before it the thread of the block may be."""
        rows = current().recorder.stacks.between(0, None).rows
        return int(rows.count[rows.run != CLIENT_RUN].sum())

    found = []
    uses = three_uses(middle, tmp_path)
    for use in uses:
        before = n_samples()
        use.seen = lambda before=before: n_samples() > before  # type: ignore[misc]  # bound now
        shell.user_ns["use"] = use
        shell.run_cell("%%profile -q -o run\nuse.compute()")
        run = shell.user_ns.pop("run")
        found.append((tasks_of(run), run.profile().n_samples > 0))
    assert found == [(use.tasks, True) for use in uses]
