"""Which changes of flags explain anything, against plain lists: what was soon taken back is as if it never was."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from queries.flags.registry import NAMES, as_state, known_flag
from queries.flags.series import BRIEF
from queries.flags.turned import FlagsTurned
from queries.scope import EVERYTHING, Reach, Scope
from tests import sample
from tests.queries.flags.flag_store import BOOST, WEIGHTING

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

NOW = datetime.now(UTC)
STORED = {"true": "on", "false": "off", "absent": "absent"}
HOUR = timedelta(hours=1)
MONTH = Scope(EVERYTHING, NOW - timedelta(days=30), NOW)

Entry = tuple[int, str, str, str, str, datetime]


def turn(owner: Owner, *states: str, at: datetime, every: timedelta = HOUR, of: tuple[str, str]) -> list[int]:
    """A flag turned through the states, the first of which it had before."""
    return [
        owner.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
               values (%s, gen_random_uuid(), %s, %s, %s, 'r', 'a', 'test', %s) returning id""",
            (*of, old, new, at + number * every),
        ).fetchone()[0]  # type: ignore[index] # an insert returns its row
        for number, (old, new) in enumerate(pairwise(states))
    ]


def kept(series: list[Entry]) -> list[Entry]:
    """Without what has no effect, and without every two of which the second soon takes back the first."""
    rest = [each for each in series if is_on(each[2], each[3]) != is_on(each[2], each[4])]
    found = []
    while rest:
        first, *others = rest
        if others and others[0][5] - first[5] < BRIEF and is_on(first[2], first[3]) == is_on(first[2], others[0][4]):
            rest = others[1:]
        else:
            found.append(first)
            rest = others
    return found


def found_outside(series: list[Entry]) -> list[datetime]:
    """When a flag was found otherwise than the entry before had left it."""
    return [each[5] for last, each in pairwise(series) if is_on(last[2], last[4]) != is_on(each[2], each[3])]


def is_on(flag: str, stored: str) -> bool:
    return known_flag(flag).is_on(as_state(STORED[stored]))


@pytest.fixture(autouse=True)
def _organizations(owner: Owner) -> None:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)


@pytest.mark.parametrize(("first", "last"), [(25, 0), (200, 0), (61, 35), (5, 4), (500, 400)])
@pytest.mark.parametrize("size", [1, 3])
def test_what_held_longest_in_a_window_and_how_many_it_has(
    store: Store, owner: Owner, first: int, last: int, size: int
) -> None:
    """Days ago; a window holds its first moment and not its last, and what still stands holds to its end."""
    draw = random.Random(first * 10 + size)  # noqa: S311 - no secret
    for org in ("org_a", "org_b"):
        for flag in NAMES:
            at, state = NOW - timedelta(days=90), "absent"
            while (at := at + draw.choice((0 * HOUR, HOUR, 23 * HOUR, BRIEF, 70 * HOUR))) < NOW:
                outside = draw.random() < 0.1
                old = draw.choice(("absent", "true", "false")) if outside else state
                state = draw.choice([other for other in ("absent", "true", "false") if other != old])
                turn(owner, old, state, at=at, of=(org, flag))
    window = Scope(EVERYTHING, NOW - timedelta(days=first), NOW - timedelta(days=last))
    rows = owner.execute(
        """select id, org_id, flag, old_state, new_state, changed_at from rankscope.flag_changes
             order by changed_at, id"""
    ).fetchall()
    for asked in (window, replace(window, org="org_b"), replace(window, reach=Reach(("org_a",)))):
        mine = [asked.org] if asked.org else ["org_a"] if asked.reach != EVERYTHING else ["org_a", "org_b"]
        inside = []
        for org in mine:
            for flag in NAMES:
                every = [each for each in rows if each[1:3] == (org, flag)]
                series = kept(every)
                for number, (id_, _, _, _, new, at) in enumerate(series):
                    ends = [each[5] for each in series[number + 1 :]]
                    later = every[every.index(series[number]) :]
                    until = min(ends[:1] + found_outside(later), default=None)
                    if window.since <= at < window.until:
                        held = min(until or window.until, window.until) - at
                        inside.append((-held, -id_, org, (id_, flag, STORED[new], at, until)))
        flags, orgs = {told[1] for *_, told in inside}, {org for _, _, org, _ in inside}
        of_all = (min(flags) if len(flags) == 1 else None, min(orgs) if len(orgs) == 1 else None)
        expected = [(len(inside), *of_all, *told) for _, _, _, told in sorted(inside)[:size]]
        found = store.ask(FlagsTurned(asked, size)).astype(object)
        assert list(found.where(found.notna(), None).itertuples(index=False, name=None)) == expected
        assert last >= 90 or expected


