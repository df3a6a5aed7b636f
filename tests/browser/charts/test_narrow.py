"""The side panel at its narrowest: nothing stands over anything else, is cut off, or moves in a run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.harness.lab_page import LabPage, use_theme
from tests.browser.workloads import HALF_DONE, LOAD
from tests.support.waiting import until

USED = """
token = "0123456789abcdef" * 2
made = [(f"made{i}-" + token, i) for i in range(3)]
used = ("used-" + token, 0)
_ = dask.threaded.get({name: (slow, 0) for name in made} | {used: (len, made)}, used, num_workers=1)
"""
# Pairs of leaves with text that overlap, and those that their box cuts off.
ODD = """(root) => {
  const all = root.querySelectorAll('li, .tsk-button, .tsk-gantt-links > span, .tsk-gantt-card button');
  const leaves = [...all].filter(el => el.getClientRects().length > 0);
  const odd = [];
  for (const [i, a] of leaves.entries()) {
    const p = a.getBoundingClientRect();
    for (const b of leaves.slice(i + 1)) {
      const q = b.getBoundingClientRect();
      const width = Math.min(p.right, q.right) - Math.max(p.left, q.left);
      const height = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
      if (width > 1 && height > 1 && !a.contains(b) && !b.contains(a)) odd.push([a.innerText, b.innerText]);
    }
    if (a.scrollHeight > a.clientHeight + 1) odd.push([a.innerText, 'taller than its box']);
    for (const ul of [a.closest('ul')].filter(ul => ul && ul.scrollHeight <= 120)) {
      const box = ul.getBoundingClientRect();
      if (p.bottom > box.bottom + 1 || p.top < box.top - 1) odd.push([a.innerText, 'cut off']);
    }
  }
  return odd;
}"""


def test_links_and_computes_in_a_side_panel_of_250_px_stand_apart_and_whole(
    lab: LabPage, shots: Path
) -> None:
    lab.open(LOAD, USED, "_ = computed(slow, 2)", USED)
    for cell in range(4):
        lab.run_cell(cell)
    lab.command("taskscope:open-side-panel")
    side = lab.page.locator("#taskscope-side-panel")
    canvas = side.locator(".tsk-gantt canvas")
    expect(canvas).to_be_visible()
    box = side.bounding_box()
    assert box is not None
    assert box["width"] <= 300, box
    canvas.focus()
    for key in ("Home", "n", *["n"] * 4):
        canvas.press(key)
    expect(side.locator(".tsk-gantt-links").first).to_contain_text("Depends on 3 tasks")
    expect(side.locator(".tsk-gantt-links button")).to_have_count(3)
    side.screenshot(path=shots / "narrow-card.png")
    until(lambda: side.evaluate(ODD) == [], lambda: side.evaluate(ODD))
    canvas.press("Escape")
    computes = side.get_by_role("button", name="3 computes")
    expect(computes).to_contain_text("In [4]")
    computes.click()
    shown = side.locator(".tsk-progress-runs [aria-current]")
    expect(shown).to_contain_text("In [4]")
    side.get_by_role("button", name="Show In [2]").click()
    expect(shown).to_contain_text("In [2]")
    expect(side.get_by_role("button", name="Back to the latest")).to_be_visible()
    until(lambda: side.evaluate(ODD) == [], lambda: side.evaluate(ODD))
    side.screenshot(path=shots / "narrow-computes-light.png")
    use_theme(lab.page, "dark")
    side.screenshot(path=shots / "narrow-computes-dark.png")


# Where each section stands in each frame from now on.
WATCH = """(root) => {
  const { signal } = window.endOfTest;
  window.tops = [];
  const look = () => {
    const sections = [...root.querySelectorAll('.tsk-dashboard > .tsk-chart')];
    window.tops.push(sections.map(section => Math.round(section.getBoundingClientRect().top)).join(' '));
    if (!signal.aborted) requestAnimationFrame(look);
  };
  look();
}"""


def side_panel_of(lab: LabPage, width: int) -> Locator:
    """Open the side panel and drag its edge until it is this wide."""
    lab.command("taskscope:open-side-panel")
    side = lab.page.locator("#taskscope-side-panel")
    for _ in range(2):
        box = side.bounding_box()
        assert box is not None
        lab.page.mouse.move(box["x"] - 2, 400)
        lab.page.mouse.down()
        lab.page.mouse.move(box["x"] - 2 + box["width"] - width, 400, steps=4)
        lab.page.mouse.up()
    return side


@pytest.mark.parametrize("width", [250, 300])
def test_charts_stay_where_they_are_from_the_first_tasks_to_the_first_finding(
    lab: LabPage, shots: Path, width: int
) -> None:
    lab.page.set_viewport_size({"width": 1400, "height": 900})
    lab.open(LOAD, HALF_DONE)
    side = side_panel_of(lab, width)
    lab.run_cell(0)
    # JupyterLab makes no side panel narrower than 250 px.
    box = side.bounding_box()
    assert box is not None
    assert abs(box["width"] - width) <= 2, box
    lab.start_cell(1)
    expect(side.locator(".tsk-progress-eta")).to_contain_text("left")
    expect(side.locator(".tsk-resources canvas")).to_be_visible()
    expect(side.locator(".tsk-cache canvas")).to_be_visible()
    expect(side.locator(".tsk-progress-run")).to_have_text("In [2]")
    side.evaluate(WATCH)
    side.screenshot(path=shots / f"stays-{width}-running.png")
    lab.release()
    lab.wait_cell(1)
    finding = side.get_by_role("group", name="Findings").get_by_role("listitem")
    expect(finding).to_contain_text(re.compile(r"(up to|about) [\d.]+ m?s of [\d.]+ m?s"))
    expect(side.locator(".tsk-progress-time").first).to_contain_text(re.compile(r"^half [\d.]+ m?s$"))
    side.screenshot(path=shots / f"stays-{width}-finished.png")
    assert len(set(lab.page.evaluate("window.tops"))) == 1
    until(lambda: side.evaluate(ODD) == [], lambda: side.evaluate(ODD))


# Sampled, so what its tasks wait for is known, and with it what to change.
WAITING = """%%profile -q
def nap(i):
    time.sleep(0.1)
