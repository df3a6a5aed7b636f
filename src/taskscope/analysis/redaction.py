"""A recording without what must not leave the machine: credentials always, names on request."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from taskscope.errors import OptionError
from taskscope.model.keys import KeyBlock
from taskscope.model.recording import RecordedData
from taskscope.model.tables.activities import Steal, Transfer
from taskscope.model.tables.columns import GraphColumns
from taskscope.model.tables.memory import PeakLine
from taskscope.model.tables.records import Group, GroupTotal, Lane, Message, Run
from taskscope.model.tables.stacks import Function, MeasuredLine, StackColumns
from taskscope.model.tables.workers import Metric, WorkerSample

__all__ = ["Redact", "Redaction", "redacted", "without_credentials"]

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


@dataclass(frozen=True, slots=True)
class Redaction:
    """What becomes of each kind of text that leaves the machine; equal texts become equal ones.

    Parameters
    ----------
    name
        Gives names of keys, groups, labels and functions their replacement.
    remark
        The same for errors and messages.
    hides_host
        Whether host and threads lose their names.
    """

    name: _Rename
    remark: _Rename
    hides_host: bool = False

    @classmethod
    def of(cls, redact: Redact) -> Redaction:
        """Return what `redacted` does."""
        if not isinstance(redact, bool) and not callable(redact):
            raise OptionError(f"redact must be True, False or a function of a text, got {redact!r}")
        if redact is True:
            return cls(_Pseudonyms(), _beginning, hides_host=True)
        if callable(redact):
            rename = _checked(redact)
            return cls(rename, rename)
        return cls(without_credentials, without_credentials)

    def run(self, run: Run) -> Run:
        """Return a run without what must not leave."""
        return replace(
            run,
            label=None if run.label is None else self.name(run.label),
            error=None if run.error is None else self.remark(run.error),
            source_crc=None,
        )

    def group(self, group: Group) -> Group:
        """Return a group without what must not leave."""
        span = group.span and self.name(group.span)
        return replace(group, name=self.name(group.name), prefix=self.prefix(group.prefix), span=span)

    def prefix(self, prefix: str) -> str:
        """Return a prefix without what must not leave."""
        return self.name(prefix)

    def lane(self, lane: Lane) -> Lane:
        """Return a lane without what must not leave."""
        label = f"lane {lane.id}" if self.hides_host else without_credentials(lane.label)
        return Lane(lane.id, without_credentials(lane.worker), lane.thread, label)

    def keys(self, keys: KeyBlock) -> KeyBlock:
        """Return keys without what must not leave."""
        return KeyBlock(keys.dims, keys.ints, tuple(map(self.name, keys.texts)))

    def message(self, message: Message) -> Message:
        """Return a message without what must not leave."""
        worker = message.worker and without_credentials(message.worker)
        return replace(message, text=self.remark(message.text), worker=worker)

    def function(self, function: Function) -> Function:
        """Return a function without what must not leave."""
        return Function(self.name(function.name), self.name(function.file), function.line)

    def source(self, text: str) -> str:
        """Return what an activity came from, a worker's address or an error, without what must not leave."""
        # No address has a space; an error is always noted with the number of the attempt.
        return self.remark(text) if " " in text else without_credentials(text)

    def worker(self, sample: WorkerSample) -> WorkerSample:
        """Return a worker's sample without what must not leave."""
        return replace(
            sample, worker=without_credentials(sample.worker), name=without_credentials(sample.name)
        )

    def transfer(self, transfer: Transfer) -> Transfer:
        """Return a transfer without what must not leave."""
        return replace(
            transfer,
            worker=without_credentials(transfer.worker),
            peer=transfer.peer and without_credentials(transfer.peer),
            keys=tuple(map(self.name, transfer.keys)),
        )

    def steal(self, steal: Steal) -> Steal:
        """Return a steal without what must not leave."""
        return replace(
            steal,
            key=self.name(steal.key),
            from_worker=without_credentials(steal.from_worker),
            to_worker=without_credentials(steal.to_worker),
        )

    def measured_line(self, line: MeasuredLine) -> MeasuredLine:
        """Return a measured line without what must not leave."""
        return replace(
            line,
            key=line.key and self.name(line.key),
            prefix=self.prefix(line.prefix),
            worker=without_credentials(line.worker),
            file=self.name(line.file),
            function=self.name(line.function),
        )

    def peak_line(self, line: PeakLine) -> PeakLine:
        """Return a line of a peak of memory without what must not leave."""
        return replace(
            line,
            key=line.key and self.name(line.key),
            prefix=line.prefix and self.prefix(line.prefix),
            file=line.file and self.name(line.file),
            function=line.function and self.name(line.function),
        )

    def metric(self, metric: Metric) -> Metric:
        """Return what was metered without what must not leave."""
        worker, prefix = without_credentials(metric.worker), self.prefix(metric.prefix)
        return replace(metric, worker=worker, prefix=prefix, activity=without_credentials(metric.activity))

    def total(self, total: GroupTotal) -> GroupTotal:
        """Return totals of a group without what must not leave."""
        return replace(total, group=self.name(total.group), prefix=self.prefix(total.prefix))

    def stacks(self, stacks: StackColumns) -> StackColumns:
        """Return call stacks without what must not leave."""
        return replace(
            stacks,
            functions=tuple(map(self.function, stacks.functions)),
            prefixes=tuple(map(self.name, stacks.prefixes)),
            workers=tuple(map(without_credentials, stacks.workers)),
        )

    def metadata(self, metadata: Mapping[str, object]) -> dict[str, object]:
        """Return metadata without what must not leave."""
        renames = {"label": self.name, "error": self.remark}
        kept = {
            key: renames.get(key, without_credentials)(value) if isinstance(value, str) else value
            for key, value in metadata.items()
        }
        return {**kept, "host": None} if self.hides_host else kept


def redacted(recording: RecordedData, *, redact: Redact = False) -> RecordedData:
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
    redaction = Redaction.of(redact)
    return replace(
        recording,
        runs=tuple(map(redaction.run, recording.runs)),
        groups=tuple(map(redaction.group, recording.groups)),
        lanes=tuple(map(redaction.lane, recording.lanes)),
        graphs={run: _graph(graph, redaction) for run, graph in recording.graphs.items()},
        messages=tuple(map(redaction.message, recording.messages)),
        totals=tuple(map(redaction.total, recording.totals)),
        metadata=redaction.metadata(recording.metadata),
        stacks=redaction.stacks(recording.stacks),
        activities=replace(
            recording.activities, sources=tuple(map(redaction.source, recording.activities.sources))
        ),
        workers=tuple(map(redaction.worker, recording.workers)),
        metrics=tuple(map(redaction.metric, recording.metrics)),
        measured_lines=tuple(map(redaction.measured_line, recording.measured_lines)),
        peak_lines=tuple(map(redaction.peak_line, recording.peak_lines)),
        transfers=tuple(map(redaction.transfer, recording.transfers)),
        steals=tuple(map(redaction.steal, recording.steals)),
    )


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


def _graph(graph: GraphColumns, redaction: Redaction) -> GraphColumns:
    return replace(
        graph,
        keys=redaction.keys(graph.keys),
        errors={task: redaction.remark(text) for task, text in graph.errors.items()},
    )
