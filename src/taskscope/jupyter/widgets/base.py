"""The base of all widgets: computes of the kernel's recorder or a recording, and traits of them."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Mapping
from inspect import cleandoc
from typing import Any

import traitlets
from ipywidgets import DOMWidget, Widget, widget_serialization

from taskscope.analysis.display.page_tables import recorded_messages
from taskscope.analysis.progress import Progress
from taskscope.errors import OptionError, unknown_name
from taskscope.jupyter.feed import Feed
from taskscope.jupyter.feed import current as current_feed
from taskscope.jupyter.widgets.output import Bundle, WidgetOutput
from taskscope.jupyter.widgets.values import LIVE_TRAITS, RunRange, live_progress
from taskscope.model.recording import RecordedData
from taskscope.options import Options
from taskscope.record import Recorder
from taskscope.record.pump import Tick
from taskscope.report import live_bundle, result_bundle, still_bundle
from taskscope.session import Session
from taskscope.session import current as current_session
from taskscope.sources.cell import in_kernel, show_error

MODULE_VERSION = "^0.1.0"
"""Which front end the widgets need."""


class RecordingModel(Widget):  # type: ignore[misc]  # ipywidgets is untyped
    """A recording as messages of the feed, to which widgets refer."""

    _model_module = traitlets.Unicode("taskscope").tag(sync=True)
    _model_module_version = traitlets.Unicode(MODULE_VERSION).tag(sync=True)
    _model_name = traitlets.Unicode("RecordingModel").tag(sync=True)

    messages = traitlets.List(
        traitlets.Dict(), help="Messages with their buffers, in the order of the feed."
    ).tag(sync=True)

    def __init__(self, recording: RecordedData) -> None:
        super().__init__(messages=recorded_messages(recording))


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
        """Drop the recordings that no other widget uses, here and in the browser."""
        for key, (_, model, users) in list(self._shown.items()):
            users.discard(id(user))
            if not users:
                del self._shown[key]
                model.close()


recordings = _Recordings()


VIEW = "application/vnd.taskscope.view+json"
"""Says of an output that `hosts/widget/renderer.ts` shows it."""

_FOLD_S = 0.1


_PARAMETERS = """Parameters
----------
recording
    Show this, still; without it the widget follows the kernel's recorder until it is closed.
