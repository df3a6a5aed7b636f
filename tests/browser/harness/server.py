"""A real Jupyter server for one test session: own folders, own port, nothing of the user's configuration."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOKEN = "browser-test"
START_S = 120.0
STOP_S = 60.0
KERNEL_STOP_S = 0.0
"""Kernels are killed at once: one that ends itself waits for its threads, which may wait for minutes."""
PYTHON3 = "python3"
WITHOUT_SUBSHELLS = "ipykernel6"
ECHO = "echo"
FORKED = "forked"
PRELOADED = Path(__file__).with_name("preloaded_kernel.py")
IPYKERNEL6 = Path(__file__).parents[3] / "build" / "ipykernel6"
OTHER_LAB = "TASKSCOPE_OTHER_LAB"
"""Names in the environment a Python whose JupyterLab is to be tested, with kernels of this one."""
APPS = {
    "lab": ["-m", "jupyterlab", "--LabApp.expose_app_in_browser=True"],
    "notebook": ["-m", "notebook", "--JupyterNotebookApp.expose_app_in_browser=True"],
}


@dataclass(frozen=True, slots=True)
class Server:
    """A running JupyterLab or Notebook 7.

    It offers this Python's kernel, as `WITHOUT_SUBSHELLS` the same with ipykernel 6, `ECHO`, which is of
    another language, and on request as `FORKED` this Python's kernel with its imports done.
    """

    url: str
    log: Path
    app: str
    _kill: Callable[[], None]

    def kill(self) -> None:
        """Have the server die without a word."""
        self._kill()

    @property
    def host(self) -> str:
        """Return name and port."""
        return urllib.parse.urlsplit(self.url).netloc

    def page_url(self, path: str, workspace: str) -> str:
        """Return where a notebook opens; JupyterLab keeps the layout of `workspace`."""
        where = f"lab/workspaces/{workspace}/tree" if self.app == "lab" else "notebooks"
        return f"{self.url}{where}/{path}?token={TOKEN}"

    def request(self, method: str, path: str, body: object = None) -> Any:
        """Call the REST API and return the decoded answer."""
        request = urllib.request.Request(
            f"{self.url}api/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=STOP_S) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def write_notebook(self, path: str, sources: Sequence[str], kernel: str = PYTHON3) -> None:
        """Make a notebook with these code cells."""
        metadata = {"kernelspec": {"name": kernel, "display_name": kernel}}
        cells: list[dict[str, Any]] = [
            {
                "cell_type": "code",
                "id": f"cell-{i}",
                "source": s,
                "metadata": {},
                "outputs": [],
                "execution_count": None,
            }
            for i, s in enumerate(sources)
        ]
        self.write_content(path, {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})

    def write_content(self, path: str, content: Mapping[str, Any]) -> None:
        """Make a notebook of exactly this content."""
        self.request("PUT", f"contents/{path}", {"type": "notebook", "content": content})

    def shut_down_kernels(self) -> None:
        """End every session with its kernel."""
        for session in self.request("GET", "sessions"):
            self.request("DELETE", f"sessions/{session['id']}")

    def forget_theme(self) -> None:
        """Give the next page the theme of a new installation: what a page has chosen is kept for all."""
        (_settings(self.log.parent) / "themes.jupyterlab-settings").unlink(missing_ok=True)


@contextmanager
def running_server(
    folder: Path,
    app: str = "lab",
    *,
    base_url: str = "/",
    policy: str | None = None,
    offers_forked: bool = False,
) -> Iterator[Server]:
    """Run JupyterLab (or Notebook 7) until the block ends, under a base URL and a Content-Security-Policy.

    The extension and taskscope are those that this Python has installed; ``JUPYTER_PATH`` and ``PYTHONPATH``
    add to that.
    """
    forks = _offering_forked(folder) if offers_forked else nullcontext()
    with reserved_port() as port, forks, _running(folder, app, port, base_url, policy) as server:
        yield server


@contextmanager
def _running(folder: Path, app: str, port: int, base_url: str, policy: str | None) -> Iterator[Server]:
    (folder / "notebooks").mkdir()
    _silence_news(folder)
    _offer_ipykernel6(folder)
    _offer_echo(folder)
    if OTHER_LAB in os.environ:
        _offer_python3(folder)
    command = [
        os.environ.get(OTHER_LAB, sys.executable),
        *APPS[app],
        "--no-browser",
        "--allow-root",
        f"--port={port}",
        "--ServerApp.port_retries=0",
        "--KernelManager.transport=ipc",  # ports may be taken before a kernel opens them
        f"--KernelManager.shutdown_wait_time={KERNEL_STOP_S}",
        f"--IdentityProvider.token={TOKEN}",
        f"--ServerApp.root_dir={folder / 'notebooks'}",
        f"--ServerApp.base_url={base_url}",
    ]
    if policy is not None:
        headers = {"headers": {"Content-Security-Policy": policy}}
        command.append(f"--ServerApp.tornado_settings={headers}")
    log = folder / "server.log"
    with log.open("wb") as file:
        process = subprocess.Popen(command, env=_environment(folder), stdout=file, stderr=subprocess.STDOUT)
    server = Server(f"http://127.0.0.1:{port}{base_url}", log, app, process.kill)
    try:
        _wait_until_up(server, process)
        yield server
    finally:
        end_process(process)


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a server and wait until it has."""
    process.terminate()
    try:
        process.wait(STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _environment(folder: Path) -> dict[str, str]:
    own = {f"JUPYTER_{name}_DIR": str(folder / name.lower()) for name in ("CONFIG", "DATA")}
    # The kernels' sockets are there, and a socket's path has at most 107 characters.
    own["JUPYTER_RUNTIME_DIR"] = tempfile.mkdtemp()
    lab = {f"JUPYTERLAB_{name}_DIR": str(folder / name.lower()) for name in ("SETTINGS", "WORKSPACES")}
    # Else its own kernel would come before that of this Python.
    prefers_own = "0" if OTHER_LAB in os.environ else "1"
    return (
        os.environ
        | own
        | lab
        | {"IPYTHONDIR": str(folder / "ipython"), "JUPYTER_PREFER_ENV_PATH": prefers_own}
    )


def _settings(folder: Path) -> Path:
    return folder / "settings" / "@jupyterlab" / "apputils-extension"


def _silence_news(folder: Path) -> None:
    _settings(folder).mkdir(parents=True)
    text = json.dumps({"fetchNews": "false", "checkForUpdates": False})
    (_settings(folder) / "notification.jupyterlab-settings").write_text(text)


def _offer_python3(folder: Path) -> None:
    argv = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    _offer(folder, PYTHON3, {"argv": argv, "display_name": "Python 3 (ipykernel)", "language": "python"})


def _offer_ipykernel6(folder: Path) -> None:
    if not (IPYKERNEL6 / "ipykernel").is_dir():
        raise RuntimeError(
            f"the browser tests need ipykernel 6 in {IPYKERNEL6}; `make browser` puts it there"
        )
    spec = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": WITHOUT_SUBSHELLS,
        "language": "python",
        "env": {"PYTHONPATH": str(IPYKERNEL6)},
    }
    _offer(folder, WITHOUT_SUBSHELLS, spec)


