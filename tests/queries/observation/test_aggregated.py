"""What the last pass found about an observation, and what triage decided about it since."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd

from queries.observation.aggregated import ClusterDisputes, ClusterMembers, ContradictionsOf, LastPass
from queries.observation.record import Record
from tests.queries.observation.test_observation import HASH, LIFE, apart, planted
from tests.scopes import ALIKE

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.dossier import Planted

    Owner = psycopg.Connection[Any]

__all__ = ["planted"]


def test_the_cluster_of_the_latest_finished_pass(store: Store, planted: Planted) -> None:
    members = store.ask(ClusterMembers(LIFE, planted.id, HASH)).set_index("id")
    assert list(members.index)[:2] == [str(planted.alike[0]), str(planted.id)]
    assert list(members["canonical"]) == [True, False, False]
    assert members["disputed"].all()
    for id_, text in zip((planted.id, *planted.alike), ALIKE, strict=True):
        assert members.loc[str(id_), "bits"] == apart(text)
    assert (members["members"] == 3).all()
    finished = store.ask(LastPass(LIFE, planted.id))["finished_at"].iloc[0]
    assert timedelta(hours=1.9) < datetime.now(UTC) - finished < timedelta(hours=2.1)


def test_a_member_whose_text_changed_since_has_no_distance(store: Store, owner: Owner, planted: Planted) -> None:
    owner.execute("update observations set content = 'other' where id = %s", (planted.alike[1],))
    owner.execute("delete from observations where id = %s", (planted.alike[0],))
    members = store.ask(ClusterMembers(LIFE, planted.id, HASH)).set_index("id")
    assert members["bits"].isna().to_dict() == {
        str(planted.alike[0]): True,
        str(planted.id): False,
        str(planted.alike[1]): True,
    }


def test_both_sides_of_a_contradiction_see_the_other(store: Store, planted: Planted) -> None:
    for mine, other, side in ((planted.id, planted.opposite, "older"), (planted.opposite, planted.id, "newer")):
        row = store.ask(ContradictionsOf(LIFE, mine)).iloc[0]
        assert (row["other"], row["side"], row["kind"], row["severity"]) == (str(other), side, "negation", 61.5)
        assert [word["text"] for word in row["evidence"]] == ["use", "never"]
        assert row["content"] == store.ask(Record(LIFE, other))["content"].iloc[0]


def test_what_triage_decided_goes_along(store: Store, owner: Owner, planted: Planted) -> None:
    """Only a contradiction between the canonical and a member disputes a cluster."""
    older, newer = map(str, planted.alike)
    for member in (planted.id, *planted.alike):
        found = store.ask(ClusterDisputes(LIFE, member))
        assert found[["older", "newer", "fingerprint"]].to_numpy().tolist() == [[older, newer, "inside"]]
        assert (bool(found["dismissed"].iloc[0]), bool(found["verdict"].isna().all())) == (False, True)
    assert store.ask(ClusterDisputes(LIFE, planted.opposite)).empty
    for state, verdict, told in (
        ("false_positive", None, (True, None)), ("resolved", "both", (True, "both")),
        ("resolved", "older", (False, "older")), ("acknowledged", None, (False, None)),
    ):  # fmt: skip
        owner.execute("delete from rankscope.drift_triage")
        for name in ("inside", "print"):
            owner.execute(
                """insert into rankscope.drift_triage (org_id, fingerprint, state, verdict, changed_by)
                   values ('org_a', %s, %s, %s, 'pia')""",
                (name, state, verdict),
            )
        one, other = store.ask(ClusterDisputes(LIFE, planted.id)), store.ask(ContradictionsOf(LIFE, planted.id))
        for row in (one.iloc[0], other.iloc[0]):
            assert (bool(row["dismissed"]), None if pd.isna(row["verdict"]) else row["verdict"]) == told
        assert list(zip(other["total"], other["standing"], strict=True)) == [(1, 0 if told[0] else 1)]
        for asked in (ClusterDisputes, ContradictionsOf):
            as_open = store.ask(asked(LIFE, planted.id, triaged=False)).iloc[0]
            assert (bool(as_open["dismissed"]), pd.isna(as_open["verdict"])) == (False, True)


def test_no_pass_is_told_from_no_cluster(store: Store, owner: Owner, planted: Planted) -> None:
    assert store.ask(ClusterMembers(LIFE, planted.opposite, 0)).empty
    assert len(store.ask(LastPass(LIFE, planted.opposite))) == 1
    owner.execute("delete from rankscope.aggregation_runs")
    assert store.ask(LastPass(LIFE, planted.opposite)).empty
