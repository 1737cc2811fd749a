"""Whatever the database does or the question holds, the agent gets a result that says what is wrong with it."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from queries.connections import answers
from queries.engine import Store, make_engine
from queries.migrate import migrate
from ranking import FULL, INTENDED, LIVE, PRESETS
from retrieval.log import LogWriter
from retrieval.memory import AgentSession, Memory, build_session_memory_block
from retrieval.retrieve import retrieve
from tests.conftest import start_cluster, stop_cluster
from tests.hostile import QUERY, TEXTS
from tests.queries.test_corroborating import add_run
from tests.retrieval.killed import kill_server
from tests.retrieval.logs import memory_store
from tests.retrieval.planted import EMBEDDER, NOW, QUESTION, SESSION, plant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from retrieval.memory import SessionMemoryBlock
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

WAITING_RECALL = """select 1 from pg_stat_activity where usename = 'memory_write' and wait_event_type = 'Lock'
                       and application_name = 'rankscope recall'"""
NOT_LOOKED_UP = "the memory could not be looked up: The database "


class TestTheDatabase:
    @pytest.fixture
    def doomed(self) -> Iterator[Cluster]:
        """A server of this test alone."""
        made = start_cluster(durable=True)
        engine = make_engine(made.url(), name="doomed")
        migrate(engine, create_store=True)
        engine.dispose()
        yield made
        stop_cluster(made)

    @pytest.mark.long
    @pytest.mark.parametrize("pipeline", [LIVE, FULL], ids=["LIVE", "FULL"])
    def test_killed_in_mid_retrieval_it_gives_a_result_with_a_reason(self, doomed: Cluster, pipeline: Any) -> None:  # noqa: ANN401 - stages
        """The server dies while recall's own statement waits for a lock that is held until then."""
        with psycopg.connect(doomed.plain_url(), autocommit=True) as owner:
            plant(owner)
        store = memory_store(doomed, "postgres")
        writer = LogWriter(store, retry_for=0.1)
        memory = Memory(store, EMBEDDER, writer=writer)
        answered: list[SessionMemoryBlock] = []
        asking = threading.Thread(
            target=lambda: answered.append(build_session_memory_block(SESSION, QUESTION, memory, pipeline=pipeline))
        )
        # the holder cannot end its transaction when the server is gone
        with suppress(psycopg.OperationalError), psycopg.connect(doomed.plain_url()) as holder:
            holder.execute("lock table observation_embeddings in access exclusive mode")
            asking.start()
            while not doomed.run(WAITING_RECALL):
                assert asking.is_alive()
            kill_server(doomed)
        asking.join()
        (found,) = answered
        assert found.degraded[0].startswith(NOT_LOOKED_UP)
        assert (found.text, found.injected, found.ranking.ids(), found.logged) == ("", (), [], False)
        # the same memory works again as soon as the server does
        doomed.lease.ensure()
        until = time.monotonic() + 30
        while not answers(store.reader, limit=1.0):
            assert time.monotonic() < until
            time.sleep(0.1)
        again = build_session_memory_block(SESSION, QUESTION, memory, pipeline=LIVE)
        assert (len(again.injected), again.degraded, again.logged) == (5, (), True)
        assert writer.stop().written == 1
        store.close()

    def test_a_connection_cut_while_recall_waits_is_replaced_or_told(
        self, bare: Memory, cluster: Cluster, store_database: str, owner: Owner
    ) -> None:
        """The backend is ended inside its statement, twice, so that asking once more does not help either."""
        plant(owner)
        done = threading.Event()

        def cut() -> None:
            end = """select pg_terminate_backend(pid) from pg_stat_activity
                      where usename = 'memory_write' and datname = current_database() and wait_event_type = 'Lock'"""
            with psycopg.connect(cluster.plain_url("postgres", store_database), autocommit=True) as killer:
                while not done.is_set():
                    killer.execute(end)
                    done.wait(0.02)

        thread = threading.Thread(target=cut)
        with psycopg.connect(cluster.plain_url("postgres", store_database)) as holder:
            holder.execute("lock table observations in access exclusive mode")
            thread.start()
            found = retrieve(bare, SESSION, QUESTION)
            done.set()
            thread.join()
        assert found.failed is not None
        assert found.failed.startswith(NOT_LOOKED_UP)
        assert retrieve(bare, SESSION, QUESTION).failed is None

    def test_without_the_clusters_it_is_ranked_without_them(
        self, bare: Memory, cluster: Cluster, store_database: str, owner: Owner
    ) -> None:
        planted = plant(owner)
        add_run(owner, "acme", "api")
        with psycopg.connect(cluster.plain_url("postgres", store_database)) as holder:
            holder.execute("lock table rankscope.clusters in access exclusive mode")
            found = retrieve(bare, SESSION, QUESTION, INTENDED)
        # the limit for the lock and the limit for the statement are one second each
        assert found.degraded[0] in {
            f"corroboration could not be read ({why}): ranked without it" for why in ("locked", "slow")
        }
        assert found.failed is None
        assert set(found.injected) == set(map(str, planted.ids))

    def test_without_our_schema_it_is_ranked_without_corroboration(self, bare: Memory, owner: Owner) -> None:
        plant(owner)
        owner.execute("drop schema rankscope cascade")
        found = retrieve(bare, SESSION, QUESTION, INTENDED)
        assert found.degraded == ("corroboration could not be read (table): ranked without it",)
        assert len(found.injected) == 5

    def test_without_the_flags_the_defaults_hold(self, bare: Memory, owner: Owner) -> None:
        plant(owner, features={"corroboration_boost_enabled": True})
        owner.execute("revoke select on organizations from memory_write")
        found = retrieve(bare, SESSION, QUESTION)
        assert found.degraded == ("the organization's flags could not be read (privilege): the defaults hold",)
        assert (found.pipeline, len(found.injected)) == ("LIVE", 5)

    def test_a_store_that_was_never_there(self) -> None:
        store = Store(make_engine("postgresql://nobody@127.0.0.1:1/none", name="nowhere"))
        found = build_session_memory_block(SESSION, QUESTION, Memory(store, EMBEDDER), pipeline=FULL)
        assert found.degraded[0].startswith(NOT_LOOKED_UP)
        assert found.text == ""
        store.close()

    @pytest.mark.parametrize("name", PRESETS)
    @pytest.mark.parametrize("org", ["nobody", "", "with \0 nul", "half \ud800", "'; drop table organizations; --"])
    def test_an_organization_that_is_not_there_remembers_nothing(self, bare: Memory, org: str, name: str) -> None:
        found = build_session_memory_block(AgentSession(org, "s"), QUESTION, bare, pipeline=PRESETS[name])
        assert (found.text, found.ranking.ids()) == ("", [])


