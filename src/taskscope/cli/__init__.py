"""The command ``taskscope``: look at saved recordings, hand them on, and profile a script."""

from taskscope.cli.main import main

__all__ = ["main"]
