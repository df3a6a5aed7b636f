"""Computes live in a terminal: of another process, by the file that it writes."""

from __future__ import annotations

import argparse
import os
import select
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
from taskscope.analysis.totals import ResourceTotals
from taskscope.errors import DamagedFileError, FileError, MissingDependencyError
from taskscope.export.native.follow import FollowedFile
from taskscope.model.tables.records import PrefixProgress
from taskscope.profiling.textbar import TextBar
from taskscope.recording import load
from taskscope.report.picture import progress_text

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_REFRESH_S, _KEY_S, _STALE_S = 1.5, 0.2, 5.0
_ENTER, _LEAVE, _HOME = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l", "\x1b[H"
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


def render(shown: LiveNumbers, width: int, height: int, choices: Choices) -> RenderableType:
    """Return the picture of a terminal of this size."""
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
        _text(_left(progress)),
        _text(_machine(shown)),
    ]
    head += [_text(shown.note, "yellow")] if shown.note else []
    rest = max(height - len(head) - 1, 2)
    prefixes = sorted(progress.prefixes, key=lambda row: _order(row, choices.sort))
    n_types = min(len(prefixes) + 1, max(rest // 2, rest - len(shown.lanes) - 1))
    n_lanes = max(rest - n_types - 1, 0)
    choices.first_lane = max(min(choices.first_lane, len(shown.lanes) - n_lanes), 0)
    last = choices.first_lane + n_lanes
    types = _table(("task type", "done", "time")[: 3 if is_wide else 2])
    for row in prefixes[: n_types - 1]:
        cells = printable(row.prefix, 60), f"{row.finished:,}/{row.total:,}", format_duration(row.duration_s)
        types.add_row(*cells[: 3 if is_wide else 2])
    lanes = _table(("lane", "task", "for")[: 3 if is_wide else 2])
    for label, task, age_s in shown.lanes[choices.first_lane : last]:
        cells = (
            printable(label, 40),
            printable(task, 60),
            "" if age_s is None else format_duration(age_s),
        )
        lanes.add_row(*cells[: 3 if is_wide else 2])
    keys = "q quit  ↑↓ PgUp PgDn lanes  t n l sort types" if is_wide else "q quit ↑↓ t n l"
    return Group(*head, types, lanes, _text(keys, "dim"))


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


def _table(names: tuple[str, ...]) -> Table:
    from rich.table import Table

    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), header_style="reverse", pad_edge=False)
    for name in names:
        is_text = name in {"task type", "lane", "task"}
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
        import rich  # noqa: F401 - it is used when something is drawn
    except ImportError as error:
        raise MissingDependencyError(
            "live views in a terminal need rich: pip install 'taskscope[terminal]'"
        ) from error


def lines_of(shown: LiveNumbers, width: int, height: int, choices: Choices) -> list[str]:
    """Return the lines of the picture with their colours, if the terminal has any."""
    from rich.console import Console

    console = Console(width=width, height=height, force_terminal=True, legacy_windows=False)
    with console.capture() as captured:
        console.print(render(shown, width, height, choices), end="")
    return captured.get().splitlines()[:height]


@contextmanager
def _own_screen() -> Iterator[Callable[[], str]]:
    """Show an empty screen, and the one from before at the end; yields what returns the pressed keys."""
    import termios
    import tty

    has_keys = sys.stdin is not None and sys.stdin.isatty()
    before = termios.tcgetattr(sys.stdin) if has_keys else None
    try:
        if has_keys:
            tty.setcbreak(sys.stdin)
        _write(_ENTER)
        yield lambda: _pressed(has_keys=has_keys)
    finally:
        _write(_LEAVE)
        if before is not None:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)


def _pressed(*, has_keys: bool) -> str:
    if not has_keys:
        time.sleep(_KEY_S)
        return ""
    ready, _, _ = select.select([sys.stdin], [], [], _KEY_S)
    return os.read(sys.stdin.fileno(), 64).decode("utf-8", "replace") if ready else ""


def _write(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))
    sys.stdout.flush()


class _Followed:
    """The file of ``taskscope top`` over its replacements."""

    def __init__(self, path: Path) -> None:
        self._path, self._file, self._note = path, FollowedFile(path), ""
        self._grew_s = time.monotonic()

    def close(self) -> None:
        self._file.close()

    def is_over(self) -> bool:
        """Read new frames; return whether the recording is complete."""
        try:
            if self._file.was_replaced():
                self._file.close()
                self._file, self._note = (
                    FollowedFile(self._path),
                    "the file was replaced or cut",
                )
            if self._file.read():
                self._grew_s = time.monotonic()
        except DamagedFileError as error:
            raise DamagedFileError(f"cannot load {str(self._path)!r}: {error}") from error
        except OSError as error:
            self._note = f"the file cannot be read any more: {error.strerror or error}"
        return self._file.is_over

    def numbers(self) -> LiveNumbers:
        """Return the numbers of the rows that were read."""
        file, stale_s = self._file, time.monotonic() - self._grew_s
        note = self._note
        if stale_s >= _STALE_S:
            note = (
                f"nothing new for {format_duration(int(stale_s))}: no compute runs, or its process has ended"
            )
        running = {task.lane: task for task in file.running}
        lanes = []
        for lane in file.lanes:
            task = running.get(lane.id)
            name = "" if task is None else file.groups[task.group].prefix
            lanes.append((lane.label, name, None if task is None else max(file.now_s - task.start_s, 0.0)))
        label = next((run.label for run in reversed(file.runs.values()) if run.label), self._path.name)
        used = file.resources
        return LiveNumbers(
            printable(label, 40), file.progress(), tuple(lanes), used, file.n_cores, file.limit_bytes, note
        )


def top(given: argparse.Namespace) -> int:
    """Follow a file until its recording is complete, then print its summary and findings."""
    path = Path(given.file).expanduser()
    is_live = sys.stdout.isatty()
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
        _write(f"{progress_text(followed.numbers().progress)}\n")
        return 0
    recording = load(path)
    _write(f"{recording.summary()}\n\n{recording.explain()}\n")
    return 0


def _watch(followed: _Followed) -> bool:
    """Show the file until it is complete, or a key ends that; return whether it is complete."""
    choices, drawn_s, drawn_size = Choices(), float("-inf"), (0, 0)
    with _own_screen() as pressed:
        while True:
            width, height = os.get_terminal_size(sys.stdout.fileno())
            if time.monotonic() - drawn_s >= _REFRESH_S or (width, height) != drawn_size:
                if followed.is_over():
                    return True
                drawn_s, drawn_size = time.monotonic(), (width, height)
                lines = lines_of(followed.numbers(), width, height, choices)
                _write(_HOME + "\x1b[K\r\n".join(lines) + "\x1b[K\x1b[J")
            keys = pressed()
            if keys in {"q", "Q"}:
                return False
            if keys:
                choices.sort = keys if keys in SORTS else choices.sort
                choices.first_lane += _KEYS.get(keys, 0)
                drawn_s = float("-inf")


def _write_lines(followed: _Followed) -> bool:
    """Write whole lines until the recording is complete."""
    bar = TextBar(sys.stdout, terminal_dt=1.0)
    pause_s, written_s = bar.first_s, time.monotonic()
    while not followed.is_over():
        if time.monotonic() - written_s >= pause_s:
            pause_s, written_s = bar.dt, time.monotonic()
            bar.draw(progress_text(followed.numbers().progress))
        time.sleep(_KEY_S)
    return True
