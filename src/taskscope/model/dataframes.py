"""Tables as columns, and as what pandas makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import required

if TYPE_CHECKING:
    import pandas as pd

Columns: TypeAlias = Mapping[str, "NDArray[Any]"]
"""A table: its columns by name."""


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of texts that are kept once: the place of each row's."""

    texts: NDArray[np.object_]
    codes: NDArray[Any]

    def column(self) -> NDArray[np.object_]:
        found: NDArray[np.object_] = self.texts[self.codes]
        return found


def text_column(values: Sequence[object]) -> NDArray[np.object_]:
    """Return texts, and None where there is none, as a column."""
    column = np.empty(len(values), object)
    column[:] = values
    return column


def joined_columns(parts: Sequence[NDArray[Any] | Coded]) -> NDArray[Any] | Coded:
    """Return one column of these, one after another; coded columns have the same texts."""
    coded = [part for part in parts if isinstance(part, Coded)]
    if coded:
        return Coded(coded[0].texts, np.concatenate([part.codes for part in coded]))
    return np.concatenate([part for part in parts if not isinstance(part, Coded)])


def data_frame(
    rows: Mapping[str, Any] | Sequence[Mapping[str, object]], names: list[str] | None = None
) -> pd.DataFrame:
    """Return columns by name, or rows, as a DataFrame with the columns `names`."""
    with required("to_pandas", "pandas"):
        import pandas as pd
    return pd.DataFrame(rows, columns=names)
