from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from taskscope.jupyter.feed import Feed
from taskscope.jupyter.feed.pages import LEASE_S, MAX_PAGES
from taskscope.record.pump import Tick
from taskscope.session import Session
from tests.support.fakes.channels import FakeChannels


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
