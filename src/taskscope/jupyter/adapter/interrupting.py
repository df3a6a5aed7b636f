"""Whether the main thread waits for Dask, and how it is interrupted."""

from __future__ import annotations

import os
import signal
import sys
import threading

# Where a thread is while a local scheduler computes, or a cluster is waited for.
_WAITING = ("dask.local", "distributed.client", "distributed.utils")


def main_waits_for_dask() -> bool:
    """Return whether the code that the main thread runs waits for a compute, or is part of one."""
    files = {getattr(sys.modules.get(name), "__file__", None) for name in _WAITING}
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    while frame is not None:
        if frame.f_code.co_filename in files:
            return True
        frame = frame.f_back
    return False


def interrupt_main() -> None:
    """Raise ``KeyboardInterrupt`` in the main thread, also out of a wait for a lock."""
    main = threading.main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, signal.SIGINT)
    else:
        os.kill(os.getpid(), signal.SIGINT)
