from __future__ import annotations

import inspect

from taskscope.model.faces import HOMES, face


def test_each_name_leads_to_a_function_that_takes_a_recording_or_what_it_is_made_of() -> None:
    first = {name: next(iter(inspect.signature(face(name)).parameters)) for name in HOMES}
    others = {
        "comparison_bundle": "comparison",
        "comparison_to_html": "comparison",
        "live_bundle": "progress",
        "load": "path",
    }
    assert first == {name: others.get(name, "recording") for name in HOMES}
