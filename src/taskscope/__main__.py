"""``python -m taskscope`` is the command ``taskscope``."""

import sys

from taskscope.cli import main

if __name__ == "__main__":
    sys.exit(main())
