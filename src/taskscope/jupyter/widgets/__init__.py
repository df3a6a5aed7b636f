"""Live widgets of the kernel's recorder."""

from taskscope.jupyter.widgets.charts import (
    CacheWidget,
    Dashboard,
    FlameWidget,
    GanttWidget,
    ProgressWidget,
    ResourceWidget,
)

__all__ = ["CacheWidget", "Dashboard", "FlameWidget", "GanttWidget", "ProgressWidget", "ResourceWidget"]
