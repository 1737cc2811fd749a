"""An opened alert whose two statements lie in one cluster: neither is told as a voice for the other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from analysis.drift.search import search
from tests.analysis.drift.test_from_passes import aggregated
from tests.analysis.drift.test_sides import NODE, say
from tests.drift_store import window
from tests.pages.observation_page import opening

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.conftest import Cluster
    from tests.pages.drift_page import Show

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_writing")


@pytest.fixture
def ids(store: Store, owner: Owner) -> list[str]:
    """Two that say the one, and one that says the other, as one cluster of a pass."""
    say(owner, (NODE.format(18), "a"), (NODE.format(20), "b"), (NODE.format(20).lower(), "c"))
    aggregated(store)
    rows = owner.execute("select id::text from observations order by created_at").fetchall()
    return [id_ for (id_,) in rows]


def test_each_side_has_its_own_voices(drift_page: Show, store: Store, ids: list[str]) -> None:
    one = next(
        one for one in search(store, window("org_a")).at(0.5) if (one.older.id, one.newer.id) == (ids[0], ids[1])
    )
    test = drift_page(org="org_a", alert=one.fingerprint)
    facts = next(frame.value for frame in test.dataframe if "what" in frame.value).set_index("what")
    assert list(facts.loc["says the same"]) == ["nobody else known", "2 observations by 2 agents"]
    spec = next(each for chart in test.get("plotly_chart") if "older: written" in (each := chart.proto.spec))
    marks = {name: len(trace["y"]) for trace in json.loads(spec)["data"] for name in set(trace.get("y") or ())}
    assert "older: said by others" not in marks
    assert marks["newer: said by others"] == 1
    assert (marks["older: contradicted"], marks["newer: contradicted"]) == (2, 1)


def test_an_observations_page_says_so_too(cluster: Cluster, store_database: str, ids: list[str]) -> None:
    with opening(cluster.plain_url("dash_read", store_database)) as opened:
        for id_, told in zip(ids, [("0", "✕ 2 against"), *[("1", "✕ 1 against · 2 agents")] * 2], strict=True):
            found = {metric.label: (metric.value, metric.delta) for metric in opened(observation=id_).metric}
            assert found["Said by others"] == told
