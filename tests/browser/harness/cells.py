"""Where things are in a notebook's cells."""

from __future__ import annotations

from playwright.sync_api import Locator

from tests.browser.harness.lab_page import LabPage


def cell(lab: LabPage, index: int) -> Locator:
    return lab.page.locator(f"[data-windowed-list-index='{index}']")


def badge(lab: LabPage, index: int) -> Locator:
    return cell(lab, index).locator(".tsk-cell-badge > button")


def charts(lab: LabPage, index: int) -> Locator:
    return cell(lab, index).locator(".tsk-cell-view")


def counts(lab: LabPage, index: int) -> Locator:
    return charts(lab, index).locator(".tsk-progress-count")
