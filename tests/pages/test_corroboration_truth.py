"""Corroboration's own figures against what was planted in the demo: every family found, or named as missed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.pages.application import application
from tests.pages.test_corroboration import figures, said, shown, table

if TYPE_CHECKING:
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

# what the page calls a cluster of each planted kind, and in which column
CALLED = {
    "one_agent": ("kind", "■ self-repetition"),
    "several_agents": ("kind", "● independent"),
    "disputed": ("kind", "✕ disputed"),
    "chained": ("chained", "↔ chained"),
}
PLANTED = "select org_id, kind, array_agg(observation_id::text) from demo.families group by org_id, family, kind"


def opened(test: AppTest, org: str, cluster: str | None = None) -> AppTest:
    test.query_params.clear()
    test.query_params["org"], test.query_params["show"] = org, "sizes"
    if cluster is not None:
        test.query_params["cluster"] = cluster
    return shown(test, "metric")


def judged(test: AppTest, org: str, kind: str, members: set[str], listed: Any) -> str:  # noqa: ANN401 - a frame
    """How the page tells of a family: whole, in parts of which each is listed, or in no cluster with what it takes."""
    rows = listed[listed["canonical"].isin(members)]
    if len(rows) == 1 and rows["size"].iloc[0] >= len(members):
        held = set(table(opened(test, org, rows["canonical"].iloc[0]), "diff")["id"])
        if held >= members:
            column, word = CALLED.get(kind, ("kind", rows["kind"].iloc[0]))
            assert rows[column].iloc[0] == word
            return "found"
    inside = {id_ for name in rows["canonical"] for id_ in table(opened(test, org, name), "diff")["id"]}
    for missed in members - inside:
        told = said(opened(test, org, missed))
        assert "This observation is in no cluster as the sliders stand: it joins one at" in told
    return "missed"


def test_every_planted_family_is_found_or_named_as_missed(cluster: Cluster, demo_database: str) -> None:
    planted = cluster.run(PLANTED, demo_database)
    verdicts, clusters = Counter[str](), 0
    with application(cluster.plain_url("dash_read", demo_database)) as test:
        test.run()
        for org in sorted({org for org, *_ in planted}):
            listed = table(opened(test, org), "kind")
            told = figures(test)
            assert told["Clusters"][0] == str(len(listed))
            assert told["Corroborated"][0] == str(listed["size"].sum())
            assert told["Independent"][0] == str((listed["agents"] > 1).sum())
            assert told["Disputed"][0] == str((listed["kind"] == "✕ disputed").sum())
            clusters += len(listed)
            for _, kind, members in (family for family in planted if family[0] == org):
                verdicts[judged(test, org, kind, set(members), listed)] += 1
    assert verdicts.total() == len(planted) > 20
    assert verdicts["found"] / len(planted) >= 0.85
    assert clusters <= len(planted) + 5
