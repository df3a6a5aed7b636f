"""Distributed's ways to get its task stream, told of a recording: only names and shapes are translated."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from bokeh.embed import file_html
from bokeh.resources import INLINE
from distributed import Client

import taskscope
from taskscope.recording import Recording

__all__ = ["get_task_stream", "of_client"]

_Record = dict[str, Any]
_begun: dict[str, taskscope.profile] = {}


class get_task_stream:  # noqa: N801 - distributed's name
    """A block whose tasks are in `data` afterwards."""

    def __init__(self, client: Client | None = None) -> None:
        self._profile = taskscope.profile(display=False)
        self.data: list[_Record] = []

    def __enter__(self) -> Self:
        self._profile.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._profile.__exit__(kind, error, trace)
        self.data = _records(self._profile.recording)

    async def __aenter__(self) -> Self:
        await self._profile.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._profile.__aexit__(kind, error, trace)
        self.data = _records(self._profile.recording)


def of_client(client: Client, *, plot: bool | str = False, filename: str = "task-stream.html") -> Any:
    """Begin with the first call, and end with the second, which returns the tasks in between."""
    if client.asynchronous:
        return _of_asynchronous_client(client, plot, filename)
    begun = _begun.pop(client.id, None)
    if begun is None:
        _begun[client.id] = taskscope.profile(display=False).__enter__()
        return []
    begun.__exit__(None, None, None)
    return _told(begun.recording, plot, filename)


async def _of_asynchronous_client(client: Client, plot: bool | str, filename: str) -> Any:  # noqa: FBT001
    begun = _begun.pop(client.id, None)
    if begun is None:
        _begun[client.id] = await taskscope.profile(display=False).__aenter__()
        return []
    await begun.__aexit__(None, None, None)
    return _told(begun.recording, plot, filename)


def _told(recording: Recording, plot: bool | str, filename: str) -> Any:  # noqa: FBT001
    if not plot:
        return _records(recording)
    layout: Any = recording.plot()
    if plot == "save":
        Path(filename).write_text(file_html(layout, INLINE, "Task Stream"), encoding="utf-8")
    (tasks, *_place), *_others = layout.children
    return _records(recording), tasks


def _records(recording: Recording) -> list[_Record]:
    """Return the tasks as distributed tells them."""
    zero_s = recording.started_at.timestamp()
    steps: dict[tuple[int, str], list[_Record]] = defaultdict(list)
    for step in _rows(recording, "activities"):
        of = steps[step["run"], step["key"]]
        of.append(
            {
                "action": step["activity"],
                "start": step["start_s"] + zero_s,
                "stop": step["stop_s"] + zero_s,
            }
        )
    return [
        {
            "key": task["key"],
            "worker": task["worker"],
            "thread": task["thread"],
            "status": "OK" if task["status"] == "finished" else "error",
            "startstops": steps[task["run"], task["key"]],
        }
        for task in _rows(recording, "tasks")
    ]


def _rows(recording: Recording, name: str) -> list[_Record]:
    table = recording.table(name)
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
