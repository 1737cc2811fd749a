"""Writing the retrieval log: the queue and its one thread against executemany, on a durable store with row security."""

import random
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import psycopg

from benchmarks._bars import held, under
from queries import embedded
from queries.engine import Store, make_engine
from queries.migrate import migrate
from retrieval.log import CandidateRows, LogWriter, RetrievalLog, log_retrieval_ab

CANDIDATES, OBSERVATIONS, ORGANIZATIONS = 20, 12_000, 4
LEAST = 20_000  # rows a second
SCOPE = "select set_config('dash.all_orgs', 'on', true)"
INJECTION = """insert into context_injection_logs (org_id, retrieval_id, session_id, project_id, work_type,
  token_budget, tokens_used, candidates, observation_ids, created_at)
  values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""
CANDIDATE = """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text, observation_id,
  relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled, injected,
  corroboration_boost, pipeline, created_at)
  values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"""


def retrievals(count: int, seed: int) -> list[RetrievalLog]:
    """Retrievals of 20 candidates out of 12 000 observations, a few hundred seconds apart."""
    draw, plain = np.random.default_rng(seed), random.Random(seed)  # noqa: S311 - the same data every time
    known = [UUID(int=plain.getrandbits(128)) for _ in range(OBSERVATIONS)]
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    made = []
    for number in range(count):
        relevance = np.sort(draw.uniform(0.2, 0.9, CANDIDATES))[::-1]
        weight = draw.uniform(0.3, 1.0, CANDIDATES)
        rows = CandidateRows(
            observation_id=[known[i] for i in draw.integers(0, OBSERVATIONS, CANDIDATES)],
            relevance=relevance,
            weight=weight,
            weighted_score=relevance * weight,
            unweighted_rank=np.arange(CANDIDATES),
            weighted_rank=np.argsort(np.argsort(-relevance * weight)),
            injected=np.arange(CANDIDATES) < 5,  # noqa: PLR2004 - some
            corroboration_boost=np.zeros(CANDIDATES),
        )
        made.append(
            RetrievalLog(
                retrieval_id=UUID(int=plain.getrandbits(128)),
                org_id=f"org_{number % ORGANIZATIONS}",
                project_id="api",
                session_id=f"session-{number // 2}",
                query_text="why does the nightly build fail after the cache was moved to another region",
                pipeline="Relevance() > Feedback() > Budget()",
                weighting_enabled=True,
                rows=rows,
                work_type="bug_fix",
                token_budget=750,
                tokens_used=700,
                at=begin + timedelta(seconds=200 * number),
            )
        )
    return made


def executemany(url: str, logs: Sequence[RetrievalLog], together: int) -> None:
    """The baseline: one parameter set per row through the driver's executemany, so many retrievals a transaction."""
    with psycopg.connect(url) as connection:
        for start in range(0, len(logs), together):
            with connection.transaction(), connection.cursor() as cursor:
                cursor.execute(SCOPE)
                part = logs[start : start + together]
                cursor.executemany(INJECTION, [injection(each) for each in part])
                cursor.executemany(CANDIDATE, [row for each in part for row in candidates(each)])


def injection(log: RetrievalLog) -> tuple[Any, ...]:
    """One row of what was injected."""
    given = [each for each, taken in zip(log.rows.observation_id, log.rows.injected, strict=True) if taken]
    shared = (log.org_id, log.retrieval_id, log.session_id, log.project_id)
    return (*shared, log.work_type, log.token_budget, log.tokens_used, len(log.rows), given, log.at)


def candidates(log: RetrievalLog) -> Iterator[tuple[Any, ...]]:
    """One row per candidate."""
    rows = log.rows
    columns = (rows.relevance, rows.weight, rows.weighted_score, rows.unweighted_rank, rows.weighted_rank)
    lists = [np.asarray(column).tolist() for column in (*columns, rows.injected, rows.corroboration_boost)]
    for observation, relevance, weight, weighted, before, after, injected, boost in zip(
        rows.observation_id, *lists, strict=True
    ):
        yield (
            log.org_id, log.retrieval_id, log.session_id, log.project_id, log.query_text, observation, relevance,
            weight, weighted, before, after, log.weighting_enabled, injected, boost, log.pipeline, log.at,
        )  # fmt: skip


def queued(store: Store, logs: Sequence[RetrievalLog]) -> list[float]:
    """Microseconds that each caller waited; all is committed when this returns."""
    waits = []
    with LogWriter(store, capacity=len(logs) * (CANDIDATES + 1)) as writer:
        for log in logs:
            before = time.perf_counter()
            log_retrieval_ab(log, writer)
            waits.append((time.perf_counter() - before) * 1e6)
        counts = writer.stop(limit=600)
    if counts.written != len(logs):
        raise ValueError(f"expected {len(logs)} retrievals written, found {counts.written}")
    return waits


@contextmanager
def durable_store() -> Iterator[embedded.Lease]:
    """A migrated store on a server that waits for the disk, gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="rankscope-bench-"))
    folder.chmod(0o711)
    try:
        with embedded.start(folder) as lease:
            engine = make_engine(lease.url(), name="benchmark")
            migrate(engine, create_store=True)
            engine.dispose()
            yield lease
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Rows a second of every way, each into the same growing tables, in turn; the least is 20 000 for ours."""
    count = 1_000 if quick else 5_000
    rows: list[dict[str, object]] = []
    with durable_store() as lease:
        url = lease.url("memory_write").replace("+psycopg", "")
        store = Store(make_engine(url, name="benchmark"), make_engine(url, name="benchmark"))
        waits: list[float] = []
        ways: dict[str, tuple[Callable[[Sequence[RetrievalLog]], object], int]] = {
            "queue and one thread": (lambda logs: waits.extend(queued(store, logs)), count),
            "executemany, a transaction per retrieval": (lambda logs: executemany(url, logs, 1), count // 5),
            "executemany, 200 retrievals a transaction": (lambda logs: executemany(url, logs, 200), count // 2),
        }
        speeds: dict[str, list[float]] = {way: [] for way in ways}
        for turn in range(3):
            for number, (way, (write, size)) in enumerate(ways.items()):
                logs = retrievals(size, seed=10 * turn + number)
                started = time.perf_counter()
                write(logs)
                speeds[way].append(size * CANDIDATES / (time.perf_counter() - started))
        store.close()
        best = {way: max(found) for way, found in speeds.items()}
        rows = [
            {"way": way, "rows a second": best[way], "of executemany": best[way] / best[list(ways)[1]]} for way in ways
        ]
    return {
        "rows": rows,
        "rows a second": best["queue and one thread"],
        "least": LEAST,
        **held(under({"rows a second": best["queue and one thread"]}, {"rows a second": LEAST})),
        "a caller's wait, µs": {f"p{share}": float(np.percentile(waits, share)) for share in (50, 95, 99, 100)},
    }
