"""What triage decided about contradictions, on the page of an observation that is part of them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.analysis.corroboration.test_settled import alerts, decide
from tests.pages.observation_page import opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from queries.engine import Store
    from tests.conftest import Cluster
    from tests.pages.observation_page import Opened

    Owner = psycopg.Connection[Any]

__all__ = ["alerts"]
AGAINST = "contradicts the canonical"


@pytest.fixture
def opened(cluster: Cluster, store_database: str) -> Iterator[Opened]:
    with opening(cluster.plain_url("dash_read", store_database)) as open_:
        yield open_


@pytest.fixture
def passed(owner: Owner, alerts: list[Any]) -> list[Any]:
    """The three observations as one cluster of a pass, whose canonical is the first; it found both contradictions."""
    row = owner.execute(
        """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, finished_at)
           values ('org_a', 'api', 'done', 'v', now()) returning id"""
    ).fetchone()
    assert row
    found = sorted(alerts, key=lambda one: one.older in {each.newer for each in alerts})
    first, second, third = (found[0].older, found[0].newer, found[1].newer)
    for member in (first, second, third):
        owner.execute(
            "insert into rankscope.clusters values ('org_a', %s, %s, 0, %s, true, 2, 3, 3, 3, %s)",
            (row[0], member, member == first, member == second),
        )
    for place, alert in enumerate(found):
        owner.execute(
            """insert into rankscope.contradictions
               values ('org_a', %s, %s, %s, %s, %s, 'negation', 'a rule', 0.8, 61.5, '{}', '[]')""",
            (row[0], place, alert.fingerprint, alert.older, alert.newer),
        )
    return found


def captions(test: AppTest) -> str:
    return "\n".join(line.value for line in test.caption)


def roles(test: AppTest) -> str:
    return "\n".join(test.dataframe[0].value["role"])


def against(test: AppTest) -> str:
    return next(str(metric.delta) for metric in test.metric if metric.label == "Said by others")


def others(test: AppTest) -> str:
    return next(str(metric.value) for metric in test.metric if metric.label == "Said by others")


def marks(test: AppTest, lane: str) -> int:
    """Those of a lane of the timeline."""
    spec = json.loads(test.get("plotly_chart")[0].proto.spec)
    return sum(len(trace["y"]) for trace in spec["data"] if lane in trace["y"])


def test_what_nobody_decided_is_disputed(opened: Opened, store: Store, passed: list[Any]) -> None:
    decide(store, passed[0], "acknowledged")
    test = opened(observation=passed[0].newer, part="Cluster")
    assert "✕ Disputed: a member contradicts the canonical" in captions(test)
    assert f"this one · ✕ {AGAINST}" in roles(test)
    assert (others(test), against(test)) == ("0", "✕ 2 against")
    assert (marks(test, "contradicted"), marks(test, "said by others")) == (2, 0)


def test_the_cluster_says_who_contradicts_the_opened_one(opened: Opened, store: Store, passed: list[Any]) -> None:
    """The second contradicts the canonical and the third; the third has nothing against the canonical."""
    first, second, third = passed[0].older, passed[0].newer, passed[1].newer
    by_id = opened(observation=second, part="Cluster").dataframe[0].value.set_index("id")["role"].to_dict()
    assert by_id == {first: "canonical", second: f"this one · ✕ {AGAINST}", third: "✕ contradicts this one"}
    by_id = opened(observation=third, part="Cluster").dataframe[0].value.set_index("id")["role"].to_dict()
    assert by_id == {first: "canonical", second: f"✕ {AGAINST} · ✕ contradicts this one", third: "this one"}
    decide(store, passed[1], "resolved", "newer")
    by_id = opened(observation=third, part="Cluster").dataframe[0].value.set_index("id")["role"].to_dict()
    assert by_id[second] == f"✕ {AGAINST} · ✕ settled: newer is right"
    decide(store, passed[0], "false_positive")
    by_id = opened(observation=second, part="Cluster").dataframe[0].value.set_index("id")["role"].to_dict()
    assert by_id == {first: "canonical", second: "this one", third: "✕ settled: newer is right"}


@pytest.mark.parametrize(
    ("decided", "told"),
    [
        (("false_positive", None), "dismissed: a false positive"),
        (("resolved", "both"), "dismissed: both hold, each in its scope"),
    ],
)
def test_what_was_dismissed_disputes_nothing(
    opened: Opened, store: Store, passed: list[Any], decided: tuple[str, str | None], told: str
) -> None:
    decide(store, passed[0], *decided)
    test = opened(observation=passed[0].newer, part="Cluster")
    assert "isputed" not in captions(test)
    assert AGAINST not in roles(test)
    # the third contradicts it, and so nothing says on which side of that the first is
    assert (others(test), against(test)) == ("0", "✕ 1 against")
    assert (marks(test, "contradicted"), marks(test, "said by others")) == (1, 0)
    test = opened(observation=passed[0].older, part="Contradictions")
    assert (others(test), against(test)) == ("0", "1 dismissed")
    assert any(line.value.endswith(f"rule a rule · {told}") for line in test.text)


def test_what_was_resolved_for_a_side_is_settled(opened: Opened, store: Store, passed: list[Any]) -> None:
    decide(store, passed[0], "resolved", "newer")
    test = opened(observation=passed[0].older, part="Cluster")
    assert "✕ Disputed, settled: the newer is right. Both sides are still stored." in captions(test)
    assert "✕ settled: newer is right" in roles(test)
    assert AGAINST not in roles(test)
    assert (others(test), against(test)) == ("1", "✕ 1 against · 2 agents")
    test = opened(observation=passed[0].older, part="Contradictions")
    assert any(line.value.endswith("· settled: the newer is right") for line in test.text)


def test_a_decision_of_another_organization_settles_nothing(
    opened: Opened, store: Store, owner: Owner, passed: list[Any]
) -> None:
    decide(store, passed[0], "false_positive")
    owner.execute("update rankscope.drift_triage set org_id = 'org_b'")
    test = opened(observation=passed[0].older, part="Cluster")
    assert "✕ Disputed: a member contradicts the canonical" in captions(test)
    assert (others(test), against(test)) == ("1", "✕ 1 against · 2 agents")


def test_a_store_without_verdicts_knows_every_dispute_as_open(
    opened: Opened, store: Store, owner: Owner, passed: list[Any]
) -> None:
    decide(store, passed[0], "resolved", "newer")
    owner.execute("alter table rankscope.drift_triage drop column verdict cascade")
    test = opened(observation=passed[0].older, part="Cluster")
    assert "✕ Disputed: a member contradicts the canonical" in captions(test)
    assert (others(test), against(test)) == ("1", "✕ 1 against · 2 agents")
