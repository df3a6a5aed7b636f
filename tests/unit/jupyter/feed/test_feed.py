from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from taskscope.jupyter.feed import Feed
from taskscope.jupyter.feed.pages import LEASE_S, MAX_PAGES
from taskscope.record.pump import Tick
from taskscope.session import Session
from tests.support.fakes.channels import FakeChannel, FakeChannels, FakeWidget
from tests.support.recordings.run_writing import begin_run, end_run, write_task
from tests.support.wire_decoder import PageReader


class World:
    """A feed on a session that records nothing, with a clock and ticks that the test moves."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.interrupts = 0
        self.is_waiting = True
        self.channels = FakeChannels()
        self.session = Session()
        self.feed = Feed(
            self.session,
            channels=self.channels,
            clock=lambda: self.now_s,
            interrupt=self._interrupt,
            is_waiting=lambda: self.is_waiting,
        )
        self.feed.announce()

    def _interrupt(self) -> None:
        self.interrupts += 1

    def tick(self, *, final: bool = False) -> None:
        self.now_s += 0.1
        self.feed.publisher.tick(Tick(self.now_s, active=False, final=final))


def told(data: FakeChannel) -> list[dict[str, Any]]:
    """Return what a page has read of its data comm."""
    page = PageReader()
    return [page.read(buffers) for buffers in data.buffers]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    made = World()
    monkeypatch.setattr(made.session.pump, "wake", lambda: None)
    monkeypatch.setattr(made.feed.publisher, "_wake", lambda: None)
    yield made
    made.feed.close()


def on_subshell(f: Callable[[], Any]) -> Any:
    """Do it on another thread, as a subshell does."""
    got: list[Any] = []
    thread = threading.Thread(target=lambda: got.append(f()))
    thread.start()
    thread.join()
    return got[0]


def test_hello_is_answered_and_starts_the_data_stream(world: World) -> None:
    control, data = world.channels.open_page("p")
    assert not world.feed.has_front_end()
    reply = control.ask({"verb": "hello"})
    reply.pop("version")
    assert reply == {"re": "hello", **facts(world)}
    assert data.sent == []
    world.tick()
    assert data.sent == [{"protocol": 1, "kind": "batch"}]
    assert [batch["seq"] for batch in told(data)] == [0]
    assert world.feed.has_front_end()


def facts(world: World) -> dict[str, Any]:
    return {
        "protocol": 1,
        "recorder": world.session.recorder.id,
        "epoch": f"{world.session.recorder.id}-1",
        "cursor": 0,
        "lease_s": LEASE_S,
        "subshell": False,
    }


@pytest.mark.parametrize("bad", [{"verb": "eval"}, {}, [], None, 7, "stop", {"verb": ["hello"]}])
def test_an_unknown_verb_is_answered_with_an_error_and_harms_nothing(world: World, bad: object) -> None:
    control, data = world.channels.open_page("p")
    control.ask({"verb": "hello"})
    reply = control.ask(bad)
    assert reply["error"].startswith("unknown verb")
    world.tick()
    assert len(data.sent) == 1


@pytest.mark.parametrize("opening", [None, {"protocol": 2, "page": "p"}, {"protocol": 1, "page": "x" * 101}])
def test_a_page_of_another_protocol_is_refused(world: World, opening: object) -> None:
    control = world.channels.open("taskscope.control", opening)
    assert (control.is_closed, list(control.sent[0])) == (True, ["re", "error"])


def test_a_page_that_stops_renewing_costs_nothing_after_its_lease(world: World) -> None:
    control, data = world.channels.open_page("p")
    on_subshell(lambda: control.ask({"verb": "hello"}))
    world.tick()
    world.now_s += LEASE_S
    world.tick(final=True)
    assert (len(data.sent), world.feed.has_front_end()) == (1, False)


def test_a_failing_comm_drops_its_page_and_is_counted(world: World) -> None:
    control, data = world.channels.open_page("p")
    data.error = OSError("gone")
    control.ask({"verb": "hello"})
    world.tick()
    assert not world.feed.has_front_end()
    assert [m.text.split(":")[0] for m in world.session.recorder.messages] == [
        "taskscope failed in the feed to p"
    ]


def test_pages_are_bounded(world: World) -> None:
    for i in range(MAX_PAGES + 5):
        control, _ = world.channels.open_page(f"p{i}")
        control.ask({"verb": "hello"})
        world.now_s += 0.1
    assert len(world.feed._pages.alive()) == MAX_PAGES


def test_closing_closes_every_comm_and_target_and_ends_what_pages_read(world: World) -> None:
    assert world.session.recorder.follow_held
    control, data = world.channels.open_page("p")
    world.feed.close()
    assert (control.is_closed, data.is_closed, world.channels.targets) == (True, True, {})
    assert not world.session.recorder.follow_held


def test_computes_are_explained_to_the_page_that_asks(world: World) -> None:
    log = begin_run(world.session.recorder, {"x-1": ()})
    control, _ = world.channels.open_page("p")
    asked = {"verb": "explain", "first_run": log.run, "last_run": log.run, "request": 3}
    running = control.ask(asked)
    assert (running["re"], running["request"], running["explanation"]) == ("explain", 3, None)
    end_run(log)
    world.session.recorder.pull()
    assert control.ask(asked)["explanation"].keys() == {"makespan_s", "answer", "busy", "findings", "path"}


def test_a_page_gets_the_story_of_a_task_as_the_recording_has_it(world: World) -> None:
    log = begin_run(world.session.recorder, {"x-1": (), "y-1": ("x-1",)}, kept={"y-1"})
    write_task(log, "x-1", log.start + 0.5, log.start + 1.5)
    world.session.recorder.pull()
    control, _ = world.channels.open_page("p")
    asked = {"verb": "story", "first_run": log.run, "last_run": log.run, "request": 3}
    assert control.ask({**asked, "key": "x-1"})["story"] == [
        ("0 s", "needs no other task, so it could run"),
        ("500 ms", "started on thread 1, 500 ms after it was ready"),
        ("1.5 s", "finished after 1 s"),
    ]
    assert control.ask({**asked, "key": "z"})["story"] == [("", "no task of these computes has the key z")]


def test_stacks_are_sampled_from_the_first_profile_until_the_page_ends_it_or_is_gone(world: World) -> None:
    profile = {"verb": "profile", "first_run": 0, "last_run": None}
    seen = []
    control, _ = world.channels.open_page("p")
    for verb in (profile, profile, {"verb": "end_profile"}, profile):
        control.ask(verb)
        seen.append(len(world.session.holders))
    control.leave()
    assert [*seen, len(world.session.holders)] == [1, 1, 0, 1, 0]


def test_a_page_that_has_only_a_widget_gets_the_stream_on_its_comm_once_it_says_hello(world: World) -> None:
    first, second = FakeWidget("a"), FakeWidget("b")
    world.feed.connect(first)
    world.feed.connect(second)
    world.tick(final=True)
    assert (first.sent, second.sent, world.feed.has_front_end()) == ([], [], False)
    assert second.ask({"verb": "hello"})["re"] == "hello"
    world.tick()
    # It has no place for panels.
    assert (world.feed.has_front_end(), world.feed.ask_for_panel("dock")) == (True, False)
    assert (first.sent, [data.get("kind") for data in second.sent]) == ([], [None, "batch"])
    world.now_s += 100 * LEASE_S
    assert world.feed.has_front_end()


def test_vs_code_gets_the_stream_before_it_can_ask_and_anew_in_another_window(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = iter(["one", "one", "two"])
    monkeypatch.setattr("taskscope.jupyter.feed.feed.vscode_window", lambda: next(windows))
    a, b, c = FakeWidget("a"), FakeWidget("b"), FakeWidget("c")
    end = world.feed.connect(a)
    world.tick()
    # It arrives at the end of the cell, and the stream goes on.
    assert a.ask({"verb": "hello"})["re"] == "hello"
    world.tick(final=True)
    # The cell runs again: its widget is closed, and another one comes later.
    end()
    world.tick(final=True)
    world.feed.connect(b)
    world.tick(final=True)
    world.feed.connect(c)
    world.tick(final=True)
    page = PageReader()
    numbers = [[page.read(frame)["seq"] for frame in widget.buffers if frame] for widget in (a, b, c)]
    assert numbers == [[0, 1], [2], [0]]
