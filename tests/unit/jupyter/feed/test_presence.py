"""How pages learn that the feed is there; these tests fail when ipykernel changes its private names."""

from __future__ import annotations

from typing import Any

from tests.support.kernel import Kernel

SHOW = "from taskscope.jupyter.adapter.kernel import show_presence; end = show_presence()"


def description(kernel: Kernel) -> dict[str, Any]:
    answer = kernel.ask_control("kernel_info_request")
    # IPython's banner ends with a tip that it draws by lot.
    return {**answer, "banner": answer["banner"].partition("Tip:")[0]}


def test_the_kernel_describes_itself_as_ever_and_names_us(kernel: Kernel) -> None:
    before = description(kernel)
    kernel.run(SHOW)
    assert description(kernel) == {
        **before,
        "supported_features": [*before["supported_features"], "taskscope"],
    }
    kernel.run("end()")
    assert description(kernel) == before


def test_the_extension_is_seen_from_loading_to_unloading(kernel: Kernel) -> None:
    seen = ["taskscope" in description(kernel)["supported_features"]]
    for verb in ("load", "unload", "load", "unload"):
        kernel.run(f"%{verb}_ext taskscope")
        seen.append("taskscope" in description(kernel)["supported_features"])
    assert seen == [False, True, False, True, False]
