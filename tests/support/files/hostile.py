"""Recordings that are out to run code, and what a page is made of that shows them."""

from __future__ import annotations

from dataclasses import replace

from taskscope.model.tables.records import Message
from taskscope.recording import Recording
from tests.support.recordings.spelled_out import ZERO_S, recording_of, run_of
from tests.support.recordings.stacks import Sample, stacks_of
from tests.support.recordings.task_blocks import Row

ELEMENTS = """root => {
  root ??= document;
  const counts = {};
  const count = name => { counts[name] = (counts[name] ?? 0) + 1; };
  for (const el of root.querySelectorAll('*')) {
    count(el.tagName.toLowerCase());
    for (const { name } of el.attributes) if (name.startsWith('on')) count(`${el.tagName} ${name}`);
  }
  return counts;
}"""
"""Counts the elements within a root; attributes that run code are elements of their own here."""


def hostile(text: str) -> Recording:
    """Return a recording with this text in every field that holds any."""
    rows = [
        Row(key=(text, 1), start_s=0.0, stop_s=1.0),
        Row(key=text, lane=1, start_s=0.0, stop_s=0.5, status="erred"),
        Row(key=(text, 2), start_s=1.0, stop_s=2.0, status="running"),
    ]
    run = replace(
        run_of(n_tasks=3, status="erred", error=text, stop_s=2.0), label=text, cell=text, scheduler=text
    )
    recording = recording_of(
        rows,
        [run],
        messages=[Message(ZERO_S, "warning", text)],
        metadata={"label": text, "error": text, "host": text, text[:20]: text},
    )
    graph = replace(recording.graphs[0], errors={1: text})
    lanes = tuple(replace(lane, label=text, worker=text) for lane in recording.lanes)
    groups = tuple(replace(group, prefix=text) for group in recording.groups)
    stacks = stacks_of([Sample((text, text), prefix=text, worker=text), Sample((), prefix="work")])
    return replace(recording, graphs={0: graph}, lanes=lanes, groups=groups, stacks=stacks)
