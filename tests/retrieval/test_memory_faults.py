"""Whatever fails in the middle of a retrieval, the agent gets a result that says what is wrong with it."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import psycopg
import pytest

from queries.engine import Store, answers, make_engine
from queries.migrate import migrate
from ranking import FULL, INTENDED, LIVE, PRESETS, LexicalScorer
from retrieval.embedders import EmbedderError, NoEmbedder
from retrieval.endpoint import Endpoint, EndpointEmbedder
from retrieval.log import LogWriter
from retrieval.memory import AgentSession, Memory, build_session_memory_block
from retrieval.retrieve import retrieve
from tests.conftest import start_cluster, stop_cluster
from tests.hostile import QUERY, TEXTS
from tests.queries.test_corroborating import add_run
from tests.retrieval.logs import memory_store
from tests.retrieval.planted import EMBEDDER, NOW, QUESTION, plant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from retrieval.embedders import Vectors
    from retrieval.memory import SessionMemoryBlock
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

SESSION = AgentSession("acme", "ses_1", project_id="api", work_type="bug_fix")
WAITING_RECALL = """select 1 from pg_stat_activity where usename = 'memory_write' and wait_event_type = 'Lock'
                       and application_name = 'rankscope recall'"""
NOT_LOOKED_UP = "the memory could not be looked up: The database "


@pytest.fixture
def memory(cluster: Cluster, store_database: str) -> Iterator[Memory]:
    store = memory_store(cluster, store_database)
    yield Memory(store, EMBEDDER)
    store.close()


@dataclass
class Doing:
    """The usual embedder, which first does something: what happens then, happens in mid-retrieval."""

    something: Callable[[], object]
    name: str = "doing something"
    dimensions: int = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        return EMBEDDER.embed(texts)

    def embed_query(self, text: str) -> Vectors:
        self.something()
        return EMBEDDER.embed_query(text)


class Shaped:
    """An embedder whose vectors have another length than those of the store."""

    name = "other"

    def __init__(self, vector: Vectors) -> None:
        self.vector = vector
        self.dimensions = vector.size

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.tile(self.vector, (len(texts), 1))

    def embed_query(self, text: str) -> Vectors:  # noqa: ARG002 - as the protocol has it
        return self.vector


def kill_server(cluster: Cluster) -> None:
    postmaster = psutil.Process(cluster.lease.pid)
    for process in (*postmaster.children(), postmaster):
        with suppress(psutil.NoSuchProcess):  # one that ends because another was killed
            process.kill()


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
        self, memory: Memory, cluster: Cluster, store_database: str, owner: Owner
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
            found = retrieve(memory, SESSION, QUESTION)
            done.set()
            thread.join()
        assert found.failed is not None
        assert found.failed.startswith(NOT_LOOKED_UP)
        assert retrieve(memory, SESSION, QUESTION).failed is None

    def test_without_the_clusters_it_is_ranked_without_them(
        self, memory: Memory, cluster: Cluster, store_database: str, owner: Owner
    ) -> None:
        planted = plant(owner)
        add_run(owner, "acme", "api")
        with psycopg.connect(cluster.plain_url("postgres", store_database)) as holder:
            holder.execute("lock table rankscope.clusters in access exclusive mode")
            found = retrieve(memory, SESSION, QUESTION, INTENDED)
        # the limit for the lock and the limit for the statement are one second each
        assert found.degraded[0] in {
            f"corroboration could not be read ({why}): ranked without it" for why in ("locked", "slow")
        }
        assert found.failed is None
        assert set(found.injected) == set(map(str, planted.ids))

    def test_without_our_schema_it_is_ranked_without_corroboration(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        owner.execute("drop schema rankscope cascade")
        found = retrieve(memory, SESSION, QUESTION, INTENDED)
        assert found.degraded == ("corroboration could not be read (table): ranked without it",)
        assert len(found.injected) == 5

    def test_without_the_flags_the_defaults_hold(self, memory: Memory, owner: Owner) -> None:
        plant(owner, features={"corroboration_boost_enabled": True})
        owner.execute("revoke select on organizations from memory_write")
        found = retrieve(memory, SESSION, QUESTION)
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
    def test_an_organization_that_is_not_there_remembers_nothing(self, memory: Memory, org: str, name: str) -> None:
        found = build_session_memory_block(AgentSession(org, "s"), QUESTION, memory, pipeline=PRESETS[name])
        assert (found.text, found.ranking.ids()) == ("", [])


class TestTheEmbedder:
    def keyword_only(self, memory: Memory, owner: Owner, embedder: Any) -> tuple[str, ...]:  # noqa: ANN401 - any embedder
        plant(owner)
        found = retrieve(Memory(memory.store, embedder), SESSION, QUESTION)
        assert "null pointer" in found.text.splitlines()[0]
        assert "Bananas" not in found.text
        return found.degraded

    def test_none(self, memory: Memory, owner: Owner) -> None:
        assert self.keyword_only(memory, owner, None) == ("no embedder is configured: recalled by keyword only",)

    def test_one_that_is_not_installed(self, memory: Memory, owner: Owner) -> None:
        missing = NoEmbedder("bge", "bge is not installed: run `make models`")
        assert self.keyword_only(memory, owner, missing) == (
            "bge is not installed: run `make models`: recalled by keyword only",
        )

    def test_one_that_is_away(self, memory: Memory, owner: Owner) -> None:
        with EndpointEmbedder(Endpoint("http://127.0.0.1:1/v1", "m", "canary")) as away:
            (reason,) = self.keyword_only(memory, owner, away)
        assert reason == "the embeddings endpoint cannot be reached (ConnectError): recalled by keyword only"

    @pytest.mark.parametrize("error", [EmbedderError("it is late"), RuntimeError("canary"), MemoryError()])
    def test_one_that_raises(self, memory: Memory, owner: Owner, error: Exception) -> None:
        def fail() -> None:
            raise error

        (reason,) = self.keyword_only(memory, owner, Doing(fail))
        expected = "it is late" if isinstance(error, EmbedderError) else "the embedder failed"
        assert reason == f"{expected}: recalled by keyword only"

    def test_one_that_knows_none_of_the_words(self, memory: Memory, owner: Owner) -> None:
        (reason,) = self.keyword_only(memory, owner, Shaped(np.zeros(256, np.float32)))
        assert reason == "the question has no words that other knows: recalled by keyword only"

    @pytest.mark.parametrize("dimensions", [1, 255, 384, 2_000])
    def test_one_of_other_dimensions_than_the_store(self, memory: Memory, owner: Owner, dimensions: int) -> None:
        (reason,) = self.keyword_only(memory, owner, Shaped(np.ones(dimensions, np.float32)))
        assert reason == f"no stored vector has {dimensions} dimensions: recalled by keyword only"

    @pytest.mark.parametrize("name", PRESETS)
    def test_of_other_dimensions_it_is_told_also_where_the_words_find_nothing(
        self, memory: Memory, owner: Owner, name: str
    ) -> None:
        plant(owner)
        other = Memory(memory.store, Shaped(np.ones(384, np.float32)), LexicalScorer())
        found = retrieve(other, SESSION, "zebra quilting", PRESETS[name])
        assert found.ranking.ids() == []
        assert found.degraded == ("no stored vector has 384 dimensions: recalled by keyword only",)
        assert found.way.endswith(" by keyword")

    def test_without_any_vector_in_the_store_it_is_told_too(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        owner.execute("delete from observation_embeddings")
        for question in ("zebra quilting", QUESTION):
            found = retrieve(memory, SESSION, question)
            assert found.degraded == ("no stored vector has 256 dimensions: recalled by keyword only",)
            assert found.way == "plain by keyword"

    @pytest.mark.parametrize("name", PRESETS)
    @pytest.mark.parametrize("dimensions", [0, 384])
    def test_every_preset_goes_by_keyword_and_says_so(
        self, memory: Memory, owner: Owner, name: str, dimensions: int
    ) -> None:
        planted = plant(owner)
        add_run(owner, "acme", "api")
        embedder = Shaped(np.ones(dimensions, np.float32)) if dimensions else None
        found = retrieve(Memory(memory.store, embedder, LexicalScorer()), SESSION, QUESTION, PRESETS[name])
        assert [why for why in found.degraded if why.endswith("recalled by keyword only")] == list(found.degraded)
        assert len(found.degraded) == 1
        assert found.injected[0] in {str(id_) for id_ in planted.ids[:3]}

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_one_whose_vectors_are_no_numbers(self, memory: Memory, owner: Owner, bad: float) -> None:
        (reason,) = self.keyword_only(memory, owner, Shaped(np.full(256, bad, np.float32)))
        assert reason == "the question got a vector from other that is not finite: recalled by keyword only"

    def test_vectors_of_other_dimensions_in_the_store_are_passed_over(self, memory: Memory, owner: Owner) -> None:
        planted = plant(owner)
        owner.execute(
            "update observation_embeddings set embedding = '[1,2,3]' where observation_id = %s", planted.ids[:1]
        )
        found = retrieve(memory, SESSION, QUESTION)
        assert set(found.injected) == set(map(str, planted.ids[1:]))


class TestTheQuestion:
    @pytest.mark.parametrize("name", PRESETS)
    @pytest.mark.parametrize("question", ["", " \n\t", "\0", "the of and", "\u200b", "!?"], ids=repr)
    def test_without_words(self, memory: Memory, owner: Owner, question: str, name: str) -> None:
        plant(owner)
        found = build_session_memory_block(SESSION, question, memory, pipeline=PRESETS[name])
        assert found.retrieval.failed is None
        assert found.degraded or found.ranking.ids()

    def test_an_empty_one_finds_nothing_and_says_so(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        found = retrieve(memory, SESSION, "")
        assert (found.text, found.degraded) == ("", ("the question is empty",))

    @pytest.mark.parametrize("name", PRESETS)
    def test_of_100_kilobytes(self, memory: Memory, owner: Owner, name: str) -> None:
        plant(owner)
        add_run(owner, "acme", "api")
        question = f"{QUESTION}. " + "The build log says nothing of interest. " * 2_500
        found = build_session_memory_block(SESSION, question, memory, pipeline=PRESETS[name])
        assert len(question) > 100_000
        assert found.retrieval.failed is None
        assert found.injected

    @pytest.mark.parametrize("question", ["x" * 100_000, "\ud800" * 50_000, "' & | ! ( ) :* <-> \\ " * 5_000])
    def test_of_100_kilobytes_without_sense(self, memory: Memory, owner: Owner, question: str) -> None:
        plant(owner)
        assert retrieve(memory, SESSION, question).failed is None

    def test_hostile_ones_are_words_and_nothing_else(self, memory: Memory, owner: Owner) -> None:
        planted = plant(owner)
        for question in (*TEXTS, *QUERY, "a & b | !c <-> d:*", "'''", "\\", ":*", "!!", "()", "auth:*A & 'x"):
            found = retrieve(Memory(memory.store), SESSION, question)
            assert found.failed is None
            assert set(found.ranking.ids()) <= set(map(str, planted.ids))
        assert owner.execute("select count(*) from organizations").fetchone() == (1,)


def test_hostile_observations_stay_on_their_lines(memory: Memory, owner: Owner) -> None:
    """Every text a tenant could store, asked for by each of the pipelines that a budget does not cut."""
    storable = tuple(text for text in TEXTS if "\0" not in text)
    plant(owner, texts=storable)
    found = build_session_memory_block(AgentSession("acme", "s", work_type="bug_fix"), "select script", memory, now=NOW)
    lines = found.text.splitlines()
    assert len(lines) == len(found.injected) > 3
    assert all(line.startswith("- ") for line in lines)
