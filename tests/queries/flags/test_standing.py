"""Since when a flag has been as it is, and why, against plain lists: what was soon taken back is as if it never was."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

import pytest

from controls.flags.states import organizations, override_age
from queries.flags.history import FlagObjects
from queries.flags.registry import NAMES
from queries.flags.series import BRIEF
from queries.flags.standing import StandingChanges
from queries.scope import EVERYTHING, Scope
from tests import sample
from tests.queries.flags.flag_store import BOOST, WEIGHTING
from tests.queries.flags.test_turned import STORED, turn

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

NOW = datetime.now(UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
SCOPE = Scope(EVERYTHING, NOW - 30 * DAY, NOW)

Entry = tuple[int, str, str, datetime]  # id, old, new, when


def stands_since(entries: list[Entry]) -> int:
    """Series by series from the newest: the first that is left over, or else the earliest that came to nothing."""
    state = entries[-1][2]
    series: list[list[Entry]] = []
    for each in entries:
        if (each[1] == state) == (each[2] == state):
            continue
        last = series[-1][-1] if series else None
        if last and each[3] - last[3] < BRIEF and (last[2] == state) == (each[1] == state):
            series[-1].append(each)
        else:
            series.append([each])
    found = 0
    for each_series in reversed(series):
        if each_series[-1][2] != state:
            break
        found = each_series[-1][0]
        if len(each_series) % 2:
            break
    return found


def standing(store: Store) -> dict[tuple[str, str], tuple[int, str]]:
    rows = store.ask(StandingChanges(SCOPE)).to_dict("records")
    return {(row["org_id"], row["flag"]): (row["id"], row["new"]) for row in rows}


@pytest.mark.parametrize(
    ("states", "every", "since"),
    [
        (("true", "absent", "true"), timedelta(minutes=1), None),
        (("true", "false", "true"), 23 * HOUR, None),
        (("true", "absent", "true"), 25 * HOUR, 1),
        (("true", "absent", "true"), BRIEF, 1),
        (("true", "absent", "true", "absent", "true"), 23 * HOUR, None),
        (("true", "absent", "false", "true"), HOUR, None),  # off by another name in between: never long another state
        (("true", "absent", "true", "absent"), HOUR, 2),
        (("true", "absent"), HOUR, 0),
    ],
    ids=["a minute", "23 hours", "25 hours", "a day", "a chain", "by way of off", "an odd chain", "no way back"],
)
def test_what_was_taken_back_within_a_day_does_not_begin_it_anew(
    store: Store, owner: Owner, states: tuple[str, ...], every: timedelta, since: int | None
) -> None:
    """An override of 120 days, and what was done to it lately."""
    state = STORED[states[-1]] == "on"
    sample.add_organization(owner, "org_a", features={WEIGHTING: True} if state else {})
    (first,) = turn(owner, "absent", "true", at=NOW - 120 * DAY - HOUR, of=("org_a", WEIGHTING))
    later = turn(owner, *states, at=NOW - 9 * DAY - HOUR, every=every, of=("org_a", WEIGHTING))
    turn(owner, "absent", "true", "absent", at=NOW - DAY, of=("org_a", BOOST))  # another flag's are its own
    expected = first if since is None else later[since]
    assert standing(store)["org_a", WEIGHTING] == (expected, STORED[states[-1]])
    objects = store.ask(FlagObjects(SCOPE))
    (found,) = organizations(objects, store.ask(StandingChanges(SCOPE)), NOW, 90)
    if not state:
        assert override_age(found) is None
    elif since is None:
        assert (override_age(found), found.cells[WEIGHTING].stale) == ("stale, 120 d", True)
    else:
        assert not found.cells[WEIGHTING].stale


def test_off_is_an_override_of_its_own_although_it_ranks_as_absent(store: Store, owner: Owner) -> None:
    (first,) = turn(owner, "absent", "false", at=NOW - 40 * DAY, of=("org_a", BOOST))
    turn(owner, "false", "absent", "false", at=NOW - 2 * DAY, of=("org_a", BOOST))
    turn(owner, "false", "true", "false", at=NOW - DAY, of=("org_a", BOOST))
    assert standing(store) == {("org_a", BOOST): (first, "off")}


def test_where_it_was_set_outside_it_stands_since_it_was_first_left_so_again(store: Store, owner: Owner) -> None:
    """The audit knows it off for long, then on and tried without: since when it is on it does not know."""
    turn(owner, "absent", "true", "absent", at=NOW - 50 * DAY, every=3 * DAY, of=("org_a", WEIGHTING))
    _, back = turn(owner, "true", "absent", "true", at=NOW - 9 * DAY, of=("org_a", WEIGHTING))
    turn(owner, "true", "absent", "true", at=NOW - 2 * DAY, of=("org_a", WEIGHTING))
    assert standing(store) == {("org_a", WEIGHTING): (back, "on")}


@pytest.mark.parametrize("seed", range(4))
def test_any_history(store: Store, owner: Owner, seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311 - no secret
    for number in range(12):
        for flag in NAMES:
            at, state = NOW - 40 * DAY, "absent"
            for _ in range(draw.randrange(1, 9)):
                at += draw.choice((0 * HOUR, timedelta(minutes=1), 23 * HOUR, BRIEF, 70 * HOUR))
                old = draw.choice(("absent", "true", "false")) if draw.random() < 0.2 else state
                state = draw.choice([other for other in STORED if other != old])
                turn(owner, old, state, at=at, of=(f"org_{number}", flag))
    rows = owner.execute(
        """select org_id, flag, id, old_state, new_state, changed_at from rankscope.flag_changes
             order by org_id, flag, changed_at, id"""
    ).fetchall()
    expected = {}
    for key, group in groupby(rows, key=lambda row: (row[0], row[1])):
        entries = [row[2:] for row in group]
        expected[key] = (stands_since(entries), STORED[entries[-1][1 + 1]])
    assert standing(store) == expected
