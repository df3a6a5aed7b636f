from __future__ import annotations

from docs.tables import DECODER, PAGE, decoder, page


def test_the_page_of_tables_is_what_they_declare() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m docs.tables"


def test_the_tables_of_the_browsers_decoder_are_what_the_kernel_writes() -> None:
    assert DECODER.read_text(encoding="utf-8") == decoder(), "run: python -m docs.tables"
