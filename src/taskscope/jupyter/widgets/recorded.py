"""Finished recordings in the browser: each is sent once, however many widgets show it."""

from __future__ import annotations

import traitlets
from ipywidgets import Widget

from taskscope.analysis.display.page_tables import RowLinks, recorded_messages
from taskscope.jupyter.feed.feed import MAX_LINKS
from taskscope.jupyter.feed.requests import BadRequestError, parse_request
from taskscope.model.recording import RecordedData
from taskscope.wire import encode_links

MODULE_VERSION = "^0.1.0"
"""Which front end the widgets need."""


class RecordingModel(Widget):  # type: ignore[misc]  # ipywidgets is untyped
    """A recording as messages of the feed; widgets refer to it, pages request dependencies of it."""

    _model_module = traitlets.Unicode("taskscope").tag(sync=True)
    _model_module_version = traitlets.Unicode(MODULE_VERSION).tag(sync=True)
    _model_name = traitlets.Unicode("RecordingModel").tag(sync=True)

    messages = traitlets.List(
        traitlets.Dict(), help="Messages with their buffers, in the order of the feed."
    ).tag(sync=True)

    def __init__(self, recording: RecordedData) -> None:
        super().__init__(messages=recorded_messages(recording))
        self._recording = recording
        self._links: RowLinks | None = None
        self.on_msg(lambda _widget, asked, _buffers: self.send(self._answer(asked)))

    def _answer(self, asked: object) -> dict[str, object]:
        """Return the answer of a live recorder to a request for the dependencies of a row."""
        try:
            verb, fields = parse_request(asked)
        except BadRequestError as bad:
            return {"re": None, "error": str(bad)}
        if verb != "dependencies":
            return {"re": None, "error": "a finished recording only answers questions about dependencies"}
        if self._links is None:
            self._links = RowLinks(self._recording)
        row = fields["row"]
        links = self._links.of(row, MAX_LINKS)
        return {
            "re": "dependencies",
            "row": row,
            "links": None if links is None else encode_links(links),
        }


class _Recordings:
    """The recordings that widgets show."""

    def __init__(self) -> None:
        self._shown: dict[int, tuple[RecordedData, RecordingModel, set[int]]] = {}

    def use(self, recording: RecordedData, user: object) -> RecordingModel:
        """Return the model of a recording, sent now if it is not used yet."""
        if id(recording) not in self._shown:
            self._shown[id(recording)] = (recording, RecordingModel(recording), set())
        _, model, users = self._shown[id(recording)]
        users.add(id(user))
        return model

    def release(self, user: object) -> None:
        """Forget the recordings that are used nowhere else, here and in the browser."""
        for key, (_, model, users) in list(self._shown.items()):
            users.discard(id(user))
            if not users:
                del self._shown[key]
                model.close()


recordings = _Recordings()
