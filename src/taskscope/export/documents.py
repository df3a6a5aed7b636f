"""Recordings as documents to read: text, or HTML."""

from __future__ import annotations

from typing import BinaryIO

from taskscope.analysis.calls.lines import lines
from taskscope.analysis.compare import ComparedData
from taskscope.analysis.summary import summary_text
from taskscope.model.recording import RecordedData
from taskscope.report import page_html
from taskscope.report.comparison import comparison_page


def write_text(recording: RecordedData, file: BinaryIO) -> None:
    """Write the summary, and the source lines that tasks were sampled in, if they were."""
    text = summary_text(recording)
    if len(recording.stacks.lines) or recording.measured_lines:
        text += f"\n\n{lines(recording)}"
    file.write(f"{text}\n".encode())


def write_html(recording: RecordedData, file: BinaryIO) -> None:
    """Write one document that needs neither kernel nor network."""
    file.write(page_html(recording).encode())


def write_comparison(comparison: ComparedData, file: BinaryIO) -> None:
    """Write a comparison as one document that needs neither kernel nor network."""
    file.write(comparison_page(comparison).encode())
