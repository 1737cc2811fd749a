"""One question through several pipelines: what each puts first, and how far any two agree."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import combinations
from typing import TYPE_CHECKING, Any

from analysis.inspector.inspection import before_budget
from analysis.voices import recollect_within
from ranking.candidates import MissingEvidence
from ranking.comparison import injection_flips, jaccard_at, kendall_tau_b, overlap_at, rank_biased_overlap
from ranking.pipeline_text import from_text
from retrieval.block import one_line
from retrieval.retrieve import AgentSession, pipeline_name, rank_recollection

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from queries.scope import Scope
    from retrieval.pipelines import Pipeline
    from retrieval.retrieve import Memory, Recollection, Retrieval

DEPTH = 100  # rows of a list that are compared: RBO's weight beyond is 0.003 %
TEXT = 300  # characters of an observation that are shown


@dataclass(frozen=True)
class PipelineRun:
    """What one pipeline made of the question: its list, its block, and what was not as it should be.

    ``failed`` says why there is no list; an empty list without it means that nothing was found.
    """

    pipeline: str
    ids: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    scorer: str = ""
    degraded: tuple[str, ...] = ()
    failed: str | None = None
    texts: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()

    @classmethod
    def of(cls, found: Retrieval) -> PipelineRun:
        """The run that a retrieval was, without its trail."""
        # before the budget: what did not fit was ranked all the same
        ranking = before_budget(found)
        best = ranking.best(DEPTH)
        said = {
            name: [one_line(text or "")[:TEXT] for text in ranking.candidates.texts(name).take(best).to_pylist()]
            for name in ("content", "title")
            if best.size
        }
        return cls(
            pipeline=found.pipeline,
            ids=tuple(map(str, ranking.candidates.ids[best].tolist())),
            block=tuple(map(str, found.injected)),
            scorer=str(found.scorer_used),
            degraded=tuple(found.degraded),
            failed=found.failed,
            texts=tuple(said.get("content", ())),
            titles=tuple(said.get("title", ())),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """What each is called, as everywhere on the page: its title, or the beginning of what it says."""
        return tuple(title or text for title, text in zip(self.titles or self.texts, self.texts, strict=True))

    def rank(self, id_: str) -> int | None:
        """The place of an observation in this list, from 1; None where it is not in it."""
        return self.ids.index(id_) + 1 if id_ in self.ids else None


@dataclass(frozen=True)
class PairAgreement:
    """How far two lists agree, and what enters and leaves the block from the first to the second.

    Overlap is ``shared``, those among the best k of both, by ``shorter``, how many the shorter list has there.

    Figures are None where one of the two failed or found nothing: that is not an agreement of 0.
    """

    first: int
    second: int
    shared: int
    shorter: int
    overlap: float | None
    jaccard: float | None
    rbo: float | None
    tau: float | None
    in_both: int
    entered: tuple[str, ...]
    left: tuple[str, ...]


@dataclass(frozen=True)
class Compared:
    """The runs in the order chosen, the present pipeline first, and every pair of those that did not fail."""

    k: int
    runs: tuple[PipelineRun, ...]
    pairs: tuple[PairAgreement, ...]

    @property
    def names(self) -> dict[str, str]:
        """What each observation in any of the lists is called."""
        return {id_: name for run in self.runs for id_, name in zip(run.ids, run.names, strict=True)}

    def against_present(self) -> tuple[PairAgreement, ...]:
        """The pairs that the present pipeline is part of."""
        return tuple(pair for pair in self.pairs if pair.first == 0)


def compared(runs: Sequence[PipelineRun], k: int) -> Compared:
    """Every pair of runs that have a list, by the figures of ``ranking.comparison``.

    Overlap and Jaccard look at the best k, RBO at the lists to a depth of 100, τ-b at the order of what both hold.
    """
    sound = [place for place, run in enumerate(runs) if run.failed is None]
    return Compared(k, tuple(runs), tuple(_pair(runs, *pair, k) for pair in combinations(sound, 2)))


def _pair(runs: Sequence[PipelineRun], first: int, second: int, k: int) -> PairAgreement:
    one, other = runs[first], runs[second]
    places = {id_: place for place, id_ in enumerate(other.ids)}
    both = [(place, places[id_]) for place, id_ in enumerate(one.ids) if id_ in places]
    flips = injection_flips(one.block, other.block)
    best = set(one.ids[:k]), set(other.ids[:k])
    return PairAgreement(
        first=first,
        second=second,
        shared=len(best[0] & best[1]),
        shorter=min(map(len, best)),
        overlap=overlap_at(one.ids, other.ids, k),
        jaccard=jaccard_at(one.ids, other.ids, k),
        rbo=rank_biased_overlap(one.ids, other.ids),
        tau=kendall_tau_b([mine for mine, _ in both], [theirs for _, theirs in both]),
        in_both=len(both),
        entered=tuple(map(str, flips.entered)),
        left=tuple(map(str, flips.left)),
    )


def run_pipelines(
    memory: Memory,
    pipelines: Sequence[Pipeline],
    recollected: Callable[[Pipeline], Recollection],
    report: Callable[[int, int, str], None] = lambda _done, _total, _words: None,
) -> tuple[PipelineRun, ...]:
    """Each pipeline's run, its stages as they are, of one question; one that cannot be run says why.

    ``recollected`` brings back what a pipeline ranks: the same question, moment and voices for every one.
    """
    runs = []
    for place, stages in enumerate(pipelines):
        report(place, len(pipelines), f"pipeline {place + 1} of {len(pipelines)}")
        try:
            runs.append(PipelineRun.of(rank_recollection(memory, recollected(stages), stages)))
        except (ValueError, MissingEvidence) as error:
            # a stage refuses columns it cannot work with; the others go on
            runs.append(PipelineRun(pipeline_name(stages), failed=f"this pipeline cannot be run: {error}"))
    report(len(pipelines), len(pipelines), "")
    return tuple(runs)


def compare_in_worker(
    memory: Memory, scope: Scope, params: Mapping[str, Any], report: Callable[[int, int, str], None]
) -> list[dict[str, Any]]:
    """``run_pipelines`` as the worker calls it, with everything as JSON; the scope names the organization."""
    if scope.org is None:
        raise ValueError("scope: expected one organization, found all")
    session = AgentSession(scope.org, params["session"], params["project"], params["work_type"])
    pipelines = [from_text(text) for text in params["pipelines"]]
    at = datetime.fromisoformat(params["at"])
    query, bits = params["query"], params["bits"]
    runs = run_pipelines(
        memory, pipelines, lambda stages: recollect_within(memory, session, query, stages, bits=bits, at=at), report
    )
    return [asdict(run) for run in runs]


def runs_from_json(said: Sequence[Mapping[str, Any]]) -> tuple[PipelineRun, ...]:
    """The runs that a worker sent."""
    return tuple(PipelineRun(**{name: _frozen(value) for name, value in run.items()}) for run in said)


def _frozen(value: Any) -> Any:  # noqa: ANN401 - JSON has lists where a run has tuples
    return tuple(value) if isinstance(value, list) else value
