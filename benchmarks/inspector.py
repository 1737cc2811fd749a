"""From a question to the Inspector's figures: recall, rank, flip distances, and the whole page over its websocket."""

import json
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar
from urllib.parse import urlencode

import settings
from analysis.inspector.inspection import before_budget
from analysis.inspector.neighbours import neighbours
from benchmarks._bars import held, over
from benchmarks.replay import LARGEST, demo
from jobs.demo.sizes import DEFAULT, SMALL
from ranking import FULL, INTENDED, Candidates, Corroboration, Feedback, LexicalScorer, Mmr, Ranking, Stage, rank
from ranking.candidates import MissingEvidence
from ranking.flips import LARGEST_SCALE, LARGEST_WEIGHT, nearest_flip, stands_above
from retrieval.choice import chosen_embedder, chosen_scorer
from retrieval.onnx_models import MINILM, packaged
from retrieval.retrieve import AgentSession, Memory, Retrieval, rank_recollection, recollect
from tests.app_server import AppServer
from tests.driver import Session

QUESTIONS = (
    "paging through shipments skips or repeats entries", "the importer fails on a duplicate key",
    "retry of a webhook that timed out", "which index does the search of invoices need",
    "who changed the schema of the orders table", "a flaky test of the dispatch queue",
    "how long are sessions kept", "rounding of the fuel surcharge", "the export misses the last line",
    "dates are shifted by one day in the report",
)  # fmt: skip
OPENED = 4  # the row whose neighbours are looked at, from 0
LIMITS = {"lexical": 0.5, "neural": 1.0}  # seconds from key press to figures for 20 candidates
SESSION = AgentSession(LARGEST)
QUESTION, SLIDER, ROW = "page: another question", "page: a slider", "page: a row opened"
T = TypeVar("T")


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """Median and p95 in milliseconds over several questions, each asked for the first time."""
    questions = QUESTIONS[:4] if quick else QUESTIONS
    rows: list[dict[str, object]] = []
    with demo(SMALL if quick else DEFAULT, datetime.now(UTC)) as store:
        chosen = settings.current()
        plain = Memory(store, chosen_embedder(chosen), LexicalScorer())
        memories = {"lexical": plain}
        if packaged(MINILM) is not None:
            memories["neural"] = Memory(store, plain.embedder, chosen_scorer(chosen))
        runs: Sequence[tuple[str, tuple[Stage, ...], str]] = [
            ("INTENDED", INTENDED, "lexical"), *(("FULL", FULL, name) for name in memories)
        ]  # fmt: skip
        baseline: dict[str, float] = {}
        for name, stages, scorer in runs:
            rows += library(name, stages, memories[scorer], scorer, questions, baseline=baseline)
        url = store.reader.url.set(drivername="postgresql").render_as_string(hide_password=False)
        for scorer in memories:
            with serving(url, scorer) as server:
                rows += page(server, "INTENDED" if scorer == "lexical" else "FULL", scorer, questions)
    slowest = {
        scorer: max(float(str(row["p50 ms"])) for row in rows if row["scorer"] == scorer and row["what"] == QUESTION)
        for scorer in memories
    }
    return {
        "rows": rows,
        "flips against the plain search": baseline,
        "key press to figures, p50 ms": slowest,
        "limits, ms": {scorer: LIMITS[scorer] * 1e3 for scorer in slowest},
        **held(over(slowest, {scorer: LIMITS[scorer] * 1e3 for scorer in slowest})),
    }


def library(
    name: str, stages: tuple[Stage, ...], memory: Memory, scorer: str, questions: Sequence[str],
    *, baseline: dict[str, float],
) -> list[dict[str, object]]:  # fmt: skip
    """What the page asks of the library, step by step; flip distances also by the plain search, as a baseline."""
    spent: dict[str, list[float]] = {"recollect": [], "rank": [], "flip distances": [], "the same, plain search": []}
    rank_recollection(memory, recollect(memory, SESSION, "warm up", stages), stages)
    for question in questions:
        kept = timed(spent["recollect"], partial(recollect, memory, SESSION, question, stages))
        found = timed(spent["rank"], partial(rank_recollection, memory, kept, stages))
        label = str(before_budget(found).ids()[OPENED])
        timed(spent["flip distances"], partial(neighbours, found, label))
        timed(spent["the same, plain search"], partial(plain_search, found))
    median = {what: statistics.median(times) for what, times in spent.items()}
    baseline[f"{name} {scorer}"] = median["the same, plain search"] / median["flip distances"]
    return [row(what, name, scorer, times) for what, times in spent.items()]


