"""A history of many thousand changes is read within the limit of every question, and says what took what back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from queries.flags.history import FileCut, FlagHistory
from queries.scope import Reach, Scope
from tests import sample
from tests.queries.flags.flag_store import WEIGHTING

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

NOW = datetime.now(UTC)
MANY = 24_000
ORGS = ("org_a", "org_b")
ADD = """
    insert into rankscope.flag_changes (org_id, request_id, flag, old_state, new_state, reason, actor, source,
      reverts_id, changed_at)
    select %(org)s, gen_random_uuid(), %(flag)s, 'absent', 'true', 'because', 'pia', 'test', reverts_id, now()
      from unnest(%(reverts)s::bigint[]) with ordinality as each (reverts_id, place) order by place
    returning id, reverts_id"""


def scope(*reach: str, org: str | None = None) -> Scope:
    return Scope(Reach(reach), NOW - timedelta(days=30), NOW, org)


def add(owner: Owner, org: str, reverts: list[int | None]) -> list[tuple[int, int | None]]:
    return owner.execute(ADD, {"org": org, "flag": WEIGHTING, "reverts": reverts}).fetchall()


@pytest.fixture(autouse=True)
def _organizations(owner: Owner) -> None:
    for org in ORGS:
        sample.add_organization(owner, org)


def test_the_first_change_that_took_one_back_in_its_organization(store: Store, owner: Owner) -> None:
    (one, _), (two, _), (three, _) = add(owner, "org_a", [None, None, None])
    (other, _), *_ = add(owner, "org_b", [one])  # which is not theirs
    (back, _), (again, _), (fourth, _) = add(owner, "org_a", [one, one, two])
    expected = {one: back, two: fourth, three: None, other: None, back: None, again: None, fourth: None}
    found = store.ask(FlagHistory(scope(*ORGS)))
    told = {id_: None if pd.isna(by) else by for id_, by in zip(found["id"], found["reverted_by"], strict=True)}
    assert told == expected
    assert len(store.ask(FlagHistory(scope(*ORGS, org="org_b")))) == 1


@pytest.mark.parametrize("org", ["org_a", None])
def test_many_changes_are_exported_within_the_limit(store: Store, owner: Owner, org: str | None) -> None:
    first = add(owner, "org_a", [None])[0][0]
    added = add(owner, "org_a", [first + number - 1 if number % 3 == 0 else None for number in range(1, MANY)])
    whole = FlagHistory(scope(*ORGS, org=org), size=MANY)
    found = store.ask(whole)  # whoever takes longer than the limit raises
    reverted = found.dropna(subset="reverted_by")
    told = dict(zip(reverted["id"], reverted["reverted_by"], strict=True))
    assert len(found) == MANY
    assert told == {reverts: id_ for id_, reverts in added if reverts is not None}
    assert store.ask(FileCut(whole)).empty
    assert len(store.ask(FileCut(FlagHistory(whole.scope, size=MANY - 1)))) == 1
    assert store.ask(FileCut(FlagHistory(whole.scope, words="nobody said this", size=1))).empty
