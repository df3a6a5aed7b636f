"""What all widgets have in common: computes of the kernel's recorder or a recording, and traits of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import traitlets
from ipywidgets import DOMWidget, widget_serialization

from taskscope.analysis.progress import Progress
from taskscope.errors import OptionError
from taskscope.model.faces import face
from taskscope.model.recording import Recording
from taskscope.session import Options, Session
from taskscope.session import current as current_session
from taskscope.sources.cell import in_kernel
from taskscope.widgets.feed import Feed
from taskscope.widgets.feed import current as current_feed
from taskscope.widgets.output import Bundle, WidgetOutput
from taskscope.widgets.recorded import RecordingModel, recordings
from taskscope.widgets.sender import TraitSender
from taskscope.widgets.values import live_progress
from taskscope.widgets.version import MODULE_VERSION
from taskscope.widgets.window import Window

__all__ = ["RecorderWidget", "following"]


class RecorderWidget(DOMWidget):  # type: ignore[misc]  # ipywidgets is untyped
    """A view of a window of the kernel's recorder, or of a recording.

    Parameters
    ----------
    recording
        Show this, still; without it the widget follows the kernel's recorder until it is closed.
    window
        Which computes to show; by default what runs now and all that comes.
    """

    _model_module = traitlets.Unicode("taskscope").tag(sync=True)
    _view_module = traitlets.Unicode("taskscope").tag(sync=True)
    _model_module_version = traitlets.Unicode(MODULE_VERSION).tag(sync=True)
    _view_module_version = traitlets.Unicode(MODULE_VERSION).tag(sync=True)

    recorder_id = traitlets.Unicode("", help="Whose tasks are shown.").tag(sync=True)
    epoch = traitlets.Unicode("", help="Which loading of taskscope they belong to.").tag(sync=True)
    first_run = traitlets.Int(0, help="The first compute shown.").tag(sync=True)
    last_run = traitlets.Int(None, allow_none=True, help="The last one; None while more may come.").tag(
        sync=True
    )
    recorded = traitlets.Instance(
        RecordingModel, allow_none=True, help="What is shown instead of the recorder's tasks."
    ).tag(sync=True, **widget_serialization)

    def __init__(
        self, recording: Recording | None = None, *, window: Window | None = None, **traits: object
    ) -> None:
        self._session: Session | None = None
        self._remove: Callable[[], None] | None = None
        self._recording = recording
        self._outputs: list[WidgetOutput] = []
        if not isinstance(recording, Recording | None):
            raise OptionError(
                f"{type(self).__name__} shows a taskscope.Recording, which `%%profile -o run` and "
                f"taskscope.load(file) give, or, without one, what the kernel computes; got {recording!r:.80}"
            )
        if recording is not None:
            super().__init__(**{**self._still_window(recording), **self._still(recording), **traits})
            return
        session, feed = current_session(), current_feed()
        window = window or Window.from_now(session.recorder)
        if not feed.is_open:
            feed.announce()
        super().__init__(
            recorder_id=session.recorder.id,
            epoch=feed.epoch,
            first_run=window.first_run,
            last_run=window.last_run,
            **traits,
        )
        self._follow(session, feed)

    def refresh(self, now_s: float) -> None:
        """Bring the traits up to date, in one message with what changed; for the publisher's thread only."""
        session = self._session
        if session is None or self.comm is None:
            return
        feed = current_feed()
        told = feed.told.take(self.model_id)
        values = {"epoch": feed.epoch, **self._live(session, now_s), **told}
        # Observers see all of it changed, and the browser gets one message, without what it told itself: the
        # person may have chosen something else since.
        with self.hold_sync(), self._lock_property(**told), self.hold_trait_notifications():
            for trait, value in values.items():
                self.set_trait(trait, value)

    def close(self) -> None:
        """End the widget: it follows nothing, and neither kernel nor browser keeps anything of it."""
        while self._outputs:
            self._outputs.pop().finish()
        if self._remove is not None:
            self._remove()
            self._remove = None
        if self._session is not None:
            if self.comm is not None:
                current_feed().told.close(self.model_id)
            self._session.release(self)
            self._session = None
            following.discard(self)
        layout = self.layout if self.comm is not None else None
        super().close()
        if layout is not None:
            layout.close()
        recordings.release(self)

    @property
    def window(self) -> Window:
        """Which computes are shown."""
        return Window(self.first_run, self.last_run)

    def _ipython_display_(self) -> None:
        # A terminal would print each picture anew.
        moves = self._recording is None and in_kernel()
        output = WidgetOutput(current_feed(), self._repr_mimebundle_, self._picture, moves=moves)
        self._outputs.append(output)
        output.start()

    def _picture(self) -> Bundle:
        """Return what front ends without our extension show."""
        bundle: Bundle
        if self._recording is not None:
            bundle = face("result_bundle")(self._recording)
        else:
            session = current_session()
            progress = self._progress(session, session.recorder.now_s())
            bundle = face("live_bundle")(progress, session.recorder.running())
        return bundle

    def _follow(self, session: Session, feed: Feed) -> None:
        self._session = session
        session.hold(self, self._recorded_options())
        following.add(self)
        model = self.model_id
        feed.told.open(model)
        self._remove = feed.publisher.add_sender(
            TraitSender(type(self).__name__, session.recorder, self.refresh, lambda: feed.told.has(model))
        )
        session.pump.wake()

    def _recorded_options(self) -> Options:
        """Return what must be recorded for this to be shown."""
        return Options()

    def _progress(self, session: Session, now_s: float) -> Progress:
        return live_progress(session.recorder, self.window, current_feed().estimates, now_s)

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        """Return the values of the traits now."""
        raise NotImplementedError

    def _still_window(self, recording: Recording) -> Mapping[str, object]:
        numbers = [run.run for run in recording.runs]
        return {
            "recorded": recordings.use(recording, self),
            "first_run": min(numbers, default=0),
            "last_run": max(numbers, default=0),
        }

    def _still(self, recording: Recording) -> Mapping[str, object]:
        """Return the values of the traits for a recording."""
        raise NotImplementedError


class Following:
    """The widgets that follow the kernel's recorder, so that they can be closed with it."""

    def __init__(self) -> None:
        self._widgets: dict[int, RecorderWidget] = {}

    def add(self, widget: RecorderWidget) -> None:
        """Note a widget that follows."""
        self._widgets[id(widget)] = widget

    def discard(self, widget: RecorderWidget) -> None:
        """Forget a widget that no longer does."""
        self._widgets.pop(id(widget), None)

    def close_all(self) -> None:
        """Close every widget that follows."""
        for widget in list(self._widgets.values()):
            widget.close()


following = Following()
