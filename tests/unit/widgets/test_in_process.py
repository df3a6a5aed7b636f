"""Widgets where there is no notebook."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from taskscope import Dashboard, GanttWidget, ProgressWidget
from taskscope.errors import OptionError
from taskscope.recorder.pump import Tick
from taskscope.widgets.feed import current as current_feed


@pytest.fixture(autouse=True)
def closed_feed() -> Iterator[None]:
    yield
    current_feed().close()


def test_a_terminal_shows_a_widget_s_state_once_and_is_not_written_to_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    widget = ProgressWidget()
    widget._ipython_display_()
    (output,) = widget._outputs
    assert not output.wants(Tick(1.0, active=True, final=False))
    assert not output.wants(Tick(2.0, active=False, final=True))
    widget.close()
    assert "waiting for a Dask compute" in capsys.readouterr().out


@pytest.mark.parametrize("kind", [GanttWidget, Dashboard])
def test_what_is_no_recording_is_refused_with_what_is(kind: type[GanttWidget]) -> None:
    message = (
        f"{kind.__name__} shows a taskscope.Recording, which `%%profile -o run` and "
        "taskscope.load(file) give, or, without one, what the kernel computes; got [1, 2]"
    )
    with pytest.raises(OptionError, match=f"^{re.escape(message)}$"):
        kind([1, 2])  # type: ignore[arg-type]  # that is the point
