"""Profile a block of code: the context manager, and what it shares with the magics."""

from taskscope.profiling.block import Block
from taskscope.profiling.context import BlockContext
from taskscope.profiling.history import last, runs
from taskscope.profiling.options import BlockOptions
from taskscope.profiling.profile import profile
from taskscope.profiling.profiled import ProfiledBlock

__all__ = ["Block", "BlockContext", "BlockOptions", "ProfiledBlock", "last", "profile", "runs"]
