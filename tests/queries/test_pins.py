"""Pins as the store keeps them: who, when, in one organization; archived and never gone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from queries.engine import Store
from queries.errors import StoreError
from queries.pins import MOST, ArchivePin, Pin, PinError, Pins, SavePin
from queries.scope import Reach
from tests import hostile, sample

if TYPE_CHECKING:
    import psycopg

    from queries.pins import StoredPin

    Owner = psycopg.Connection[Any]

A, B = str(UUID(int=1)), str(UUID(int=2))
PIN = Pin("login", "why does login fail", (A,), ((A, B),), "api", "bug_fix")
MINE = Reach(("org_a",))


@pytest.fixture(autouse=True)
def _two_organizations(owner: Owner) -> None:
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org)


def save(store: Store, pin: Pin = PIN, org: str = "org_a", reach: Reach = MINE) -> int | None:
    with store.writing(reach) as connection:
        return SavePin(org, pin, "ada").apply(connection)


def archive(store: Store, number: int, org: str = "org_a", reach: Reach = MINE) -> bool:
    with store.writing(reach) as connection:
        return ArchivePin(org, number, "bob").apply(connection)


def stored(store: Store, org: str = "org_a") -> tuple[StoredPin, ...]:
    with store.reading(Reach((org,))) as connection:
        return Pins(org).read(connection)


def test_a_pin_comes_back_as_it_was_saved(store: Store, owner: Owner) -> None:
    number = save(store)
    (found,) = stored(store)
    assert (found.id, found.pin, found.unreadable, found.created_by) == (number, PIN, None, "ada")
    row = owner.execute("select clock_timestamp() - created_at < interval '1 minute' from rankscope.pins").fetchone()
    assert row == (True,)
    assert stored(store, "org_b") == ()


def test_a_name_is_held_once_however_often_it_is_sent(store: Store) -> None:
    assert save(store) is not None
    assert save(store, Pin("login", "another question", (B,))) is None
    assert [found.pin for found in stored(store)] == [PIN]
    assert save(store, org="org_b", reach=Reach(("org_b",))) is not None


def test_an_archived_pin_is_no_longer_held_but_kept(store: Store, owner: Owner) -> None:
    number = save(store) or 0
    assert archive(store, number)
    assert stored(store) == ()
    assert not archive(store, number)
    rows = owner.execute("select name, created_by, archived_by, archived_at is null from rankscope.pins").fetchall()
    assert rows == [("login", "ada", "bob", False)]
    assert save(store) is not None  # its name is free again


def test_others_pins_are_out_of_reach(store: Store) -> None:
    number = save(store) or 0
    assert not archive(store, number, reach=Reach(("org_b",)))
    assert not archive(store, number, org="org_b", reach=Reach(("org_b",)))
    with pytest.raises(StoreError) as refused:
        save(store, org="org_b")
    assert refused.value.kind == "privilege"
    assert len(stored(store)) == 1


def test_a_store_without_a_login_that_may_write(store: Store) -> None:
    with pytest.raises(StoreError) as refused:
        save(Store(store.reader))
    assert refused.value.kind == "no_writer"


@pytest.mark.parametrize("text", hostile.TEXTS[::4])
def test_hostile_texts_come_back_literally(store: Store, text: str) -> None:
    pin = Pin(text[:200], text, (A,), (), text[:200])
    save(store, pin)
    assert [found.pin for found in stored(store)] == [pin]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("{}", "expectations: expected 1 to 50, found 0"),
        ("[]", "expectations: expected an object, found list"),
        ('{"must_include": "x"}', "must_include: expected a list of ids"),
        ('{"must_include": ["x"]}', "observation: expected an id"),
        ('{"must_precede": [[1, 2]]}', "must_precede: expected a list of pairs"),
    ],
)
def test_expectations_written_by_hand_and_wrongly(store: Store, owner: Owner, written: str, reason: str) -> None:
    owner.execute(
        """insert into rankscope.pins (org_id, name, query_text, expectations, created_by)
             values ('org_a', 'n', 'q', %s, 'hand')""",
        (written,),
    )
    save(store)
    odd, sound = stored(store)
    assert odd.pin is None
    assert odd.unreadable is not None
    assert odd.unreadable.startswith(reason)
    assert sound.pin == PIN


def fill(owner: Owner, count: int) -> None:
    owner.execute(
        """insert into rankscope.pins (org_id, name, query_text, expectations, created_by)
           select 'org_a', 'pin ' || n, 'q', '{}', 'hand' from generate_series(1, %s) n""",
        (count,),
    )


def test_no_more_pins_are_held_than_are_read(store: Store, owner: Owner) -> None:
    fill(owner, MOST - 1)
    number = save(store)
    assert number is not None
    with pytest.raises(PinError, match=r"^Not pinned: an organization holds 200 pins at most\. Take one down first\.$"):
        save(store, Pin("one more", "why", (A,)))
    assert save(store) is None  # its name is taken, which is told first
    assert len(stored(store)) == MOST
    assert owner.execute("select count(*) from rankscope.pins").fetchone() == (MOST,)
    assert archive(store, number)
    assert save(store, Pin("one more", "why", (A,))) is not None
    assert save(store, org="org_b", reach=Reach(("org_b",))) is not None


def test_of_two_who_hold_the_last_one_at_once_one_is_refused(store: Store, owner: Owner) -> None:
    fill(owner, MOST - 1)
    with ThreadPoolExecutor(2) as both, store.writing(MINE) as first:
        assert SavePin("org_a", PIN, "ada").apply(first) is not None
        second = both.submit(save, store, Pin("one more", "why", (A,)))
        with pytest.raises(TimeoutError):
            second.result(0.5)  # it waits for what becomes of the first
        first.commit()
        with pytest.raises(PinError):
            second.result(30)
    assert len(stored(store)) == MOST


def test_what_is_held_beyond_those_that_are_read_is_counted(store: Store, owner: Owner) -> None:
    fill(owner, MOST + 3)
    with store.reading(MINE) as connection:
        assert (len(Pins("org_a").read(connection)), Pins("org_a").unread(connection)) == (MOST, 3)
        assert Pins("org_b").unread(connection) == 0
