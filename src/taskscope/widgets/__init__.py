"""Live widgets of the kernel's recorder."""

from taskscope.widgets.cache import CacheWidget
from taskscope.widgets.dashboard import Dashboard
from taskscope.widgets.flame import FlameWidget
from taskscope.widgets.gantt import GanttWidget
from taskscope.widgets.progress import ProgressWidget
from taskscope.widgets.resource import ResourceWidget

__all__ = ["CacheWidget", "Dashboard", "FlameWidget", "GanttWidget", "ProgressWidget", "ResourceWidget"]
