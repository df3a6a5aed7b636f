"""A `.taskscope` file in a real JupyterLab: the dashboard without a kernel, or a clear word why not."""

from __future__ import annotations

import base64
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from taskscope.recording import Recording
from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.harness.painted import PAINTED
from tests.browser.harness.server import Server
from tests.support.files.hostile import ELEMENTS, hostile
from tests.support.files.payloads import PAYLOADS

FOLDER = Path(__file__).parents[2] / "fixtures"
WHOLE = (FOLDER / "documents" / "busy.taskscope").read_bytes()
KILLED = (FOLDER / "files" / "v1-killed.taskscope").read_bytes()

CURRENT = ".jp-Document:not(.lm-mod-hidden) .tsk-document"


def put(server: Server, path: str, content: bytes) -> str:
    body = {"type": "file", "format": "base64", "content": base64.b64encode(content).decode()}
    server.request("PUT", f"contents/{path}", body)
    return path


def open_file(page: Page, path: str) -> Any:
    # The command itself takes seconds longer, with any file.
    page.evaluate("path => void window.jupyterapp.commands.execute('docmanager:open', { path })", path)
    page.wait_for_function("path => window.jupyterapp.shell.currentWidget?.context?.path === path", arg=path)
    return page.locator(CURRENT)


@pytest.mark.fresh_page
def test_a_double_click_opens_the_dashboard_without_a_kernel(
    lab: LabPage, server: Server, shots: Path
) -> None:
    put(server, "busy.taskscope", WHOLE)
    page = lab.page
    page.goto(server.page_url("", "double-click").replace("/tree/", ""))
    expect(page.locator(".jp-BreadCrumbs-home")).to_be_visible()
    page.locator(".jp-DirListing-item", has_text="busy.taskscope").dblclick()
    document = page.locator(CURRENT)
    expect(document.locator("h1")).to_have_text("busy")
    expect(document.locator(".tsk-gantt-state")).to_contain_text("86 tasks · 3 threads")
    expect(document.locator(".tsk-progress-count")).to_have_text("86 of 86 tasks")
    expect(document.locator("canvas").first).to_be_visible()
    assert document.locator(".tsk-document-note").count() == 0
    for theme in ("light", "dark"):
        use_theme(page, theme)
        page.screenshot(path=shots / f"document-{theme}.png")
    page.reload()
    expect(page.locator(CURRENT).locator("h1")).to_have_text("busy")
    assert server.request("GET", "sessions") == []


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


_HEAD = struct.Struct("<4sBBBBIIIII")


def header_of(place: int, **changed: int) -> bytes:
    """Return the header of the frame that begins there, with these fields changed and a right checksum."""
    names = ("magic", "version", "kind", "packed", "zero", "stream", "number", "stored", "unpacked", "crc")
    fields = dict(zip(names, _HEAD.unpack(WHOLE[place : place + _HEAD.size]), strict=True)) | changed
    head = _HEAD.pack(*fields.values())
    return head + struct.pack("<I", zlib.crc32(head))


def bomb() -> bytes:
    """Return a file of 130 kB that claims to unpack to 128 MiB, and does."""
    second = 32 + _HEAD.unpack(WHOLE[: _HEAD.size])[7]
    stored = zlib.compress(bytes(2**27))
    head = header_of(second, packed=1, stored=len(stored), unpacked=2**27, crc=zlib.crc32(stored))
    return WHOLE[:second] + head + stored


FAULTS = {
    "bomb": (bomb(), "a frame of at most 16777216 bytes, got 134217728"),
    "flipped": (flipped(WHOLE, len(WHOLE) // 2), "cannot be read"),
    "newer": (header_of(0, version=2) + WHOLE[32:], "a newer taskscope may read it"),
    "foreign": (b"<!DOCTYPE html><script>window.pwned=1</script>", "it is not a recording of taskscope"),
    "empty": (b"", "it is not a recording of taskscope"),
}


def test_a_file_that_cannot_be_shown_says_why(lab: LabPage, server: Server, shots: Path) -> None:
    page = lab.page
    for name, (content, message) in FAULTS.items():
        document = open_file(page, put(server, f"{name}.taskscope", content))
        alert = document.get_by_role("alert")
        expect(alert).to_contain_text("This file cannot be shown: ")
        expect(alert).to_contain_text(message)
        page.screenshot(path=shots / f"document-{name}.png")
    document = open_file(page, "flipped.taskscope")
    document.get_by_role("button", name="Show what stands before the damage").click()
    expect(document.get_by_role("status").first).to_contain_text("this file is not complete: part ")
    expect(document.locator(".tsk-dashboard")).to_be_visible()
    killed = open_file(page, put(server, "killed.taskscope", KILLED))
    expect(killed.get_by_role("status").first).to_contain_text("this file is not complete")
    expect(killed.locator(".tsk-gantt-state")).to_contain_text("5 tasks")
    page.screenshot(path=shots / "document-killed.png")


def file_of(recording: Recording, folder: Path) -> bytes:
    recording.save(folder / "a.taskscope", overwrite=True)
    return (folder / "a.taskscope").read_bytes()


def elements(page: Page) -> dict[str, int]:
    """Look everywhere in the document, and return the elements that it is made of."""
    document = page.locator(CURRENT)
    chart = document.locator(".tsk-gantt canvas").first
    expect(chart).to_be_visible()
    page.evaluate(PAINTED)
    chart.press("ArrowRight")
    box = chart.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 20)
    page.evaluate(PAINTED)
    assert page.evaluate("window.pwned ?? null") is None
    found: dict[str, int] = document.evaluate(ELEMENTS)
    return found


def test_hostile_text_in_every_field_adds_no_element_and_runs_nothing(
    lab: LabPage, server: Server, tmp_path: Path
) -> None:
    page = lab.page
    put(server, "hostile.taskscope", file_of(hostile("harmless"), tmp_path))
    open_file(page, "hostile.taskscope")
    expected = elements(page)
    for payload in PAYLOADS:
        put(server, "hostile.taskscope", file_of(hostile(payload), tmp_path))
        page.locator(CURRENT).locator("h1").evaluate("former => { former.dataset.former = '' }")
        page.evaluate("() => window.jupyterapp.shell.currentWidget.context.revert()")
        expect(page.locator(CURRENT).locator("h1:not([data-former])")).to_be_visible()
        assert elements(page) == expected, payload
