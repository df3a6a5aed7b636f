"""A recording without what must not leave the machine: credentials always, names on request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

from taskscope.errors import OptionError
from taskscope.model.columns import GraphColumns
from taskscope.model.keys import KeyBlock
from taskscope.model.recording import Recording
from taskscope.model.records import Group, GroupTotal, Lane, Message, Run
from taskscope.model.stacks import Function, StackColumns

__all__ = ["Redact", "redacted", "without_credentials"]

Redact: TypeAlias = bool | Callable[[str], str]
_Rename: TypeAlias = Callable[[str], str]

_HIDDEN = "***"
_USER = re.compile(r"(?<=://)[^/?#\s'\"<>]*@")
_SECRET = re.compile(
    r"(?i)([?&;][^=&\s'\"]*(?:token|key|secret|passw|pwd|sig|signature|credential|auth)[^=&\s'\"]*=)[^&\s'\"#]+"
)


def without_credentials(text: str) -> str:
    """Return text without user names, passwords and secret parameters of the URLs in it.

    Examples
    --------
    >>> without_credentials("read s3://me:pw@host/a?sig=abc&part=1")
    'read s3://***@host/a?sig=***&part=1'
    """
    if "://" not in text:
        return text
    return _SECRET.sub(rf"\1{_HIDDEN}", _USER.sub(f"{_HIDDEN}@", text))


def redacted(recording: Recording, *, redact: Redact = False) -> Recording:
    """Return the recording as it may leave the machine.

    Parameters
    ----------
    recording
        What was recorded.
    redact
        False: credentials in URLs are hidden. True: names of keys, groups, labels, functions and their
        files become ``name-1``, ``name-2``…, of errors and messages only the beginning is left, and host
        and threads lose their names. A function gives each of these texts (but those of threads) its
        replacement.

    Raises
    ------
    OptionError
        If `redact` is neither, or the function returns no text.
    """
    if not isinstance(redact, bool) and not callable(redact):
        raise OptionError(f"redact must be True, False or a function of a text, got {redact!r}")
    if redact is True:
        plain = _renamed(recording, _Pseudonyms(), _beginning)
        lanes = tuple(replace(lane, label=f"lane {lane.id}") for lane in plain.lanes)
        return replace(plain, lanes=lanes, metadata={**plain.metadata, "host": None})
    if callable(redact):
        rename = _checked(redact)
        return _renamed(recording, rename, rename)
    return _renamed(recording, without_credentials, without_credentials)


class _Pseudonyms:
    """Gives each text a number by first appearance."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        return self._known.setdefault(text, f"name-{len(self._known) + 1}")


def _beginning(text: str) -> str:
    """Return what comes before the first colon: the type of an error, the topic of a message."""
    return text.partition(":")[0]


def _checked(function: Callable[[str], object]) -> _Rename:
    def rename(text: str) -> str:
        new = function(without_credentials(text))
        if not isinstance(new, str):
            raise OptionError(f"the function given as redact must return text, got {new!r} for {text!r:.80}")
        return without_credentials(new)

    return rename


def _renamed(recording: Recording, name: _Rename, remark: _Rename) -> Recording:
    return replace(
        recording,
        runs=tuple(_run(run, name, remark) for run in recording.runs),
        groups=tuple(Group(g.id, name(g.name), name(g.prefix)) for g in recording.groups),
        lanes=tuple(
            Lane(n.id, without_credentials(n.worker), n.thread, without_credentials(n.label))
            for n in recording.lanes
        ),
        graphs={run: _graph(graph, name, remark) for run, graph in recording.graphs.items()},
        messages=tuple(Message(m.time_s, m.level, remark(m.text)) for m in recording.messages),
        totals=tuple(_total(total, name) for total in recording.totals),
        metadata=_metadata(recording.metadata, name, remark),
        stacks=_stacks(recording.stacks, name),
        activities=replace(
            recording.activities, sources=tuple(map(without_credentials, recording.activities.sources))
        ),
        workers=tuple(
            replace(sample, worker=without_credentials(sample.worker), name=without_credentials(sample.name))
            for sample in recording.workers
        ),
        transfers=tuple(
            replace(
                transfer,
                worker=without_credentials(transfer.worker),
                peer=without_credentials(transfer.peer),
                keys=tuple(map(name, transfer.keys)),
            )
            for transfer in recording.transfers
        ),
    )


def _run(run: Run, name: _Rename, remark: _Rename) -> Run:
    return replace(
        run,
        label=None if run.label is None else name(run.label),
        error=None if run.error is None else remark(run.error),
    )


def _total(total: GroupTotal, name: _Rename) -> GroupTotal:
    return replace(total, group=name(total.group), prefix=name(total.prefix))


def _graph(graph: GraphColumns, name: _Rename, remark: _Rename) -> GraphColumns:
    return replace(
        graph,
        keys=KeyBlock(graph.keys.dims, graph.keys.ints, tuple(map(name, graph.keys.texts))),
        errors={task: remark(text) for task, text in graph.errors.items()},
    )


def _stacks(stacks: StackColumns, name: _Rename) -> StackColumns:
    return replace(
        stacks,
        functions=tuple(Function(name(f.name), name(f.file), f.line) for f in stacks.functions),
        prefixes=tuple(map(name, stacks.prefixes)),
        workers=tuple(map(without_credentials, stacks.workers)),
    )


def _metadata(metadata: Mapping[str, object], name: _Rename, remark: _Rename) -> dict[str, object]:
    renames = {"label": name, "error": remark}
    return {
        key: renames.get(key, without_credentials)(value) if isinstance(value, str) else value
        for key, value in metadata.items()
    }
