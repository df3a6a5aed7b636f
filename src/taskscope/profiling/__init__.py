"""Profile a block of code: the context manager, and parts shared with the magics."""

from taskscope.profiling.block import Block, BlockOptions
from taskscope.profiling.history import last, runs
from taskscope.profiling.profile import BlockContext, profile

__all__ = ["Block", "BlockContext", "BlockOptions", "last", "profile", "runs"]
