"""Moves, movers, lists, outcomes and filters against answers formed row by row; hostile filters find what they say."""

from __future__ import annotations

import math
from collections import Counter
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from queries.impact.listed import ListedRetrievals
from queries.impact.measures import Measures
from queries.impact.moves import Movers, Moves
from queries.impact.opened import OpenedRetrieval
from queries.impact.outcomes import SessionOutcomes
from queries.impact.selection import Choices, Filters, Selection, Timeless
from queries.scope import EVERYTHING, Reach, Scope
from queries.shape import log_shape
from tests import sample
from tests.hostile import TEXTS
from tests.impact_log import believable, damaged, plant, seeded

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from queries.engine import Store
    from tests.impact_log import Retrieval

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
WINDOW = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_a")
OUTCOMES = ("accepted", "rejected", "rework", None)


@pytest.fixture
def logged(owner: Owner) -> list[Retrieval]:
    """Thirty retrievals in twelve sessions, the last six unusable in one way or another."""
    draw = seeded(7)
    sample.add_organization(owner, "org_a")
    for number in range(12):
        owner.execute(
            """insert into sessions (org_id, id, project_id, agent_id, work_type, outcome, created_at)
               values ('org_a', %s, 'api', %s, %s, %s, now())""",
            (f"s{number}", f"agent-{number % 3}", ("bug_fix", "chore")[number % 2], OUTCOMES[number % 4]),
        )
    made = [
        believable(draw, str(n), 12, block=draw.randrange(1, 8), session=f"s{n % 12}", query=f"query {n % 5} 50% a_b")
        for n in range(24)
    ]
    faults = ("hole", "twice", "number", "rank")
    made += [damaged(draw, believable(draw, how, 12, block=4, session="s0"), how) for how in faults]
    made += [believable(draw, f"off{n}", 12, block=4, session="s1", weighting=False) for n in range(2)]
    plant(owner, made)
    return made


def rows(made: list[Retrieval]) -> pd.DataFrame:
    """The rows of those retrievals that can be compared."""
    return pd.DataFrame(
        [
            {"retrieval": str(each.id), "session": each.session, "query": each.query, **vars(row)}
            for each in made[:24]
            for row in each.rows
        ]
    )


def flipped(made: Retrieval) -> int:
    """How many entered or left the block through feedback."""
    block = sum(bool(row.injected) for row in made.rows)
    return sum(bool(row.injected) != ((row.before or 0) < block) for row in made.rows)


def test_moves_count_every_candidate_by_ranks_weight_and_block(store: Store, logged: list[Retrieval]) -> None:
    found = store.ask(Moves(Selection(WINDOW)))
    expected = Counter(
        (row.before, row.after, math.floor((row.weight or 0) * 20), row.injected)
        for each in logged[:24]
        for row in each.rows
    )
    assert {tuple(key): count for *key, count in found.itertuples(index=False)} == dict(expected)


@pytest.mark.parametrize(
    ("weight", "expected"), [(0.0, 0), (0.049, 0), (0.05, 1), (0.999, 19), (1.0, 20), (1.2, None), (-0.1, None)]
)
def test_a_weight_falls_into_its_twentieth_and_one_outside_into_none(
    store: Store, owner: Owner, weight: float, expected: int | None
) -> None:
    sample.add_organization(owner, "org_a")
    made = believable(seeded(1), "one", 1, block=1)
    made.rows[0].weight = weight
    plant(owner, [made])
    (found,) = store.ask(Moves(Selection(WINDOW)))["weight_bin"].tolist()
    assert (None if pd.isna(found) else found) == expected


def test_movers_are_those_with_most_places_either_way(store: Store, owner: Owner, logged: list[Retrieval]) -> None:
    table = rows(logged)
    table["delta"] = (table["before"] - table["after"]).astype("int64")
    table["id"] = table["observation"].astype("str")
    sums = table.groupby("id")["delta"].agg(["sum", "size"]).reset_index()
    first = sums.sort_values(["sum", "id"], ascending=[False, True]).head(8)
    last = sums.sort_values(["sum", "id"]).head(8)
    expected = pd.concat([first[first["sum"] > 0], last[last["sum"] < 0]]).set_index("id")["sum"].to_dict()
    top = next(iter(expected))
    owner.execute(
        "insert into observations (org_id, id, content, content_hash, weight) values ('org_a', %s, %s, 'h', 0.85)",
        (top, "x" * 5000),
    )
    for weight in (1.0, 0.85):
        owner.execute(
            """insert into observation_weight_history
                 (org_id, observation_id, session_id, outcome, previous_weight, new_weight, alpha)
               values ('org_a', %s, 's', 'rework', 1, %s, 0.15)""",
            (top, weight),
        )
    found = store.ask(Movers(Selection(WINDOW)))
    assert found.set_index("observation_id")["places"].to_dict() == expected
    assert list(found["places"]) == sorted(found["places"], reverse=True)
    mover = found.set_index("observation_id").loc[top]
    assert (len(mover["text"]), mover["weight"], list(mover["weights"])) == (300, 0.85, [1.0, 0.85])
    assert mover["retrievals"] == sums.set_index("id").loc[top, "size"]
    others = found[found["observation_id"] != top]
    assert others["text"].isna().all()


