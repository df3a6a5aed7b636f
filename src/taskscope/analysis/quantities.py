"""Numbers and hostile text as people read them; the one place where Python formats either."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal

UNKNOWN = "–"
"""Shown where a number is not known."""

_BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_ELLIPSIS = "…"
# Invisible or reordering characters: they could make one key look like another.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def format_duration(seconds: float | None) -> str:
    """Return a duration with three digits; None, NaN and infinity are unknown.

    Examples
    --------
    >>> [format_duration(s) for s in (0, 0.0000421, 0.25, 12.34, 75, 7265, None)]
    ['0 s', '42.1 µs', '250 ms', '12.3 s', '1 min 15 s', '2 h 1 min', '–']
    """
    if seconds is None or not math.isfinite(seconds):
        return UNKNOWN
    if seconds < 0:
        return f"-{format_duration(-seconds)}"
    if seconds >= 59.95:
        return _long_duration(_rounded(seconds))
    for factor, unit in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if _rounded(seconds * factor * 1e4) >= 1e4:
            return f"{_three_digits(seconds * factor)} {unit}"
    return f"{_three_digits(seconds * 1e9)} ns" if seconds else "0 s"


def format_left(guess_s: float, high_s: float, n_unseen: int = 0) -> str:
    """Return an estimate of the time left, coarser the further away, and the most that it may be.

    Examples
    --------
    >>> format_left(12.3, 31.0)
    'about 13 s left (up to 35 s)'
    >>> format_left(0.2, 0.3)
    'about 1 s left (up to 1 s)'
    >>> format_left(3.0, 4.0, n_unseen=2)
    'about 3 s left (up to 4 s; 2 tasks of new kinds have not run yet, so this may grow)'
    """
    most = f"up to {format_duration(_coarse(high_s))}"
    if n_unseen:
        kinds = "a new kind has" if n_unseen == 1 else "new kinds have"
        unseen = f"{counted(n_unseen, 'task')} of {kinds}"
        most = f"{most}; {unseen} not run yet, so this may grow"
    return f"about {format_duration(_coarse(guess_s))} left ({most})"


def _coarse(seconds: float) -> int:
    step = 1 if seconds < 20 else 5 if seconds < 120 else 60 if seconds < 7200 else 600
    return math.ceil(seconds / step) * step


def _long_duration(seconds: int) -> str:
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = ((days, "d"), (hours, "h"), (minutes, "min"), (seconds, "s"))
    first = next(i for i, (n, _) in enumerate(parts) if n)
    return " ".join(f"{n} {unit}" for n, unit in parts[first : first + 2] if n)


def _three_digits(value: float) -> str:
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    text = f"{Decimal(value).quantize(Decimal(10) ** -digits, ROUND_HALF_UP):f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def _rounded(value: float) -> int:
    """Return the nearest whole number; of two as near the greater, as browsers have it."""
    return math.floor(value + 0.5)


def format_bytes(n_bytes: float | None) -> str:
    """Return a size in decimal units with three digits; None, NaN and infinity are unknown.

    Examples
    --------
    >>> [format_bytes(n) for n in (0, 999, 1_000, 1_234_567, 8e9, float("nan"))]
    ['0 B', '999 B', '1 kB', '1.23 MB', '8 GB', '–']
    """
    if n_bytes is None or not math.isfinite(n_bytes):
        return UNKNOWN
    value, unit = float(n_bytes), 0
    while abs(value) >= 999.5 and unit < len(_BYTE_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{_three_digits(value)} {_BYTE_UNITS[unit]}"


def format_count(n: int | None) -> str:
    """Return a count with thousands separated.

    Examples
    --------
    >>> format_count(1234567), format_count(None)
    ('1,234,567', '–')
    """
    return UNKNOWN if n is None else f"{n:,}"


def format_shares(fractions: Sequence[float]) -> list[str]:
    """Return the parts of a whole as percentages that add up as they do, by their largest remainders.

    Examples
    --------
    >>> format_shares([0.506, 0.297, 0.197]), format_shares([1 / 3] * 3), format_shares([0.996, 0.004])
    (['50%', '30%', '20%'], ['34%', '33%', '33%'], ['>99%', '<1%'])
    """
    percents = [math.floor(100 * fraction + 1e-9) for fraction in fractions]
    n_more = round(100 * sum(fractions)) - sum(percents)
    remainders = sorted(range(len(percents)), key=lambda i: percents[i] - 100 * fractions[i])
    for i in remainders[: max(n_more, 0)]:
        percents[i] += 1
    return [
        f"{percent}%" if 0.01 <= fraction <= 0.99 else format_percent(fraction)
        for percent, fraction in zip(percents, fractions, strict=True)
    ]


def format_percent(fraction: float | None) -> str:
    """Return a fraction as a percentage; only exactly all is 100%, and only nothing is 0%.

    Examples
    --------
    >>> [format_percent(f) for f in (0, 0.001, 0.5, 0.999, 1, None)]
    ['0%', '<1%', '50%', '>99%', '100%', '–']
    """
    if fraction is None or not math.isfinite(fraction):
        return UNKNOWN
    if 0 < fraction < 0.01:
        return "<1%"
    if 0.99 < fraction < 1:
        return ">99%"
    return f"{_rounded(fraction * 100)}%"


def plural(noun: str, n: int | None) -> str:
    """Return the noun for a number.

    Examples
    --------
    >>> [plural("task", n) for n in (0, 1, 2, None)] + [plural("process", 2)]
    ['tasks', 'task', 'tasks', 'tasks', 'processes']
    """
    return noun if n == 1 else f"{noun}es" if noun.endswith("s") else f"{noun}s"


def counted(n: int | None, noun: str) -> str:
    """Return a number of things.

    Examples
    --------
    >>> counted(1234, "task"), counted(1, "task")
    ('1,234 tasks', '1 task')
    """
    return f"{format_count(n)} {plural(noun, n)}"


def printable(text: str, limit: int = 200, tail: int | None = None) -> str:
    r"""Return one line of at most `limit` characters, before escapes, in which every character can be seen.

    A longer text loses its middle; `tail` characters of its end stay, a quarter by default.

    Examples
    --------
    >>> printable("a\nb\u202ec")
    'a\\nb\\u202ec'
    """
    # Not escaping for HTML, which belongs to the edge.
    if len(text) > limit:
        tail = limit // 4 if tail is None else tail
        text = f"{text[: limit - tail - 1]}{_ELLIPSIS}{text[-tail:]}"
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(c) for c in text)


def _visible(character: str) -> str:
    if unicodedata.category(character) not in _HIDDEN:
        return character
    return character.encode("unicode_escape").decode("ascii")