def page(server: AppServer, preset: str, scorer: str, questions: Sequence[str]) -> list[dict[str, object]]:
    """The whole page, from the message that asks for it to the last one that draws it."""
    spent: dict[str, list[float]] = {QUESTION: [], SLIDER: [], ROW: []}
    said = {"org": LARGEST, "preset": preset, "v": "1", "scorer": scorer}
    with Session(server.url, query=urlencode({**said, "q": "warm up"}), page="inspector") as session:
        session.run()
        for question in questions:
            for what, more in ((QUESTION, {}), (SLIDER, {"boost": "0.2"})):
                session.query = urlencode({**said, "q": question, **more})
                spent[what].append(session.run().seconds)
                if "plotly_chart" not in {element.WhichOneof("type") for element in session.elements}:
                    raise RuntimeError("expected a picture, found a page without one")
            session.query = urlencode({**said, "q": question, "obs": opened(session)})
            spent[ROW].append(session.run().seconds)
    return [row(what, preset, scorer, times) for what, times in spent.items()]


def opened(session: Session) -> str:
    """The id of a row of the list, as the page sent it: from the bump chart's points."""
    chart = next(element for element in session.elements if element.WhichOneof("type") == "plotly_chart")
    traces = json.loads(chart.plotly_chart.spec)["data"]
    return next(str(facts[0]) for trace in traces for facts in trace["customdata"] if facts[0])


@contextmanager
def serving(url: str, scorer: str) -> Iterator[AppServer]:
    """The application over a store, with one scorer."""
    server = AppServer(DATABASE_URL=url, RANKSCOPE_SCORER=scorer)
    try:
        yield server
    finally:
        server.stop()


def plain_search(found: Retrieval) -> None:
    """The whole pipeline for each value tried, by bisection: what flip distances cost without any shortcut."""
    whole = before_budget(found)
    ids, stages = whole.ids(), found.stages[: len(whole.steps)]
    for upper, lower in ((ids[OPENED - 1], ids[OPENED]), (ids[OPENED], ids[OPENED + 1])):
        first, second = whole.candidates.position(upper), whole.candidates.position(lower)
        for at, current, high in knobs(whole.candidates, stages, first, second):
            with suppress(MissingEvidence):
                nearest_flip(partial(is_swapped, at, first, second), current, min(0.0, current), high)


def is_swapped(at: Callable[[float], Ranking], first: int, second: int, value: float) -> bool:
    """Whether the second row stands above the first at a value."""
    return stands_above(at(value), second, first)


def knobs(
    candidates: Candidates, stages: tuple[Stage, ...], first: int, second: int
) -> Iterator[tuple[Callable[[float], Ranking], float, float]]:
    """Every knob of a pipeline: the ranking at a value, where it stands, and how far it goes."""
    for place, stage in enumerate(stages):
        for kind, field, high in ((Corroboration, "scale", LARGEST_SCALE), (Mmr, "lam", 1.0)):
            if isinstance(stage, kind):
                yield partial(turned, candidates, stages, place, field), getattr(stage, field), high
    if any(isinstance(stage, Feedback) and stage.enabled for stage in stages):
        for at in (first, second):
            yield partial(weighed, candidates, stages, at), float(candidates["weight"][at]), LARGEST_WEIGHT


def turned(candidates: Candidates, stages: tuple[Stage, ...], place: int, field: str, value: float) -> Ranking:
    """The whole pipeline with one knob turned."""
    stage: Any = replace(stages[place], **{field: value})  # type: ignore[type-var]
    return rank(candidates, (*stages[:place], stage, *stages[place + 1 :]))


def weighed(candidates: Candidates, stages: tuple[Stage, ...], at: int, value: float) -> Ranking:
    """The whole pipeline with another weight of one row."""
    weight = candidates["weight"].copy()
    weight[at] = value
    return rank(candidates.with_columns(weight=weight), stages)


def timed(spent: list[float], work: Callable[[], T]) -> T:
    """What the work gives; its seconds go on the list."""
    start = time.perf_counter()
    answer = work()
    spent.append(time.perf_counter() - start)
    return answer


def row(what: str, preset: str, scorer: str, times: Sequence[float]) -> dict[str, object]:
    """One line of the table."""
    ordered = sorted(times)
    return {
        "what": what, "pipeline": preset, "scorer": scorer, "p50 ms": statistics.median(ordered) * 1e3,
        "p95 ms": ordered[min(len(ordered) - 1, round(0.95 * len(ordered)))] * 1e3,
    }  # fmt: skip
