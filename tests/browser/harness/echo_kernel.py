"""A kernel of another language than Python: it gives back what it was given."""

from __future__ import annotations

from typing import Any

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel


class EchoKernel(Kernel):
    """The least that Jupyter asks of a kernel."""

    implementation = "echo"
    implementation_version = "1"
    language_info = {"name": "echo", "mimetype": "text/plain", "file_extension": ".txt"}  # noqa: RUF012 - as its base
    banner = "echo"

    async def do_execute(self, code: str, silent: bool, *args: Any, **options: Any) -> dict[str, Any]:  # noqa: FBT001 - Jupyter calls it so
        if not silent:
            self.send_response(self.iopub_socket, "stream", {"name": "stdout", "text": code})  # type: ignore[no-untyped-call]  # ipykernel has no types
        return {
            "status": "ok",
            "execution_count": self.execution_count,
            "payload": [],
            "user_expressions": {},
        }


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=EchoKernel)
