"""Figures of all organizations over a log too long to fold whole: drawn by page, whole retrievals, true on average."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from queries.drawn import FOLDED, PAGED, WHOLE
from queries.health.logged import LogIntegrity
from queries.overview import DailyRetrievals, Overview
from queries.scope import EVERYTHING, Reach, Scope
from queries.shape import LogShape, log_shape
from tests import sample

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
WINDOW = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY)
ONE = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_a")
LONG = LogShape(length=FOLDED + 1)  # of which three in ten pages are drawn
RETRIEVALS, SMALL = 1_200, 600

# Every third retrieval moves the fifth to the sixth place; every tenth has lost its last row; some are half as long.
PLANTED = """
    insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id, relevance_score,
        feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled, injected, created_at)
    select org, md5(org || n)::uuid, 's', 'q' || n, md5(org || n || '/' || place)::uuid, 0.5, 1, 0.5, place,
           case when n %% 3 = 0 and place in (4, 5) then 9 - place else place end, true, place < 3,
           cast(%(at)s as timestamptz) - make_interval(secs => n)
      from (values ('org_a', 20, %(many)s), ('org_b', 10, %(few)s)) as its (org, size, retrievals),
           lateral generate_series(1, retrievals) as n, lateral generate_series(0, size - 1) as place
     where not (n %% 10 = 0 and place = size - 2)
     order by its.org, n.n, place.place"""


@pytest.fixture
def logged(owner: Owner) -> None:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    owner.execute(PLANTED, {"at": sample.TODAY - timedelta(hours=1), "many": RETRIEVALS, "few": SMALL})


def test_only_a_long_log_is_drawn_from_and_never_for_one_organization() -> None:
    assert LONG.share(WINDOW) == round(PAGED / (FOLDED + 1), 4) == 0.3
    assert LONG.share(ONE) == LogShape(length=FOLDED).share(WINDOW) == WHOLE
    assert LogShape(retrieval_id=False, length=FOLDED + 1).share(WINDOW) == WHOLE
    assert LogShape(created_at=False, length=FOLDED + 1).share(WINDOW) == WHOLE


def test_who_may_see_only_some_organizations_is_shown_all_of_theirs() -> None:
    some = Scope.of_days(Reach(("org_a", "org_b")), TODAY - timedelta(days=6), TODAY)
    assert LONG.share(some) == WHOLE


def test_the_length_of_a_log_is_the_planners(store: Store, owner: Owner, logged: None) -> None:  # noqa: ARG001
    owner.execute("analyze retrieval_ab_logs")
    with store.reading(EVERYTHING, 1.0) as connection:
        assert log_shape(connection).length == RETRIEVALS * 20 + SMALL * 10 - (RETRIEVALS + SMALL) // 10


def test_a_log_whose_rows_need_not_name_their_retrieval_is_not_drawn_from(
    store: Store,
    owner: Owner,
    logged: None,  # noqa: ARG001
) -> None:
    owner.execute("alter table retrieval_ab_logs alter retrieval_id drop not null")
    owner.execute("analyze retrieval_ab_logs")
    with store.reading(EVERYTHING, 1.0) as connection:
        assert log_shape(connection).length == 0


@pytest.mark.usefixtures("logged")
class TestDrawn:
    def test_columns_that_a_log_lacks_are_not_asked_for(self, store: Store, owner: Owner) -> None:
        owner.execute("alter table retrieval_ab_logs drop column injected, drop column pipeline")
        owner.execute("alter table retrieval_ab_logs drop column corroboration_boost, drop column id cascade")
        shape = LogShape(injected=False, pipeline=False, corroboration_boost=False, length=FOLDED + 1)
        drawn = store.ask(Overview(WINDOW, shape)).set_index("org_id")
        assert drawn.loc["org_a", "retrievals"] == pytest.approx(RETRIEVALS, rel=0.2)
        assert drawn["block_known"].tolist() == [0, 0]

    def test_a_mean_over_few_retrievals_stays_a_mean(self, store: Store, owner: Owner) -> None:
        """Counts are rounded, and what is summed over retrievals with them."""
        owner.execute("delete from retrieval_ab_logs where org_id = 'org_b' and query_text not in ('q1', 'q2', 'q4')")
        for length in range(FOLDED + 1, 4 * FOLDED, FOLDED // 3):
            drawn = store.ask(Overview(WINDOW, LogShape(length=length)))
            known = drawn[drawn["measured"] > 0]
            assert (known["overlap"] / known["measured"]).max() <= 1 + 1e-12

    def test_estimates_are_near_the_counts_and_shares_nearer(self, store: Store) -> None:
        exact, drawn = (store.ask(Overview(WINDOW, shape)).set_index("org_id") for shape in (LogShape(), LONG))
        for org in ("org_a", "org_b"):
            one, other = exact.loc[org], drawn.loc[org]
            assert one["retrievals"] == {"org_a": RETRIEVALS, "org_b": SMALL}[org]
            assert other["retrievals"] == pytest.approx(one["retrievals"], rel=0.2)
            assert other["retrievals"] != one["retrievals"]
            assert other["log_rows"] == pytest.approx(one["log_rows"], rel=0.2)
            for part, whole in (("moved", "measured"), ("complete", "retrievals"), ("overlap", "measured")):
                assert other[part] / other[whole] == pytest.approx(one[part] / one[whole], abs=0.06)

    def test_a_retrieval_is_read_whole_or_not_at_all(self, store: Store) -> None:
        """One cut at the end of a page would count as incomplete, and those are exactly one in ten."""
        drawn = store.ask(Overview(WINDOW, LONG)).set_index("org_id")
        assert (1 - drawn["complete"] / drawn["retrievals"]).tolist() == pytest.approx([0.1, 0.1], abs=0.04)

    def test_every_question_draws_the_same_retrievals(self, store: Store) -> None:
        overview, daily, health = (
            store.ask(question(WINDOW, LONG)) for question in (Overview, DailyRetrievals, LogIntegrity)
        )
        counts = overview.set_index("org_id")["retrievals"]
        assert daily.groupby("org_id")["retrievals"].sum().tolist() == counts.tolist()
        assert health.set_index("org_id")["retrievals"].to_dict() == counts.to_dict()
        assert (health["complete"].tolist(), health["sound"].tolist()) == (overview["complete"].tolist(),) * 2

    def test_the_newest_is_that_of_the_log_and_not_of_what_was_drawn(self, store: Store, owner: Owner) -> None:
        """Also of an organization that nothing was drawn of: one row on the last page, which the draw leaves out."""
        newest = sample.TODAY - timedelta(minutes=1)
        last = {"org_a": newest - timedelta(minutes=1), "org_c": newest}
        sample.add_organization(owner, "org_c")
        for org, at in last.items():
            owner.execute(
                """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
                       relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank,
                       weighting_enabled, created_at)
                   values (%s, gen_random_uuid(), 's', 'last', gen_random_uuid(), 0.5, 1, 0.5, 0, 0, true, %s)""",
                (org, at),
            )
        overview, health = (store.ask(kind(WINDOW, LONG)).set_index("org_id") for kind in (Overview, LogIntegrity))
        assert [int(found["retrievals"]["org_c"]) for found in (overview, health)] == [0, 0]
        last["org_b"] = sample.TODAY - timedelta(hours=1, seconds=1)
        for found in (overview, health):
            assert found["newest"].dt.to_pydatetime().tolist() == [last[str(org)] for org in found.index]
        before = Scope.of_days(EVERYTHING, TODAY - timedelta(days=20), TODAY - timedelta(days=10))
        assert store.ask(Overview(before, LONG))["newest"].isna().all()
        assert store.ask(LogIntegrity(before, LONG)).empty

    def test_what_none_of_those_drawn_has_is_none_and_not_unknown(self, store: Store) -> None:
        drawn = store.ask(LogIntegrity(WINDOW, LONG))
        assert drawn["repeated"].tolist() == drawn["unusable"].tolist() == [0, 0]

    def test_one_organization_is_counted(self, store: Store) -> None:
        assert store.ask(Overview(ONE, LONG)).iloc[0]["retrievals"] == RETRIEVALS
