from __future__ import annotations

from pathlib import Path

import psutil
import pytest
from dask.system import CPU_COUNT

from taskscope.sources.resources import cpu_limit, memory_limit_bytes

MACHINE = psutil.virtual_memory().total


def test_cores_are_counted_as_dask_counts_them() -> None:
    assert cpu_limit() == CPU_COUNT


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("1048576\n", 1_048_576),
        ("max\n", MACHINE),
        ("9223372036854771712", MACHINE),
        ("0", MACHINE),
        ("", MACHINE),
        ("nonsense", MACHINE),
    ],
)
def test_the_memory_limit_is_that_of_the_control_group_if_it_is_less(
    tmp_path: Path, text: str, limit: int
) -> None:
    file = tmp_path / "memory.max"
    file.write_text(text)
    assert memory_limit_bytes((tmp_path / "absent", file)) == limit


def test_the_lower_of_two_limits_counts(tmp_path: Path) -> None:
    for name, text in (("a", "2000000"), ("b", "1000000")):
        (tmp_path / name).write_text(text)
    assert memory_limit_bytes((tmp_path / "a", tmp_path / "b")) == 1_000_000


def test_without_control_groups_the_limit_is_the_machine(tmp_path: Path) -> None:
    assert memory_limit_bytes((tmp_path / "absent",)) == MACHINE
