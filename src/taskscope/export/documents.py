"""Recordings as documents to read: text, or HTML."""

from __future__ import annotations

import importlib
from typing import BinaryIO

from taskscope.analysis.compare import Comparison
from taskscope.model.recording import Recording

__all__ = ["write_comparison", "write_html", "write_text"]


def write_text(recording: Recording, file: BinaryIO) -> None:
    """Write the summary."""
    file.write(f"{recording.summary()}\n".encode())


def write_html(recording: Recording, file: BinaryIO) -> None:
    """Write one document that needs neither kernel nor network."""
    # By name: the report stands beside the export, and either works without the other.
    page: str = importlib.import_module("taskscope.report").page_html(recording)
    file.write(page.encode())


def write_comparison(comparison: Comparison, file: BinaryIO) -> None:
    """Write a comparison as one document that needs neither kernel nor network."""
    page: str = importlib.import_module("taskscope.report.comparison").comparison_page(comparison)
    file.write(page.encode())
