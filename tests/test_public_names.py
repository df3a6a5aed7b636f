from __future__ import annotations

import importlib
import inspect
import subprocess
import sys

import taskscope

HEAVY = ("IPython", "bokeh", "distributed", "ipywidgets", "pandas", "pyarrow")


def test_the_public_names_are_few_sorted_and_all_there() -> None:
    assert taskscope.__all__ == sorted(taskscope.__all__)
    assert len(taskscope.__all__) <= 15
    assert [name for name in taskscope.__all__ if getattr(taskscope, name, None) is None] == []
    assert set(taskscope.__all__) <= set(dir(taskscope))
    assert len(dir(taskscope)) == len(set(dir(taskscope)))


def test_every_public_class_and_function_is_documented_and_says_it_lives_here() -> None:
    for name in taskscope.__all__:
        member = getattr(taskscope, name)
        if inspect.isclass(member) or inspect.isfunction(member):
            assert inspect.getdoc(member), name
            assert member.__module__.startswith("taskscope"), name


def test_a_function_is_not_hidden_by_the_module_it_lives_in() -> None:
    importlib.import_module("taskscope.jupyter.magics")
    assert inspect.isfunction(taskscope.profile) or inspect.isclass(taskscope.profile)


def test_import_taskscope_loads_nothing_heavy() -> None:
    program = f"import sys, taskscope; print([name for name in {HEAVY} if name in sys.modules])"
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "[]\n"


def test_files_of_all_kinds_are_written_with_the_same_options() -> None:
    signed = {
        name: [
            str(given) for given in inspect.signature(getattr(taskscope.Recording, name)).parameters.values()
        ]
        for name in (
            "save",
            "to_html",
            "to_perfetto",
            "to_speedscope",
            "to_parquet",
            "to_csv",
        )
    }
    options = ["overwrite: 'bool' = False", "redact: 'bool' = False"]
    to_file, to_folder = ([f"{name}: 'str | PathLike[str]'", *options] for name in ("path", "directory"))
    expected = dict.fromkeys(signed, to_file) | dict.fromkeys(("to_parquet", "to_csv"), to_folder)
    assert {name: given[1:] for name, given in signed.items()} == expected
