"""What triage decided about a contradiction reaches the cluster that it disputes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from analysis.corroboration.agreement import agree, disputes
from analysis.corroboration.clustered import Clustered, Nearness, clustered
from analysis.corroboration.rows import ClusterRow, cluster_rows, member_rows
from queries.drift.triaging import SetTriage
from queries.once import make
from queries.scope import Reach
from ranking import detect_contradictions
from tests.analysis.corroboration.agreeing import plant
from tests.analysis.corroboration.test_agreement import scope

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

SAID = "deploys to production {} wait for the canary to stay green for thirty minutes before traffic moves over"
TOLD = ("always", "never", "always")


@pytest.fixture
def alerts(owner: Owner) -> list[Any]:
    """A disputed cluster: the second of three says the opposite, and weighs least."""
    texts = [SAID.format(word) for word in TOLD]
    ids = plant(owner, said=[(text, f"agent{n}", f"s{n}", "api", 3.0 - n) for n, text in enumerate(texts)])
    owner.execute("update observations set weight = 0.1 where id = %s", (ids[1],))
    rows = owner.execute(
        "select id::text, content, created_at at time zone 'UTC' from observations order by created_at"
    ).fetchall()
    found = detect_contradictions([dict(zip(("id", "content", "created_at"), row, strict=True)) for row in rows])
    assert len(found) == 2
    return found


def decide(store: Store, alert: Any, state: str, verdict: str | None = None) -> None:  # noqa: ANN401 - the detector's
    about = {"older": alert.older, "newer": alert.newer, "kind": alert.kind.value, "found_up_to": 0.9, "threshold": 0.5}
    wanted = SetTriage("org_a", alert.fingerprint, 0, state, uuid4(), "omar", verdict=verdict, **about)
    assert make(store, Reach(("org_a",)), wanted).kind == "applied"


def seen(store: Store) -> tuple[Clustered, ClusterRow]:
    view = clustered(agree(store, scope()), Nearness(bits=16), disputes(store, scope()))
    (row,) = cluster_rows(view)
    return view, row


def test_nobody_decided(store: Store, alerts: list[Any]) -> None:
    decide(store, alerts[0], "acknowledged")
    _, row = seen(store)
    assert (row.kind, row.disputed, row.settled) == ("disputed", True, ())


@pytest.mark.parametrize(("state", "verdict"), [("false_positive", None), ("resolved", "both")])
def test_what_was_dismissed_disputes_nothing(store: Store, alerts: list[Any], state: str, verdict: str | None) -> None:
    for alert in alerts:
        decide(store, alert, state, verdict)
    view, row = seen(store)
    assert (row.kind, row.disputed) == ("independent", False)
    assert not any(member.contradicts for member in member_rows(view, view.members(row.number)))


def test_what_was_resolved_for_a_side_is_a_settled_dispute(store: Store, alerts: list[Any]) -> None:
    for alert in alerts:
        decide(store, alert, "resolved", "newer")
    view, row = seen(store)
    assert (row.kind, row.disputed, row.settled) == ("disputed", True, ("newer",))
    assert [member.verdict for member in member_rows(view, view.members(row.number))].count("newer") == 1


def test_a_dispute_of_another_organization_settles_nothing(store: Store, owner: Owner, alerts: list[Any]) -> None:
    for alert in alerts:
        decide(store, alert, "false_positive")
    plant(owner, "org_b", [])
    owner.execute("update rankscope.drift_triage set org_id = 'org_b'")
    assert seen(store)[1].disputed


def test_a_store_without_triage_knows_every_dispute_as_open(store: Store, owner: Owner, alerts: list[Any]) -> None:
    for alert in alerts:
        decide(store, alert, "resolved", "newer")
    owner.execute("alter table rankscope.drift_triage drop column verdict cascade")
    _, row = seen(store)
    assert (row.disputed, row.settled) == (True, ())
