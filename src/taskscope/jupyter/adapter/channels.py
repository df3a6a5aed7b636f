"""Jupyter comms behind two small interfaces; the one place that knows how ipykernel runs their handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import comm


class Channel(Protocol):
    """One open comm."""

    def send(self, data: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> None:
        """Send a message to the page; thread-safe."""

    def listen(self, message: Callable[[object], None], closed: Callable[[], None]) -> None:
        """Call `message` with the data of each message, and `closed` when the page closes."""

    def close(self) -> None:
        """Close from this side; the page sees it."""


Opened: TypeAlias = Callable[[Channel, object], None]


class Channels(Protocol):
    """Where pages open comms."""

    def register(self, target: str, opened: Opened) -> None:
        """Call `opened` with each new comm of `target` and its opening data."""

    def unregister(self, target: str) -> None:
        """Refuse further comms of `target`."""

    def announce(self, name: str, data: Mapping[str, Any]) -> None:
        """Send one message to all connected pages."""


class _KernelChannel:
    def __init__(self, base: comm.base_comm.BaseComm) -> None:
        self._comm = base

    def send(self, data: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> None:
        self._comm.send(data=dict(data), buffers=list(buffers))

    def listen(self, message: Callable[[object], None], closed: Callable[[], None]) -> None:
        # BaseComm.handle_msg fires IPython's pre_execute and post_execute around the callback. On a subshell
        # that is the middle of the user's cell, where matplotlib, for one, would show and close its figures.
        self._comm.handle_msg = lambda msg: message(_data(msg))  # type: ignore[method-assign]  # see above
        self._comm.on_close(lambda _: closed())

    def close(self) -> None:
        self._comm.close()


class KernelChannels:
    """The comms of the kernel this process is; without a kernel, comms that lead nowhere."""

    def register(self, target: str, opened: Opened) -> None:
        """Implement `Channels.register`."""
        comm.get_comm_manager().register_target(
            target, lambda base, msg: opened(_KernelChannel(base), _data(msg))
        )

    def unregister(self, target: str) -> None:
        """Implement `Channels.unregister`."""
        manager = comm.get_comm_manager()
        if target in manager.targets:
            manager.unregister_target(target, manager.targets[target])

    def announce(self, name: str, data: Mapping[str, Any]) -> None:
        """Implement `Channels.announce`: a message on a comm that was never opened, with `name` for its id.

        Front ends ignore an unknown id; of an opening nbclient logs a warning, and a JupyterLab without the
        extension an error.
        """
        base = comm.create_comm(comm_id=name, primary=False)
        # It closes itself when it is collected, and the page would get that.
        base.close = lambda *_, **__: None  # type: ignore[method-assign]  # see above
        base.send(data=dict(data))


def _data(msg: Mapping[str, Any]) -> object:
    return msg.get("content", {}).get("data")
