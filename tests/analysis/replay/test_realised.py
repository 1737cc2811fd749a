"""What a change did, counted by hand: the same measures as its preview."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from analysis.replay.flags import flag_flip
from analysis.replay.realised import Realised, realised
from queries.scope import Reach, Scope
from tests import sample
from tests.queries.flags.flag_store import BOOST, WEIGHTING
from tests.weighed import add_observed, add_weighed

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

MINE = Reach(("org_a",))


@pytest.fixture
def window(owner: Owner) -> Scope:
    """Four retrievals with weighting, then the flag, then two without it and one that had not heard of it yet."""
    sample.add_organization(owner, "org_a", features={WEIGHTING: True})
    ids = add_observed(owner, "org_a")
    add_weighed(owner, "org_a", ids, 4, hours_ago=30)
    add_weighed(owner, "org_a", ids, 1, hours_ago=11)
    add_weighed(owner, "org_a", ids, 2, hours_ago=5, on=False)
    now = datetime.now(UTC)
    return Scope(MINE, now - timedelta(hours=12), now, "org_a")


def test_retrievals_since_the_change_against_what_they_would_have_been(store: Store, window: Scope) -> None:
    """Under the old state each of the two would have had one other observation in, one out, and another top five."""
    found = realised(store, window, WEIGHTING, "absent", "on")
    assert found is not None
    assert (found.logged, found.retrievals, found.obeyed) == (3, 3, 2)
    assert (found.changed, found.top_changed, found.entered, found.left, found.flips) == (2, 2, 2, 2, 4)


def test_the_preview_had_said_so_of_those_before(store: Store, window: Scope, owner: Owner) -> None:
    owner.execute("update organizations set features = '{}'")
    told = flag_flip(store, MINE, "org_a", WEIGHTING, window.since - timedelta(days=2), window.since)
    assert (told.retrievals, told.top_changed, told.entered, told.left) == (4, 4, 4, 4)


def test_states_that_mean_the_same_have_nothing_to_realise(store: Store, window: Scope) -> None:
    assert realised(store, window, WEIGHTING, "absent", "off") is None


def test_a_boost_that_no_retrieval_had(store: Store, window: Scope) -> None:
    found = realised(store, window, BOOST, "absent", "on")
    assert found is not None
    assert isinstance(found, Realised)
    assert (found.retrievals, found.obeyed, found.changed) == (3, 0, 0)
