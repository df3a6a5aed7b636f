from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

import pytest

from taskscope.jupyter.feed.pages import Publisher, Sender
from taskscope.record.pump import Tick


@dataclass(eq=False)
class Talker:
    name: str
    interval_s: float = 0.1
    news: int = 10**9
    error: Exception | None = None
    sent: list[Tick] = field(default_factory=list)

    def wants(self, tick: Tick) -> bool:
        return self.news > 0 or tick.final

    def send(self, tick: Tick) -> None:
        if self.error is not None:
            raise self.error
        self.news -= 1
        self.sent.append(tick)


@dataclass
class Stage:
    pages: list[Sender] = field(default_factory=list)
    dropped: list[Sender] = field(default_factory=list)
    faults: list[tuple[str, BaseException]] = field(default_factory=list)
    wakes: list[None] = field(default_factory=list)

    def publisher(self) -> Publisher:
        return Publisher(
            lambda: self.pages,
            self.dropped.append,
            lambda where, error: self.faults.append((where, error)),
            lambda: self.wakes.append(None),
        )


def run(publisher: Publisher, seconds: float, *, active: bool = True, start_s: float = 0.0) -> None:
    for i in range(round(seconds * 10)):
        publisher.tick(Tick(start_s + i / 10, active=active, final=False))


def test_all_together_send_at_most_ten_messages_in_any_second_and_take_turns() -> None:
    pages = [Talker("a"), Talker("b"), Talker("c")]
    traits = Talker("traits")
    publisher = Stage(pages=list(pages)).publisher()
    publisher.add_sender(traits)
    run(publisher, 10)
    times = sorted(tick.now_s for sender in [*pages, traits] for tick in sender.sent)
    assert max(sum(1 for t in times if at <= t < at + 0.999) for at in times) <= 10
    counts = [len(page.sent) for page in pages]
    assert len(times) >= 99
    assert max(counts) - min(counts) <= 3
    assert len(traits.sent) >= 20


@pytest.mark.parametrize("n_widgets", [1, 2, 3, 8])
def test_a_page_beside_the_traits_of_any_number_of_widgets_is_never_silent_for_long(n_widgets: int) -> None:
    page = Talker("page")
    traits = [Talker(f"traits {i}", interval_s=0.5) for i in range(n_widgets)]
    publisher = Stage(pages=[page]).publisher()
    for one in traits:
        publisher.add_sender(one)
    run(publisher, 10)
    times = [tick.now_s for tick in page.sent]
    assert max(after - before for before, after in pairwise(times)) < 0.35
    assert len(times) >= 58
    counts = [len(one.sent) for one in traits]
    assert (sum(counts) >= min(n_widgets * 20, 30), max(counts) - min(counts) <= 1) == (True, True)


def test_the_end_reaches_every_sender_even_when_their_turn_comes_later() -> None:
    talkers = [Talker(str(i), news=1) for i in range(25)]
    stage = Stage(pages=list(talkers))
    publisher = stage.publisher()
    publisher.tick(Tick(0.0, active=False, final=True))
    at_s = 0.0
    while stage.wakes:
        stage.wakes.clear()
        at_s += 0.1
        publisher.tick(Tick(at_s, active=False, final=False))
    assert Counter(tick.final for t in talkers for tick in t.sent)[True] == 25
