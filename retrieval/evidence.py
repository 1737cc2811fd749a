"""What a pipeline asks for beyond recall: corroborating voices, what was shown before, pair scores, neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from queries.corroborating import Corroborating
from queries.engine import LIST
from queries.errors import StoreError
from queries.scope import Reach
from ranking.corroboration import Corroboration
from ranking.cross_encoder import CrossEncoder, with_pair_scores
from ranking.fallback import FallbackScorer
from ranking.pair_scorer import ScorerUsed
from ranking.session_recency import SessionRecency
from ranking.session_support import Granularity, SessionSupport
from retrieval.onnx_models import INSTALL
from retrieval.recall import recall_neighbours

if TYPE_CHECKING:
    from collections.abc import Sequence

    from queries.engine import Store
    from queries.recall.neighbours import Neighbour
    from ranking.candidates import Candidates
    from ranking.pair_scorer import PairScorer, PairScores
    from ranking.ranking import Ranking, Stage
    from ranking.session_recency import SessionMemory

NO_PASS = "no aggregation pass has finished for this scope: nothing is corroborated yet"  # noqa: S105 - not a password


def asks_for(stages: Sequence[Stage], kind: type) -> bool:
    """Whether a pipeline has a stage of a kind."""
    return any(isinstance(stage, kind) for stage in stages)


def with_voices(
    candidates: Candidates, stages: Sequence[Stage], store: Store, org_id: str, project_id: str | None
) -> tuple[Candidates, list[str]]:
    """The candidates with the voices of the last aggregation, if the pipeline counts them, and what is wrong there."""
    if not asks_for(stages, Corroboration):
        return candidates, []
    nobody = candidates.with_columns(corroborating=np.zeros(len(candidates)), cluster=np.full(len(candidates), -1))
    if not len(candidates):
        return nobody, []
    ids = [UUID(str(label)) for label in candidates.ids]
    question = Corroborating(org_id, project_id, tuple(ids))
    try:
        with store.reading(Reach.of(frozenset({org_id})), LIST, name="corroborating") as connection:
            found = question.read(connection)
    except StoreError as error:
        return nobody, [f"corroboration could not be read ({error.kind}): ranked without it"]
    if found.as_of is None:
        return nobody, [NO_PASS]
    voices = [found.voices.get(label) for label in ids]
    return candidates.with_columns(
        corroborating=[0 if each is None else each.corroborating for each in voices],
        cluster=[-1 if each is None else each.cluster for each in voices],
    ), []


def with_what_was_shown(
    candidates: Candidates, stages: Sequence[Stage], shown: SessionMemory, session: str | None
) -> Candidates:
    """The candidates with those marked that the session was given before, if the pipeline asks; records nothing."""
    if not asks_for(stages, SessionRecency):
        return candidates
    return candidates.with_columns(shown_before=shown.shown_before(session, candidates.ids))


def with_scored_pairs(
    candidates: Candidates, stages: Sequence[Stage], scorer: PairScorer
) -> tuple[Candidates, ScorerUsed, list[str]]:
    """The candidates with pair scores where the pipeline has a cross-encoder, who gave them, and why not the model."""
    if not asks_for(stages, CrossEncoder):
        return candidates, ScorerUsed.NONE, []
    # a scorer is whatever a platform brings along; its failure must not cost the agent its memory
    safe = scorer if isinstance(scorer, FallbackScorer) else FallbackScorer(scorer)
    scored, found = with_pair_scores(candidates, stages, safe)
    return scored, found.scorer_used, _stand_in(found, scorer)


def beside(
    ranking: Ranking, stages: Sequence[Stage], store: Store, org_id: str
) -> tuple[tuple[Neighbour, ...], list[str]]:
    """What was observed just before and after the rows returned, where the pipeline puts sessions first and found none.

    Shown for context and not put into the block: they were never ranked (002).
    """
    kinds = ranking.candidates.texts("granularity")
    if not asks_for(stages, SessionSupport) or Granularity.SESSION.value in kinds.to_pylist():
        return (), []
    ids = [str(label) for label in ranking.ids()]
    if not ids:
        return (), []
    try:
        return recall_neighbours(store, Reach.of(frozenset({org_id})), org_id, ids), []
    except StoreError as error:
        return (), [f"neighbours could not be read ({error.kind})"]


def _stand_in(found: PairScores, scorer: PairScorer) -> list[str]:
    if found.scorer_used is not ScorerUsed.DEGRADED_LEXICAL:
        return []
    missing = isinstance(scorer, FallbackScorer) and scorer.primary is None
    why = f"no cross-encoder is installed ({INSTALL})" if missing else "the cross-encoder failed on them"
    return [f"{int(found.fell_back.sum())} of {found.fell_back.size} pairs were scored by words: {why}"]
