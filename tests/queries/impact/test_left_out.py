"""Retrievals that are left out, against an answer formed with pandas from the log; scope, drawn logs, old stores."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from queries.impact.left_out import LeftOut
from queries.impact.measures import Measures
from queries.impact.selection import Filters, Selection
from queries.retrievals import FAULTS, REASONS
from queries.scope import EVERYTHING, Reach, Scope
from queries.shape import log_shape
from tests import sample
from tests.hostile import TEXTS
from tests.impact_log import NUMBERS, believable, damaged, plant, seeded
from tests.long_log import LONG, RETRIEVALS, SMALL
from tests.long_log import plant as plant_long

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.impact_log import Retrieval

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
WINDOW = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_a")
ALL = Selection(WINDOW)
SCORES = ["relevance_score", "feedback_weight", "weighted_score"]


def doubled(made: Retrieval) -> Retrieval:
    """One of whose rows another took the ranks."""
    made.rows[4].before, made.rows[4].after = made.rows[2].before, made.rows[2].after
    return made


@pytest.fixture
def planted(owner: Owner) -> list[Retrieval]:
    """Each fault and weighting off on each of five days, some at once, beside whole ones and one of another window."""
    draw = seeded(4)
    sample.add_organization(owner, "org_a", "Acme")
    owner.execute("insert into sessions (org_id, id, agent_id, created_at) values ('org_a', 's0', 'agent-0', now())")
    made = []
    for day in range(5):
        for how in ("hole", "twice", "number", "rank", "extreme"):
            one = believable(draw, f"{how}/{day}", draw.choice([8, 20, 62, 70]), block=3, days_ago=day)
            made.append(damaged(draw, one, how))
        made.append(doubled(believable(draw, f"doubled/{day}", 12, block=3, days_ago=day)))
        made.append(believable(draw, f"off/{day}", 12, block=3, days_ago=day, weighting=False, query=TEXTS[day]))
        both = damaged(draw, believable(draw, f"both/{day}", 12, block=3, days_ago=day, weighting=False), "twice")
        made.append(damaged(draw, both, "number"))
        made.append(believable(draw, f"whole/{day}", 12, block=3, days_ago=day))
    made += [damaged(draw, believable(draw, "old", 12, block=3, days_ago=30), "hole")]
    plant(owner, made)
    return made


def log(owner: Owner) -> pd.DataFrame:
    """The whole log as it stands in the store."""
    found = owner.execute("select * from retrieval_ab_logs")
    assert found.description is not None
    return pd.DataFrame(found.fetchall(), columns=[column.name for column in found.description])


def slowly(rows: pd.DataFrame, key: str = "retrieval_id") -> pd.DataFrame:
    """Reason, rows and ranks of each retrieval, one at a time; a whole one made with weighting on has no reason."""
    told = []
    for name, its in rows.groupby(key):
        ranks = [sorted(its[order].dropna()) for order in ("unweighted_rank", "weighted_rank")]
        scores = its[SCORES].astype("float64").to_numpy()
        if any(order != list(range(len(its))) for order in ranks):
            reason = "incomplete"
        elif its["observation_id"].nunique() < len(its):
            reason = "repeated"
        elif not np.isfinite(scores).all():
            reason = "unreadable"
        else:
            reason = "comparable" if its["weighting_enabled"].all() else "unweighted"
        told.append(
            {
                "retrieval": str(name), "reason": reason, "at": its["created_at"].min(), "log_rows": len(its),
                "surplus": len(its) - its["observation_id"].nunique(),
                "unusable": int((~np.isfinite(scores)).any(axis=1).sum()), "query": its["query_text"].iloc[0][:300],
            }
        )  # fmt: skip
    return pd.DataFrame(told).set_index("retrieval")


@pytest.fixture
def expected(owner: Owner, planted: list[Retrieval]) -> pd.DataFrame:
    """What the window leaves out, in the order of the list."""
    assert planted
    each = slowly(log(owner)).reset_index()
    inside = (each["at"] >= WINDOW.since) & (each["reason"] != "comparable")
    order = each[inside].assign(fault=each["reason"].isin(FAULTS), back=-each["at"].map(lambda at: at.timestamp()))
    return order.sort_values(["fault", "back", "retrieval"], ascending=[False, True, True])


def test_every_one_is_listed_once_with_where_it_first_fails(store: Store, expected: pd.DataFrame) -> None:
    found = store.ask(LeftOut(ALL))
    assert list(found["retrieval"]) == list(expected["retrieval"])
    for name in ("reason", "log_rows", "surplus", "unusable", "query"):
        assert list(found[name]) == list(expected[name]), name
    assert list(found["at"]) == list(expected["at"])
    assert set(found["total"]) == {len(expected)}
    assert set(expected["reason"]) == set(REASONS)
    assert set(found["organization"]) == {"Acme"}
    assert set(found["session_id"]) == {"s0"}
    assert set(found["agent"]) == {"agent-0"}


def test_each_reason_keeps_its_own_and_as_many_as_are_counted_apart(store: Store, expected: pd.DataFrame) -> None:
    days = store.ask(Measures(ALL))
    sums = days[days["day"] >= WINDOW.since].select_dtypes("number").sum()
    for reason in REASONS:
        found = store.ask(LeftOut(ALL, reason))
        assert list(found["retrieval"]) == list(expected.loc[expected["reason"] == reason, "retrieval"])
        assert set(found["total"]) == {len(found)} == {sums[reason]}


def test_the_logged_ranks_stand_beside_it(store: Store, owner: Owner, planted: list[Retrieval]) -> None:
    huge = believable(seeded(1), "huge", 201, block=3)
    del huge.rows[7]
    huge.rows.append(huge.rows[8])
    plant(owner, [huge])
    found = store.ask(LeftOut(ALL)).set_index("retrieval")
    by_id = {str(each.id): each for each in planted}
    for name, row in found.drop(index=str(huge.id)).iterrows():
        rows = by_id[str(name)].rows
        assert Counter(row["without"]) == Counter(each.before for each in rows)
        assert Counter(row["with_feedback"]) == Counter(each.after for each in rows)
    assert found.loc[str(huge.id), "log_rows"] == 201
    assert found.loc[str(huge.id), ["without", "with_feedback"]].isna().all()


@pytest.mark.parametrize("value", NUMBERS, ids=str)
@pytest.mark.parametrize("column", ["relevance", "weight", "weighted"])
def test_what_is_no_number_is_found_in_any_column(store: Store, owner: Owner, column: str, value: float | None) -> None:
    sample.add_organization(owner, "org_a")
    made = believable(seeded(1), "odd", 5, block=2)
    setattr(made.rows[2], column, value)
    plant(owner, [made])
    found = store.ask(LeftOut(ALL))
    assert list(zip(found["reason"], found["unusable"], strict=True)) == [("unreadable", 1)]


def test_a_hundred_are_listed_with_how_many_there_are_and_weighting_off_displaces_no_fault(
    store: Store, owner: Owner
) -> None:
    sample.add_organization(owner, "org_a")
    draw = seeded(6)
    off = [believable(draw, f"off{n}", 2, block=1, weighting=False, days_ago=0) for n in range(105)]
    torn = [damaged(draw, believable(draw, f"torn{n}", 3, block=1, days_ago=5), "twice") for n in range(3)]
    plant(owner, [*off, *torn])
    found = store.ask(LeftOut(ALL))
    assert list(found["reason"]) == ["repeated"] * 3 + ["unweighted"] * 97
    assert set(found["total"]) == {108}


def test_nothing_of_another_organization_is_listed(store: Store, owner: Owner) -> None:
    draw = seeded(5)
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
        plant(owner, [damaged(draw, believable(draw, f"{org}/r", 8, block=3, org=org), "twice")])
    mine = Scope.of_days(Reach.of(frozenset({"org_b"})), TODAY - timedelta(days=6), TODAY)
    assert set(store.ask(LeftOut(ALL))["org_id"]) == {"org_a"}
    assert set(store.ask(LeftOut(Selection(mine)))["org_id"]) == {"org_b"}
    everything = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY)
    assert set(store.ask(LeftOut(Selection(everything)))["org_id"]) == {"org_a", "org_b"}


def test_filters_hold_for_the_list_too(store: Store, expected: pd.DataFrame) -> None:
    on = store.ask(LeftOut(Selection(WINDOW, Filters(weighting="on"))))
    assert set(on["reason"]) == set(FAULTS)
    words = store.ask(LeftOut(Selection(WINDOW, Filters(text=TEXTS[0][:200]))))
    assert set(words["retrieval"]) == set(expected.loc[expected["query"] == TEXTS[0][:300], "retrieval"])
    assert store.ask(LeftOut(Selection(WINDOW, Filters(agent="nobody")))).empty


def test_a_store_without_recommended_columns_answers(store: Store, owner: Owner, planted: list[Retrieval]) -> None:
    """There a retrieval is its session and its query, and has its session's time."""
    rows = log(owner)
    owner.execute("drop policy scope on retrieval_ab_logs; alter table retrieval_ab_logs disable row level security")
    owner.execute(
        """alter table retrieval_ab_logs drop column retrieval_id, drop column created_at, drop column injected,
             drop column corroboration_boost, drop column pipeline"""
    )
    with store.reading(EVERYTHING) as connection:
        shape = log_shape(connection)
    found = store.ask(LeftOut(Selection(WINDOW, shape=shape)))
    each = slowly(rows, "query_text")
    left = each[each["reason"] != "comparable"]
    assert planted
    assert Counter(found["reason"]) == Counter(left["reason"])
    assert dict(zip(found["query"], found["log_rows"], strict=True)) == dict(
        zip(left["query"], left["log_rows"], strict=True)
    )


def test_of_a_drawn_log_those_drawn_are_listed_and_the_whole_is_estimated(store: Store, owner: Owner) -> None:
    plant_long(owner)
    everything = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY)
    drawn = store.ask(LeftOut(Selection(everything, shape=LONG)))
    lost = {str(name) for name, reason in slowly(log(owner))["reason"].items() if reason == "incomplete"}
    assert len(lost) == (RETRIEVALS + SMALL) // 10
    assert set(drawn["retrieval"]) < lost
    assert drawn["at"].is_monotonic_decreasing
    (total,) = set(drawn["total"])
    assert total == pytest.approx(len(lost), rel=0.4)
    assert len(drawn) < total


def test_an_unknown_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="found 'bad luck'"):
        LeftOut(ALL, "bad luck")
