"""A worker sees what its caller may see, and no more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from jobs.worker import OUT_OF_REACH
from jobs.worker_pool import WorkerPool
from tests import sample
from tests.jobs.worker_jobs import REGISTRY, SCOPE, finished, scope_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from tests.conftest import Cluster


class TestReach:
    """The worker sees what the caller may see, by row security and by the confined store."""

    @pytest.fixture
    def planted(self, cluster: Cluster, store_database: str, owner: psycopg.Connection[Any]) -> Iterator[WorkerPool]:
        for org, observations in (("acme", 3), ("birch", 2)):
            sample.add_organization(owner, org)
            sample.add_observations(owner, org, observations)
        made = WorkerPool(cluster.plain_url("dash_read", store_database), REGISTRY, workers=1)
        yield made
        made.close()

    def test_rows_of_the_reach_alone(self, planted: WorkerPool) -> None:
        asked = [scope_of("acme"), scope_of("birch"), SCOPE, scope_of(), scope_of("acme", "birch", org="birch")]
        assert [finished(planted.ask("count", {}, scope, "v1")).value() for scope in asked] == [3, 2, 5, 0, 2]

    def test_a_task_that_reaches_further_is_refused(self, planted: WorkerPool) -> None:
        job = finished(planted.ask("count", {"everything": True}, scope_of("acme"), "v1"))
        assert (job.state, job.sentence) == ("failed", OUT_OF_REACH)
