"""An IPython extension that loads taskscope once dask is imported: ``%load_ext taskscope.with_dask``.

JupyterLab has kernels load it where a person wants taskscope to load by itself; among the extensions that
IPython's own configuration names, it does the same in each shell. Kernels that import no dask pay for this
module alone.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from taskscope.model.guard import Guard
from taskscope.model.import_notice import ImportNotice

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

_waiting: WeakKeyDictionary[InteractiveShell, ImportNotice] = WeakKeyDictionary()


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Load taskscope, now or right after dask was imported."""
    if "dask" in sys.modules:
        _load(shell)
    else:
        notice = _waiting[shell] = ImportNotice("dask", lambda: _load(shell))
        notice.wait()


def unload_ipython_extension(shell: InteractiveShell) -> None:
    """Stop waiting for dask; a loaded taskscope stays."""
    notice = _waiting.pop(shell, None)
    if notice is not None:
        notice.cancel()


def _load(shell: InteractiveShell) -> None:
    _waiting.pop(shell, None)
    # The import of dask is the user's, and succeeds.
    with Guard("taskscope", lambda name, error: shell.log.warning("%s could not be loaded: %s", name, error)):
        if shell.extension_manager is not None:
            shell.extension_manager.load_extension("taskscope")