class TestTheQuestion:
    @pytest.mark.parametrize("name", PRESETS)
    @pytest.mark.parametrize("question", ["", " \n\t", "\0", "the of and", "\u200b", "!?"], ids=repr)
    def test_without_words(self, bare: Memory, owner: Owner, question: str, name: str) -> None:
        plant(owner)
        found = build_session_memory_block(SESSION, question, bare, pipeline=PRESETS[name])
        assert found.retrieval.failed is None
        assert found.degraded or found.ranking.ids()

    def test_an_empty_one_finds_nothing_and_says_so(self, bare: Memory, owner: Owner) -> None:
        plant(owner)
        found = retrieve(bare, SESSION, "")
        assert (found.text, found.degraded) == ("", ("the question is empty",))

    @pytest.mark.parametrize("name", PRESETS)
    def test_of_100_kilobytes(self, bare: Memory, owner: Owner, name: str) -> None:
        plant(owner)
        add_run(owner, "acme", "api")
        question = f"{QUESTION}. " + "The build log says nothing of interest. " * 2_500
        found = build_session_memory_block(SESSION, question, bare, pipeline=PRESETS[name])
        assert len(question) > 100_000
        assert found.retrieval.failed is None
        assert found.injected

    @pytest.mark.parametrize("question", ["x" * 100_000, "\ud800" * 50_000, "' & | ! ( ) :* <-> \\ " * 5_000])
    def test_of_100_kilobytes_without_sense(self, bare: Memory, owner: Owner, question: str) -> None:
        plant(owner)
        assert retrieve(bare, SESSION, question).failed is None

    def test_hostile_ones_are_words_and_nothing_else(self, bare: Memory, owner: Owner) -> None:
        planted = plant(owner)
        for question in (*TEXTS, *QUERY, "a & b | !c <-> d:*", "'''", "\\", ":*", "!!", "()", "auth:*A & 'x"):
            found = retrieve(Memory(bare.store), SESSION, question)
            assert found.failed is None
            assert set(found.ranking.ids()) <= set(map(str, planted.ids))
        assert owner.execute("select count(*) from organizations").fetchone() == (1,)


def test_hostile_observations_stay_on_their_lines(bare: Memory, owner: Owner) -> None:
    """Every text a tenant could store, asked for by each of the pipelines that a budget does not cut."""
    storable = tuple(text for text in TEXTS if "\0" not in text)
    plant(owner, texts=storable)
    found = build_session_memory_block(AgentSession("acme", "s", work_type="bug_fix"), "select script", bare, now=NOW)
    lines = found.text.splitlines()
    assert len(lines) == len(found.injected) > 3
    assert all(line.startswith("- ") for line in lines)
