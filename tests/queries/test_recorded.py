"""The SQL behind a piece of work: its own statements, as they were asked, and nobody else's."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from sqlalchemy import text

from queries.recorded import LONGEST, recording
from queries.scope import EVERYTHING

if TYPE_CHECKING:
    from queries.engine import Store


def ask(store: Store, statement: str, **values: object) -> None:
    with store.reading(EVERYTHING, principal="ann") as snapshot:
        snapshot.execute(text(statement), values)


def test_statements_are_kept_in_order_counted_and_with_their_first_values(store: Store) -> None:
    with recording(store) as kept:
        for value in (1, 2):
            ask(store, "select cast(:value as integer)", value=value)
        ask(store, "select 'other'")
    ask(store, "select 'later'")
    first, second = kept.asked()
    assert (first.text, first.parameters, first.times) == ("select cast(%(value)s as integer)", {"value": 1}, 2)
    assert (second.text, second.times) == ("select 'other'", 1)


def test_who_asks_is_not_kept(store: Store) -> None:
    with recording(store) as kept:
        ask(store, "select 1")
    assert "ann" not in repr(kept)
    assert "set_config" not in repr(kept)


def test_another_thread_is_not_heard(store: Store) -> None:
    heard: list[list[str]] = []
    begun, done = threading.Event(), threading.Event()

    def other() -> None:
        with recording(store) as kept:
            begun.set()
            done.wait(10)
            ask(store, "select 'theirs'")
        heard.append([one.text for one in kept.asked()])

    thread = threading.Thread(target=other)
    thread.start()
    begun.wait(10)
    with recording(store) as kept:
        ask(store, "select 'ours'")
        done.set()
        thread.join(10)
        ask(store, "select 'ours again'")
    assert [one.text for one in kept.asked()] == ["select 'ours'", "select 'ours again'"]
    assert heard == [["select 'theirs'"]]


def test_a_long_list_is_cut_and_says_so(store: Store) -> None:
    with recording(store) as kept:
        ask(store, "select cast(:many as integer[])", many=list(range(1_000)))
    (one,) = kept.asked()
    assert one.parameters["many"] == [*range(LONGEST), f"… and {1_000 - LONGEST} more"]
