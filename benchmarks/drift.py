"""Drift Alerts on 10 000 observations: first figures after opening, and a slider move, against searching anew."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from types import SimpleNamespace
from uuid import UUID

import numpy as np
import psycopg

from analysis.drift.from_passes import search_of_passes
from analysis.drift.search import STEPS, search
from analysis.drift.tasks import from_text, search_in_worker
from benchmarks._page import row, until_figures
from benchmarks._served import served
from benchmarks._timing import Spent, timed
from benchmarks.contradictions import observations
from jobs.aggregation import refresh
from queries.aggregation_input import AggregationScopes
from queries.engine import Store
from queries.scope import Reach, Scope
from ranking.contradictions.claims import claims_of
from tests.pages.application import application

ORG, SMALL = "org_large", "org_small"
SIZE, QUICK = 10_000, 2_000
RETRIEVALS, CANDIDATES = 2_000, 20
FIRST_AT_MOST, MOVE_AT_MOST = 2.0, 0.5  # seconds
MOVES = (0.45, 0.5, 0.6, 0.3, 0.9, 0.35, 0.7, 0.5)


def fill(owner: psycopg.Connection, count: int) -> None:
    """Observations of forty agents in four projects, and retrievals that injected five of twenty candidates each."""
    now, draw = datetime.now(UTC), np.random.default_rng(0)
    owner.execute("insert into organizations (id, name) values (%s, 'Large'), (%s, 'Small')", (ORG, SMALL))
    columns = "org_id, id, project_id, agent_id, session_id, content, content_hash, created_at"
    with owner.cursor() as cursor, cursor.copy(f"copy observations ({columns}) from stdin") as copy:
        for number, port in enumerate((8080, 9090)):
            text = f"The dispatch API listens on port {port}."
            copy.write_row((SMALL, UUID(int=2**90 + number), "api", "a", "s", text, str(number), now))
        for number, text in enumerate(observations(count)):
            who = f"agent-{int(draw.integers(40))}", f"s{number // 5}"
            at = now - timedelta(minutes=10 * number)
            copy.write_row((ORG, UUID(int=number + 1), f"p{number % 4}", *who, text, str(number), at))
    columns = """org_id, retrieval_id, session_id, project_id, query_text, observation_id, relevance_score, injected,
                 feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled, created_at"""
    with owner.cursor() as cursor, cursor.copy(f"copy retrieval_ab_logs ({columns}) from stdin") as copy:
        for retrieval in range(RETRIEVALS):
            for rank, number in enumerate(draw.choice(count, CANDIDATES, replace=False).tolist()):
                score, given = 0.9 - rank / 100, rank < CANDIDATES // 4
                ids = UUID(int=2**100 + retrieval), f"q{retrieval // 4}", "p0", "what", UUID(int=number + 1)
                at = now - timedelta(hours=1)
                copy.write_row((ORG, *ids, score, given, 1.0, score, rank, rank, True, at))
    owner.execute("analyze")


def told(store: Store, scope: Scope) -> str:
    """What the worker does for a page, as the text that it hands over."""
    claims_of.cache_clear()
    memory = SimpleNamespace(store=store)
    return json.dumps(search_in_worker(memory, scope, {}, lambda *_: None))  # type: ignore[arg-type]


def anew(store: Store, scope: Scope, threshold: float) -> None:
    """A slider move without a kept search: read and compare again at this threshold."""
    claims_of.cache_clear()
    search(store, scope, (threshold,))


def aggregated(store: Store) -> None:
    """A pass over every project of the large organization."""
    with store.reading(Reach((ORG,)), 60.0) as snapshot:
        scopes = AggregationScopes(Reach((ORG,))).ask(snapshot)
    for found in scopes:
        refresh(store, found)


def on_the_page(address: str, *, moving: bool) -> tuple[float, float, list[Spent]]:
    """Seconds until a fresh server shows a small organization, a running one the large one, and of slider moves."""
    with application(address.replace("+psycopg", ""), org=SMALL) as page:
        page.run()
        page.switch_page("drift_alerts.py")
        fresh = until_figures(page)
        page.query_params["org"] = ORG
        first = until_figures(page)
        spent = []
        if moving:
            while not page.get("download_button"):  # every threshold is searched by then
                page.run()
            for threshold in MOVES:
                page.query_params["t"] = f"{threshold:g}"
                spent.append(timed(page.run, 1))
                if page.exception or not page.metric:
                    raise RuntimeError("expected figures, found a page without any")
        return fresh, first, spent


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Limits: figures about 2 s after opening, a slider move about half a second, both on 10 000 observations."""
    now = datetime.now(UTC)
    scope = Scope(Reach((ORG,)), now - timedelta(days=30), now + timedelta(hours=1), ORG)
    with served(partial(fill, count=QUICK if quick else SIZE)) as (address, store):
        searching = timed(lambda: told(store, scope), 2)
        text = told(store, scope)
        reading = timed(lambda: from_text.__wrapped__(text))
        searched = from_text(text)
        moves = {step: timed(partial(searched.at, step)) for step in (0.3, 0.5, 0.9)}
        searches = {step: timed(partial(anew, store, scope, step), 1) for step in moves}
        unaggregated = on_the_page(address, moving=False)
        aggregated(store)
        standing = timed(lambda: search_of_passes(store, scope))
        fresh, first, spent = on_the_page(address, moving=True)
    rows = [
        row(f"a search at all {len(STEPS)} thresholds, as text (the worker's part)", searching),
        row("reading that text, once", reading),
        row("what the last passes found, read from the store", standing),
        *(row(f"alerts at {step:g} from the kept search", taken) for step, taken in moves.items()),
        *(row(f"the same by searching anew at {step:g}", taken) for step, taken in searches.items()),
        row("page: a small organization on a fresh server, worker's start included", unaggregated[0]),
        row("page: from opening to figures, no pass over these data yet", unaggregated[1], FIRST_AT_MOST),
        row("page: from opening to figures, a pass over these data", first, FIRST_AT_MOST),
        row("page: a slider move, median", sorted(spent)[len(spent) // 2], MOVE_AT_MOST),
        row("page: a slider move, slowest", max(spent)),
    ]
    return {
        "observations": searched.considered,
        "alerts": dict(zip(map(str, searched.steps), searched.totals, strict=True)),
        "text bytes": len(text),
        "fresh server": fresh,
        "anew / move": searches[0.5].own / moves[0.5].own,
        "rows": rows,
    }
