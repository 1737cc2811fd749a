"""Corroboration's own figures against what was planted in the demo: every family found, or named as missed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from ranking import simhash64
from tests.pages.application import application
from tests.pages.corroboration_page import figures, said, shown, table

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
STORED = "select id::text, org_id, project_id, content from observations where status = 'active'"
PLANTED = "select org_id, kind, array_agg(observation_id::text) from demo.families group by org_id, family, kind"


def opened(test: AppTest, org: str, cluster: str | None = None) -> AppTest:
    test.query_params.clear()
    test.query_params["org"], test.query_params["show"] = org, "sizes"
    if cluster is not None:
        test.query_params["cluster"] = cluster
    return shown(test, "metric")


def together(stored: list[tuple[Any, ...]]) -> dict[str, int]:
    """Which observations of a project are joined by steps of three bits at most, the slow way: all with all."""
    hashes, scopes = simhash64([row[3] for row in stored]), np.array([f"{row[1]} {row[2]}" for row in stored])
    near = (np.bitwise_count(hashes[:, None] ^ hashes) <= 3) & (scopes[:, None] == scopes)
    return dict(zip((row[0] for row in stored), connected_components(near)[1].tolist(), strict=True))


def judged(test: AppTest, org: str, kind: str, members: list[str], listed: Any) -> str:  # noqa: ANN401 - a frame
    """How the page tells of a family: found whole, or missed, and then what it says of each that is left out."""
    asked = opened(test, org, members[0])
    held: set[str] = set()
    if any("diff" in frame.value.columns for frame in asked.dataframe):
        rows = table(asked, "diff")
        held = set(rows["id"])
        (cluster,) = listed[listed["canonical"] == rows["id"][0]].to_dict("records")
        assert cluster["size"] == len(held)
        if held >= set(members):
            column, word = CALLED.get(kind, ("size", len(held)))
            assert cluster[column] == word
            return "found"
    for missed in set(members) - held:
        told = opened(test, org, missed)
        apart = [set(frame.value["id"]) for frame in told.dataframe if "diff" in frame.value.columns]
        assert apart or "is in no cluster as the sliders stand: it joins one at" in said(told)
    return "missed"


@pytest.mark.long
def test_every_planted_family_is_found_or_named_as_missed(cluster: Cluster, demo_database: str) -> None:
    planted = cluster.run(PLANTED, demo_database)
    expected = together(cluster.run(STORED, demo_database))
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
                verdict = judged(test, org, kind, members, listed)
                assert verdict == ("found" if len({expected[id_] for id_ in members}) == 1 else "missed")
                verdicts[verdict] += 1
    assert verdicts["found"] > 0.9 * len(planted)  # what was planted, nobody asked the hash about
    assert 20 < clusters <= len(planted)  # some families lie in one cluster, and nothing else is in any
