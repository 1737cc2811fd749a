"""One retrieval as its pictures need it: places per stage, one row's way, the list, its neighbours and the block.

Every number is the library's own; nothing is computed here but places from 1 and differences of places.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.inspector.names import in_words, stage_name
from queries.frames import frame
from ranking.budget import TokenBudget
from ranking.explanation import explain
from ranking.ranking import Ranking
from ranking.sentences import DIGITS
from retrieval.block import one_line

if TYPE_CHECKING:
    import pandas as pd

    from ranking.explanation import RowExplanation
    from retrieval.retrieve import Retrieval

DRAWN = 30  # lines that can still be told apart
LONGEST_TITLE = 60
RECALL, BLOCK = "recall", "block"
NOT_IN_BLOCK = "does not fit the budget of {} tokens, or stands behind the first row that does not"


@dataclass(frozen=True)
class StagePlace:
    """A candidate after one step; without a place it was dropped there, and ``sentence`` says why."""

    id: str
    title: str
    step: int
    stage: str
    place: int | None
    score: float
    sentence: str
    injected: bool


def standings(found: Retrieval, opened: str | None = None) -> pd.DataFrame:
    """Every candidate's place from recall to block; of many those that began or ended among the first 30.

    A pipeline without a budget still fills a block: its last step is then the block itself.
    """
    candidates = found.ranking.candidates
    block = {label: place for place, label in enumerate(found.block.ids, 1)}
    drawn: list[StagePlace] = []
    for row in explain(found.ranking, ids=candidates.ids.tolist()).rows:
        here = _standings_of(found, row, block)
        # where it began and where it ended: in between a stage may lift what the next one lets fall again
        best = min(each.place for each in (here[0], here[-1]) if each.place is not None)
        if best <= DRAWN or str(row.id) == opened:
            drawn += here
    return frame([tuple(vars(each).values()) for each in drawn], StagePlace)


def _standings_of(found: Retrieval, row: RowExplanation, block: dict[Any, int]) -> list[StagePlace]:
    position = found.ranking.candidates.position(row.id)
    common: dict[str, Any] = {"id": str(row.id), "title": title_of(found, position), "injected": row.id in block}
    here = [StagePlace(step=0, stage=RECALL, place=position + 1, score=0.0, sentence="as recalled", **common)]
    for step, effect in enumerate(row.effects, 1):
        place = None if effect.rank is None else effect.rank + 1
        here.append(
            StagePlace(
                step=step,
                stage=stage_name(effect.stage),
                place=place,
                score=effect.score,
                sentence=in_words(effect.sentence),
                **common,
            )
        )
    if row.rank is not None and not _has_budget(found):
        place = block.get(row.id)
        why = "in the block" if place else NOT_IN_BLOCK.format(found.block.budget)
        step = len(found.stages) + 1
        here.append(StagePlace(step=step, stage=BLOCK, place=place, score=row.score, sentence=why, **common))
    return here


def _has_budget(found: Retrieval) -> bool:
    return bool(found.stages) and isinstance(found.stages[-1], TokenBudget)


def title_of(found: Retrieval, position: int) -> str:
    """What to call a candidate: its title, or the beginning of what it says."""
    said = _whole_title(found, position)
    return said if len(said) <= LONGEST_TITLE else f"{said[: LONGEST_TITLE - 1]}…"


def called(found: Retrieval, text: str) -> tuple[str, ...]:
    """The candidates that are called so, whole or cut as some picture has it."""
    said, candidates = one_line(text).casefold(), found.ranking.candidates
    cut = said[:-1] if said.endswith("…") else ""
    names = [_whole_title(found, position).casefold() for position in range(len(candidates))]
    meant = [name == said or bool(cut and name.startswith(cut)) for name in names]
    return tuple(str(id_) for id_, is_meant in zip(candidates.ids.tolist(), meant, strict=True) if is_meant)


def _whole_title(found: Retrieval, position: int) -> str:
    texts = (found.ranking.candidates.texts(name)[position].as_py() for name in ("title", "content"))
    return next(filter(None, (one_line(text or "") for text in texts)), "without text")


def text_of(found: Retrieval, label: str) -> str:
    """What a candidate says, verbatim."""
    candidates = found.ranking.candidates
    return str(candidates.texts("content")[candidates.position(label)].as_py() or "")


@dataclass(frozen=True)
class Bar:
    """What one stage did to one row: deltas as shown add up to the score as shown, to the last digit."""

    stage: str
    sentence: str
    delta: str
    score: str
    place: int | None
    exact_delta: float
    exact_score: float


def way_of(found: Retrieval, opened: str) -> pd.DataFrame | None:
    """One row's way through the stages, up to the one that dropped it; None where it is no candidate."""
    if opened not in set(found.ranking.candidates.ids.tolist()):
        return None
    row = explain(found.ranking, ids=[opened]).rows[0]
    bars = [
        Bar(
            stage=stage_name(effect.stage),
            sentence=in_words(effect.sentence),
            delta=f"{delta:+.{DIGITS}f}",
            score=f"{score:.{DIGITS}f}",
            place=None if effect.rank is None else effect.rank + 1,
            exact_delta=effect.delta,
            exact_score=effect.score,
        )
        for effect, (score, delta) in zip(row.effects, row.shown(), strict=True)
    ]
    return frame([tuple(vars(bar).values()) for bar in bars], Bar)


def before_budget(found: Retrieval) -> Ranking:
    """The ranking as the budget found it: its last step cuts and reorders nothing."""
    ranking = found.ranking
    return Ranking(ranking.candidates, ranking.steps[:-1]) if _has_budget(found) else ranking
