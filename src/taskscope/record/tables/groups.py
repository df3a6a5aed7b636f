"""The recorder's append-only tables of groups and lanes: an element's place is its id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from taskscope.model.keys import split_key
from taskscope.model.tables.columns import RowBlock
from taskscope.model.tables.records import STATUSES, Group, Lane, flag_codes
from taskscope.record.writers.runlog import LaneKey

MAX_GROUPS = 65_000
MAX_LANES = 8_000


@dataclass(slots=True)
class GroupSums:
    """Sums over the tasks of one group."""

    counts: list[int]
    duration_s: float = 0.0
    first_s: float | None = None

    @classmethod
    def zero(cls) -> GroupSums:
        return cls([0] * len(STATUSES))

    def add(self, other: GroupSums) -> None:
        self.counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        self.duration_s += other.duration_s
        self.first_s = min((s for s in (self.first_s, other.first_s) if s is not None), default=None)


def sum_by_group(block: RowBlock, group: NDArray[np.uint32]) -> Iterator[tuple[int, GroupSums]]:
    """Yield the sums over each group of a block's rows, by ascending group id."""
    ids, place = np.unique(group, return_inverse=True)
    status = flag_codes(block.flags, "status")
    n_statuses = len(STATUSES)
    counts = np.bincount(place * n_statuses + status, minlength=len(ids) * n_statuses)
    first = np.full(len(ids), np.inf)
    np.minimum.at(first, place, block.start)
    columns = (
        counts.reshape(-1, n_statuses),
        np.bincount(place, block.duration),
        first,
    )
    for group_id, *sums in zip(ids.tolist(), *(column.tolist() for column in columns), strict=True):
        yield group_id, GroupSums(*sums)


class GroupTable:
    """Groups by first appearance."""

    def __init__(self) -> None:
        self.groups: list[Group] = []
        self._fused: dict[str, str] = {}
        """The groups that are fused into the tasks of later groups, by their names."""
        self._ids: dict[object, int] = {}
        self._variants: dict[tuple[int, str | None, str | None], int] = {}
        self._has_functions = False
        self._colours: dict[str, int] = {}

    def ids(self, keys: Sequence[object]) -> list[int]:
        """Return the group id of every key, adding the groups that are new."""
        if set(map(type, keys)) == {tuple}:
            try:
                return [self._ids[key[0]] for key in cast("Sequence[tuple[object, ...]]", keys)]
            except (KeyError, IndexError):
                pass
        return list(map(self._id, keys))

    def ids_in_run(
        self,
        keys: Sequence[object],
        spans: Mapping[str, str | None],
        functions: Mapping[object, str | None],
    ) -> list[int]:
        """Return the group id of every key of a run, whose groups have these spans and functions, by name.

        A group of the same name with another span or function, which a key may have, is another group.
        """
        first = len(self.groups)
        ids = self.ids(keys)
        for group in self.groups[first:]:
            if group.name in functions:
                self.groups[group.id] = replace(group, function=functions[group.name])
        if not spans and not self._has_functions and not functions:
            return ids
        self._has_functions |= bool(functions)
        there = {group: self._variant(self.groups[group], spans, functions) for group in set(ids)}
        found = list(map(there.__getitem__, ids))
        if set(map(type, keys)) - {tuple}:
            for i in [i for i, key in enumerate(keys) if type(key) is not tuple and key in functions]:
                found[i] = self._variant(self.groups[ids[i]], spans, functions, keys[i])
        return found

    def _variant(
        self,
        group: Group,
        spans: Mapping[str, str | None],
        functions: Mapping[object, str | None],
        key: object = None,
    ) -> int:
        span, function = spans.get(group.name), functions.get(group.name if key is None else key)
        if (span, function) == (group.span, group.function):
            return group.id
        known = self._variants.get((group.id, span, function))
        if known is None and len(self.groups) < MAX_GROUPS:
            known = self._variants[group.id, span, function] = len(self.groups)
            self.groups.append(replace(group, id=known, span=span, function=function))
        return group.id if known is None else known

    def _id(self, key: object) -> int:
        # Only a tuple's head is looked up as it is: the text 'x-1' is of group 'x', ('x-1',) of 'x-1'.
        group = self._ids.get(key[0]) if type(key) is tuple and key else None
        return self._add(key) if group is None else group

    def _add(self, key: object) -> int:
        known = self._ids
        name, prefix = split_key(key)
        if name in known:
            return known[name]
        if len(self.groups) >= MAX_GROUPS:
            name, prefix = f"(beyond {MAX_GROUPS:,} groups)", "(more)"
            if name in known:
                return known[name]
        colour = self._colours.setdefault(prefix, len(self._colours))
        fused = self._fused.pop(name, None)
        self.groups.append(Group(len(self.groups), name, prefix, colour, fused=fused))
        known[name] = len(self.groups) - 1
        return len(self.groups) - 1

    def note_fused(self, fused: Mapping[str, str]) -> None:
        """Record which groups are fused into the tasks of later groups, by their names."""
        self._fused |= {name: of for name, of in fused.items() if of and name not in self._ids}


_UNNAMED = re.compile(r"ThreadPoolExecutor-(\d+)_(\d+)")


class LaneTable:
    """Lanes by first appearance, under the names that all views show."""

    def __init__(self, own_pid: int) -> None:
        self.lanes: list[Lane] = []
        self._pools: dict[str, int] = {}
        self._own_pid = own_pid
        self._ids: dict[LaneKey, int] = {}

    def id(self, key: LaneKey) -> int:
        """Return the id of a lane; beyond `MAX_LANES` all new ones share the last.

        Threads of pools without a name that have the same identity one after the other share a lane: there
        may be a pool for each compute.
        """
        place = replace(key, label="") if _UNNAMED.fullmatch(key.label) else key
        known = self._ids.get(place)
        if known is not None:
            return known
        if len(self.lanes) >= MAX_LANES:
            return MAX_LANES - 1
        named = bool(key.worker) or key.pid == self._own_pid
        label = self._name(key.label) if named else f"process {key.pid}"
        if key.depth:
            label = f"{label} (nested {key.depth})"
        if len(self.lanes) == MAX_LANES - 1:
            label = f"beyond {MAX_LANES - 1:,} lanes"
        worker = key.worker or f"{key.pid}"
        self.lanes.append(Lane(len(self.lanes), worker, key.thread, label))
        self._ids[place] = len(self.lanes) - 1
        return len(self.lanes) - 1

    def _name(self, label: str) -> str:
        """Return a name of its own for a thread that has none but Python's: thread 1, thread 1 of pool 2."""
        match = _UNNAMED.fullmatch(label)
        if match is None:
            return label
        pool = self._pools.setdefault(match[1], len(self._pools) + 1)
        return f"thread {int(match[2]) + 1}" + (f" of pool {pool}" if pool > 1 else "")
