"""The list of faults names tests; each has to be there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

INDEX = Path(__file__).with_name("README.md")
NAMED = re.findall(r"`([\w/]+\.py)::(test_\w+)`", INDEX.read_text(encoding="utf-8"))


@pytest.mark.parametrize(("file", "test"), NAMED, ids=[test for _, test in NAMED])
def test_a_test_that_the_list_names_is_there(file: str, test: str) -> None:
    source = (INDEX.parents[1] / file).read_text(encoding="utf-8")
    assert re.search(rf"^ *(async )?def {test}\(", source, re.MULTILINE)


def test_every_row_names_its_test() -> None:
    rows = [line for line in INDEX.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    assert [row for row in rows if "test_" not in row and row != "| fault | test |"] == []
