from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from taskscope.jupyter.feed import Feed
from taskscope.jupyter.feed.pages import LEASE_S, MAX_PAGES
from taskscope.record.pump import Tick
from taskscope.session import Session
from tests.support.fakes.channels import FakeChannel, FakeChannels
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
    monkeypatch.setattr(made.feed._control, "_wake", lambda: None)
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


def test_a_selected_task_is_answered_with_its_neighbours_on_the_control_comm_alone(world: World) -> None:
    recorder = world.session.recorder
    log = begin_run(recorder, {"a": (), "b": ("a",)})
    write_task(log, "a", log.start, log.start + 1.0)
    end_run(log)
    while recorder.pull():
        pass
    control, data = world.channels.open_page("p")
    known, unknown = (control.ask({"verb": "dependencies", "row": row}) for row in (0, 1))
    assert (known["re"], known["row"], known["links"]) == (
        "dependencies",
        0,
        {"dependencies": [], "n_dependencies": 0, "dependents": [(None, "b")], "n_dependents": 1},
    )
    assert (unknown["row"], unknown["links"]) == (1, None)
    assert data.sent == []


def facts(world: World) -> dict[str, Any]:
    return {
        "protocol": 1,
        "recorder": world.session.recorder.id,
        "epoch": f"{world.session.recorder.id}-1",
        "cursor": 0,
        "lease_s": LEASE_S,
        "subshell": False,
    }


def test_an_announcement_begins_a_new_epoch(world: World) -> None:
    world.feed.announce()
    identity = world.session.recorder.id
    assert world.channels.announced == [
        ("taskscope.announce", {"protocol": 1, "recorder": identity, "epoch": f"{identity}-{n}"})
        for n in (1, 2)
    ]


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


def test_a_page_that_renews_stays(world: World) -> None:
    control, _ = world.channels.open_page("p")
    on_subshell(lambda: control.ask({"verb": "hello"}))
    world.now_s += LEASE_S * 0.9
    on_subshell(lambda: control.ask({"verb": "renew"}))
    world.now_s += LEASE_S * 0.9
    assert world.feed.has_front_end()


def test_a_page_heard_only_between_cells_outlives_a_long_cell(world: World) -> None:
    control, _ = world.channels.open_page("p")
    control.ask({"verb": "hello"})
    world.feed.idle_clock.cell_started()
    world.now_s += 10 * LEASE_S
    assert world.feed.has_front_end()
    world.feed.idle_clock.cell_stopped()
    world.now_s += LEASE_S + 1
    assert not world.feed.has_front_end()


def test_an_expired_page_that_says_hello_is_told_again(world: World) -> None:
    control, data = world.channels.open_page("p")
    control.ask({"verb": "hello"})
    world.now_s += 2 * LEASE_S
    assert not world.feed.has_front_end()
    control.ask({"verb": "hello"})
    world.tick()
    assert len(data.sent) == 1


def test_an_expired_page_that_renews_is_told_what_came_meanwhile(world: World) -> None:
    control, data = world.channels.open_page("p")
    control.ask({"verb": "hello"})
    world.tick()
    world.now_s += 2 * LEASE_S
    world.tick(final=True)
    assert (len(data.sent), world.feed.has_front_end()) == (1, False)
    control.ask({"verb": "renew"})
    world.tick(final=True)
    assert [batch["seq"] for batch in told(data)] == [0, 1]


def test_stacks_are_sampled_for_a_page_that_shows_a_profile_until_its_lease_ends(world: World) -> None:
    control, _ = world.channels.open_page("p")
    control.ask({"verb": "hello"})
    assert not world.session.held
    asked = {"verb": "profile", "first_run": 0, "last_run": None, "request": 3}
    answers = [control.ask(asked), control.ask(asked)]
    assert [(a["re"], a["request"], a["note"], a["profile"]["prefixes"]) for a in answers] == [
        ("profile", 3, None, [])
    ] * 2
    assert (world.session.held, world.session.sampler.interval_s is None) == (True, False)
    world.now_s += 2 * LEASE_S
    assert not world.feed.has_front_end()
    assert not world.session.held


