"""``python -m taskscope.cli`` is the command ``taskscope``."""

import sys

from taskscope.cli.main import main

sys.exit(main())
