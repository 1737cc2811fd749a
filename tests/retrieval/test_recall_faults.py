"""A recall answers any question, and what goes wrong with the store comes out as its own error."""

from __future__ import annotations

import os
import signal
import socket
import threading
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest

from queries.engine import Store, make_engine
from queries.errors import StoreError
from queries.migrate import migrate
from queries.scope import Reach
from retrieval.recall import RecallQuestion, Way, recall, recall_plain, recall_routes
from tests import hostile
from tests.retrieval.asked import NOW, REACH, UP, question

if TYPE_CHECKING:
    import numpy.typing as npt

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]
    Vector = npt.NDArray[np.float32]

METACHARACTERS = (
    "", " ", "\0", "a\0b", "\ud800", "'", "''", "\\", "\\'", "&", "|", "!", "(", "((", ":*", "a:*b", "a & | b", "!!a",
    "<->", "a <2> b", "'a' | ", "%", "%s", "%(org)s", ":org", "$1", "{}", "--", "/* */", "; select 1", "deploy\\",
    "deploy'; drop table observations; --", "x" * 3000, "é" * 3000, "\u200b", "👩‍👩‍👧‍👦",
)  # fmt: skip


class TestAnyQuestion:
    @pytest.mark.parametrize("vector", [UP, None], ids=["vector", "keyword"])
    def test_no_text_is_an_error(self, store: Store, small: list[str], vector: Vector | None) -> None:
        for text in (*METACHARACTERS, *hostile.TEXTS):
            for way in Way:
                found = recall(store, REACH, question(text, vector), way)
                assert {*found.candidates.ids} <= {*small}
                assert vector is None or len(found.candidates) == 3

    def test_metacharacters_are_separators_between_words(self, store: Store, small: list[str]) -> None:
        for text in ("deploy:*", "!deploy", "(deploy", "'deploy'", "deploy & | <->", "%deploy%", "\0deploy\\"):
            assert {*recall_plain(store, REACH, question(text, None)).candidates.ids} == {*small}

    @pytest.mark.parametrize("word", ["lorem ", "word{} ", "x", "deploy & | ! ( : * \\ ' "])
    def test_a_hundred_kilobytes(self, store: Store, small: list[str], word: str) -> None:
        text = "".join(word.format(n) for n in range(100_000 // len(word)))
        for way in Way:
            assert len(recall(store, REACH, question(text[:100_000]), way).candidates) == len(small)
            assert {*recall(store, REACH, question(text, None), way).candidates.ids} <= {*small}

    def test_odd_names_find_nothing(self, store: Store, small: list[str]) -> None:
        assert small
        for name in ("", "'", "%", "org_a' or '1'='1", "x" * 5000):
            asked = RecallQuestion(name, name, "deploy", UP)
            assert len(recall_routes(store, Reach.of(frozenset({name})), asked).candidates) == 0

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"k": -1}, "k: expected 0 or more, found -1"),
            ({"vector": np.ones((2, 2))}, "expected one dimension, found 2"),
        ],
    )
    def test_what_is_refused_at_the_door(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            question(**options)

    def test_the_time_of_the_question_is_utc(self) -> None:
        from retrieval.recall import _utc  # noqa: PLC0415 - the rule by itself

        there = datetime(2026, 5, 4, 14, tzinfo=timezone(timedelta(hours=2)))
        assert _utc(there) == _utc(NOW) == _utc(NOW.replace(tzinfo=None)) == np.datetime64("2026-05-04T12:00")


class TestFaults:
    def test_a_connection_that_was_cut_is_replaced(self, store: Store, cluster: Cluster, small: list[str]) -> None:
        assert recall_plain(store, REACH, question()).candidates.ids[0] == small[2]
        cluster.run("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'dash_read'")
        assert recall_plain(store, REACH, question()).candidates.ids[0] == small[2]

    @pytest.mark.parametrize("way", Way)
    @pytest.mark.parametrize("reason", ["altered", "restored", "forgotten", "known"])
    def test_what_was_prepared_and_is_outdated_is_asked_anew(
        self, store: Store, owner: Owner, small: list[str], way: Way, reason: str
    ) -> None:
        """On every connection at once, as after a migration or a restore of the platform's: no recall fails for it."""
        borrowed = [store.reader.raw_connection() for _ in range(3)]
        for each in borrowed:
            each.close()
        found = [recall(store, REACH, question(), way) for _ in borrowed]
        if reason == "altered":
            owner.execute("alter table observations alter title type varchar(400)")
        elif reason == "restored":
            owner.execute("create table kept as select observation_id, embedding::text from observation_embeddings")
            owner.execute("drop extension vector cascade")
            owner.execute("create extension vector")
            owner.execute("alter table observation_embeddings add embedding vector")
            owner.execute(
                """update observation_embeddings e set embedding = kept.embedding::vector
                     from kept where kept.observation_id = e.observation_id"""
            )
        for each in [store.reader.raw_connection() for _ in borrowed]:
            raw: Any = each.driver_connection
            assert raw.named
            if reason == "forgotten":
                raw.execute("deallocate all")
            elif reason == "known":
                raw.named.clear()
            each.close()
        again = [recall(store, REACH, question(), way) for _ in borrowed]
        assert [[*each.candidates.ids] for each in again] == [[*each.candidates.ids] for each in found]
        assert {*found[0].candidates.ids} == {*small}

    def test_a_recall_that_waits_for_a_lock_ends(self, store: Store, owner: Owner, small: list[str]) -> None:
        assert small
        with owner.transaction():
            owner.execute("lock table observation_embeddings in access exclusive mode")
            with pytest.raises(StoreError) as caught:
                recall_plain(store, REACH, question())
        assert caught.value.kind == "locked"
        assert len(recall_plain(store, REACH, question()).candidates) == 3

    def test_cut_in_the_middle_and_asked_once_more(
        self, store: Store, owner: Owner, cluster: Cluster, small: list[str]
    ) -> None:
        """The backend is killed while it waits for a lock; by then the second try finds the lock gone."""
        answers: list[Any] = []
        asking = threading.Thread(target=lambda: answers.append(recall_plain(store, REACH, question())))
        waiting = "select pid from pg_stat_activity where wait_event_type = 'Lock' and usename = 'dash_read'"
        with owner.transaction():
            owner.execute("lock table observation_embeddings in access exclusive mode")
            asking.start()
            while not (found := cluster.run(waiting)):
                assert asking.is_alive()
            cluster.run(f"select pg_terminate_backend({found[0][0]})")
        asking.join()
        assert list(answers[0].candidates.ids) == small[::-1]

    def test_a_server_that_takes_no_connection_is_tried_once(self) -> None:
        """Whoever waits for one that does not answer must not wait twice, nor be counted twice for a wrong password."""
        tried: list[int] = []
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]

            def refuse() -> None:
                with suppress(OSError):
                    while True:
                        server.accept()[0].close()
                        tried.append(port)

            refusing = threading.Thread(target=refuse)
            refusing.start()
            store = Store(make_engine(f"postgresql://nobody@127.0.0.1:{port}/none?sslmode=disable", name="refused"))
            with pytest.raises(StoreError) as caught:
                recall_plain(store, REACH, question())
            server.shutdown(socket.SHUT_RDWR)
            refusing.join()
        assert (caught.value.kind, tried) == ("unreachable", [port])

    @pytest.mark.long
    def test_a_server_killed_in_the_middle_is_a_store_error(self, own_cluster: Cluster) -> None:
        engine = make_engine(own_cluster.url(), name="own")
        migrate(engine, create_store=True)
        engine.dispose()
        store = Store(make_engine(own_cluster.url("dash_read"), name="doomed", pool=1, overflow=0))
        # holds a lock until the server is gone, and cannot end its transaction then
        with suppress(psycopg.OperationalError), psycopg.connect(own_cluster.plain_url()) as holder:
            holder.execute("insert into organizations (id, name) values ('org_a', 'A')")
            holder.commit()
            holder.execute("lock table observation_embeddings in access exclusive mode")
            outcome: list[object] = []

            def ask() -> None:
                try:
                    outcome.append(recall_routes(store, REACH, question()))
                except StoreError as error:
                    outcome.append(error)

            asking = threading.Thread(target=ask)
            asking.start()
            while not own_cluster.run("select 1 from pg_stat_activity where wait_event_type = 'Lock'"):
                assert asking.is_alive()
            os.kill(int(own_cluster.lease.pid or 0), signal.SIGKILL)
            asking.join()
        assert len(outcome) == 1
        assert isinstance(outcome[0], StoreError)
        store.close()
