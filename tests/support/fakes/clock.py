from __future__ import annotations

from taskscope.model.clock import Clock


class FakeClock(Clock):
    """A clock that stands still until a test advances it, so timings are exact and instant."""

    _hands: dict[str, float]

    def __init__(self, *, perf_s: float = 100.0, epoch_s: float = 1_700_000_000.0) -> None:
        hands = {"perf": perf_s, "cpu": 0.0, "epoch": epoch_s}
        super().__init__(
            perf_counter=lambda: hands["perf"],
            thread_time=lambda: hands["cpu"],
            time=lambda: hands["epoch"],
        )
        object.__setattr__(self, "_hands", hands)  # the class it fakes is frozen

    def advance(self, wall_s: float, *, cpu_s: float = 0.0) -> None:
        """Let time pass on all three clocks; ``cpu_s`` of it were spent computing."""
        if wall_s < 0 or cpu_s < 0:
            raise ValueError(f"time only moves forward, got wall_s={wall_s}, cpu_s={cpu_s}")
        self._hands["perf"] += wall_s
        self._hands["cpu"] += cpu_s
        self._hands["epoch"] += wall_s

    def step_wall_clock(self, by_s: float) -> None:
        """Set the wall clock forward or back, as NTP or a person would; nothing else moves."""
        self._hands["epoch"] += by_s