_ = dask.compute(*[dask.delayed(nap)(i) for i in range(24)], scheduler="threads", num_workers=2)"""


def test_a_finding_is_as_high_as_its_text_and_its_code_is_copied(lab: LabPage, shots: Path) -> None:
    lab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    lab.open(LOAD, WAITING)
    side = side_panel_of(lab, 250)
    lab.run_cell(0)
    lab.run_cell(1)
    card = side.get_by_role("group", name="Findings").get_by_role("listitem")
    code = card.locator("code")
    expect(code).to_have_text(re.compile(r"compute\(num_workers=\d+\)"))
    for theme in ("dark", "light"):
        use_theme(lab.page, theme)
        side.screenshot(path=shots / f"finding-250-{theme}.png")
    overflowing = "el => el.scrollHeight > el.clientHeight + 1 && el.clientHeight > 0"
    answer = side.locator(".tsk-progress-answer")
    assert answer.evaluate(f"el => [el, ...el.querySelectorAll('*')].filter({overflowing}).length") == 0
    copy = card.get_by_role("button", name="Copy")
    copy.click()
    expect(copy).to_have_text("Copied")
    assert lab.page.evaluate("navigator.clipboard.readText()") == code.inner_text()


def test_the_list_of_keys_is_wider_than_the_panel_and_closes(lab: LabPage, shots: Path) -> None:
    lab.open(LOAD, "_ = computed(slow, 2)", "_ = computed(slow, 2)")
    side = side_panel_of(lab, 250)
    lab.run_cell(0)
    lab.run_cell(1)
    lab.wait_feed("!feed.active && feed.tasks === 2")
    canvas = side.locator(".tsk-gantt canvas")
    expect(canvas).to_have_attribute("aria-label", re.compile("mostly slow"))
    keys = side.get_by_role("dialog", name="Keyboard shortcuts")
    canvas.press("?")
    expect(keys).to_be_visible()
    lab.page.screenshot(path=shots / "keys-250.png")
    narrowest = "el => Math.min(...[...el.querySelectorAll('dd')].map(dd => dd.clientWidth))"
    assert keys.evaluate(narrowest) >= 180
    keys.press("Escape")
    expect(keys).to_have_count(0)
    expect(canvas).to_be_focused()
    canvas.press("?")
    expect(keys).to_be_visible()
    lab.run_cell(2)
    expect(keys).to_have_count(0)