@pytest.mark.parametrize(
    ("states", "every", "remaining"),
    [
        (("false", "true", "false"), timedelta(seconds=21), []),
        (("absent", "true", "false"), HOUR, []),
        (("absent", "true", "absent"), BRIEF, [0, 1]),
        (("absent", "true", "absent", "true"), HOUR, [2]),
        (("absent", "true", "absent", "true", "absent"), 23 * HOUR, []),
        (("absent", "false"), HOUR, []),
        (("absent", "false", "true"), HOUR, [1]),
        (("absent", "true"), HOUR, [0]),
    ],
)
def test_a_change_and_its_way_back_cancel_out(
    store: Store, owner: Owner, states: tuple[str, ...], every: timedelta, remaining: list[int]
) -> None:
    ids = turn(owner, *states, at=NOW - timedelta(days=9), every=every, of=("org_a", BOOST))
    assert sorted(store.ask(FlagsTurned(MONTH, 9))["id"]) == [ids[place] for place in remaining]


def test_a_change_stands_until_now_where_it_was_only_tried_without(store: Store, owner: Owner) -> None:
    (first,) = turn(owner, "absent", "true", at=NOW - timedelta(days=20), of=("org_a", WEIGHTING))
    turn(owner, "true", "absent", "true", at=NOW - timedelta(days=2), of=("org_a", WEIGHTING))
    (row,) = store.ask(FlagsTurned(MONTH, 3)).to_dict("records")
    assert (row["changes"], row["id"], row["every_flag"], row["every_org"]) == (1, first, WEIGHTING, "org_a")
    assert pd.isna(row["next_at"])


def test_a_change_holds_until_a_later_one_found_it_turned_outside(store: Store, owner: Owner) -> None:
    """Other software took it back, of which the audit has no entry of its own; the try of an hour explains nothing."""
    (first,) = turn(owner, "absent", "true", at=NOW - timedelta(days=20), of=("org_a", WEIGHTING))
    found = NOW - timedelta(days=2)
    turn(owner, "absent", "true", "absent", at=found, of=("org_a", WEIGHTING))
    (row,) = store.ask(FlagsTurned(MONTH, 3)).to_dict("records")
    assert (row["id"], row["next_at"]) == (first, found)


def test_a_flag_that_something_turns_all_the_time_is_read_within_the_limit(store: Store, owner: Owner) -> None:
    """30 000 changes: read anew for every one of them they would take six times as long as a question may."""
    owner.execute(
        """insert into rankscope.flag_changes
             (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
           select 'org_a', gen_random_uuid(), %s, (n %% 2 = 0)::text, (n %% 2 = 1)::text, 'r', 'a', 'test',
                  %s + n * interval '10 minutes'
             from generate_series(1, 30001) n""",
        (BOOST, NOW - timedelta(days=230)),
    )
    assert len(store.ask(FlagsTurned(MONTH, 3))) == 1


def test_a_trial_that_began_before_the_window_is_taken_back_inside_it(store: Store, owner: Owner) -> None:
    turn(owner, "absent", "true", "absent", at=MONTH.since - HOUR, every=2 * HOUR, of=("org_a", BOOST))
    assert store.ask(FlagsTurned(MONTH, 3)).empty


def test_a_window_begins_with_its_first_moment_and_ends_before_the_next_one(store: Store, owner: Owner) -> None:
    (first,) = turn(owner, "absent", "true", at=MONTH.since, of=("org_a", BOOST))
    turn(owner, "absent", "true", at=MONTH.until, of=("org_b", BOOST))
    turn(owner, "absent", "true", at=MONTH.since - timedelta(microseconds=1), of=("org_b", WEIGHTING))
    assert store.ask(FlagsTurned(MONTH, 3))["id"].tolist() == [first]
