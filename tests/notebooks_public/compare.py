"""What differs between a notebook's plain runs and its profiled one, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from tests.notebooks_public.outcome import Outcome, kinds, without_tokens


def compared(plain: Outcome, again: Outcome, profiled: Outcome) -> Iterator[str]:
    """Yield what there is to say of a notebook; what begins with ``!`` should not be."""
    yield from _ends(plain, again, profiled)
    for cell, texts in enumerate(zip(plain.texts, again.texts, profiled.texts, strict=False), start=1):
        yield from _compared_texts(cell, *texts)
    if new := kinds(profiled.logged).keys() - (kinds(plain.logged) | kinds(again.logged)).keys():
        yield f"? logged only when profiled: {sorted(new)[:3]!r:.300}"
    yield from _compared_tasks(plain, again, profiled)
    for text in sorted({text for _, text in profiled.notes}):
        cells = sorted({cell for cell, other in profiled.notes if other == text})
        yield f"message in cells {cells}: {text}"
    yield _compared_seconds(plain, again, profiled)


def _ends(plain: Outcome, again: Outcome, profiled: Outcome) -> Iterator[str]:
    """Yield which runs did not reach the end, and which cells fail without us."""
    plain_died = bool(plain.died or again.died)
    for outcome, name in ((plain, "first plain"), (again, "second plain"), (profiled, "profiled")):
        if outcome.died:
            mark = "! " if outcome is profiled and not plain_died else ""
            yield f"{mark}{name} run died: {outcome.died}; its tasks are not known"
    if plain.errors:
        cells = [cell for cell, _ in plain.errors]
        yield f"cells that fail as they stand: {cells}; the first with {plain.errors[0][1]!r:.200}"


def _compared_texts(cell: int, *lines: list[str]) -> Iterator[str]:
    plain, again, profiled = ([without_tokens(line) for line in text] for text in lines)
    if plain != profiled and plain == again:
        missing, new = Counter(plain) - Counter(profiled), Counter(profiled) - Counter(plain)
        yield f"! cell {cell}: plain has {list(missing)[:3]!r:.300}, profiled has {list(new)[:3]!r:.300}"
    # Lines differ from run to run; what a line says of its kind does not.
    elif plain != profiled and (new := kinds(profiled) - (kinds(plain) | kinds(again))):
        yield f"? cell {cell}: only profiled: {list(new)[:3]!r:.300}"


def _compared_tasks(plain: Outcome, again: Outcome, profiled: Outcome) -> Iterator[str]:
    n = {"plain": len(plain.tasks), "again": len(again.tasks), "profiled": len(profiled.tasks)}
    yield f"tasks that ran: {n}; recorded: {len(profiled.recorded)}"
    if not profiled.died and plain.names() == again.names() != profiled.names():
        names = (plain.names() - profiled.names()) + (profiled.names() - plain.names())
        yield f"? other names than in plain runs: {list(names)[:3]!r:.300}"
    ran = Counter((key, how) for _, key, how in profiled.tasks)
    recorded = Counter((key, how) for *_, key, how in profiled.recorded if how in {"memory", "erred"})
    cells = {key: cell for cell, key, _ in profiled.tasks} | {
        key: cell for cell, _, key, _ in profiled.recorded
    }
    for what, left in (("ran, not recorded", ran - recorded), ("recorded, did not run", recorded - ran)):
        if left and not profiled.died:
            by_cell = Counter(cells[key] for key, _ in left.elements())
            shown = ", ".join(key for key, _ in list(left)[:3])
            yield f"! {what}: {left.total()} tasks, by cell {dict(sorted(by_cell.items()))}; such as {shown}"
    if others := Counter(how for *_, how in profiled.recorded if how not in {"memory", "erred"}):
        yield f"recorded otherwise: {dict(others)}"


def _compared_seconds(plain: Outcome, again: Outcome, profiled: Outcome) -> str:
    seconds = [sum(outcome.seconds) for outcome in (plain, again, profiled)]
    slower = [
        (round(p - max(a, b), 2), cell)
        for cell, (a, b, p) in enumerate(zip(plain.seconds, again.seconds, profiled.seconds, strict=False), 1)
    ]
    return (
        f"seconds plain {seconds[0]:.1f} and {seconds[1]:.1f}, profiled {seconds[2]:.1f}; "
        f"cells that took longest more: {sorted(slower, reverse=True)[:3]}"
    )
