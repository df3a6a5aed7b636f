"""How long do `import taskscope` and the first ``%load_ext taskscope`` take, each in a new process?

A kernel that loads the extension has IPython and dask already, and most often pandas; its import of them is
not counted. Python's own start is not counted either. Files are in the system's cache.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

from benchmarks.harness import Table, main, quartiles

_IMPORT = """
import time
start_s = time.perf_counter()
import taskscope
print(time.perf_counter() - start_s)
"""
_LOAD = """
import time
{imports}
from ipykernel.inprocess.ipkernel import InProcessInteractiveShell
shell = InProcessInteractiveShell.instance()
start_s = time.perf_counter()
shell.run_line_magic("load_ext", "taskscope")
print(time.perf_counter() - start_s)
"""
_PROGRAMS = {
    "import taskscope": _IMPORT,
    "first %load_ext, the kernel has dask": _LOAD.format(
        imports="import dask, dask.threaded, ipykernel.ipkernel"
    ),
    "first %load_ext, the kernel has dask.array and dask.dataframe": _LOAD.format(
        imports="import dask.array, dask.dataframe, ipykernel.ipkernel"
    ),
}


def taken_ms(program: str) -> float:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return 1e3 * float(done.stdout.splitlines()[-1])


def rows(*, quick: bool) -> Iterator[list[str]]:
    for name, program in _PROGRAMS.items():
        taken_ms(program)
        taken = [taken_ms(program) for _ in range(3 if quick else 15)]
        yield [name, str(len(taken)), quartiles(taken, "{:.1f}")]


def measure(*, quick: bool) -> list[Table]:
    columns = ["what", "processes", "ms, median (quartiles)"]
    return [Table("The first use of a process", columns, rows(quick=quick))]


if __name__ == "__main__":
    main(__doc__, measure)
