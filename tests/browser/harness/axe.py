"""Rules of accessibility that axe-core finds violated on a page: in our elements, or in all of a document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from playwright.sync_api import Page

__all__ = ["violations", "violations_of_document"]

_AXE = Path(__file__).parents[3] / "node_modules" / "axe-core" / "axe.min.js"
_TOLD = """found => found.violations.map(violation => [
  violation.id, violation.nodes.map(node => node.html.slice(0, 200) + ' ' + node.failureSummary)
])"""
# What is around our elements is JupyterLab's, and one element of a page cannot have landmarks of a page.
_IN_WIDGETS = f"""async () => ({_TOLD})(
  await axe.run({{ include: ['.tsk-widget'] }}, {{ rules: {{ region: {{ enabled: false }} }} }})
)"""
# Landmarks and headings are the notebook's, whose part a result is; frames are looked at one by one.
_IN_DOCUMENT = f"""async () => {{
  const off = {{ enabled: false }};
  const rules = {{ region: off, 'page-has-heading-one': off, 'landmark-one-main': off,
                  'html-has-lang': {{ enabled: window !== top }} }};
  return ({_TOLD})(await axe.run(document, {{ rules, iframes: false }}));
}}"""


def violations(page: Page) -> list[Any]:
    """Return the rules that widgets on a page violate, and where."""
    if not page.evaluate("() => 'axe' in window"):
        page.add_script_tag(path=_AXE)
    found: list[Any] = page.evaluate(_IN_WIDGETS)
    return found


def violations_of_document(page: Page) -> list[Any]:
    """Return the same of a document and all of its frames."""
    # Evaluated by the debugger: a page's policy may let no script in.
    for frame in page.frames:
        frame.evaluate(_AXE.read_text("utf-8"))
    return [violation for frame in page.frames for violation in frame.evaluate(_IN_DOCUMENT)]