def test_the_list_has_the_comparable_retrievals_most_flips_first(store: Store, logged: list[Retrieval]) -> None:
    found = store.ask(ListedRetrievals(Selection(WINDOW)))
    table = rows(logged)
    shift = (table["before"] - table["after"]).abs().groupby(table["retrieval"]).sum()
    assert set(found["total"]) == {24}
    assert found.set_index("retrieval")["flips"].to_dict() == {str(each.id): flipped(each) for each in logged[:24]}
    assert found.set_index("retrieval")["shift"].to_dict() == shift.to_dict()
    keys = list(zip(found["flips"], found["shift"], strict=True))
    assert keys == sorted(keys, reverse=True)
    assert list(found["query"].head(1)) == [next(e.query for e in logged if str(e.id) == found["retrieval"][0])]


def test_a_cell_lists_the_retrievals_in_it_and_no_other(store: Store, logged: list[Retrieval]) -> None:
    table = rows(logged)
    for cell in [(0, 0), (3, 1), (1, 3), (11, 0)]:
        inside = table[(table["before"] == cell[0]) & (table["after"] == cell[1])]["retrieval"]
        found = store.ask(ListedRetrievals(Selection(WINDOW), cell))
        assert set(found["retrieval"]) == set(inside)


def test_a_session_counts_once_and_is_changed_if_any_of_its_blocks_is(store: Store, logged: list[Retrieval]) -> None:
    changed: dict[str, bool] = {}
    for each in logged[:24]:
        changed[each.session] = changed.get(each.session, False) or flipped(each) > 0
    expected = Counter((is_changed, OUTCOMES[int(name[1:]) % 4]) for name, is_changed in changed.items())
    found = store.ask(SessionOutcomes(Selection(WINDOW)))
    counts = {(bool(c), None if pd.isna(o) else o): n for c, o, n in found.itertuples(index=False)}
    assert counts == dict(expected)


FILTERS: dict[str, tuple[Filters, Callable[[Retrieval], bool]]] = {
    "agent": (Filters(agent="agent-1"), lambda each: int(each.session[1:]) % 3 == 1),
    "work": (Filters(work_type="chore"), lambda each: int(each.session[1:]) % 2 == 1),
    "outcome": (Filters(outcome="rework"), lambda each: int(each.session[1:]) % 4 == 2),
    "no outcome": (Filters(outcome="none"), lambda each: int(each.session[1:]) % 4 == 3),
    "on": (Filters(weighting="on"), lambda each: each.weighting),
    "off": (Filters(weighting="off"), lambda each: not each.weighting),
    "text": (Filters(text="QUERY 3"), lambda each: "query 3" in each.query),
    "percent is a letter": (Filters(text="50% a_b"), lambda each: "50%" in each.query),
    "percent stands for nothing": (Filters(text="y%b"), lambda _: False),
    "underscore stands for nothing": (Filters(text="a__"), lambda _: False),
    "a backslash too": (Filters(text="\\"), lambda _: False),
    "all at once": (
        Filters("agent-0", "bug_fix", "accepted", "on", "query"),
        lambda each: int(each.session[1:]) % 12 == 0 and "query" in each.query,
    ),
    "somebody unknown": (Filters(agent="nobody"), lambda _: False),
}


@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_keeps_what_it_says_in_every_question(store: Store, logged: list[Retrieval], name: str) -> None:
    filters, keeps = FILTERS[name]
    kept = [each for each in logged if keeps(each)]
    comparable = [each for each in logged[:24] if keeps(each)]
    chosen = Selection(WINDOW, filters)
    assert store.ask(Measures(chosen))["retrievals"].sum() == len(kept)
    assert store.ask(Moves(chosen))["candidates"].sum() == 12 * len(comparable)
    assert set(store.ask(ListedRetrievals(chosen))["retrieval"]) == {str(each.id) for each in comparable}
    assert store.ask(SessionOutcomes(chosen))["sessions"].sum() == len({each.session for each in comparable})
    assert store.ask(Movers(chosen)).empty is not bool(comparable)


@pytest.mark.parametrize("number", range(0, len(TEXTS), 4))
def test_hostile_words_find_exactly_the_query_that_holds_them(store: Store, owner: Owner, number: int) -> None:
    sample.add_organization(owner, "org_a")
    texts = TEXTS[number : number + 4]
    plant(owner, [believable(seeded(i), str(i), 2, block=1, query=text) for i, text in enumerate(texts)])
    for text in texts:
        words = text[:200]
        expected = sum(words.lower() in other.lower() for other in texts)
        assert store.ask(Measures(Selection(WINDOW, Filters(text=words))))["retrievals"].sum() == expected


