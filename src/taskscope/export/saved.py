"""The path of a file that was written, which a notebook shows as a link."""

from __future__ import annotations

import os
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from taskscope.analysis.quantities import printable

if TYPE_CHECKING:
    _Path = Path
else:
    # Before Python 3.12 only the class of this system's paths has subclasses that work.
    _Path = type(Path())

_MOST_CHARACTERS = 400


def notebook_folder() -> Path:
    """Return the folder of the notebook if the server sets it, else the kernel's."""
    folder = Path(os.environ.get("JPY_SESSION_NAME", "")).parent
    return folder if folder.is_absolute() and folder.is_dir() else Path.cwd()


class SavedFile(_Path):
    """A path like any other; where it is a cell's last value, a notebook shows a link to the file."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        """Return a relative link, which JupyterLab opens; of a directory, which it cannot open, the name."""
        name = escape(printable(str(self), _MOST_CHARACTERS))
        try:
            relative = Path(os.path.relpath(self, notebook_folder()))
        except ValueError:
            # On another drive of Windows.
            relative = None
        if relative is None or self.is_dir():
            return f"<code>{name}</code>"
        # Bytes, for names that are no text; a colon is quoted, too, so that no name is taken for a scheme.
        return f'<a href="{quote(os.fsencode(relative.as_posix()))}">{name}</a>'
