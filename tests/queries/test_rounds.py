"""Statements that travel together are one snapshot in one reach, and what goes wrong with one is told as its own."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from queries.confined import ConfinedStore
from queries.engine import Store, make_engine
from queries.errors import NOT_ANSWERING, StoreError
from queries.rounds import MOST_NAMED, Snapshot, Statement, ask_at_once, snapshot
from queries.scope import EVERYTHING, OutOfReachError, Reach
from tests import sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from queries.connections import DeadlineConnection
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

REACH = Reach.of(frozenset({"org_a"}))
ORGANIZATIONS = Statement(b"select id from organizations order by id")
BACKEND = Statement(b"select pg_backend_pid()")


class Stopped(BaseException):
    """What the driver does not know, as a page raises it to begin anew."""


def setting(name: str) -> Statement:
    return Statement(b"select current_setting($1::text, true)", (name,))


@pytest.fixture
def one(cluster: Cluster, store_database: str) -> Iterator[Store]:
    """A store with a single connection, so that whatever stays on it is met again."""
    opened = Store(make_engine(cluster.url("dash_read", store_database), name="one", pool=1, overflow=0))
    yield opened
    opened.close()


def raw_of(store: Store) -> DeadlineConnection:
    with store.reader.connect() as connection:
        raw: DeadlineConnection = connection.connection.driver_connection  # type: ignore[assignment]
        return raw


class TestOneSnapshot:
    def test_every_statement_has_its_answer_in_its_order(self, one: Store) -> None:
        numbers = Statement(b"select * from generate_series(1, $1::int)", (3,))
        texts = Statement(b"select $1::text, $2::text[], $3::float8, $4::bool", ("a", ["b", None], 0.1, None))
        with snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            answers = snap.ask(numbers, texts, ORGANIZATIONS, ends=True)
        assert answers == [[(1,), (2,), (3,)], [("a", ["b", None], 0.1, None)], []]

    def test_a_type_of_the_platforms_own_is_read_as_the_text_it_is(self, one: Store, owner: Owner) -> None:
        """As in every other answer: a platform may keep its words as citext or as an enumeration."""
        owner.execute("create type granularity as enum ('turn', 'Sitzung für alle')")
        words = Statement(
            "select 'Sitzung für alle'::granularity, null::granularity, 'turn'::text::granularity".encode()
        )
        with snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            answers = snap.ask(words, Statement(b"select '\\x00ff'::bytea, 'NaN'::numeric::text, 1::int8"), ends=True)
        assert answers == [[("Sitzung für alle", None, "turn")], [(b"\x00\xff", "NaN", 1)]]

    def test_reach_limits_and_name_hold_inside_and_end_with_it(self, one: Store, owner: Owner) -> None:
        for org in ("org_a", "org_b"):
            sample.add_organization(owner, org)
        names = ("transaction_isolation", "transaction_read_only", "statement_timeout", "lock_timeout",
                 "application_name", "dash.orgs", "enable_sort")  # fmt: skip
        with snapshot(one, REACH, 2.0, name="test", more={"enable_sort": "off", "dash.orgs": '["org_b"]'}) as snap:
            organizations, *inside = snap.ask(ORGANIZATIONS, *map(setting, names), ends=True)
        assert organizations == [("org_a",)]
        assert [answer[0][0] for answer in inside] == [
            "repeatable read", "on", "2s", "1s", "rankscope test", '["org_a"]', "off",
        ]  # fmt: skip
        after = ask_at_once(raw_of(one), [ORGANIZATIONS, *map(setting, names[4:])])
        assert after == [[], [("one",)], [("",)], [("on",)]]

    def test_no_later_setting_widens_its_reach_or_its_limits(self, one: Store, owner: Owner) -> None:
        for org in ("org_a", "org_b"):
            sample.add_organization(owner, org)
        wider = {"dash.orgs": '["org_b"]', "statement_timeout": "0", "enable_sort": "off"}
        asked = (ORGANIZATIONS, setting("statement_timeout"), setting("enable_sort"))
        with snapshot(one, REACH, 2.0, name="test", more={"enable_sort": "on"}) as snap:
            for ends in (False, True, True):  # in the first round, in one after it, and in a snapshot begun anew
                assert snap.ask(*asked, more=wider, ends=ends) == [[("org_a",)], [("2s",)], [("off",)]]

    def test_what_comes_later_sees_what_the_first_saw(self, one: Store, owner: Owner) -> None:
        with snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            assert snap.ask(ORGANIZATIONS) == [[]]
            sample.add_organization(owner, "org_a")
            assert snap.ask(ORGANIZATIONS, more={"enable_sort": "off"}, ends=True) == [[]]
            # it has ended: what is asked now is asked of a new one, in the same reach and with the same settings
            assert snap.ask(ORGANIZATIONS, setting("enable_sort"), ends=True) == [[("org_a",)], [("off",)]]

    def test_a_confined_store_opens_none_beyond_its_reach(self, one: Store, owner: Owner) -> None:
        for org in ("org_a", "org_b"):
            sample.add_organization(owner, org)
        confined = ConfinedStore(one.reader, REACH)
        for wider in (EVERYTHING, Reach.of(frozenset({"org_a", "org_b"})), Reach.of(frozenset({"org_b"}))):
            with pytest.raises(OutOfReachError), snapshot(confined, wider, 1.0, name="test"):
                pass
            with pytest.raises(OutOfReachError), confined.reading(wider):
                pass
        with snapshot(confined, REACH, 1.0, name="test") as snap:
            assert snap.ask(ORGANIZATIONS, ends=True) == [[("org_a",)]]

    def test_nothing_can_be_written(self, one: Store) -> None:
        with pytest.raises(StoreError) as caught, snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            snap.ask(Statement(b"update organizations set features = '{}'"))
        assert caught.value.sqlstate == "25006"

    def test_settings_of_a_snapshot_left_open_end_with_it(self, one: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        with snapshot(one, REACH, 1.0, name="test") as snap:
            assert snap.ask(ORGANIZATIONS) == [[("org_a",)]]
        with snapshot(one, Reach.of(frozenset({"org_b"})), 1.0, name="test") as snap:
            assert snap.ask(ORGANIZATIONS) == [[]]


class TestFailures:
    @pytest.mark.parametrize(
        ("statement", "state"),
        [(b"select 1 / $1::int", "22012"), (b"select no_such_column from organizations where $1 = 0", "42703")],
    )
    def test_the_first_that_fails_is_told_and_the_connection_lives(
        self, one: Store, statement: bytes, state: str
    ) -> None:
        with snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            before = snap.ask(BACKEND, ends=True)
        with pytest.raises(StoreError) as caught, snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            snap.ask(BACKEND, Statement(statement, (0,)), Statement(b"select 'x'::uuid"), ends=True)
        assert caught.value.sqlstate == state
        with snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            assert snap.ask(BACKEND, ends=True) == before

    def test_a_slow_one_ends_at_its_limit(self, one: Store) -> None:
        started = time.perf_counter()
        with pytest.raises(StoreError) as caught, snapshot(one, EVERYTHING, 0.3, name="test") as snap:
            snap.ask(BACKEND, Statement(b"select pg_sleep(20)"), ends=True)
        assert caught.value.sqlstate == "57014"
        assert 0.3 <= time.perf_counter() - started < 1.8

    def test_a_server_that_falls_silent_is_left_at_the_deadline(self, one: Store) -> None:
        with snapshot(one, EVERYTHING, 0.5, name="test") as snap:
            ((backend,),) = snap.ask(BACKEND)[0]
        os.kill(backend, signal.SIGSTOP)
        started = time.perf_counter()
        try:
            with pytest.raises(StoreError) as caught, snapshot(one, EVERYTHING, 0.5, name="test") as snap:
                snap.ask(ORGANIZATIONS, ends=True)
        finally:
            os.kill(backend, signal.SIGCONT)
        assert (caught.value.kind, caught.value.sentence) == ("silent", NOT_ANSWERING)
        assert time.perf_counter() - started < 6
        with snapshot(one, EVERYTHING, 0.5, name="test") as snap:
            assert snap.ask(BACKEND, ends=True) != [[(backend,)]]

    @pytest.mark.parametrize("raised", [KeyboardInterrupt, Stopped])
    def test_who_is_stopped_in_the_middle_leaves_nothing_behind(
        self, one: Store, owner: Owner, raised: type[BaseException]
    ) -> None:
        sample.add_organization(owner, "org_a")
        with snapshot(one, REACH, 5.0, name="test") as snap:
            before = snap.ask(BACKEND, ends=True)

        def stop(*_: object) -> None:
            raise raised

        handled = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            with pytest.raises(raised), snapshot(one, REACH, 5.0, name="test") as snap:
                snap.ask(ORGANIZATIONS, Statement(b"select pg_sleep(4)"), ORGANIZATIONS, ends=True)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, handled)
        assert one.reader.pool.checkedout() == 0  # type: ignore[attr-defined]
        after, scope, seen = ask_at_once(raw_of(one), [BACKEND, setting("dash.orgs"), ORGANIZATIONS])
        assert after != before[0]
        assert scope[0][0] in (None, "")
        assert seen == []

    def test_where_one_connection_died_the_others_are_not_trusted(
        self, cluster: Cluster, store_database: str, owner: Owner
    ) -> None:
        """All idle ones are cut at once, as by a restart: only the first to be used fails, however short the pause."""
        sample.add_organization(owner, "org_a")
        store = Store(make_engine(cluster.url("dash_read", store_database), name="cut", pool=3, overflow=0))
        borrowed = [store.reader.raw_connection() for _ in range(3)]
        for each in borrowed:
            each.close()
        cluster.run("select pg_terminate_backend(pid, 1000) from pg_stat_activity where application_name = 'cut'")
        with pytest.raises(StoreError), snapshot(store, REACH, 1.0, name="test") as snap:
            snap.ask(ORGANIZATIONS, ends=True)
        for _ in range(3):
            with snapshot(store, REACH, 1.0, name="test") as snap:
                assert snap.ask(ORGANIZATIONS, ends=True) == [[("org_a",)]]
        store.close()


class TestPrepared:
    def test_a_statement_is_read_once_by_the_server(self, one: Store) -> None:
        names = Statement(b"select count(*) from pg_prepared_statements where statement like '%organizations%'")
        for _ in range(3):
            with snapshot(one, EVERYTHING, 1.0, name="test") as snap:
                snap.ask(ORGANIZATIONS, ends=True)
        assert ask_at_once(raw_of(one), [ORGANIZATIONS, names])[1] == [(2,)]  # the one that counts is one of them

    @pytest.mark.parametrize("state", ["26000", "42P05", "0A000"])
    def test_where_it_is_outdated_the_connection_is_replaced(self, one: Store, owner: Owner, state: str) -> None:
        """Forgotten by the server, known there without our knowledge as behind a pooler, or read of another table."""
        named = Statement(b"select name from organizations")
        with snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            before = snap.ask(BACKEND, named, ends=True)[0]
        raw = raw_of(one)
        if state == "26000":
            raw.execute("deallocate all")
            raw.commit()
        elif state == "42P05":
            raw.named.clear()
        else:
            owner.execute("alter table organizations alter name type varchar(400)")
        with snapshot(one, EVERYTHING, 1.0, name="test", prepares=False) as snap:
            assert snap.ask(BACKEND, named, ends=True) == [before, []]
        with pytest.raises(StoreError) as caught, snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            snap.ask(BACKEND, named, ends=True)
        assert caught.value.sqlstate == state
        with snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            after, answer = snap.ask(BACKEND, named, ends=True)
        assert after != before
        assert answer == []
        assert len(raw_of(one).named) == 3

    def test_one_that_prepares_nothing_leaves_nothing_prepared(self, one: Store) -> None:
        with snapshot(one, EVERYTHING, 1.0, name="test", prepares=False) as snap:
            names = Statement(b"select count(*) from pg_prepared_statements")
            assert snap.ask(ORGANIZATIONS, names, ends=True) == [[], [(0,)]]
        assert raw_of(one).named == {}

    def test_a_snapshot_of_another_kind_does_not_make_it_forget(self, one: Store) -> None:
        """Eight times the same statement is when psycopg would prepare it, and forget everything with the rollback."""
        with snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            snap.ask(ORGANIZATIONS, ends=True)
        with one.reading(EVERYTHING) as connection:
            for _ in range(8):
                connection.exec_driver_sql("select 1")
        with snapshot(one, EVERYTHING, 1.0, name="test") as snap:
            assert snap.ask(ORGANIZATIONS, ends=True) == [[]]

    def test_no_more_are_kept_than_a_connection_should_hold(self, one: Store) -> None:
        raw = raw_of(one)
        many = [Statement(f"select {number}".encode()) for number in range(MOST_NAMED + 5)]
        assert ask_at_once(raw, many) == [[(number,)] for number in range(MOST_NAMED + 5)]
        assert len(raw.named) == MOST_NAMED

    def test_parameters_of_another_type_are_another_statement(self, one: Store) -> None:
        doubled = b"select pg_typeof($1)::text"
        snap = Snapshot(raw_of(one), {})
        assert snap.ask(Statement(doubled, (1,)), Statement(doubled, (1.5,)), ends=True) == [
            [("smallint",)],
            [("double precision",)],
        ]
