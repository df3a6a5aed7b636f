"""Jupyter comms behind two small interfaces; the one place that knows how ipykernel runs their handlers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import comm


class Channel(Protocol):
    """A comm."""

    @property
    def is_open(self) -> bool:
        """Whether a message would be sent; a `WidgetChannel` waits for widgets."""

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
    is_open = True

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


class Widget(Protocol):
    """The used part of an ipywidgets ``Widget``."""

    model_id: str

    def send(self, content: Mapping[str, Any], buffers: Sequence[bytes], /) -> None:
        """Send a custom message on its comm."""

    def on_msg(self, callback: Callable[[object, object, object], None]) -> None:
        """Call `callback` with the widget, the content and the buffers of each custom message."""


class WidgetChannel:
    """The comms of all widgets as one channel to the pages that show them.

    Pages of VS Code can open no comm. A page has the model of each widget, so any comm reaches it: messages
    take the one on which a page sent last.
    """

    def __init__(self) -> None:
        self._widgets: dict[str, Widget] = {}
        """By model; the last one sends."""
        self._message: Callable[[object], None] = lambda _: None

    @property
    def is_open(self) -> bool:
        """Whether there is a widget."""
        return bool(self._widgets)

    def add(self, widget: Widget, *, sends: bool) -> Callable[[], None]:
        """Add the comm of a widget, which messages take at once or after others; return what removes it."""
        model = widget.model_id

        def received(_widget: object, content: object, _buffers: object) -> None:
            if model in self._widgets:
                self._widgets = {**self._without(model), model: widget}
                self._message(content)

        def remove() -> None:
            self._widgets = self._without(model)

        self._widgets = {**self._widgets, model: widget} if sends else {model: widget, **self._widgets}
        widget.on_msg(received)
        return remove

    def send(self, data: Mapping[str, Any], buffers: Sequence[bytes] = ()) -> None:
        """Implement `Channel.send`."""
        for widget in [*self._widgets.values()][-1:]:
            widget.send(dict(data), list(buffers))

    def listen(self, message: Callable[[object], None], closed: Callable[[], None]) -> None:
        """Implement `Channel.listen`; it stays open for further widgets."""
        self._message = message

    def close(self) -> None:
        """Implement `Channel.close`: the widgets' comms are their own."""
        self._widgets = {}

    def _without(self, model: str) -> dict[str, Widget]:
        return {key: widget for key, widget in self._widgets.items() if key != model}


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
