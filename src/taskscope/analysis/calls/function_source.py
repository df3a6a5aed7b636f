"""The source of one function with the time of each of its lines, as a page shows it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from taskscope.analysis.calls.lines import sampled_functions, samples_of, source_block
from taskscope.model.tables.stacks import StackColumns
from taskscope.wire.batch import wire_text

_MAX_LINES = 2_000
_NO_LINES = (
    "no sample kept a line of it: on a cluster, workers sample lines where they are asked for, with "
    "%%profile --lines or profile(lines=True)"
)
_NO_SOURCE = "its source is not here, or has changed"


def function_source(
    stacks: StackColumns, name: str, file: str, line: int, started_at: datetime
) -> dict[str, Any]:
    """Return the lines of a function, as they stand in its file, each with the seconds that samples give it.

    ``lines`` are rows of number, text and seconds, unknown being None; ``note`` says what is missing.
    """
    places = [
        place
        for place, each in enumerate(stacks.functions)
        if (wire_text(each.name), wire_text(each.file), each.line) == (name, file, line)
    ]
    found = sampled_functions(stacks, stacks.lines, samples_of(stacks, stacks.lines), places, started_at)
    if not found:
        return {"function": [name, file, line], "seconds": 0.0, "lines": [], "note": _NO_LINES}
    block = source_block(found[0])[:_MAX_LINES]
    return {
        "function": [name, file, line],
        "seconds": found[0].seconds,
        "lines": [
            [number, None if text is None else wire_text(text), None if known is None else known.seconds]
            for number, text, known in block
        ],
        "note": None if any(text is not None for _, text, _ in block) else _NO_SOURCE,
    }
