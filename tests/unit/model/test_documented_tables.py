from __future__ import annotations

from docs.tables import PAGE, page


def test_the_page_of_tables_is_what_they_declare() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m docs.tables"
