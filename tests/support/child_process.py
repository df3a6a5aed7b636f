"""Run code in a forked child and get its answer back, or the traceback that ended it."""

from __future__ import annotations

import os
import pickle
import traceback
import warnings
from collections.abc import Callable
from typing import Any


def in_forked_child(function: Callable[[], Any]) -> Any:
    """Return what `function` returns in a forked child process, which then ends without any clean-up."""
    receiving, sending = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 and later warn of the very thing that is tested: a fork while there are threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _answer(function, sending)
    os.close(sending)
    with os.fdopen(receiving, "rb") as answers:
        answer = answers.read()
    os.waitpid(pid, 0)
    worked, value = pickle.loads(answer)
    if not worked:
        raise AssertionError(f"the child failed:\n{value}")
    return value


def _answer(function: Callable[[], Any], sending: int) -> None:
    try:
        answer = (True, function())
    except BaseException:  # noqa: BLE001 - whatever it is, the parent must hear of it
        answer = (False, traceback.format_exc())
    os.write(sending, pickle.dumps(answer))
    os._exit(0)
