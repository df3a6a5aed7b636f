"""Profile a block of code: the context manager, and parts shared with the magics."""

from taskscope.profiling.block import Block, BlockOptions, profile
from taskscope.profiling.computes import last, runs

__all__ = ["Block", "BlockOptions", "last", "profile", "runs"]
