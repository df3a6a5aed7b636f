"""What is asked of the figures in RESULTS.md, and why some do not reach it."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from benchmarks.harness import Table

__all__ = ["GOALS", "Goal", "missed", "tables"]

_NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
Rows = Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Goal:
    """Rows of a table, a column of theirs, and between what its figure should be."""

    section: str
    table: str
    """How the table's title begins."""
    rows: str
    """A regular expression for the rows, searched in their text."""
    column: str
    """How its name begins."""
    at_most: float | None = None
    at_least: float | None = None
    times: float | None = None
    """Or at most so many times the peer's figure."""
    peer: str = ""
    """The peer's column, where it is another one."""
    peer_row: str = ""
    """The peer's row, where it is another one, as `rows`."""
    part: int = 0
    """Which of the figures between slashes counts: 1 is the 95th percentile beside the median."""
    why: str = ""
    """What to say where the goal is missed."""

    def text(self, peer: float | None) -> str:
        """Return what is asked for in words."""
        texts = []
        if self.times is not None and peer is not None:
            texts.append(f"≤ {self.times:g} × {peer:g}")
        if self.at_most is not None:
            texts.append(f"≤ {self.at_most:g}")
        if self.at_least is not None:
            texts.append(f"≥ {self.at_least:g}")
        return " or ".join(texts)

    def is_reached(self, figure: float, peer: float | None) -> bool:
        """Whether a figure is as asked for; any of the alternatives will do."""
        return (
            (self.at_most is not None and abs(figure) <= self.at_most)
            or (self.at_least is not None and figure >= self.at_least)
            or (self.times is not None and peer is not None and figure <= self.times * peer)
        )


def missed(sections: Mapping[str, str], goals: Sequence[Goal] | None = None) -> Table:
    """Return a table of what is worse than asked for, of sections by name."""
    goals = GOALS if goals is None else goals
    return Table(
        "Worse than the peer, or than the goal",
        ["section", "what", "measured", "asked for", "why"],
        list(_missed(sections, goals)),
        f"Of {len(goals)} goals in `benchmarks/goals.py`; what is not listed is reached, or not measured.",
    )


def _missed(sections: Mapping[str, str], goals: Sequence[Goal]) -> Iterator[Sequence[str]]:
    for goal in goals:
        if goal.section not in sections:
            continue
        rows = goal_rows(goal, sections[goal.section])
        if not rows:
            yield goal.section, f"{goal.table}: {goal.column}", "not measured", goal.text(None), goal.why
        for row in rows:
            column = _column(row, goal.column)
            figure, peer = _figure(row[column], goal.part), _peer(goal, row, sections[goal.section])
            if figure is None or not goal.is_reached(figure, peer):
                what = f"{', '.join(_labels(row))}: {column}"
                yield goal.section, what, row[column], goal.text(peer), goal.why


def _labels(row: Mapping[str, str]) -> list[str]:
    """Return the cells that stand before the figures."""
    first, *others = row.values()
    return [first, *itertools.takewhile(lambda cell: not _NUMBER.match(cell), others)]


def goal_rows(goal: Goal, body: str) -> Rows:
    """Return the rows that a goal is about, of a section's text."""
    return [
        row
        for title, rows in tables(body).items()
        if title.startswith(goal.table)
        for row in rows
        if re.search(goal.rows, " | ".join(row.values())) and _column(row, goal.column)
    ]


def _column(row: Mapping[str, str], begin: str) -> str:
    return next((name for name in row if name.startswith(begin)), "")


def _peer(goal: Goal, row: Mapping[str, str], body: str) -> float | None:
    if goal.peer_row:
        found = goal_rows(Goal(goal.section, goal.table, goal.peer_row, goal.column), body)
        row = found[0] if found else {}
    column = _column(row, goal.peer or goal.column)
    return _figure(row[column], goal.part) if column and (goal.peer or goal.peer_row) else None


def _figure(cell: str, part: int) -> float | None:
    """Return the first number of a cell, of one of the parts between slashes."""
    parts = cell.split(" / ")
    found = _NUMBER.search(parts[part]) if part < len(parts) else None
    return float(found[0].replace(",", "")) if found else None


def tables(body: str) -> dict[str, Rows]:
    """Return the rows of each table of a section, by its title."""
    found: dict[str, Rows] = {}
    for part in re.split(r"^### ", body, flags=re.MULTILINE)[1:]:
        title, *lines = part.splitlines()
        cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line[:1] == "|"]
        found[title] = [dict(zip(cells[0], row, strict=False)) for row in cells[2:]]
    return found


