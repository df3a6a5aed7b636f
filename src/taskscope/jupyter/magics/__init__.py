"""The IPython extension: ``%load_ext taskscope``, ``%%profile``, ``%profile``."""

from taskscope.jupyter.magics.extension import load, unload

__all__ = ["load", "unload"]
