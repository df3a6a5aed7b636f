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
    ("texts", "limit"),
    [
        (["1048576\n"], 1_048_576),
        (["max\n"], MACHINE),
        (["9223372036854771712"], MACHINE),
        (["0"], MACHINE),
        ([""], MACHINE),
        (["nonsense"], MACHINE),
        (["2000000", "1000000"], 1_000_000),
        ([], MACHINE),
    ],
)
def test_the_memory_limit_is_the_lowest_of_those_of_control_groups_and_of_the_machine(
    tmp_path: Path, texts: list[str], limit: int
) -> None:
    files = [tmp_path / str(n) for n in range(len(texts))]
    for file, text in zip(files, texts, strict=True):
        file.write_text(text)
    assert memory_limit_bytes((tmp_path / "absent", *files)) == limit
