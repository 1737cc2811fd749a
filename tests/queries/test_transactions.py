"""Statements that share a round trip: how many waits a question costs, and that nothing of it outlives it."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.pq import Format
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from queries.engine import LIST, Store, make_engine
from queries.errors import StoreError, was_cut
from queries.organizations import Organizations
from queries.rounds import Statement, snapshot
from queries.scope import EVERYTHING, NOTHING, Reach, Scope
from queries.version import data_version
from tests import sample
from tests.tcp_proxy import Line

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

ONE = Reach(("org_a",))
SCOPE = Scope(ONE, sample.TODAY - timedelta(days=30), sample.TODAY)
COUNT = "select count(*) from organizations"
BACKEND = "select pg_backend_pid()"


class Turns(Line):
    """A line that counts how often the server was waited for."""

    def __init__(self, server: str) -> None:
        self.turns = 0
        self._asked = False
        super().__init__(server)

    def _passed(self, data: bytes, source: socket.socket, target: socket.socket, *, speaks: bool) -> bool:
        if self._asked and not speaks:
            self.turns += 1
        self._asked = speaks
        return super()._passed(data, source, target, speaks=speaks)


@contextmanager
def counted(cluster: Cluster, database: str) -> Iterator[tuple[Store, Turns]]:
    """A store behind such a line, with a connection that has been used."""
    with Turns(f"{cluster.lease._socket}/.s.PGSQL.5432") as line:
        store = Store(make_engine(f"postgresql://dash_read@127.0.0.1:{line.port}/{database}", name="counted", pool=1))
        store.once(EVERYTHING, LIST, data_version)
        line.turns = 0
        yield store, line
        store.close()


def count(connection: Connection) -> int:
    return int(connection.execute(text(COUNT)).scalar_one())


class TestWaits:
    @pytest.mark.parametrize("questions", [1, 2, 5])
    def test_there_are_as_many_as_questions(
        self, cluster: Cluster, store_database: str, owner: Owner, questions: int
    ) -> None:
        sample.add_organization(owner, "org_a")
        with counted(cluster, store_database) as (store, line):
            answers, taken = store.ask_all(*[Organizations(SCOPE)] * questions)
            assert line.turns == questions
        assert [list(answer["id"]) for answer in answers] == [["org_a"]] * questions
        ((now,),) = owner.execute("select now()").fetchall()
        assert 0 <= (now - taken).total_seconds() < 60

    def test_one_statement_costs_one(self, cluster: Cluster, store_database: str, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        with counted(cluster, store_database) as (store, line):
            assert store.once(ONE, LIST, count) == 1
            assert line.turns == 1

    def test_an_open_snapshot_costs_one_to_begin_and_one_to_end(self, cluster: Cluster, store_database: str) -> None:
        with counted(cluster, store_database) as (store, line):
            with store.reading(ONE) as connection:
                assert line.turns == 1
                count(connection)
            assert line.turns == 3


class TestOneSnapshot:
    def test_what_is_committed_between_two_questions_is_not_seen(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")

        class Later(Organizations):
            def statement(self) -> Any:  # noqa: ANN401 - as the question's own
                sample.add_organization(owner, "org_b")
                return super().statement()

        scope = replace(SCOPE, reach=EVERYTHING)
        (first, second), _ = store.ask_all(Organizations(scope), Later(scope))
        assert list(first["id"]) == list(second["id"]) == ["org_a"]
        assert len(store.ask(Organizations(scope))) == 2

    def test_nothing_is_written(self, store: Store) -> None:
        with pytest.raises(StoreError) as refused:
            store.once(EVERYTHING, LIST, lambda snapshot: snapshot.execute(text("create temp table t ()")))
        assert refused.value.sqlstate == "25006"


class TestNothingOutlivesIt:
    def test_a_second_statement_is_refused_and_not_answered_with_nothing(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        with pytest.raises(StoreError):
            store.once(ONE, LIST, lambda snapshot: (count(snapshot), count(snapshot)))
        assert store.once(ONE, LIST, count) == 1

    @pytest.mark.parametrize("way", ["ask", "once"])
    def test_the_scope_is_gone(self, cluster: Cluster, store_database: str, owner: Owner, way: str) -> None:
        sample.add_organization(owner, "org_a")
        with counted(cluster, store_database) as (store, _):
            backend = store.once(ONE, LIST, lambda snapshot: snapshot.execute(text(BACKEND)).scalar_one())
            seen = store.once(ONE, LIST, count) if way == "once" else len(store.ask(Organizations(SCOPE)))
            assert seen == 1
            with store.reader.connect() as connection:
                assert count(connection) == 0
                assert connection.execute(text(BACKEND)).scalar_one() == backend

    def test_company_of_a_statement_that_was_never_sent_is_not_kept(
        self, cluster: Cluster, store_database: str, owner: Owner
    ) -> None:
        sample.add_organization(owner, "org_a")

        def fail(_: Connection) -> None:
            raise ZeroDivisionError

        with counted(cluster, store_database) as (store, _):
            with pytest.raises(ZeroDivisionError):
                store.once(ONE, LIST, fail)
            with store.reader.connect() as connection:
                assert count(connection) == 0

    def test_a_failed_statement_leaves_its_connection_usable(
        self, cluster: Cluster, store_database: str, owner: Owner
    ) -> None:
        sample.add_organization(owner, "org_a")
        with counted(cluster, store_database) as (store, _):
            backend = store.once(ONE, LIST, lambda snapshot: snapshot.execute(text(BACKEND)).scalar_one())
            for statement, state in (("select 1 / 0", "22012"), ("select pg_sleep(9)", "57014")):
                with pytest.raises(StoreError) as refused:
                    store.once(ONE, 0.3, lambda snapshot, said=statement: snapshot.execute(text(said)))  # type: ignore[misc]
                assert refused.value.sqlstate == state
            assert store.once(ONE, LIST, count) == 1
            assert store.once(ONE, LIST, lambda snapshot: snapshot.execute(text(BACKEND)).scalar_one()) == backend

    def test_a_connection_that_died_is_replaced(self, store: Store, owner: Owner) -> None:
        backend = store.once(NOTHING, LIST, lambda snapshot: snapshot.execute(text(BACKEND)).scalar_one())
        owner.execute("select pg_terminate_backend(%s, 1000)", (backend,))
        assert store.once(NOTHING, LIST, lambda snapshot: snapshot.execute(text(BACKEND)).scalar_one()) != backend

    def test_a_connection_cut_at_any_time_is_replaced(
        self, cluster: Cluster, store_database: str, owner: Owner
    ) -> None:
        """Also while the answers of a pipeline are read, where psycopg itself does not see it."""
        sample.add_organization(owner, "org_a")
        over = threading.Event()

        def cut() -> None:
            while not over.wait(0.02):
                cluster.run("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'cut'")

        store = Store(make_engine(cluster.url("dash_read", store_database), name="cut", pool=1))
        cutting = threading.Thread(target=cut)
        cutting.start()
        unseen: list[StoreError] = []
        try:
            until = time.monotonic() + 4
            while time.monotonic() < until:
                try:
                    assert store.once(ONE, LIST, count) == 1
                except (
                    StoreError
                ) as error:  # cut twice, which is said; or while it was made, when nothing was asked yet
                    cause = error.__cause__
                    made = not isinstance(cause, DBAPIError) or cause.statement is not None
                    unseen += [] if was_cut(error) or error.sqlstate == "57P01" or not made else [error]
        finally:
            over.set()
            cutting.join()
            store.close()
        assert [str(error) for error in unseen] == []

    def test_many_at_once_are_refused(self, store: Store) -> None:
        """They would run outside the snapshot."""
        with pytest.raises(StoreError) as refused:
            store.once(ONE, LIST, lambda snapshot: snapshot.execute(text("select :a"), [{"a": 1}, {"a": 2}]))
        assert refused.value.kind == "unknown"

    def test_whoever_comes_next_is_inside_a_transaction_again(self, store: Store) -> None:
        store.once(NOTHING, LIST, data_version)
        with store.reader.connect() as connection:
            assert not connection.connection.driver_connection.autocommit  # type: ignore[union-attr]


@pytest.mark.parametrize("questions", [1, 5])
def test_moments_are_told_in_utc_whatever_zone_the_server_is_in(
    cluster: Cluster, store_database: str, questions: int
) -> None:
    cluster.run(f"alter database {store_database} set timezone = 'Asia/Tokyo'")
    store = Store(make_engine(cluster.url("dash_read", store_database), name="tokyo", pool=1))
    now = text("select now()")
    try:
        for _ in range(20):
            _, taken = store.ask_all(*[Organizations(SCOPE)] * questions)
            told = store.once(NOTHING, LIST, lambda snapshot: snapshot.execute(now).scalar_one())
            with snapshot(store, NOTHING, LIST, name="round") as together:
                (((known,),),) = together.ask(Statement(b"select now()"), ends=True)
            assert {moment.utcoffset() for moment in (taken, told, known)} == {timedelta()}
    finally:
        store.close()


@pytest.mark.parametrize("form", [Format.TEXT, Format.BINARY])
def test_moments_are_loaded_as_fast_as_psycopg_can(store: Store, form: Format) -> None:
    """By its own loader: one of ours took five times as long, and a list of 100 000 moments half a second more."""
    oid = psycopg.adapters.types["timestamptz"].oid
    with store.reading(NOTHING) as connection:
        raw: Any = connection.connection.driver_connection
        made = raw.adapters.get_loader(oid, form)(oid, raw)
    assert type(made) is psycopg.adapters.get_loader(oid, form)


@pytest.mark.parametrize("style", ["SQL, DMY", "German", "Postgres, MDY"])
def test_moments_are_read_however_the_server_writes_them(cluster: Cluster, store_database: str, style: str) -> None:
    cluster.run(f"alter database {store_database} set datestyle = '{style}'")
    store = Store(make_engine(cluster.url("dash_read", store_database), name="style", pool=1))
    try:
        _, taken = store.ask_all(Organizations(SCOPE))
        told = store.once(NOTHING, LIST, lambda snapshot: snapshot.execute(text("select now()")).scalar_one())
        with store.reading(NOTHING) as connection:
            known = connection.execute(text("select now()")).scalar_one()
        assert taken < told < known < taken + timedelta(minutes=1)
    finally:
        store.close()
