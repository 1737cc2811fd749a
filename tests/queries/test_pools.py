"""Retrievals of more candidates than the documented pool: every page counts their flips, and none calls them cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from queries.health.logged import LogIntegrity
from queries.impact.listed import ListedRetrievals
from queries.impact.measures import Measures
from queries.impact.selection import Selection
from queries.overview import Overview
from queries.scope import EVERYTHING, Scope
from tests import sample

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

TODAY = sample.TODAY.date()
SCOPE = Scope.of_days(EVERYTHING, TODAY, TODAY, "org_a")


def reverse(owner: Owner, size: int, block: int) -> None:
    """A retrieval that feedback turned round: the last ``block`` are in the block."""
    owner.execute(
        """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id, relevance_score,
             feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled, injected, created_at)
           select 'org_a', md5(%(size)s::text)::uuid, 's', 'q', gen_random_uuid(), 1, 0.5, 0.5, n, %(size)s - 1 - n,
                  true, %(size)s - 1 - n < %(block)s, %(now)s
             from generate_series(0, %(size)s - 1) n""",
        {"size": size, "block": block, "now": sample.TODAY},
    )


@pytest.mark.parametrize(
    ("size", "block", "flips"),
    [(60, 10, 20), (62, 10, 20), (63, 10, 20), (70, 10, 20), (70, 65, 10), (80, 62, 36), (80, 63, 34), (300, 80, 160)],
)
def test_flips_are_counted_whatever_the_size(store: Store, owner: Owner, size: int, block: int, flips: int) -> None:
    sample.add_organization(owner, "org_a")
    reverse(owner, 60, 10)
    if size != 60:
        reverse(owner, size, block)
    every = flips + (20 if size != 60 else 0)
    assert store.ask(Overview(SCOPE))["flips"].tolist() == [every]
    assert store.ask(Measures(Selection(SCOPE)))["flips"].tolist() == [every]
    listed = store.ask(ListedRetrievals(Selection(SCOPE))).set_index("candidates")["flips"]
    assert (listed[size], listed.sum()) == (flips, every)


def test_only_a_pool_that_is_exactly_full_may_have_been_cut(store: Store, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    for size in (19, 20, 21, 80):
        reverse(owner, size, 5)
    for question in (Overview(SCOPE), Measures(Selection(SCOPE)), LogIntegrity(SCOPE)):
        assert store.ask(question)["truncated"].tolist() == [1]
