"""Which workers are known, and by which name."""

from __future__ import annotations

from taskscope.sources.cluster.workers.known import Workers


def test_a_worker_with_a_task_is_a_stranger_until_the_scheduler_has_told_its_name() -> None:
    workers = Workers("tcp://a:1")
    assert workers.get("tcp://a:2").label == "tcp://a:2"
    assert "tcp://a:2" not in workers
    workers.update({"workers": {"tcp://a:2": {"name": "<b>odd</b>", "nthreads": 1}}})
    assert "tcp://a:2" in workers
    assert workers.get("tcp://a:2").lane(7).label == "worker <b>odd</b>, thread 1"
