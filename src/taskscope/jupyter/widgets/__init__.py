"""Live widgets of the kernel's recorder."""

from taskscope.jupyter.widgets.cache import CacheWidget
from taskscope.jupyter.widgets.dashboard import Dashboard
from taskscope.jupyter.widgets.flame import FlameWidget
from taskscope.jupyter.widgets.gantt import GanttWidget
from taskscope.jupyter.widgets.progress import ProgressWidget
from taskscope.jupyter.widgets.resource import ResourceWidget

__all__ = ["CacheWidget", "Dashboard", "FlameWidget", "GanttWidget", "ProgressWidget", "ResourceWidget"]
