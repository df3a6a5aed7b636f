"""Which colour each prefix has, in every figure of a stack."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bokeh.palettes import all_palettes

from taskscope.analysis.display.colours import PALETTE
from taskscope.errors import OptionError, unknown_name

__all__ = ["PaletteOption", "Scheme"]

PaletteOption: TypeAlias = str | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Scheme:
    """Colours by prefix: those of the live views, or of a palette in turn by first appearance."""

    numbers: Mapping[str, int]
    colours: tuple[str, ...]

    @staticmethod
    def of(numbers: Mapping[str, int], palette: PaletteOption = None) -> Scheme:
        """Return the scheme for prefixes of these numbers, by default of our own palette."""
        if palette is None:
            return Scheme(dict(numbers), PALETTE)
        return Scheme({prefix: i for i, prefix in enumerate(numbers)}, _colours(palette, len(numbers)))

    def colour(self, prefix: str) -> str:
        """Return the colour of a prefix."""
        return self.colours[self.numbers.get(prefix, 0) % len(self.colours)]


def _colours(palette: str | Sequence[str], n: int) -> tuple[str, ...]:
    if isinstance(palette, str):
        sizes = all_palettes.get(palette)
        if sizes is None:
            raise OptionError(unknown_name("palette", palette, sorted(all_palettes)[:1000]))
        return tuple(sizes[min((size for size in sizes if size >= n), default=max(sizes))])
    colours = tuple(palette)
    if not colours or not all(isinstance(colour, str) for colour in colours):
        raise OptionError(
            f"palette must be the name of a Bokeh palette or a list of colours, got {palette!r}"
        )
    return colours
