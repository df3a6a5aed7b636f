"""Recordings as files, in the format of the extension."""

from taskscope.export.reader import load
from taskscope.export.save import FORMATS, check_target, save
from taskscope.export.stream import FileStream

__all__ = ["FORMATS", "FileStream", "check_target", "load", "save"]