def test_choices_are_what_the_windows_sessions_have(store: Store, logged: list[Retrieval]) -> None:
    assert logged
    found = store.ask(Choices(WINDOW))
    assert Counter(found["kind"]) == {"agent_id": 3, "work_type": 2}
    assert found.set_index("value")["sessions"].to_dict() == {
        "agent-0": 4, "agent-1": 4, "agent-2": 4, "bug_fix": 6, "chore": 6,
    }  # fmt: skip


class TestOpened:
    def test_it_is_found_whatever_the_window_and_in_the_order_of_feedback(
        self, store: Store, owner: Owner, logged: list[Retrieval]
    ) -> None:
        old = believable(seeded(9), "old", 6, block=2, days_ago=300, boosted=True)
        plant(owner, [old])
        found = store.ask(OpenedRetrieval(WINDOW, str(old.id)))
        expected = sorted(old.rows, key=lambda row: row.after or 0)
        assert list(found["relevance"]) == [row.relevance for row in expected]
        assert list(found["weighted"]) == [row.weighted for row in expected]
        assert list(found["boost"]) == [row.boost for row in expected]
        assert found["text"].isna().all()
        assert len(store.ask(OpenedRetrieval(WINDOW, str(logged[0].id)))) == 12

    @pytest.mark.parametrize("name", ["nothing", "'; drop table sessions; --", "00000000-0000-0000-0000-000000000000"])
    def test_an_unknown_id_and_a_foreign_one_find_nothing(self, store: Store, owner: Owner, name: str) -> None:
        for org in ("org_a", "org_b"):
            sample.add_organization(owner, org)
        foreign = believable(seeded(1), "r", 3, block=1, org="org_b")
        plant(owner, [foreign])
        mine = Scope.of_days(Reach.of(frozenset({"org_a"})), TODAY, TODAY)
        assert store.ask(OpenedRetrieval(mine, name)).empty
        assert store.ask(OpenedRetrieval(mine, str(foreign.id))).empty
        assert len(store.ask(OpenedRetrieval(Scope.of_days(EVERYTHING, TODAY, TODAY), str(foreign.id)))) == 3


class TestWithoutRecommendedColumns:
    """A store that logs only what 001 documents still answers, and says nothing of who was injected."""

    def test_every_question_is_answered(self, store: Store, owner: Owner, logged: list[Retrieval]) -> None:
        owner.execute(
            "drop policy scope on retrieval_ab_logs; alter table retrieval_ab_logs disable row level security"
        )
        owner.execute(
            """alter table retrieval_ab_logs drop column retrieval_id, drop column created_at, drop column injected,
                 drop column corroboration_boost, drop column pipeline"""
        )
        one_query = {(each.session, each.query) for each in logged}
        with store.reading(EVERYTHING) as connection:
            shape = log_shape(connection)
        chosen = Selection(WINDOW, shape=shape)
        found = store.ask(Measures(chosen)).select_dtypes("number").sum()
        assert found["retrievals"] == len(one_query)
        assert (found["block_rows"], found["block_known"]) == (0, 0)
        assert found["comparable"] > 0
        listed = store.ask(ListedRetrievals(chosen))
        assert listed["flips"].isna().all()
        assert store.ask(Moves(chosen))["injected"].isna().all()
        assert store.ask(SessionOutcomes(chosen)).empty
        assert len(store.ask(Movers(chosen)))
        opened = store.ask(OpenedRetrieval(WINDOW, listed["retrieval"][0], shape))
        assert len(opened) == listed["candidates"][0]
        assert opened["pipeline"].isna().all()
        long_ago = Scope.of_days(EVERYTHING, TODAY - timedelta(days=60), TODAY - timedelta(days=50), "org_a")
        assert len(store.ask(OpenedRetrieval(long_ago, listed["retrieval"][0], shape))) == len(opened)

    def test_rows_whose_session_is_gone_have_no_time(self, store: Store, owner: Owner, logged: list[Retrieval]) -> None:
        plant(owner, [believable(seeded(2), "lost", 5, block=1, session="nowhere")])
        owner.execute(
            "drop policy scope on retrieval_ab_logs; alter table retrieval_ab_logs disable row level security"
        )
        owner.execute("alter table retrieval_ab_logs drop column created_at")
        with store.reading(EVERYTHING) as connection:
            shape = log_shape(connection)
        assert logged
        assert store.ask(Timeless(WINDOW, shape))["log_rows"].tolist() == [5]


def test_rows_without_a_time_are_counted_and_in_no_figure(store: Store, owner: Owner, logged: list[Retrieval]) -> None:
    assert logged
    assert store.ask(Timeless(WINDOW))["log_rows"].tolist() == [0]
    owner.execute("alter table retrieval_ab_logs alter column created_at drop not null")
    before = store.ask(Measures(Selection(WINDOW)))["log_rows"].sum()
    plant(owner, [believable(seeded(3), "timeless", 7, block=1)])
    owner.execute("update retrieval_ab_logs set created_at = null where retrieval_id = %s", (
        believable(seeded(3), "timeless", 7, block=1).id,
    ))  # fmt: skip
    assert store.ask(Timeless(WINDOW))["log_rows"].tolist() == [7]
    assert store.ask(Measures(Selection(WINDOW)))["log_rows"].sum() == before
