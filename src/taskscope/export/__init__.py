"""Recordings as files, in the format of the extension."""

from taskscope.export.native.reader import load
from taskscope.export.native.stream import FileStream, is_growing
from taskscope.export.save import FORMATS, check_target, save, write_as

__all__ = ["FORMATS", "FileStream", "check_target", "is_growing", "load", "save", "write_as"]
