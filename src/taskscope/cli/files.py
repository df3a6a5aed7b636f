"""The commands that work on saved recordings."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias

from taskscope.analysis.quantities import plural, printable
from taskscope.cli import EXPORTS
from taskscope.errors import OptionError
from taskscope.export import check_target, write_as
from taskscope.model.recording import count_tasks
from taskscope.recording import Recording, load
from taskscope.recording import compare as compare_recordings


def view(given: argparse.Namespace) -> int:
    """Write a page and open it; the page stays at its path."""
    recording = _load(given)
    folder = Path(tempfile.mkdtemp(prefix="taskscope-"))
    page = folder / f"{Path(given.file).stem}.html"
    recording.to_html(page)
    sys.stdout.write(f"{page}\n")
    if not given.no_open and not webbrowser.open(page.as_uri()):
        sys.stderr.write("taskscope: no browser could be started; open the page above\n")
        return 1
    return 0


_Write: TypeAlias = Callable[..., object]

_WRITERS: Mapping[str, _Write] = {
    "html": Recording.to_html,
    "perfetto": Recording.to_perfetto,
    "speedscope": Recording.to_speedscope,
    "parquet": Recording.to_parquet,
    "csv": Recording.to_csv,
    **{to: partial(write_as, extension=f".{to}") for to in ("txt", "json", "taskscope")},
}


def export(given: argparse.Namespace) -> int:
    """Write the recording in another format."""
    source, write = Path(given.file), _writer(given)
    recording = _load(given)
    target = Path(given.output or source.with_name(source.stem + EXPORTS[given.to]))
    write(recording, target, overwrite=given.overwrite, redact=given.redact)
    sys.stdout.write(f"{target}\n")
    return 0


def _writer(given: argparse.Namespace) -> _Write:
    """Return what writes the format that was named, or that of the output's ending."""
    if given.to is not None:
        return _WRITERS[given.to]
    if given.output is None:
        raise OptionError(f"name a file to write, or a format: --to {', '.join(EXPORTS)}")
    if given.output.lower().endswith(EXPORTS["speedscope"]):
        return _WRITERS["speedscope"]
    check_target(given.output, overwrite=given.overwrite)
    return Recording.save


def compare(given: argparse.Namespace) -> int:
    """Print the comparison of two recordings, and write it as a page if there is a path."""
    before, after = (load(path, partial=given.partial) for path in (given.before, given.after))
    comparison = compare_recordings(before, after)
    if given.output is not None:
        comparison.to_html(given.output, overwrite=given.overwrite)
    _print(f"{comparison}\n")
    return 0


def explain(given: argparse.Namespace) -> int:
    """Print why it took as long as it did."""
    recording = _load(given)
    if given.text:
        _print(f"{recording.report()}\n")
        return 0
    found = recording.explain()
    _print((json.dumps(found.to_dict(), indent=2) if given.json else str(found)) + "\n")
    return 0


def info(given: argparse.Namespace) -> int:
    """Print the summary, the size of every table, and the facts."""
    recording = _load(given)
    lines = [recording.summary(), "", f"  started at  {recording.started_at.isoformat(timespec='seconds')}"]
    lines += [f"  {name:<12}  {n:>9,} {plural('row', n)}" for name, n in _sizes(recording).items()]
    facts = {name: value for name, value in recording.metadata.items() if value is not None}
    lines += [f"  {printable(name, 40)}: {printable(str(value), 80)}" for name, value in facts.items()]
    _print("\n".join(lines) + "\n")
    return 0


def _print(text: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "replace").decode(encoding))


def _load(given: argparse.Namespace) -> Recording:
    return load(given.file, partial=given.partial)


def _sizes(recording: Recording) -> dict[str, int]:
    """Return how many rows the tables have that a recording is made of."""
    return {
        "runs": len(recording.runs),
        "tasks": count_tasks(recording),
        "resources": len(recording.resources),
        "dependencies": sum(len(graph.edges) for graph in recording.graphs.values()),
        "messages": len(recording.messages),
    }
