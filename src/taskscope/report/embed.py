"""The data of an offline page: data, dependencies, and the script that draws them; keys stay text."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.resources import files

import numpy as np

from taskscope.analysis.display.page_tables import PathTables, path_tables, recorded_frames, rows_of
from taskscope.analysis.explain.critical_path import critical_path
from taskscope.analysis.quantities import format_count
from taskscope.analysis.summary import MAX_EXPLAINED
from taskscope.model.recording import RecordedData, count_tasks

TICK_S = 1e-6
"""The step to which times are rounded, but for many long tasks."""

_MANY_TASKS = 250_000
_TICKS_PER_TASK = 500
_STEPS = (5, 2, 1)


@dataclass(frozen=True, slots=True)
class PageScript:
    """The front end as a page carries it: packed, and a plain script that unpacks it."""

    html: str
    sources: str
    """The Content-Security-Policy: exactly these two scripts, by their hashes."""


def report_script(recording: RecordedData, *, is_page: bool = False) -> PageScript | None:
    """Return the front end for a recording; None in a source tree that was not built.

    Where a cluster was watched it is a larger one; one of a page saves pictures and shows profiles.
    """
    has_cluster = len(recording.activities.rows) or recording.workers
    return _script(f"report{'-cluster' if has_cluster else ''}{'-profile' if is_page else ''}.js")


@lru_cache(maxsize=4)
def _script(name: str) -> PageScript | None:
    static = files("taskscope").joinpath("static")
    try:
        script = static.joinpath(name).read_bytes()
        loader = static.joinpath("loader.js").read_text(encoding="utf-8")
    except OSError:
        return None
    packed = base64.b64encode(zlib.compress(script, 9)).decode("ascii")
    return PageScript(
        html=f'<script type="text/plain" class="taskscope-script">{packed}</script><script>{loader}</script>',
        sources=f"{_source(loader.encode())} {_source(script)}",
    )


def _source(script: bytes) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script).digest()).decode('ascii')}'"


def page_tick_s(recording: RecordedData) -> float:
    """Return the tick of a page's times.

    A microsecond; where there are more than 250,000 tasks, a five-hundredth of a task's mean duration,
    rounded down to 1, 2 or 5 of a power of ten, if that is more.
    """
    durations = [np.asarray(block.duration, np.float64).sum() for block in recording.blocks]
    n_tasks = count_tasks(recording)
    if n_tasks <= _MANY_TASKS:
        return TICK_S
    wanted = sum(durations) / n_tasks / _TICKS_PER_TASK
    if wanted <= TICK_S:
        return TICK_S
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(next(step * power for step in _STEPS if step * power <= wanted))


def data_json(
    recording: RecordedData, path: PathTables | str | None = None, *, has_links: bool = True
) -> str:
    """Return the recording as JSON for a ``<script type="application/json">``.

    It holds the frames of a stream in one piece, deflated, in base64, and why there is no `path`. ``<``,
    ``>`` and ``&`` are escaped, so that no key can end the element.
    """
    reason, tables = (path, {}) if isinstance(path, str) else (None, path or {})
    frames = recorded_frames(recording, page_tick_s(recording), has_links=has_links, path=tables)
    content = b"".join(frames)
    data = base64.b64encode(zlib.compress(content)).decode("ascii")
    return escaped_json({"bytes": len(content), "data": data, "no_path": reason})


def escaped_json(value: object) -> str:
    """Return JSON in which no text can end the element that it is in."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


MAX_PAGE_LINKS = 500_000
"""Most dependencies in a page, about two bytes each."""

MAX_FRAME_LINKS = 100_000
"""The same in the static result of a notebook."""


def links_fit(recording: RecordedData, most: int) -> bool:
    """Return whether a recording has at most so many dependencies."""
    return sum(len(graph.edges) for graph in recording.graphs.values()) <= most


def page_path(recording: RecordedData) -> PathTables | str:
    """Return the critical path as tables of a page, or the reason why it has none."""
    n_tasks = count_tasks(recording)
    if n_tasks > MAX_EXPLAINED:
        return (
            f"a page has it of at most {format_count(MAX_EXPLAINED)} tasks, here are {format_count(n_tasks)};"
            " recording.critical_path() has no such limit"
        )
    if any(run.status == "running" for run in recording.runs):
        return "these computes still ran"
    return path_tables(critical_path(recording), partial(rows_of, recording), recording.zero_s)


def links_note(most: int) -> str:
    """Return a note in HTML on dependencies that are left out."""
    return (
        f"<p>Dependencies of tasks are left out here: they are more than {format_count(most)}."
        " Widgets of the recording and its <code>.taskscope</code> file in JupyterLab show them.</p>"
    )
