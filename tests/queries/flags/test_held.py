"""Which change held a flag on in a window, by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from queries.flags.held import HeldOn
from queries.scope import Reach, Scope
from tests import sample
from tests.queries.flags.flag_store import BOOST, WEIGHTING

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

NOW = datetime.now(UTC)
DAY = timedelta(days=1)
HOUR = 1 / 24


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        (99, 60, None),  # before every change
        (99, 49, 50),
        (45, 41, 50),  # on all the while
        (39, 31, None),  # off in between
        (45, 29, 30),  # both held: the newer
        (7, 0, 30),  # on long before
        (40, 35, None),  # from the moment on at which it was taken back
        (25, 15, 30),  # off for an hour in between, which explains nothing
        (37, 35, None),  # on for an hour alone
    ],
)
def test_the_newest_that_held(store: Store, owner: Owner, since: int, until: int, expected: int | None) -> None:
    made: dict[int, float] = {}
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)
    for org, flag, new, days in (
        ("org_a", BOOST, "true", 50),
        ("org_a", BOOST, "absent", 40),
        ("org_a", BOOST, "true", 36),
        ("org_a", BOOST, "absent", 36 - HOUR),
        ("org_a", BOOST, "true", 30),
        ("org_a", BOOST, "absent", 20),
        ("org_a", BOOST, "true", 20 - HOUR),
        ("org_a", WEIGHTING, "true", 3),
        ("org_b", BOOST, "true", 2),
    ):
        row = owner.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
               values (%s, gen_random_uuid(), %s, %s, %s, 'r', 'olga', 'test', %s) returning id""",
            (org, flag, "absent" if new == "true" else "true", new, NOW - days * DAY),
        ).fetchone()
        assert row
        made[int(row[0])] = days
    found = store.ask(HeldOn(Scope(Reach(("org_a",)), NOW - since * DAY, NOW - until * DAY, "org_a"), BOOST))
    assert [made[int(id_)] for id_ in found["id"]] == ([] if expected is None else [expected])
    if expected is not None:
        assert found["next_at"].isna().tolist() == [expected == 30]


@pytest.mark.parametrize(
    "found_off",
    [
        (("absent", "false", 25.0),),  # what it was set to means the same
        (("absent", "true", 25.0), ("true", "absent", 25 - HOUR)),  # a try of an hour, which found it off
    ],
)
def test_on_is_over_where_the_audit_found_it_off(
    store: Store, owner: Owner, found_off: tuple[tuple[str, str, float], ...]
) -> None:
    """Other software switched it off meanwhile, of which the audit has no entry of its own."""
    sample.add_organization(owner, "org_a")
    for old, new, days in (("absent", "true", 40.0), *found_off):
        owner.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
               values ('org_a', gen_random_uuid(), %s, %s, %s, 'r', 'olga', 'test', %s)""",
            (BOOST, old, new, NOW - days * DAY),
        )
    since, until = NOW - 20 * DAY, NOW
    assert store.ask(HeldOn(Scope(Reach(("org_a",)), since, until, "org_a"), BOOST)).empty
    assert not store.ask(HeldOn(Scope(Reach(("org_a",)), NOW - 30 * DAY, until, "org_a"), BOOST)).empty
