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

    Owner = psycopg.Connection[Any]

FLAG = "corroboration_boost_enabled"


@pytest.fixture
def ids(owner: Owner) -> list[int]:
    """On three days ago, absent two days ago; another organization's and another flag's on yesterday."""
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    made = []
    for org, flag, old, new, days in (
        ("org_a", FLAG, "false", "true", 3),
        ("org_a", FLAG, "true", "absent", 2),
        ("org_b", FLAG, "false", "true", 1),
        ("org_a", "feedback_weighting_disabled", "false", "true", 1),
    ):
        made.append(turn(owner, old, new, days, org, flag))
    return made


def turn(owner: Owner, old: str, new: str, days: float, org: str = "org_a", flag: str = FLAG) -> int:  # noqa: PLR0917 - a row
    """An entry of the audit so many days ago."""
    row = owner.execute(
        """insert into rankscope.flag_changes
             (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
           values (%s, gen_random_uuid(), %s, %s, %s, 'a reason', 'omar', 'page', %s) returning id""",
        (org, flag, old, new, sample.TODAY - timedelta(days=days)),
    ).fetchone()
    assert row is not None
    return int(row[0])


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


@pytest.mark.parametrize(
    ("changes", "on", "place"),
    [
        ((("true", "absent"), ("absent", "false")), False, 0),  # both are off: the first turned it
        ((("true", "false"), ("false", "absent"), ("absent", "false")), False, 0),
        ((("false", "true"), ("true", "true")), True, 0),
        ((("absent", "false"),), False, None),  # nothing was turned
        ((("absent", "true"), ("absent", "false")), False, None),  # taken back outside, and not by the last
        ((("absent", "true"), ("absent", "false")), True, None),  # off meanwhile: nor did the first turn it on
        ((("true", "absent"), ("false", "true"), ("true", "true")), False, None),
    ],
)
def test_a_change_without_effect_turned_nothing(
    store: Store, owner: Owner, changes: tuple[tuple[str, str], ...], *, on: bool, place: int | None
) -> None:
    sample.add_organization(owner, "org_a")
    made = [turn(owner, old, new, 9 - number) for number, (old, new) in enumerate(changes)]
    asked = TurnedBy("org_a", FLAG, sample.TODAY, on, sample.TODAY - timedelta(days=9))
    with store.reading(Reach(("org_a",)), LIST, name="test") as snapshot:
        assert asked.ask(snapshot) == (None if place is None else made[place])


def test_what_turned_it_earlier_is_not_named_for_what_had_no_effect_since(store: Store, owner: Owner) -> None:
    sample.add_organization(owner, "org_a")
    turn(owner, "true", "absent", 9)
    turn(owner, "absent", "false", 1)
    asked = TurnedBy("org_a", FLAG, sample.TODAY, on=False, since=sample.TODAY - timedelta(days=2))
    with store.reading(Reach(("org_a",)), LIST, name="test") as snapshot:
        assert asked.ask(snapshot) is None
