"""Jobs that are asked of the workers of ``worker_tasks``: within which scope, and until they are over."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from queries.scope import Reach, Scope

if TYPE_CHECKING:
    from jobs.worker_pool import Job

REGISTRY = "tests.jobs.worker_tasks"


def scope_of(*orgs: str, org: str | None = None) -> Scope:
    return Scope.of_days(Reach.of(frozenset(orgs)), date(2026, 3, 1), date(2026, 3, 2), org)


SCOPE = scope_of("acme", "birch")


def finished(job: Job, limit: float = 60.0) -> Job:
    assert job.over.wait(limit)
    return job
