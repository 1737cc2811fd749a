"""What a retrieval leaves behind: its log, what a session was shown, when an observation was read."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from retrieval.memory import AgentSession, Memory, build_session_memory_block, open_memory
from retrieval.retrieve import retrieve
from tests.retrieval.planted import EMBEDDER, NOW, QUESTION, SESSION, plant

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


class TestNoTrace:
    def traces(self, owner: Owner) -> tuple[Any, ...]:
        row = owner.execute(
            """select (select count(*) from retrieval_ab_logs), (select count(*) from context_injection_logs),
                      (select count(*) from observations where last_accessed_at is not null)"""
        ).fetchone()
        assert row is not None
        return tuple(row)

    def test_inspecting_records_nothing(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        assert retrieve(memory, SESSION, QUESTION).injected
        assert memory.writer is not None
        assert memory.writer.flush()
        assert (self.traces(owner), len(memory.shown)) == ((0, 0, 0), 0)

    def test_the_log_can_be_spared(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        found = build_session_memory_block(SESSION, QUESTION, memory, skip_ab_log=True)
        assert memory.writer is not None
        assert memory.writer.flush()
        assert not found.logged
        assert self.traces(owner) == (0, 0, 0)
        # shown it was, all the same
        assert memory.shown.recent(SESSION.key) == found.injected

    def test_without_a_session_nothing_is_logged_or_remembered(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        found = build_session_memory_block(AgentSession("acme"), QUESTION, memory)
        assert found.injected
        assert memory.writer is not None
        assert memory.writer.flush()
        assert (found.logged, self.traces(owner), len(memory.shown)) == (False, (0, 0, 0), 0)

    def test_sessions_of_two_organizations_are_two(self, memory: Memory, owner: Owner) -> None:
        for org in ("acme", "globex"):
            plant(owner, org)
        build_session_memory_block(SESSION, QUESTION, memory)
        assert memory.shown.recent(AgentSession("globex", "ses_1").key) == ()

    def test_finding_nothing_is_logged_as_such(self, memory: Memory, owner: Owner) -> None:
        plant(owner, texts=())
        found = build_session_memory_block(SESSION, QUESTION, memory)
        assert memory.writer is not None
        assert memory.writer.flush()
        assert (found.text, found.logged, self.traces(owner)) == ("", True, (0, 1, 0))


class TestSecondMemory:
    def test_it_leaves_the_log_of_the_first_alone(self, cluster: Cluster, store_database: str, owner: Owner) -> None:
        plant(owner)
        url = cluster.url("memory_write", store_database)
        with open_memory(url, EMBEDDER) as one:
            with open_memory(url, EMBEDDER) as two:
                assert build_session_memory_block(SESSION, QUESTION, two).logged
            assert build_session_memory_block(SESSION, QUESTION, one).logged
        assert owner.execute("select count(*) from context_injection_logs").fetchall() == [(2,)]


def test_what_was_given_is_marked_as_read_to_ten_minutes(memory: Memory, owner: Owner) -> None:
    planted = plant(owner)

    def read() -> dict[Any, Any]:
        assert memory.writer is not None
        assert memory.writer.flush()
        return dict(owner.execute("select id, last_accessed_at from observations").fetchall())

    given = build_session_memory_block(SESSION, QUESTION, memory, now=NOW).injected
    assert read() == {id_: NOW if str(id_) in map(str, given) else None for id_ in planted.ids}
    build_session_memory_block(SESSION, QUESTION, memory, now=NOW + timedelta(minutes=5))
    assert set(read().values()) - {None} == {NOW}
    build_session_memory_block(SESSION, QUESTION, memory, now=NOW + timedelta(hours=1))
    assert set(read().values()) - {None} == {NOW + timedelta(hours=1)}
