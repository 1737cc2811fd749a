"""Runs and writers: which process loses, and how much of what a pass read was new."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from tests.health_store import NOW, plant
from tests.pages.health_page import health, table

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


def test_the_processes_that_lose_are_named_the_worst_first(address: str, owner: Owner) -> None:
    plant(owner, 9, size=12)
    for name, dropped, failed in (("idle", 0, 0), ("worst", 70, 30), ("second", 0, 50), ("least", 1, 0)):
        owner.execute(
            """insert into rankscope.log_writers (org_id, writer, name, queued, written, rows, dropped, failed,
                 last_failure, started_at, seen_at)
               values ('org_a', gen_random_uuid(), %s, 0, 10, 10, %s, %s, null, %s, %s)""",
            (name, dropped, failed, NOW, NOW),
        )
    owner.execute("update rankscope.log_writers set dropped = 0, failed = 0 where org_id = 'org_b'")
    with health(address, part="runs") as test:
        assert not test.exception
        writers = table(test, "writers").set_index("organization")
    assert writers.loc["ORG_A", "losing"] == "worst, second, p"
    assert pd.isna(writers.loc["ORG_B", "losing"])


def test_a_pass_tells_how_many_texts_were_new(address: str, owner: Owner) -> None:
    plant(owner, 9, size=12)
    owner.execute("update rankscope.aggregation_runs set hashed = 5 where org_id = 'org_a' and project_id = 'api'")
    with health(address, org="org_a", part="runs") as test:
        rows = table(test, "passes").set_index("project")
    assert rows.loc["api", "hashed"] == 5
