"""Live widgets of the kernel's recorder."""

from taskscope.widgets.dashboard import Dashboard
from taskscope.widgets.gantt import GanttWidget
from taskscope.widgets.progress import ProgressWidget

__all__ = ["Dashboard", "GanttWidget", "ProgressWidget"]
