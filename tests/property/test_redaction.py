"""With `redact=True` no file has a text that a program or a machine named, wherever it was put."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dask
import pytest
from distributed import Client, Scheduler, SpecCluster, Worker, span
from distributed.metrics import context_meter
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import taskscope
from taskscope.model.public_tables import TABLES
from taskscope.model.recording import RecordedData
from taskscope.model.streams import RECORDS
from taskscope.recording import Recording
from taskscope.schema import Column, columns_of
from tests.support.fakes.clock import FakeClock
from tests.support.files.contents import saved_contents, unpacked
from tests.support.files.streaming import streamed

SECRET = "hunter2"
SOURCE = """
def hunter2(seconds, clock):
    until = clock() + seconds
    while clock() < until: pass
"""
around = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5)
texts = st.builds("{}hunter2{}".format, around, around) | st.sampled_from(
    [
        "hunter2",
        "hunter2: b",
        "'hunter2'",
        "ValueError(hunter2)",
        "s3://me@hunter2/x?a=b",
        "tcp://hunter2:80",
        "In [1] hunter2",
        "/lib/python3.11/hunter2.py",
    ]
)


def leaks(folder: Path, recording: Recording) -> list[str]:
    contents = saved_contents(recording, folder, redact=True)
    assert len(contents) > 20
    return [name for name, content in contents.items() if SECRET.encode() in content]


@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow], phases=[Phase.generate])
@given(texts, texts)
def test_no_text_of_any_table_is_left(name: str, other: str) -> None:
    recording = Recording.of(with_texts(streamed(FakeClock())[1], name, other))
    with TemporaryDirectory() as folder:
        assert leaks(Path(folder), recording) == []


def with_texts(recording: RecordedData, name: str, other: str) -> RecordedData:
    """Return a recording in which each text that is not declared to be public is one of these."""

    def changed(row: Any) -> Any:
        columns = [c for c in columns_of(type(row)) if c.kind == "text" and not c.choices]
        return replace(row, **{c.name: text_of(c) for c in columns if c.private != "no"})

    def text_of(column: Column) -> str:
        return f"ValueError: {name}" if column.private == "error" else name

    records: dict[str, Any] = {
        table: tuple(map(changed, getattr(recording, table))) for table in (*RECORDS, "workers")
    }
    stacks = recording.stacks
    return replace(
        recording,
        **records,
        graphs={
            run: replace(
                graph,
                keys=replace(graph.keys, texts=(name,) * len(graph.keys.texts)),
                errors={0: f"KeyError: {name}"},
            )
            for run, graph in recording.graphs.items()
        },
        activities=replace(
            recording.activities,
            sources=("", *(f"OSError: {name} (attempt 1)" for _ in recording.activities.sources[1:])),
        ),
        stacks=replace(
            stacks,
            functions=tuple(map(changed, stacks.functions)),
            prefixes=(name,) * len(stacks.prefixes),
            workers=(name,) * len(stacks.workers),
        ),
        metadata={
            **dict.fromkeys(("label", "metric", "host", other), name),
            name: [name],
            "error": f"E: {name}",
        },
    )


class SecretError(Exception):
    """An exception with a text of its own."""

    def __repr__(self) -> str:
        return f"it was {self.args}"


def raised(kind: int, text: str) -> BaseException:
    """Return an exception with this text in it, of one of several kinds."""
    kinds: list[Callable[[], BaseException]] = [
        ValueError,
        lambda: ValueError(text),
        lambda: OSError(5, text),
        lambda: ValueError(text, text.encode(), [text]),
        lambda: KeyError((text, 1)),
        lambda: ExceptionGroup(text, [ValueError(text), KeyError(text)]),
        lambda: SecretError(text),
    ]
    made = kinds[kind]()
    made.add_note(text)
    return made


N_KINDS = 7


def work(text: str, kind: int | None, _: object = None) -> int:
    """Log, meter, and run a function of a secret name in a secret file for a while; then fail, if told to."""
    logging.getLogger("distributed.worker").warning("mind %s", text)
    with context_meter.meter(text):
        names: dict[str, Any] = {}
        exec(compile(SOURCE, f"/{text}/x.py", "exec"), names)
        names["hunter2"](0.03, time.perf_counter)
    if kind is not None:
        raise raised(kind, text)
    return 1


def failing_metric(_: object) -> float:
    raise ValueError(SECRET)


def compute(text: str, **how: Any) -> None:
    """Compute tasks that succeed, and one that fails for each kind of exception."""
    good = [dask.delayed(work)(text, None, dask_key_name=(f"{text}-{i}", i)) for i in range(3)]
    dask.delayed(work)(text, None, good, dask_key_name=text).compute(**how)
    for kind in range(N_KINDS):
        with suppress(Exception):
            dask.delayed(work)(text, kind, dask_key_name=f"{text}-{kind}").compute(**how)


@contextmanager
def on(surface: str, text: str) -> Iterator[dict[str, Any]]:
    """Yield how to compute on threads, processes, or a cluster whose worker has a name."""
    if surface == "cluster":
        workers = {text: {"cls": Worker, "options": {"nthreads": 1, "dashboard": False}}}
        scheduler = {"cls": Scheduler, "options": {"dashboard": False}}
        with SpecCluster(workers, scheduler, silence_logs=False) as cluster, Client(cluster), span(text):
            yield {}
    elif surface == "threads":
        with ThreadPoolExecutor(2, thread_name_prefix=text) as pool:
            yield {"scheduler": "threads", "pool": pool}
    else:
        with ProcessPoolExecutor(1) as pool:
            yield {"scheduler": "processes", "pool": pool}


NASTY = 'hunter2\'s "a": (b)\n/hunter2'
EVERYWHERE = {"runs", "tasks", "activities", "dependencies", "functions"}
PLACES = {
    "threads": {*EVERYWHERE, "lines", "messages", "lanes"},
    "processes": {*EVERYWHERE, "lines", "messages"},
    "cluster": {*EVERYWHERE, "workers", "metrics", "logs", "lanes"},
}


@pytest.mark.parametrize("surface", PLACES)
def test_no_text_of_a_program_is_left(surface: str, tmp_path: Path) -> None:
    paths = (tmp_path / SECRET / "live.taskscope", tmp_path / SECRET / "gone" / "a.json")
    paths[1].parent.mkdir(parents=True)
    profiled = taskscope.profile(display=False, label=NASTY, save=paths, redact=True, metric=failing_metric)
    with on(surface, NASTY) as how, profiled as run:
        compute(NASTY, **how)
        growing = unpacked(paths[0])
        paths[1].parent.rmdir()
    assert PLACES[surface] <= set(places_of(run.recording))
    assert (SECRET.encode() in growing, leaks(tmp_path, run.recording)) == (False, [])


def places_of(recording: Recording) -> Iterator[str]:
    """Yield the tables with the secret in them."""
    yield from (table for table in TABLES if SECRET in recording.to_pandas(table).to_csv())
    records = {"lanes": recording.lanes, "functions": recording.stacks.functions}
    yield from (name for name, rows in records.items() if SECRET in repr(rows))