def _offer_echo(folder: Path) -> None:
    argv = [sys.executable, str(Path(__file__).with_name("echo_kernel.py")), "-f", "{connection_file}"]
    _offer(folder, ECHO, {"argv": argv, "display_name": ECHO, "language": ECHO})


def _offer(folder: Path, name: str, spec: dict[str, Any]) -> None:
    kernel = folder / "data" / "kernels" / name
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps(spec))


@contextmanager
def _offering_forked(folder: Path) -> Iterator[None]:
    """Run the process that kernels are forked from."""
    address = str(Path(tempfile.mkdtemp(), "fork"))
    argv = [sys.executable, "-I", "-S", str(PRELOADED), "connect", address, "-f", "{connection_file}"]
    _offer(folder, FORKED, {"argv": argv, "display_name": "Python 3 (ipykernel)", "language": "python"})
    with socket.socket(socket.AF_UNIX) as listener, (folder / "forks.log").open("wb") as log:
        listener.bind(address)
        listener.listen()
        descriptor = listener.fileno()
        command = [sys.executable, str(PRELOADED), "serve", str(descriptor)]
        process = subprocess.Popen(command, pass_fds=[descriptor], stdout=log, stderr=subprocess.STDOUT)
    try:
        yield
    finally:
        end_process(process)


@contextmanager
def reserved_port() -> Iterator[int]:
    """Hold a port that only who names it can listen on: the system assigns it to no other process."""
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        port: int = holder.getsockname()[1]
        yield port


def _wait_until_up(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            break
        try:
            server.request("GET", "status")
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"the Jupyter server did not come up:\n{server.log.read_text()[-4000:]}")
