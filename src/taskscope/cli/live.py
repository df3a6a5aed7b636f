"""Computes live in a terminal: of this process, or of another one by the file that it writes."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from logging import Logger
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from taskscope.analysis.progress import Progress
from taskscope.analysis.quantities import (
    UNKNOWN,
    format_bytes,
    format_duration,
    format_left,
    format_percent,
    plural,
    printable,
)
from taskscope.analysis.summary import state_word
from taskscope.analysis.totals import ResourceTotals, total_samples
from taskscope.cli.screen import HOME, KEY_S, Region, has_screen, own_screen, write
from taskscope.errors import DamagedFileError, FileError, MissingDependencyError
from taskscope.export.native.follow import FollowedFile
from taskscope.model.tables.records import Group, Lane, PrefixProgress, RunningTask
from taskscope.profiling.output import Terminal
from taskscope.profiling.textbar import TextBar
from taskscope.record.pump import Tick
from taskscope.recording import load
from taskscope.report.picture import progress_text
from taskscope.session import Session

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_REFRESH_S, _STALE_S = 1.5, 5.0
_KEYS = {"\x1b[A": -1, "\x1b[B": 1, "\x1b[5~": -10, "\x1b[6~": 10, "k": -1, "j": 1}
_WIDE = 60
SORTS = ("t", "n", "l")
"""Task types by the time that they took, by name, and by the tasks that are left."""


@dataclass(frozen=True, slots=True)
class LiveNumbers:
    """The numbers of one picture; each of `lanes` is a label, the running task and its seconds."""

    label: str
    progress: Progress
    lanes: tuple[tuple[str, str, float | None], ...]
    resources: ResourceTotals
    n_cores: float | None
    limit_bytes: float | None
    note: str = ""


@dataclass(slots=True)
class Choices:
    """What the keys have chosen."""

    sort: str = "t"
    first_lane: int = 0


def render(shown: LiveNumbers, width: int, height: int, choices: Choices | None) -> RenderableType:
    """Return the picture of a terminal of this size; without choices there are no keys."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    progress = shown.progress
    is_wide = width >= _WIDE
    done = f"{progress.finished:,} of {progress.total:,} tasks ({format_percent(progress.fraction)})"
    # In a table, for a bar by itself ends no line.
    bar = Table.grid()
    bar.add_row(ProgressBar(total=max(progress.total, 1), completed=progress.finished, width=width))
    head: list[RenderableType] = [
        _text(
            f"{shown.label} · {state_word(progress.state)} · {format_duration(progress.elapsed_s)}", "bold"
        ),
        _text(done if progress.is_counted else f"{progress.finished:,} tasks finished"),
        bar,
        *_wrapped(_left(progress), width),
        *_wrapped(_machine(shown), width),
    ]
    head += [_text(shown.note, "yellow")] if shown.note else []
    keys = "q quit  ↑↓ PgUp PgDn lanes  t n l sort types" if is_wide else "q quit ↑↓ t n l"
    foot = [] if choices is None else [_text(keys, "dim")]
    choices = choices or Choices()
    rest = max(height - len(head) - len(foot), 2)
    prefixes = sorted(progress.prefixes, key=lambda row: _order(row, choices.sort))
    n_types = min(len(prefixes) + 1, max(rest // 2, rest - len(shown.lanes) - 1))
    n_lanes = max(rest - n_types - 1, 0)
    choices.first_lane = max(min(choices.first_lane, len(shown.lanes) - n_lanes), 0)
    last = choices.first_lane + n_lanes
    types = _table(("task type", "done", "time")[: 3 if is_wide else 2])
    for row in prefixes[: n_types - 1]:
        cells = printable(row.prefix, 60), f"{row.finished:,}/{row.total:,}", format_duration(row.duration_s)
        types.add_row(*cells[: 3 if is_wide else 2])
    n_all = len(shown.lanes)
    title = "lane" if n_lanes >= n_all else f"lanes {choices.first_lane + 1}-{last} of {n_all}"
    lanes = _table((title, "task", "for")[: 3 if is_wide else 2])
    for label, task, age_s in shown.lanes[choices.first_lane : last]:
        cells = (
            printable(label, 40),
            printable(task, 60),
            "" if age_s is None else format_duration(age_s),
        )
        lanes.add_row(*cells[: 3 if is_wide else 2])
    return Group(*head, types, lanes, *foot)


def _lanes(
    lanes: Iterable[Lane], running: Iterable[RunningTask], groups: Sequence[Group], now_s: float
) -> tuple[tuple[str, str, float | None], ...]:
    tasks = {task.lane: task for task in running}
    found: list[tuple[str, str, float | None]] = []
    for lane in lanes:
        task = tasks.get(lane.id)
        name = "" if task is None else groups[task.group].prefix
        found.append((lane.label, name, None if task is None else max(now_s - task.start_s, 0.0)))
    return tuple(found)


def _order(row: PrefixProgress, sort: str) -> tuple[float, str]:
    return {"t": -row.duration_s, "n": 0.0, "l": float(row.finished - row.total)}[sort], row.prefix


def _left(progress: Progress) -> str:
    left = progress.left
    if left is not None:
        return format_left(left.stop_s, left.latest_s, left.n_unseen)
    return progress.live_state or ("too early to estimate" if progress.state == "running" else "")


def _machine(shown: LiveNumbers) -> str:
    used = shown.resources
    cpu = UNKNOWN if used.cpu_percent is None else f"{used.cpu_percent:.0f}%"
    cores = "" if shown.n_cores is None else f" of {shown.n_cores:g} {plural('core', int(shown.n_cores))}"
    limit = "" if shown.limit_bytes is None else f" of {format_bytes(shown.limit_bytes)}"
    return f"CPU {cpu}{cores} · memory {format_bytes(used.rss_bytes)}{limit}"


def _text(text: str, style: str = "") -> RenderableType:
    from rich.text import Text

    return Text(text, style, no_wrap=True, overflow="ellipsis")


def _wrapped(text: str, width: int) -> list[RenderableType]:
    """Return a text that is too long as a line for each of its parts."""
    parts = [text] if len(text) <= width else text.replace(" (", " · (").split(" · ")
    return [_text(part) for part in parts]


def _table(names: tuple[str, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), header_style="reverse", pad_edge=False)
    for name in names:
        is_text = name not in {"done", "time", "for"}
        side: Literal["left", "right"] = "left" if is_text else "right"
        table.add_column(
            name,
            no_wrap=True,
            overflow="ellipsis",
            justify=side,
            ratio=1 if is_text else None,
        )
    return table


def check_rich() -> None:
    """Raise an error that names the extra, where rich is not installed."""
    try:
        # Here, not on the thread that draws beside the script.
        import rich.console
        import rich.progress_bar
        import rich.table  # noqa: F401 - they are used when something is drawn
    except ImportError as error:
        raise MissingDependencyError(
            "live views in a terminal need rich: pip install 'taskscope[terminal]'"
        ) from error


def lines_of(shown: LiveNumbers, width: int, height: int, choices: Choices | None) -> list[str]:
    """Return the lines of the picture with their colours, if the terminal has any."""
    from rich.console import Console

    console = Console(width=width, height=height, force_terminal=True, legacy_windows=False)
    with console.capture() as captured:
        console.print(render(shown, width, height, choices), end="")
    return captured.get().splitlines()[:height]


class LiveTerminal(Terminal):
    """Shows the picture below the output of the script while computes run."""

    def __init__(self, session: Session, logger: Logger | None = None) -> None:
        super().__init__(session, logger, terminal_dt=_REFRESH_S)
        self._region = Region(sys.stderr)

    def _tick(self, tick: Tick) -> None:
        if tick.final:
            # Between short computes it stays.
            self._region.clear()
        elif tick.active and (self._bar.is_due(tick.now_s) or self._region.was_resized()):
            numbers = self._numbers(tick.now_s)
            self._region.draw(
                lambda size: _below(numbers, size.columns, size.lines),
                if_=self._session.recorder.is_computing,
            )

    def _numbers(self, now_s: float) -> LiveNumbers:
        recorder = self._session.recorder
        running = recorder.running()
        first_run = min((log.run for log in recorder.going()), default=self._first_run)
        used = recorder.lanes_of(first_run, None) | {task.lane for task in running}
        limits = recorder.limits
        return LiveNumbers(
            self._label,
            self._progress(now_s),
            _lanes([lane for lane in recorder.lanes if lane.id in used], running, recorder.groups, now_s),
            total_samples(recorder.samples_since(now_s - _STALE_S), ()),
            limits.n_cores,
            limits.memory_bytes,
        )

    def close(self) -> None:
        super().close()
        self._region.close()


def _below(numbers: LiveNumbers, width: int, height: int) -> list[str]:
    """Return the lines below the output of the script, for a terminal of this size."""
    own_height = height * 5 // 8 if width >= _WIDE else height * 3 // 4
    lines = lines_of(numbers, width, max(own_height - 1, 0), None)
    return [f"\x1b[2m{'-' * width}\x1b[m", *lines]


def choose_terminal() -> Callable[[Session, Logger | None], Terminal]:
    """Return the output of ``taskscope run --live``: the picture, or whole lines where nothing can be drawn.

    Raises
    ------
    MissingDependencyError
        If rich is not installed.
    """
    if has_screen(sys.stderr):
        check_rich()
        return LiveTerminal
    sys.stderr.write("taskscope: --live needs a terminal on standard error; progress follows as lines\n")
    return partial(Terminal, terminal_dt=None)


class _Followed:
    """The file of ``taskscope top`` over its replacements."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, FollowedFile(path)
        self._replaced = self._unreadable = ""
        """Sentences for the person; empty where neither is the case."""
        self._grew_s = time.monotonic()

    def close(self) -> None:
        self._file.close()

    def is_over(self) -> bool:
        """Read new frames; return whether the recording is complete."""
        try:
            if self._file.was_replaced():
                self._file.close()
                self._file, self._replaced = FollowedFile(self._path), "the file was replaced or cut"
            if self._file.read():
                self._grew_s = time.monotonic()
            self._unreadable = ""
        except DamagedFileError as error:
            raise DamagedFileError(f"cannot load {str(self._path)!r}: {error}") from error
        except OSError as error:
            self._unreadable = f"the file cannot be read any more: {error.strerror or error}"
        return self._file.is_over

    def numbers(self) -> LiveNumbers:
        """Return the numbers of the rows that were read."""
        file, stale_s = self._file, time.monotonic() - self._grew_s
        note = self._unreadable or self._replaced
        notes = [note] if note else []
        if stale_s >= _STALE_S:
            quiet = format_duration(int(stale_s))
            notes.append(f"nothing new for {quiet}: no compute runs, or its process has ended")
        lanes = _lanes(file.lanes, file.running, file.groups, file.now_s)
        label = next((run.label for run in reversed(file.runs.values()) if run.label), self._path.name)
        used = file.resources
        return LiveNumbers(
            printable(label, 40),
            file.progress(),
            lanes,
            used,
            file.n_cores,
            file.limit_bytes,
            ", ".join(notes),
        )


def top(given: argparse.Namespace) -> int:
    """Follow a file until its recording is complete, then print its summary and findings."""
    path = Path(given.file).expanduser()
    is_live = has_screen(sys.stdout)
    if is_live:
        check_rich()
    try:
        followed = _Followed(path)
        is_over = followed.is_over()
    except DamagedFileError:
        raise
    except OSError as error:
        raise FileError(f"cannot read {str(path)!r}: {error.strerror or error}") from error
    try:
        if not is_over:
            is_over = _watch(followed) if is_live else _write_lines(followed)
    except KeyboardInterrupt:
        is_over = False
    finally:
        followed.close()
    if not is_over:
        write(f"{progress_text(followed.numbers().progress)}\n")
        return 0
    recording = load(path)
    write(f"{recording.summary()}\n\n{recording.explain()}\n")
    return 0


def _watch(followed: _Followed) -> bool:
    """Show the file until it is complete, or a key ends that; return whether it is complete."""
    choices, drawn_s, drawn_size = Choices(), float("-inf"), (0, 0)
    with own_screen() as pressed:
        while True:
            width, height = os.get_terminal_size(sys.stdout.fileno())
            if time.monotonic() - drawn_s >= _REFRESH_S or (width, height) != drawn_size:
                if followed.is_over():
                    return True
                drawn_s, drawn_size = time.monotonic(), (width, height)
                lines = lines_of(followed.numbers(), width, height, choices)
                write(HOME + "\x1b[K\r\n".join(lines) + "\x1b[K\x1b[J")
            keys = pressed()
            if keys in {"q", "Q"}:
                return False
            if keys:
                choices.sort = keys if keys in SORTS else choices.sort
                choices.first_lane += _KEYS.get(keys, 0)
                drawn_s = float("-inf")


def _write_lines(followed: _Followed) -> bool:
    """Write whole lines until the recording is complete."""
    bar = TextBar(sys.stdout, terminal_dt=None)
    while not followed.is_over():
        if bar.is_due(time.monotonic()):
            bar.draw(progress_text(followed.numbers().progress))
        time.sleep(KEY_S)
    return True