_OWN_THREAD = (
    "tasks are timed by two clocks in the thread that runs them, one a system call; dask has none there"
)
_CALL = "tasks are timed in the thread that runs them, by a call more for each; dask times them outside"
_LARGE = "tasks of a large tree take up to twice the CPU time, unwatched ones as well"

GOALS: tuple[Goal, ...] = (
    Goal("truth", "Recorded", r"GIL-bound 1 ms.*taskscope", "durations / true", at_most=1.02),
    Goal("truth", "Recorded", "taskscope", "overlapping bars", at_most=0),
    Goal("instructions", "Instructions a task, all on", "tree", "taskscope, more",
         times=0.4, peer="dask, more", why=_OWN_THREAD),
    Goal("instructions", "Instructions a task, all on", "chains", "taskscope, more",
         times=0.1, peer="dask, more"),
    Goal("instructions", "Instructions a task, each", "", "taskscope", times=1.0, peer="dask",
         why=_CALL),
    Goal("overhead", "Cost of watching trees", "", "taskscope, µs", times=0.5, at_most=1.0, peer="dask, µs",
         why=_OWN_THREAD),
    Goal("overhead", "Cost of watching by size", "", "largest / smallest", at_most=1.2, why=_LARGE),
    Goal("overhead", "After the last task", "until the result", "taskscope", times=1.0, peer="bare",
         why="what was wrapped around tasks is let go of before the result is there"),
    Goal("overhead", "After the last task", "until the block", "taskscope", at_most=50,
         why="nearly all of it passes until dask returns the result, which takes longer without taskscope"),
    Goal("overhead", "Cost of watching wide", "chains|rechunk", "taskscope, µs",
         times=0.1, at_most=1.0, peer="dask, µs",
         why="dask's cost grows with the number of results that are kept; at few it is not yet large"),
    Goal("overhead", "Cost of watching wide", r"100 µs \| sync", "whole run / bare", at_most=1.03,
         why=_OWN_THREAD),
    Goal("overhead", "Cost of watching wide", r"100 µs \| threads", "whole run / bare", at_most=1.05,
         why=f"{_OWN_THREAD}; tasks hold the interpreter's lock, so threads wait for all of it"),
    Goal("diagnostics", "Each diagnostic", "", "taskscope, CPU",
         times=1.0, at_most=0.2, peer="dask, CPU", why=_CALL),
    Goal("diagnostics", "Each diagnostic", "", "taskscope, passed",
         times=1.0, at_most=0.2, peer="dask, passed", why=_CALL),
    Goal("fixed-cost", "50 tasks", "entered", "taskscope, above bare", at_most=1.5,
         why="a thread begins and ends with the block, and CPU and memory are read three times"),
    Goal("fixed-cost", "50 tasks", "already", "taskscope, above bare", at_most=0.5,
         why="the functions of its graph and, at its end, CPU and memory are read; tasks are wrapped"),
    Goal("first-load", "The first use", "import", "ms", at_most=30),
    Goal("first-load", "The first use", "load_ext", "ms", at_most=150,
         why="imports: modules of the recorder and of widgets, numpy where nothing has imported it"),
    Goal("retained", "Retained", "taskscope", "bytes", at_most=48,
         why="a task takes 45; the rest is source of sampled lines, 0.3 MB that Python's linecache keeps"),
    Goal("retained", "Arrays", "taskscope", "resident memory", at_most=20),
    Goal("memory", "Resident", "taskscope", "error", at_most=2),
    Goal("memory", "First in-place", "taskscope", "against not sampled", at_most=1.05,
         why="the write takes less than a tenth of a second, and differs by more without any sampler"),
    Goal("memory", "While one call", "taskscope", "in intervals", at_most=2.0,
         why="a thread samples, which cannot while a call into C holds the lock; the gap is marked"),
    Goal("memory", "The peak", "kernel", "most off", at_most=2),
    Goal("files", "Save", "to_html", "seconds", at_most=1.5, why="the page is compressed, to be small"),
    Goal("files", "Save", "to_html", "bytes per task", at_most=8),
    Goal("files", "Save", "to_perfetto", "bytes per task", at_most=40),
    Goal("files", "Save", "to_parquet", "seconds", at_most=1.5,
         why="all tables, with a text of each key, and dependencies"),
    Goal("files", "A file written", "wall", "-D / recorded", at_most=1.05),
    Goal("files", "Killed", "", "age of", at_most=1.0),
    Goal("feed", "The feed", "messages per second", "value", at_most=10),
    Goal("feed", "The feed", "bytes per task", "value", at_most=32),
    Goal("stacks", "Cost of sampling", "", "time with / without", at_most=1.02,
         why="the sampler needs the interpreter's lock, for which the thread that computes waits"),
    Goal("stacks", "Cost of sampling", "", "CPU time of the sampling", at_most=2.0,
         why="its pauses count stacks only: with its wait and its probe of the lock they miss short lines"),
    *(
        Goal("stacks", "Error of the first", "Python|NumPy", f"{ms} ms", at_most=3.0,
             why="the sampler gets the lock where a task releases it; few samples differ by chance")
        for ms in (2, 5, 12, 24, 50)
    ),
    Goal("lines", "Lines against", "60 [+] 20", "mean error", at_most=3.0,
         why="two rounds of few samples differ by chance about as much as is asked for"),
    Goal("eta", "The time left", r"\*\*all", "end in the band", at_least=80),
    Goal("eta", "The same on two", r"\*\*all", "end in the band", at_least=80,
         why="what has ended is seen later, and a first straggler cannot be foreseen"),
    Goal("explain", "Planted", r"\*\*all", "named first", at_least=90),
    Goal("explain", "Planted", r"\*\*all", "silent", at_least=95),
    Goal("explain", "Planted", r"\*\*all", "within 15 %", at_least=80,
         why="a price is worked out of the recorded run; without the fault tasks take other times as well"),
    Goal("explain-replay", "Graphs", "each other", "median error", at_most=5),
    Goal("explain-replay", "Graphs", r"\*\*all.*each other", "90th", at_most=10),
    Goal("explain-live", "Findings", "", "of a core", at_most=1.0,
         why="the first answer takes several times as long as later ones: its code runs for the first time"),
    Goal("explain-limits", "Explanations", "", "CPU time", at_most=2.0),
    Goal("explain-limits", "Explanations", "", "memory beside", at_most=250,
         why="a column of a million values is 8 MB, and a schedule has some thirty"),
    Goal("cluster-truth", "Truth", "missing|did not happen", "recorded", at_most=0),
    Goal("cluster-truth", "CPU time", "long|alone", "recorded of it", at_most=102),
    Goal("cluster-cost", "Plugins", "scheduler, all", "median", at_most=10,
         why="states, measurements and the end of a task are noted in Python, at its transitions"),
    Goal("cluster-cost", "Plugins", "worker, all", "median", at_most=10,
         why="a plugin's method is called at about five transitions of a task"),
    Goal("cluster-cost", "Scheduler", "^taskscope", "above bare", times=1.0, peer_row="^get_task_stream",
         why="graphs, transfers, attempts and CPU time are noted as well"),
    Goal("cluster-share", "Scheduler", "^taskscope, on", "above bare", at_most=1.0,
         why="each worker sends a message a second; the spread is as large as the figure"),
    Goal("cluster-share", "Scheduler", "^taskscope [|]", "above bare", at_most=1.0,
         why="a block of its own has a plugin installed on each worker and removed, a message each"),
    Goal("cell-end", "", "", "profiled, ms more", at_most=50),
    Goal("cluster-pages", "The page of", "^taskscope", "MB", times=1.0, peer_row="^distributed"),
    Goal("cluster-pages", "The page of", "^taskscope", "charts after", times=1.0, peer_row="^distributed"),
    Goal("frontend", "Apparent", "", "off by", at_most=1.0),
    Goal("frontend", "What a browser", "^script of offline pages [|]", "kB, gzip", at_most=65,
         why="the charts, their controls and what reads a recording are in one script"),
    Goal("frontend", "Frames of the Gantt", "^1,000,000", "all its frames", at_most=16, part=1,
         why="it is split over frames, of which none is as long; this is their sum"),
    Goal("frontend", "Frames of the Gantt", "^[15],000,000", "zooming", at_most=16, part=1),
    Goal("frontend", "Frames of the Gantt", "^[15],000,000", "half in sight", at_most=16, part=1),
    Goal("frontend", "Frames of the cache", "", "zooming", at_most=16, part=1),
    Goal("frontend-lab", "A page that joins", "", "all after", at_most=2.0,
         why="a page reads a million tasks in pieces, so that it answers between them"),
    Goal("frontend-pages", "The page of to_html", "in turns", "MB", at_most=8,
         why="durations, pauses and CPU times are random: deflated they are 5.7 MB, which base64 makes 7.6"),
    Goal("frontend-pages", "The page of to_html", "all random", "MB", at_most=8,
         why="what is random takes 6 bytes a task at least, which are 8 in base64"),
    Goal("frontend-pages", "The page of to_html", "", "picture after", at_most=1.5),
)  # fmt: skip
"""What is asked for, in the order of the sections."""
