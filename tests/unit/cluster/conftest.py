from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster

from taskscope.sources.cluster import connection, scheduler, source
from tests.support.waiting import PATIENCE_S

# As in distributed's own tests: workers are forked from one process that has imported it, in no time.
dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take no busy machine for a scheduler that does not answer."""
    monkeypatch.setattr(source, "READY_S", PATIENCE_S)
    monkeypatch.setattr(scheduler, "READY_S", PATIENCE_S)
    monkeypatch.setattr(source, "SETTLE_S", PATIENCE_S)
    monkeypatch.setattr(connection, "_CONNECT_S", PATIENCE_S)
    monkeypatch.setattr(connection, "_JOIN_S", PATIENCE_S)
    monkeypatch.setattr(scheduler, "_FLUSH_S", PATIENCE_S)
    monkeypatch.setattr(scheduler, "_ARRIVES_S", PATIENCE_S)


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Two worker processes with two threads each; nobody may stop or kill anything of it."""
    with LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=":0", memory_limit=0) as cluster:
        yield cluster


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster) as client:
        yield client


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    """A folder into which tasks write what they did."""
    folder = tmp_path / "truth"
    folder.mkdir()
    return folder
