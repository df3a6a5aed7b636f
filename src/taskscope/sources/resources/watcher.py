"""The parent's side of `taskscope.sources.resources.procwatch`: start it, read its lines, end it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from dataclasses import dataclass, field
from io import FileIO
from pathlib import Path

from taskscope.sources.resources.processes import ProcessReading

__all__ = ["ProcessWatcher", "parse_lines"]

_SCRIPT = Path(__file__).with_name("procwatch.py")
_READ_BYTES = 1 << 16


@dataclass
class ProcessWatcher:
    """A running helper.

    Parameters
    ----------
    commands, samples
        File descriptors: our end of its input, and of its output, which never blocks.
    """

    commands: int
    samples: int
    ended: bool = False
    """Whether it is gone, for instance killed, and everything it said was read."""
    has_answered: bool = False
    """Whether it has answered."""
    _rest: bytes = field(default=b"", repr=False)
    _ends: tuple[FileIO, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Own both ends: a file is closed once; a number closed twice may be somebody else's by then."""
        self._ends = (FileIO(self.commands, "w"), FileIO(self.samples))

    @classmethod
    def start(cls) -> ProcessWatcher:
        """Start a helper that waits for when to sample this process; OSError where there can be none."""
        if not Path("/proc/self/statm").exists():
            raise OSError("sampling from another process needs /proc")
        command_out, command_in = os.pipe()
        sample_out, sample_in = os.pipe()
        os.set_blocking(sample_out, False)
        try:
            # It forks and ends at once, so this waits some 10 ms; no copy of this process is ever made.
            subprocess.run(  # noqa: S603 - our own script, our own arguments
                [sys.executable, "-I", "-S", str(_SCRIPT), str(os.getpid())],
                stdin=command_out,
                stdout=sample_in,
                stderr=subprocess.DEVNULL,
                check=True,
                timeout=10,
            )
        except (OSError, subprocess.SubprocessError) as error:
            os.close(command_in)
            os.close(sample_out)
            raise OSError(f"the sampling process could not be started: {error}") from error
        finally:
            os.close(command_out)
            os.close(sample_in)
        return cls(command_in, sample_out)

    def read(self) -> list[tuple[float, ProcessReading]]:
        """Return the samples that came since, each with its time on the ``perf_counter`` axis."""
        chunks = [self._rest]
        while True:
            try:
                chunk = os.read(self.samples, _READ_BYTES)
            except BlockingIOError:
                break
            if not chunk:
                self.ended = True
                break
            chunks.append(chunk)
        whole, newline, self._rest = b"".join(chunks).rpartition(b"\n")
        self.has_answered |= bool(newline)
        return parse_lines(whole) if newline else []

    def run(self, dt: float, *, with_peaks: bool) -> None:
        """Have a sample taken every `dt` seconds from now on."""
        self._send(f"{dt!r} {with_peaks:d}\n".encode())

    def pause(self) -> None:
        """Have none taken until `run` is called again."""
        self._send(b"\n")

    def _send(self, command: bytes) -> None:
        with contextlib.suppress(OSError):  # it may be gone, for instance killed
            os.write(self.commands, command)

    def stop(self) -> None:
        """End the helper; once more changes nothing."""
        for end in self._ends:
            end.close()


def parse_lines(lines: bytes) -> list[tuple[float, ProcessReading]]:
    """Return what the helper's lines say.

    Examples
    --------
    >>> ((time_s, reading),) = parse_lines(b"1.5 4096 8192.0 2.5 1.0 7=0.25")
    >>> reading == ProcessReading({7: 0.25}, 4096, ready_threads=2.5, active_share=1.0, peak_bytes=8192.0)
    True
    """
    found = []
    for line in lines.split(b"\n"):
        time_s, rss_bytes, peak_bytes, ready, active, *cpu = line.split()
        cpu_s = {int(pid): float(seconds) for pid, _, seconds in (part.partition(b"=") for part in cpu)}
        reading = ProcessReading(cpu_s, int(rss_bytes), float(ready), float(active), float(peak_bytes))
        found.append((float(time_s), reading))
    return found
