"""The demo's planted contradictions on the page's own figures: each found, or named as missed here."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.jobs.conftest import filled_now
from tests.jobs.test_worker import until
from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster

# buckets under quoted names, a retry count told as an event, and a house style told in one breath
MISSED = {"value": 3, "opposition": 1}


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    name = cluster.create(template)
    assert filled_now(cluster.url("postgres", name)) is not None
    yield name
    cluster.drop(name)


@pytest.mark.long
def test_every_planted_contradiction_is_listed_or_known_to_be_missed(cluster: Cluster, database: str) -> None:
    planted: dict[str, dict[str, int]] = {}
    for org, kind, count in cluster.run(
        "select org_id, kind, count(*) from demo.contradictions group by org_id, kind", database
    ):
        planted.setdefault(org, {})[kind] = count
    missed: dict[str, int] = {}
    with application(cluster.plain_url("dash_read", database)) as test:
        test.run()
        for org, kinds in planted.items():
            found: dict[str, int] = {}
            for kind in ("", *kinds):
                test.query_params.clear()
                test.query_params["org"] = org
                test.query_params["kind"] = kind
                test.switch_page("drift_alerts.py")
                until(lambda: test.run().metric and not test.get("progress"), limit=90)
                assert not test.exception
                listed = next(metric for metric in test.metric if metric.label == "Listed")
                found[kind] = int(listed.value)
                total = int(listed.delta.removeprefix("of "))
            assert found.pop("") == total == sum(found.values()), "nothing of a kind that nobody planted"
            for kind, count in kinds.items():
                assert count >= found[kind], "nothing that was not planted"
                missed[kind] = missed.get(kind, 0) + count - found[kind]
    assert {kind: count for kind, count in missed.items() if count} == MISSED
    assert sum(map(sum, (kinds.values() for kinds in planted.values()))) > 40
