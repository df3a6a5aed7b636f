"""All files that a recording can be saved as, with everything in them that is packed unpacked."""

from __future__ import annotations

import base64
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from pathlib import Path

from taskscope.codec import CutOffError, budget_for, read_frames
from taskscope.recording import Recording
from tests.support.files.perfetto import packets_of

_EXTENSIONS = (".taskscope", ".html", ".txt", ".csv", ".json", ".pftrace", ".parquet")
_BASE64 = re.compile(rb"[A-Za-z0-9+/]{40,}={0,2}")


def saved_contents(recording: Recording, folder: Path, *, redact: bool) -> dict[str, bytes]:
    """Return the contents of each file that the recording was saved as, by its name in the folder."""
    for extension in _EXTENSIONS:
        recording.save(folder / f"whole{extension}", redact=redact, overwrite=True)
    recording.to_csv(folder / "csv", redact=redact, overwrite=True)
    if len(recording.stacks.rows):
        recording.to_speedscope(folder / "speedscope.json", redact=redact, overwrite=True)
    found = {path.name: unpacked(path) for path in folder.rglob("*") if path.is_file()}
    found["report.txt"] = reports_of(folder / "whole.taskscope").encode()
    return found


def reports_of(path: Path) -> str:
    """Return everything that is said of a saved recording in words and pictures."""
    import taskscope

    loaded = taskscope.load(path)
    bundle = loaded._repr_mimebundle_()
    return "\n".join(map(str, (loaded.summary(), loaded.explain(), loaded.report(), *bundle.values())))


def unpacked(path: Path) -> bytes:
    """Return the bytes of a file, and after them what is packed in them."""
    content = path.read_bytes()
    match path.suffix:
        case ".taskscope":
            return content + b"".join(frames_of(content))
        case ".pftrace":
            return content + repr(list(packets_of(content))).encode()
        case ".parquet":
            import pyarrow.parquet as pq

            table = pq.ParquetFile(path).read()
            return content + repr(table.to_pydict()).encode()
        case ".html":
            return content + b"".join(_inflated(content))
    return content


def frames_of(content: bytes) -> Iterator[bytes]:
    """Yield the unpacked frames of a file, complete or not."""
    with suppress(CutOffError):
        yield from (frame for _, frame in read_frames(BytesIO(content), budget_for(len(content))))


def _inflated(page: bytes) -> Iterator[bytes]:
    for data in _BASE64.findall(page):
        with suppress(ValueError, zlib.error):
            packed = base64.b64decode(data)
            yield packed
            yield zlib.decompress(packed)
