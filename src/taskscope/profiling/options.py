"""The options of a profiled block, with all that can be checked before it starts."""

from __future__ import annotations

from dataclasses import dataclass

from taskscope.analysis.redaction import Redaction
from taskscope.export import check_target
from taskscope.options import ProfileOptions
from taskscope.sources.local.memory import check_memory

__all__ = ["BlockOptions"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockOptions(ProfileOptions):
    """Options of a profiled block that can work here and now."""

    def __post_init__(self) -> None:
        """Check the values, and that the files can be written."""
        ProfileOptions.__post_init__(self)
        Redaction.of(self.redact)
        if self.memory:
            check_memory()
        for path in self.files:
            check_target(path, overwrite=self.overwrite)
