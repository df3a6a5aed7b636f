"""The kernel that this process is."""

from __future__ import annotations

import sys
from typing import Any


def this_kernel() -> Any:  # noqa: ANN401 - ipykernel's own, or a subclass of anyone's
    """Return it, None without one of ipykernel."""
    if "IPython" not in sys.modules or "ipykernel" not in sys.modules:
        return None
    from ipykernel.kernelbase import Kernel
    from IPython import get_ipython

    kernel = getattr(get_ipython(), "kernel", None)
    return kernel if isinstance(kernel, Kernel) else None