window
    Computes to show together; by default the one that runs, else the last one."""


class RecorderWidget(DOMWidget):  # type: ignore[misc]  # ipywidgets is untyped
    """A view of a window of the kernel's recorder, or of a recording."""

    def __init_subclass__(cls) -> None:
        """Document the parameters that all widgets have."""
        super().__init_subclass__()
        # Python 3.13 takes the indentation out of docstrings, older ones do not.
        cls.__doc__ = cleandoc(cls.__doc__ or "").replace("{parameters}", _PARAMETERS)

    _model_module = traitlets.Unicode("taskscope").tag(sync=True)
    _view_module = traitlets.Unicode("taskscope").tag(sync=True)
    _model_module_version = traitlets.Unicode(MODULE_VERSION).tag(sync=True)
    _view_module_version = traitlets.Unicode(MODULE_VERSION).tag(sync=True)

    recorder_id = traitlets.Unicode("", help="Whose tasks are shown.").tag(sync=True)
    epoch = traitlets.Unicode("", help="Which loading of taskscope they belong to.").tag(sync=True)
    first_run = traitlets.Int(0, help="The first compute shown.").tag(sync=True)
    last_run = traitlets.Int(None, allow_none=True, help="The last one; None while there may be more.").tag(
        sync=True
    )
    shows_now = traitlets.Bool(
        False, help="Whether the compute that runs, else the last one, is shown; else all together."
    ).tag(sync=True)
    recorded = traitlets.Instance(
        RecordingModel, allow_none=True, help="The shown recording; None for the recorder's tasks."
    ).tag(sync=True, **widget_serialization)

    # Read before `__init__` has run, too.
    _session: Session | None = None
    _writer: int | None = None
    _teller: int | None = None
    _set_at: tuple[int, ...] = ()

    def __init__(
        self, recording: RecordedData | None = None, *, window: RunRange | None = None, **traits: object
    ) -> None:
        self._writing = threading.Lock()
        self._changes: dict[str, traitlets.Bunch] = {}
        self._failed_at: set[tuple[object, ...]] = set()
        self._remove: Callable[[], None] | None = None
        self._recording = recording
        self._output: WidgetOutput | None = None
        if not isinstance(recording, RecordedData | None):
            raise OptionError(
                f"{type(self).__name__} shows a taskscope.Recording, which `%%profile -o run` and "
                f"taskscope.load(file) give, or, without one, what the kernel computes; got {recording!r:.80}"
            )
        if not isinstance(window, RunRange | None):
            raise OptionError(
                f"window must be a RunRange of computes, or None for what runs; got {window!r:.80}"
            )
        for name in traits:
            # traitlets accepts any name, with a warning.
            if not self.has_trait(name):
                hint = unknown_name("trait", name, sorted(t for t in self.trait_names() if t[0] != "_"))
                raise TypeError(
                    f"{type(self).__name__}() got an unexpected keyword argument {name!r}: {hint}"
                )
        if recording is not None:
            super().__init__(**{**self._still_window(recording), **self._still(recording), **traits})
            return
        session, feed = current_session(), current_feed()
        shows_now = window is None
        window = window or RunRange()
        feed.open()
        super().__init__(
            recorder_id=session.recorder.id,
            epoch=feed.epoch,
            first_run=window.first_run,
            last_run=window.last_run,
            shows_now=shows_now,
            **traits,
        )
        self._follow(session, feed)

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - any attribute
        """Return an attribute; a live trait is brought up to date if nothing computes."""
        if name in LIVE_TRAITS:
            self._catch_up()
        return super().__getattribute__(name)

    def refresh(self, now_s: float) -> None:
        """Bring the traits up to date, in one message with what changed; for the publisher's thread only."""
        session = self._session
        if session is None or self.comm is None:
            return
        chosen = current_feed().trait_changes.take(self.model_id)
        with self._writing:
            self._set(session, now_s, chosen)
            changes, self._changes = self._changes, {}
        # Observers see all of it changed, and the browser gets one message, without the values that it sent
        # itself: the person may have chosen something else since.
        self._teller = threading.get_ident()
        try:
            with self.hold_sync(), self._lock_property(**chosen):
                for change in changes.values():
                    self._publish(change)
        finally:
            self._teller = None

    def notify_change(self, change: traitlets.Bunch) -> None:
        """Notify observers and the browser, at once or, of values set here, in the publisher's turn."""
        thread = threading.get_ident()
        if thread == self._teller:
            # Set by ipywidgets: observers of all traits are notified, too.
            self._publish(change)
            return
        if self._writer != thread:
            super().notify_change(change)
            return
        old = self._changes.pop(change.name, change).old
        if old != change.new:
            self._changes[change.name] = traitlets.Bunch(change, old=old)

    def _set(self, session: Session, now_s: float, chosen: Mapping[str, object]) -> None:
        """Set the traits; nothing is sent here, for only the publisher's thread may send."""
        self._writer = threading.get_ident()
        try:
            self._set_at = _state(session)
            values = {"epoch": current_feed().epoch, **self._live(session, now_s), **chosen}
            for trait, value in values.items():
                self.set_trait(trait, value)
        finally:
            self._writer = None

    def _publish(self, change: traitlets.Bunch) -> None:
        try:
            super().notify_change(change)
        except BaseException as error:  # noqa: BLE001 - an observer of the user's, whose traceback is shown
            # The same line fails at each change: one traceback is enough.
            place = tuple(traceback.extract_tb(error.__traceback__)[-1])
            if place not in self._failed_at:
                self._failed_at.add(place)
                show_error(error)

    def _catch_up(self) -> None:
        """Set the traits anew if a compute has ended since, for a reader; they are sent in turn."""
        session, thread = self._session, threading.get_ident()
        if session is None or thread in (self._writer, self._teller):
            return
        session.cluster.catch_up()
        if session.recorder.is_computing():
            # They are as old as the widget's last turn, which a loop that reads them must not hold up: beside
            # a page all widgets together have three turns a second.
            return
        while session.recorder.pull(_FOLD_S):
            pass
        with self._writing:
            if self._set_at != _state(session):
                self._set(session, session.recorder.now_s(), {})

    def close(self) -> None:
        """End the widget: it follows nothing, and neither kernel nor browser keeps anything of it."""
        if self._output is not None:
            self._output.finish()
            self._output = None
        if self._remove is not None:
            self._remove()
            self._remove = None
        if self._session is not None:
            if self.comm is not None:
                current_feed().trait_changes.close(self.model_id)
            self._session.release(self)
            self._session = None
        layout = self.layout if self.comm is not None else None
        super().close()
        if layout is not None:
            layout.close()
        recordings.release(self)

    @property
    def window(self) -> RunRange:
        """Which computes are shown."""
        return RunRange(self.first_run, self.last_run)

    def _shown(self, session: Session) -> RunRange:
        """Return which computes its numbers are of."""
        return self.window.of_now(session.recorder) if self.shows_now else self.window

    def _ipython_display_(self) -> None:
        if self._output is None:
            # A terminal would print each picture anew.
            moves = self._recording is None and in_kernel()
            feed = current_feed()
            self._output = WidgetOutput(feed, self._repr_mimebundle_, self._picture, moves=moves, stays=moves)
        self._output.start()

    def _repr_mimebundle_(self, **options: object) -> dict[str, Any]:
        """Return the widget's view, with text and a picture for front ends without widgets or kernel."""
        if self._recording is not None:
            still: Bundle = still_bundle(self._recording)
        else:
            still = self._progress_bundle(hint="")
        # JupyterLab takes VIEW: its renderer keeps the view when text and picture change.
        return {VIEW: {}, **super()._repr_mimebundle_(**options), **still}

    def _picture(self) -> Bundle:
        """Return what front ends without our extension show."""
        if self._recording is None:
            return self._progress_bundle()
        bundle: Bundle = result_bundle(self._recording)
        return bundle

    def _progress_bundle(self, **options: str) -> Bundle:
        session = current_session()
        recorder = session.recorder
        progress = self._progress(session, recorder.now_s())
        bundle: Bundle = live_bundle(progress, recorder.running(), recorder.groups, **options)
        return bundle

    def _follow(self, session: Session, feed: Feed) -> None:
        self._session = session
        session.hold(self, self._recorded_options())
        model = self.model_id
        feed.trait_changes.open(model)
        sender = TraitSender(
            type(self).__name__,
            session.recorder,
            self.refresh,
            lambda: feed.trait_changes.has(model) or bool(self._changes),
        )
        remove, disconnect = feed.publisher.add_sender(sender), feed.connect(self)

        def leave() -> None:
            disconnect()
            remove()

        self._remove = leave
        session.pump.wake()

    def _recorded_options(self) -> Options:
        """Return the options that this view needs."""
        return Options()

    def _progress(self, session: Session, now_s: float) -> Progress:
        estimates = current_feed().estimates
        return live_progress(session.recorder, self.window, estimates, now_s, of_now=self.shows_now)

    def _live(self, session: Session, now_s: float) -> Mapping[str, object]:
        """Return the values of the traits now."""
        raise NotImplementedError

    def _still_window(self, recording: RecordedData) -> Mapping[str, object]:
        numbers = [run.run for run in recording.runs]
        return {
            "recorded": recordings.use(recording, self),
            "first_run": min(numbers, default=0),
            "last_run": max(numbers, default=0),
        }

    def _still(self, recording: RecordedData) -> Mapping[str, object]:
        """Return the values of the traits for a recording."""
        raise NotImplementedError


def _state(session: Session) -> tuple[int, ...]:
    """Return what changes whenever there is something new that traits are made of."""
    recorder = session.recorder
    return recorder.version, recorder.cursor, recorder.resources.cursor, recorder.held.cursor


class TraitSender:
    """Refreshes a widget's traits in its turn."""

    interval_s = 0.5

    def __init__(
        self, name: str, recorder: Recorder, refresh: Callable[[float], None], has_changes: Callable[[], bool]
    ) -> None:
        self.name = name
        self._recorder = recorder
        self._refresh = refresh
        self._has_changes = has_changes
        self._seen: tuple[int, int] | None = None

    def wants(self, tick: Tick) -> bool:
        """Return whether the traits may have to change."""
        return tick.active or tick.final or self._has_changes() or self._seen != self._state()

    def send(self, tick: Tick) -> None:
        """Refresh the traits."""
        self._seen = self._state()
        self._refresh(tick.now_s)

    def _state(self) -> tuple[int, int]:
        return self._recorder.version, self._recorder.cursor
