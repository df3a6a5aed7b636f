from __future__ import annotations

import io
import logging
import sys
import threading
import time
from contextlib import ExitStack
from typing import Any

import dask
import dask.threaded
import pytest
from dask.callbacks import add_callbacks

import taskscope
from taskscope.diagnostics import Callback, ProgressBar
from taskscope.errors import OptionError
from tests.support.waiting import PATIENCE_S, until

FULL = "[" + "#" * 40 + "] | 100% Completed | "


class Terminal(io.StringIO):
    """Shows carriage returns as such."""

    def isatty(self) -> bool:
        return True


class Counting(Terminal):
    """Counts writes and flushes."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = self.flushes = 0

    def write(self, text: str) -> int:
        self.writes += 1
        return super().write(text)

    def flush(self) -> None:
        self.flushes += 1
        super().flush()


def compute() -> int:
    return int(dask.get({"x": (abs, -1)}, "x"))


def last_line(out: io.StringIO) -> str:
    assert out.getvalue().endswith("\n")
    return out.getvalue().split("\r")[-1].rstrip("\n")


def test_a_short_compute_writes_one_line_once() -> None:
    out = Counting()
    with ProgressBar(out=out, dt=1000) as bar:
        assert compute() == 1
    assert out.getvalue().startswith(f"\r{FULL}")
    assert (out.writes, out.flushes, out.getvalue().count("\n")) == (1, 1, 1)
    assert 0 < bar.last_duration < 60


def test_it_moves_while_a_compute_lasts() -> None:
    out = Counting()

    def wait(_: object) -> int:
        until(lambda: "50%" in out.getvalue())
        return 1

    with ProgressBar(out=out, width=10, dt=0.01):
        dask.get({"a": 1, "b": (abs, "a"), "c": (wait, "b")}, "c")
    lines = [line.rpartition(" | ")[0] for line in out.getvalue().rstrip("\n").split("\r")[1:]]
    # On a busy machine there may be a line before the first task has ended, and one just before the end.
    assert "[#####     ] | 50% Completed" in lines
    assert lines[-1] == "[##########] | 100% Completed"
    assert lines == sorted(lines, key=lambda line: line.count("#"))


def test_elsewhere_than_on_a_terminal_it_writes_whole_lines() -> None:
    out = io.StringIO()

    def wait(_: object) -> int:
        until(lambda: "50%" in out.getvalue())
        return 1

    with taskscope.profile(label="rechunk", display=False), ProgressBar(out=out, width=10, dt=0.01):
        dask.get({"a": 1, "b": (abs, "a"), "c": (wait, "b")}, "c")
    assert "\r" not in out.getvalue()
    assert out.getvalue().endswith("\n")
    lines = [line.rpartition(" | ")[0] for line in out.getvalue().splitlines()]
    assert set(lines) - {"rechunk [          ] | 0% Completed", "rechunk [######### ] | 99% Completed"} == {
        "rechunk [#####     ] | 50% Completed",
        "rechunk [##########] | 100% Completed",
    }
    assert lines[-1] == "rechunk [##########] | 100% Completed"


def test_lines_of_long_computes_are_ten_seconds_apart_by_default() -> None:
    def first_lines_s(**options: Any) -> list[float]:
        bar = ProgressBar(**options)._text
        return [tenth / 10 for tenth in range(1000) if bar.is_due(tenth / 10)][:3]

    assert first_lines_s(out=io.StringIO()) == [1, 11, 21]
    assert first_lines_s(out=io.StringIO(), dt=30) == [1, 31, 61]
    assert first_lines_s(out=Terminal(), logger=logging.getLogger("mine")) == [1, 11, 21]
    assert first_lines_s(out=Terminal(), dt=0.5) == [0.5, 1.0, 1.5]


def test_a_logger_gets_the_lines_and_the_stream_nothing(caplog: pytest.LogCaptureFixture) -> None:
    out = Terminal()
    with caplog.at_level(logging.INFO, "mine"), ProgressBar(out=out, logger=logging.getLogger("mine")):
        compute()
    assert out.getvalue() == ""
    assert [r.levelname for r in caplog.records] == ["INFO"] * len(caplog.records)
    assert caplog.messages[-1].startswith(FULL)


def test_only_the_end_of_a_compute_draws_100_percent() -> None:
    texts = []
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(200):
            out = Terminal()
            with ProgressBar(out=out, dt=0.001):
                dask.get({"x": (time.sleep, 0.001)}, "x")
            texts.append(out.getvalue())
    finally:
        sys.setswitchinterval(interval_s)
    assert [text.count("100% Completed") for text in texts] == [1] * 200


def test_a_failed_compute_shows_how_far_it_came() -> None:
    out = Terminal()
    with pytest.raises(ZeroDivisionError), ProgressBar(out=out, width=10) as bar:
        dask.get({"a": (abs, -1), "b": (lambda x: x / 0, "a")}, "b")
    assert last_line(out).startswith("[#####     ] | 50% Completed | ")
    assert not bar._running
    assert not bar._timer.is_alive()


def test_a_compute_shorter_than_the_minimum_shows_nothing() -> None:
    out = Counting()
    with ProgressBar(100.0, out=out) as bar:
        assert compute() == 1
    assert (out.getvalue(), out.writes) == ("", 0)
    assert bar.last_duration > 0


def test_registered_it_shows_every_compute_and_once_in_a_block_of_its_own() -> None:
    out = io.StringIO()
    bar = ProgressBar(out=out, dt=1000)
    bar.unregister()
    bar.register()
    bar.register()
    compute()
    with bar:
        compute()
    bar.unregister()
    compute()
    assert out.getvalue().count("100% Completed") == 2
    with add_callbacks(bar):
        compute()
    assert out.getvalue().count("100% Completed") == 3
    assert Callback.active == set()


def test_a_callback_that_raises_at_the_end_leaves_no_bar_behind() -> None:
    def fail(*_: object) -> None:
        raise ValueError("no end")

    # Dask calls registered callbacks in the order of a set: one that raises is before some of these.
    bars = [ProgressBar(out=io.StringIO()) for _ in range(10)]
    with ExitStack() as stack:
        for callback in (*bars, Callback(finish=fail)):
            stack.enter_context(callback)
        with pytest.raises(ValueError, match="no end"):
            dask.get({"x": (abs, -1)}, "x")
    assert [bar._timer.is_alive() for bar in bars] == [False] * 10
    assert [bar._running for bar in bars] == [False] * 10


@pytest.mark.parametrize("out", ["closed", "without flush", "broken"])
def test_an_out_that_fails_costs_nobody_a_result(out: str, caplog: pytest.LogCaptureFixture) -> None:
    class NoFlush:
        def write(self, text: str) -> None:
            pass

    class Broken(NoFlush):
        def write(self, text: str) -> None:
            raise RuntimeError("gone")

        def flush(self) -> None:
            pass

    closed = io.StringIO()
    closed.close()
    targets: dict[str, Any] = {"closed": closed, "without flush": NoFlush(), "broken": Broken()}
    with ProgressBar(out=targets[out], dt=0.001):
        assert dask.get({"x": (time.sleep, 0.02), "y": (lambda _: 7, "x")}, "y") == 7
    assert [(r.levelno, r.msg.partition(",")[0]) for r in caplog.records] == [
        (logging.WARNING, "the progress bar stopped")
    ]


def test_without_a_standard_output_it_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    with ProgressBar() as bar:
        assert compute() == 1
    assert bar.last_duration > 0


def test_computes_at_the_same_time_share_one_bar() -> None:
    out = Terminal()
    both, ended = threading.Barrier(2), threading.Event()

    def first() -> int:
        both.wait(PATIENCE_S)
        return 1

    def second() -> int:
        both.wait(PATIENCE_S)
        assert ended.wait(PATIENCE_S)
        return 1

    bar = ProgressBar(out=out)
    bar.register()
    thread = threading.Thread(target=dask.get, args=({"b": (second,)}, "b"))
    thread.start()
    assert dask.get({"a": (first,)}, "a") == 1
    assert out.getvalue().count("\n") == 0
    ended.set()
    thread.join()
    bar.unregister()
    assert last_line(out).startswith(FULL)
    assert out.getvalue().count("\n") == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"minimum": -1}, "minimum must be a number of seconds, at least 0, got -1"),
        ({"minimum": "1"}, "minimum must be a number of seconds, at least 0, got '1'"),
        ({"dt": 0}, "dt must be a number of seconds, at least 0.001, got 0"),
        ({"width": 2.5}, "width must be a number of characters from 0 to 1,000, got 2.5"),
        ({"out": 3}, "out must be a stream to write to, such as sys.stderr, got 3"),
        ({"logger": "dask"}, "logger must be a logger of the module logging, got 'dask'"),
    ],
)
def test_bad_options_are_told_at_once(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as raised:
        ProgressBar(**options)
    assert str(raised.value) == message
