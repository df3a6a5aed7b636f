"""Tables as columns, and as what pandas makes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from taskscope.errors import required

if TYPE_CHECKING:
    import pandas as pd

Columns: TypeAlias = Mapping[str, "NDArray[Any]"]
"""A table: its columns by name."""


def text_column(values: Sequence[object]) -> NDArray[np.object_]:
    """Return texts, and None where there is none, as a column."""
    column = np.empty(len(values), object)
    column[:] = values
    return column


def data_frame(
    rows: Mapping[str, Any] | Sequence[Mapping[str, object]], names: list[str] | None = None
) -> pd.DataFrame:
    """Return columns by name, or rows, as a DataFrame with the columns `names`."""
    with required("to_pandas", "pandas"):
        import pandas as pd
    return pd.DataFrame(rows, columns=names)
