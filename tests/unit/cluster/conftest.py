from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dask
import pytest
from distributed import Client, LocalCluster

from tests.support.waiting import be_patient

# As in distributed's own tests: workers are forked from one process that has imported it, in no time.
dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})


@pytest.fixture(autouse=True)
def _patience(monkeypatch: pytest.MonkeyPatch) -> None:
    be_patient(monkeypatch.setattr)


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
