"""The change of a flag behind what was seen from a moment on."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from queries.engine import LIST
from queries.flags.turned_by import TurnedBy
from queries.scope import Reach
from tests import sample

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

FLAG = "corroboration_boost_enabled"


@pytest.fixture
def ids(owner: psycopg.Connection[Any]) -> list[int]:
    """On three days ago, absent two days ago; another organization's and another flag's on yesterday."""
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    made = []
    for org, flag, new, days in (
        ("org_a", FLAG, "true", 3),
        ("org_a", FLAG, "absent", 2),
        ("org_b", FLAG, "true", 1),
        ("org_a", "feedback_weighting_disabled", "true", 1),
    ):
        row = owner.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
               values (%s, gen_random_uuid(), %s, 'false', %s, 'a reason', 'omar', 'page', %s) returning id""",
            (org, flag, new, sample.TODAY - timedelta(days=days)),
        ).fetchone()
        assert row is not None
        made.append(row[0])
    return made


@pytest.mark.parametrize(
    ("days", "on", "place"),
    [(3, True, 0), (2.5, True, 0), (2.5, False, None), (0, False, 1), (0, True, None), (4, True, None)],
)
def test_the_last_that_led_to_what_was_seen(
    store: Store, ids: list[int], days: float, *, on: bool, place: int | None
) -> None:
    asked = TurnedBy("org_a", FLAG, sample.TODAY - timedelta(days=days), on)
    with store.reading(Reach(("org_a",)), LIST, name="test") as snapshot:
        assert asked.ask(snapshot) == (None if place is None else ids[place])
