from __future__ import annotations

from taskscope.analysis.display.pictures import DARK, FAILED_COLOUR, LIGHT, PALETTE
from tests.support.shared_cases import shared_cases


def test_pictures_have_the_colours_of_live_charts() -> None:
    ours = {"palette": list(PALETTE), "failed": FAILED_COLOUR, "light": LIGHT, "dark": DARK}
    assert ours == shared_cases("colours")