def test_what_a_person_chose_waits_for_the_widget_and_the_last_one_counts(world: World) -> None:
    control, _ = world.channels.open_page("p")
    world.feed.trait_changes.open("widget")
    for value in ("a", "b"):
        control.ask({"verb": "tell", "model": "widget", "trait": "selected_key", "value": value})
    control.ask({"verb": "tell", "model": "other", "trait": "selected_key", "value": "c"})
    errors = [answer.get("error") for answer in control.sent]
    assert errors == [None, None, "no widget of this kernel that is alive has this id"]
    told = world.feed.trait_changes
    assert (told.has("widget"), told.take("widget"), told.has("widget"), told.take("widget")) == (
        True,
        {"selected_key": "b"},
        False,
        {},
    )


def test_a_page_that_closes_is_forgotten(world: World) -> None:
    control, data = world.channels.open_page("p")
    control.ask({"verb": "hello"})
    control.page_closes()
    world.tick()
    assert (data.sent, world.feed.has_front_end()) == ([], False)


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


def test_a_page_hears_how_each_compute_can_be_stopped_and_stops_one_of_them(world: World) -> None:
    log = begin_run(world.session.recorder, {"x": ()})
    world.session.recorder.pull()
    control, data = world.channels.open_page("p")
    control.ask({"verb": "hello"})
    world.tick()
    asked = {"verb": "stop", "run": log.run, "way": "interrupt"}
    reply = on_subshell(lambda: control.ask(asked))
    assert (reply["re"], reply["run"], "error" in reply, world.interrupts) == ("stop", log.run, False, 1)
    world.now_s += 1.0
    world.feed.publisher.tick(Tick(world.now_s, active=True, final=False))
    end_run(log)
    world.tick(final=True)
    assert [batch["stops"] for batch in told(data)] == [
        [(log.run, "interrupt")],
        [(log.run, "asked")],
        [],
    ]
    reply = on_subshell(lambda: control.ask(asked))
    assert (reply["run"], reply["error"], world.interrupts) == (log.run, "it has ended", 1)


def test_closing_closes_every_comm_and_target(world: World) -> None:
    control, data = world.channels.open_page("p")
    world.feed.close()
    assert (control.is_closed, data.is_closed, world.channels.targets) == (True, True, {})


def test_resync_starts_a_stream_at_the_rows_the_page_has(world: World) -> None:
    control, data = world.channels.open_page("p")
    control.ask({"verb": "hello"})
    world.tick()
    control.ask({"verb": "resync", "cursor": 0})
    world.tick()
    assert [batch["seq"] for batch in told(data)] == [0, 0]


def test_computes_are_explained_to_the_page_that_asks(world: World) -> None:
    log = begin_run(world.session.recorder, {"x-1": ()})
    control, _ = world.channels.open_page("p")
    asked = {"verb": "explain", "first_run": log.run, "last_run": log.run, "request": 3}
    running = control.ask(asked)
    assert (running["re"], running["request"], running["explanation"]) == ("explain", 3, None)
    end_run(log)
    world.session.recorder.pull()
    assert control.ask(asked)["explanation"].keys() == {"makespan_s", "answer", "findings", "path"}


def test_a_file_is_written_for_a_page_and_what_cannot_be_is_said(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JPY_SESSION_NAME", str(tmp_path / "a.ipynb"))
    log = begin_run(world.session.recorder, {"x-1": ()})
    end_run(log)
    world.session.recorder.pull()
    control, _ = world.channels.open_page("p")
    asked = {"verb": "save", "first_run": log.run, "last_run": None, "format": "html", "request": 7}
    reply = control.ask(asked)
    assert (reply["re"], reply["request"], reply["path"]) == ("save", 7, str(next(tmp_path.iterdir())))
    refused = control.ask({"verb": "compare", "first_run": log.run, "last_run": log.run, "request": 8})
    assert (refused["request"], refused["error"]) == (
        8,
        "these computes are not of one cell: show one of them, then compare",
    )
