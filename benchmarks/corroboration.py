"""Corroboration on 10 000 observations: first figures after opening, and a slider move, against clustering anew."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from statistics import median
from uuid import UUID

import numpy as np
import psycopg

from analysis.corroboration.agreement import BITS, Agreement, agree, disputes, whole_time
from analysis.corroboration.clustered import Nearness, clustered
from analysis.corroboration.disputes import Dispute
from analysis.corroboration.log import LoggedCandidates, logged_candidates
from analysis.corroboration.rows import cluster_rows
from benchmarks._corpus import plain_corpus, skewed_corpus
from benchmarks._page import row, until_figures
from benchmarks._served import served
from benchmarks._timing import Spent, timed
from queries.engine import Store
from queries.scope import Reach, Scope
from ranking import cluster_near_duplicates
from ranking.near_pairs import near_components
from tests.pages.application import application

ORG, SMALL = "org_large", "org_small"
SIZE, QUICK = 10_000, 2_000
RETRIEVALS, CANDIDATES = 500, 20
FIRST_AT_MOST, MOVE_AT_MOST = 2.0, 0.5  # seconds
MOVES = (3, 4, 5, 8, 2, 12, 3, 16)


def fill(owner: psycopg.Connection, count: int) -> None:
    """Observations of forty agents, and retrievals of twenty of them each."""
    texts, now, draw = skewed_corpus(plain_corpus(count)), datetime.now(UTC), np.random.default_rng(0)
    owner.execute("insert into organizations (id, name) values (%s, 'Large'), (%s, 'Small')", (ORG, SMALL))
    for number in range(2):
        small = (SMALL, UUID(int=2**90 + number), "two of a kind", str(number), now)
        owner.execute(
            "insert into observations (org_id, id, content, content_hash, created_at) values (%s, %s, %s, %s, %s)",
            small,
        )
    columns = "org_id, id, project_id, agent_id, session_id, content, content_hash, created_at"
    with owner.cursor() as cursor, cursor.copy(f"copy observations ({columns}) from stdin") as copy:
        for number, text in enumerate(texts):
            at = now - timedelta(minutes=number)
            who = f"agent-{int(draw.integers(40))}", f"s{number // 5}"
            copy.write_row((ORG, UUID(int=number + 1), "api", *who, text, str(number), at))
    columns = """org_id, retrieval_id, session_id, project_id, query_text, observation_id, relevance_score,
                 feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled, created_at"""
    with owner.cursor() as cursor, cursor.copy(f"copy retrieval_ab_logs ({columns}) from stdin") as copy:
        for retrieval in range(RETRIEVALS):
            shown = draw.choice(count, CANDIDATES, replace=False).tolist()
            for rank, number in enumerate(shown):
                score = 0.9 - rank / 100
                ids = UUID(int=2**100 + retrieval), f"q{retrieval}", "api", "what", UUID(int=number + 1)
                copy.write_row((ORG, *ids, score, 1.0, score, rank, rank, True, now - timedelta(hours=1)))
    owner.execute("analyze")


def first_figures(store: Store, scope: Scope) -> tuple[Agreement, LoggedCandidates]:
    """What the worker does before the first figures stand, there and back as text."""
    said = json.dumps(agree(store, whole_time(scope)).to_json())
    log = json.dumps(logged_candidates(store, scope).to_json())
    return Agreement.from_json(json.loads(said)), LoggedCandidates.from_json(json.loads(log))


def move(said: str, log: LoggedCandidates, bits: int, told: tuple[Dispute, ...]) -> None:
    """What a slider move computes, from the text that the worker left."""
    seen = clustered(Agreement.from_json(json.loads(said)), Nearness(bits=bits), told)
    cluster_rows(seen)
    seen.shares(log)
    seen.boosted(log)


def anew(agreement: Agreement, bits: int, told: tuple[Dispute, ...]) -> None:
    """The same without kept links: clusters at this threshold, and a search at every threshold for the sweep."""
    cluster_near_duplicates(
        {
            "ids": list(agreement.ids),
            "created_at": agreement.created.view("datetime64[us]"),
            "agent_id": agreement.agent.listed(),
            "session_id": agreement.session.listed(),
            "weight": agreement.weight,
        },
        bits,
        disputes=[(one.older, one.newer) for one in told],
        hashed=(agreement.hashes, agreement.tokens),
    )
    for each in BITS:
        near_components(agreement.hashes, each)


def on_the_page(address: str) -> tuple[float, float, list[Spent]]:
    """Seconds until a fresh server shows a small organization, a running one the large one, and of slider moves."""
    with application(address.replace("+psycopg", ""), org=SMALL, show="sizes") as page:
        page.run()
        page.switch_page("corroboration.py")
        fresh = until_figures(page)
        page.query_params["org"] = ORG
        first = until_figures(page)
        while {"being looked for", "being read"} & {metric.delta for metric in page.metric}:
            page.run()
        spent = []
        for bits in MOVES:
            page.query_params["bits"] = str(bits)
            spent.append(timed(page.run, 1))
        return fresh, first, spent


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Limits: figures about 2 s after opening, a slider move about half a second, both on 10 000 observations."""
    now = datetime.now(UTC)
    scope = Scope(Reach((ORG,)), now - timedelta(days=30), now + timedelta(hours=1), ORG)
    with served(partial(fill, count=QUICK if quick else SIZE)) as (address, store):
        reading = timed(lambda: first_figures(store, scope))
        agreement, log = first_figures(store, scope)
        told: list[tuple[Dispute, ...]] = []
        contradicting = timed(lambda: told.append(disputes(store, whole_time(scope))), 1)
        said = json.dumps(agreement.to_json())
        moves = {bits: timed(_with(move, said, log, bits, told[0])) for bits in (0, 3, 8, 16)}
        searches = {bits: timed(_with(anew, agreement, bits, told[0]), 1) for bits in (0, 3, 8, 16)}
        fresh, first, spent = on_the_page(address)
    rows = [
        row("read, hash and link, there and back", reading),
        row("contradictions, which come later", contradicting),
        *(row(f"a move to {bits} bits, computed", taken) for bits, taken in moves.items()),
        *(row(f"the same by clustering anew, {bits} bits", taken) for bits, taken in searches.items()),
        row("page: a small organization on a fresh server, worker's start included", fresh),
        row("page: from opening to figures", first, FIRST_AT_MOST),
        row("page: a slider move, median", sorted(spent)[len(spent) // 2], MOVE_AT_MOST),
        row("page: a slider move, slowest", max(spent)),
    ]
    return {
        "observations": len(agreement),
        "text bytes": len(said),
        "anew / move": median(searches[bits].own / moves[bits].own for bits in moves),
        "rows": rows,
    }


def _with(work: Callable[..., object], *arguments: object) -> Callable[[], object]:
    return lambda: work(*arguments)
