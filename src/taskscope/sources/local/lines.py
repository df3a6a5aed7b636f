"""Measure the lines of named functions in tasks of this process."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from types import CodeType
from typing import Any, TypeAlias

from taskscope.options import Named, code_of
from taskscope.record import Recorder
from taskscope.sources.line_meter import LineMeter, LineSums, Sought, place_of
from taskscope.sources.local.timing import TimedTask

Measuring: TypeAlias = tuple[LineMeter, Any]
"""The meter of a thread, and the state that it had before."""


class LineSource:
    """Measures lines while functions are named."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._codes: dict[int, CodeType] = {}
        self._names: tuple[str, ...] = ()
        self.meter: LineMeter | None = None
        """The meter; None where no lines are to be measured."""

    @property
    def sought(self) -> Sought:
        """The functions to be measured, as another process can find them."""
        return tuple(place_of(code) for code in self._codes.values()), self._names

    def want(self, functions: Iterable[Named]) -> None:
        """Measure these functions, and no others."""
        functions = list(functions)
        if functions or self.meter is not None or self._codes or self._names:
            self._want(functions)

    def _want(self, functions: Sequence[Named]) -> None:
        found = [code for each in functions if not isinstance(each, str) and (code := code_of(each))]
        codes = {id(code): code for code in found}
        names = tuple(dict.fromkeys(each for each in functions if isinstance(each, str)))
        is_same = (codes, names) == (self._codes, self._names)
        if is_same and (self.meter or not functions):
            return
        self._stop()
        self._codes, self._names = codes, names
        if functions:
            self._start(is_new=not is_same)

    def _start(self, *, is_new: bool) -> None:
        meter = LineMeter(lambda error: self._recorder.fault("measuring lines", error))
        refusal = meter.open()
        if refusal is not None:
            self.refuse(refusal, at_start=is_new)
            return
        for code in self._codes.values():
            meter.add(code)
        meter.seek(((), self._names))
        self.meter = meter

    def _stop(self) -> None:
        meter, self.meter = self.meter, None
        if meter is not None:
            meter.close()

    def refuse(self, why: str, *, at_start: bool = False) -> None:
        with self._recorder.guard("refusing to count lines"):
            self._recorder.messages_log.refuse(f"lines are not counted: {why}", at_start=at_start)

    def begin(self) -> Measuring | None:
        """Start measuring this thread; None where that is not possible."""
        meter = self.meter
        if meter is None:
            return None
        with self._recorder.guard("measuring lines"):
            return meter, meter.begin()
        return None

    def end(self, measuring: Measuring, run: int, key: object) -> None:
        """Record the lines of this thread's task."""
        meter, before = measuring
        with self._recorder.guard("measuring lines"):
            self.add(run, key, os.getpid(), meter.end(before))

    def add(self, run: int, key: object, worker: int | str, measured: Iterable[LineSums]) -> None:
        self._recorder.measured_lines.add(run, key, str(worker), measured)


class MeteredTask(TimedTask):
    """A task whose lines are measured."""

    __slots__ = ()

    def __call__(self, values: object = ()) -> object:
        """Run the task, and record what lines took in it."""
        lines, measuring = self.log.lines, None
        try:
            if lines is not None:
                measuring = lines.begin()
            return TimedTask.__call__(self, values)
        finally:
            if lines is not None and measuring is not None:
                lines.end(measuring, self.log.run, self.key)
