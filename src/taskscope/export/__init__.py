"""Recordings as files, in the format of the extension."""

from taskscope.export.load import load
from taskscope.export.save import FORMATS, check_target, save

__all__ = ["FORMATS", "check_target", "load", "save"]
