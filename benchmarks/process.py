"""Run a command to its end or to its time limit, and leave nothing of it behind."""

from __future__ import annotations

import signal
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import psutil

__all__ = ["Ended", "run", "stop"]

_GRACE_S = 15.0
_LAST_LINES = 8


@dataclass(frozen=True, slots=True)
class Ended:
    """What a command printed until it ended, and what kept it from ending well."""

    output: str
    fault: str = ""


def run(command: Sequence[str], *, limit_s: float) -> Ended:
    """Run `command`, show what it prints as it comes, and stop it after `limit_s` seconds."""
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder, (Path(folder) / "stderr").open("w+") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, text=True)
        assert process.stdout is not None
        # A thread reads, for whatever the command leaves running may hold its output open for ever.
        reader = threading.Thread(target=_show_and_keep, args=(process.stdout, lines), daemon=True)
        reader.start()
        fault = _awaited(process, limit_s)
        reader.join(_GRACE_S)
        errors.seek(0)
        said = errors.read().splitlines()[-_LAST_LINES:]
    return Ended("".join(lines), "\n".join([fault, *said]) if fault else "")


def _show_and_keep(output: IO[str], lines: list[str]) -> None:
    with output:
        for line in output:
            print(line, end="", flush=True)
            lines.append(line)


def _awaited(process: subprocess.Popen[str], limit_s: float) -> str:
    """Wait for the end, bring it about when the time is up, and return what was wrong."""
    try:
        status = process.wait(limit_s)
    except subprocess.TimeoutExpired:
        stop(process)
        return f"stopped after {limit_s:.3g} s"
    except BaseException:
        stop(process)
        raise
    return f"ended with status {status}" if status else ""


def stop(process: subprocess.Popen[str], *, grace_s: float = _GRACE_S) -> None:
    """Interrupt, so that it can close browsers and kernels itself; kill what is left after a while."""
    family = [*psutil.Process(process.pid).children(recursive=True), psutil.Process(process.pid)]
    process.send_signal(signal.SIGINT)
    _, left = psutil.wait_procs(family, timeout=grace_s)
    for member in left:
        member.kill()
    process.wait()
