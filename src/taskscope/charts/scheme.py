"""Which colour each prefix has, in every figure of a stack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bokeh.palettes import all_palettes

from taskscope.analysis.display.colours import PALETTE
from taskscope.errors import OptionError, unknown_name

__all__ = ["PaletteOption", "Scheme"]

PaletteOption: TypeAlias = str | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Scheme:
    """Colours by prefix, taken in turn by first appearance.

    Parameters
    ----------
    prefixes
        The prefixes, by first appearance.
    colours
        What they take turns with.
    """

    prefixes: tuple[str, ...]
    colours: tuple[str, ...]

    @staticmethod
    def of(prefixes: Iterable[str], palette: PaletteOption = None) -> Scheme:
        """Return the scheme for these prefixes.

        Parameters
        ----------
        prefixes
            By first appearance.
        palette
            The name of a Bokeh palette, or colours; taskscope's own by default.

        Raises
        ------
        OptionError
            If the palette is not known, or empty.
        """
        names = tuple(dict.fromkeys(prefixes))
        return Scheme(names, _colours(palette, len(names)))

    def colour(self, prefix: str) -> str:
        """Return the colour of a prefix."""
        place = self.prefixes.index(prefix) if prefix in self.prefixes else 0
        return self.colours[place % len(self.colours)]


def _colours(palette: PaletteOption, n: int) -> tuple[str, ...]:
    if palette is None:
        return PALETTE
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
