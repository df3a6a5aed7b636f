"""Count how often tests of others reach ours, and let no session pass in which one never did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import pytest

__all__ = ["Reach"]


class Reach:
    """A plugin of pytest.

    Parameters
    ----------
    names
        What ours and theirs are called.
    elsewhere
        Tests that pass without reaching ours, and why.
    different
        Tests that are not run, because ours differs by design, and how.
    """

    def __init__(
        self, names: tuple[str, str], elsewhere: Mapping[str, str], different: Mapping[str, str]
    ) -> None:
        self._names = names
        self._elsewhere = elsewhere
        self._different = different
        self._ours: Counter[str] = Counter()
        self._theirs: Counter[str] = Counter()
        self._left_out: set[str] = set()
        self._running = ""

    def ours(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method of ours that counts its calls."""
        return self._counted(method, self._ours)

    def theirs(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method of theirs that counts its calls."""
        return self._counted(method, self._theirs)

    def _counted(self, method: Callable[..., Any], counter: Counter[str]) -> Callable[..., Any]:
        @wraps(method)
        def counting(*arguments: Any, **options: Any) -> Any:
            counter[self._running] += 1
            return method(*arguments, **options)

        return counting

    # Called by pytest -------------------------------------------------------------------------------------

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        for item in items:
            why = self._different.get(_name(item))
            if why is not None:
                item.add_marker(pytest.mark.skip(reason=why))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._running = _name(item)
        self._ours.setdefault(self._running, 0)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped:
            self._left_out.add(self._running)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._left_out.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.exitstatus == pytest.ExitCode.OK and self._faults():
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        ours, theirs = self._names
        reached = sum(hits > 0 for hits in self._ours.values())
        terminalreporter.section("substitution")
        terminalreporter.line(
            f"{reached} of {len(self._ours)} test functions reached {ours}, "
            f"{sum(self._ours.values())} times in all, and {theirs} {sum(self._theirs.values())} times"
        )
        for name, why in self._elsewhere.items():
            terminalreporter.line(f"not about {ours}: {name}: {why}")
        for name, why in self._different.items():
            terminalreporter.line(f"different by design: {name}: {why}")
        for fault in self._faults():
            terminalreporter.line(fault)

    def _faults(self) -> list[str]:
        """Return what keeps this from being a proof."""
        ours, theirs = self._names
        named = self._elsewhere.keys() | self._different.keys()
        missed = [name for name, hits in self._ours.items() if not hits and name not in named]
        return [
            *(f"NEVER REACHED {ours}: {name}" for name in sorted(missed)),
            *(f"REACHED {theirs}: {name}" for name in sorted(self._theirs)),
            *(f"SKIPPED, AND NOT LISTED: {name}" for name in sorted(self._left_out - self._different.keys())),
            *(f"LISTED, AND NOT THERE: {name}" for name in sorted(named - self._ours.keys())),
        ]


def _name(item: pytest.Item) -> str:
    return item.name.partition("[")[0]
