"""What a page pointed at by a flash, which lasts a second and a half: a later look would miss it."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page

_WATCH = """() => {
  window.flashes = [];
  const flashes = classes => /tsk-flash/.test(classes);
  const begins = ({ target, oldValue }) => flashes(target.className) && !flashes(oldValue);
  const observer = new MutationObserver(changes => {
    // Another class that is added at the same time is a change of its own.
    for (const target of new Set(changes.filter(begins).map(change => change.target))) {
      const { animationName, outlineStyle } = getComputedStyle(target);
      window.flashes.push({
        cell: target.closest('[data-windowed-list-index]')?.dataset.windowedListIndex ?? null,
        classes: [...target.classList],
        inConsole: target.closest('.jp-CodeConsole')?.contains(target) === true,
        text: target.innerText,
        style: [animationName, outlineStyle],
      });
    }
  });
  observer.observe(document.body, { subtree: true, attributeFilter: ['class'], attributeOldValue: true });
  window.endOfTest?.signal.addEventListener('abort', () => observer.disconnect());
}"""


def watch_flashes(page: Page) -> None:
    """Remember from now on what begins to flash."""
    page.evaluate(_WATCH)


def flashes(page: Page, n: int) -> list[dict[str, Any]]:
    """Wait for `n` flashes, and say of each its cell, classes, text and style."""
    page.wait_for_function("n => window.flashes.length >= n", arg=n)
    seen: list[dict[str, Any]] = page.evaluate("window.flashes")
    assert len(seen) == n
    return seen
