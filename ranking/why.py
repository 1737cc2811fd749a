from typing import Any

from ranking.candidates import Positions
from ranking.explanation import RowExplanation, explain
from ranking.ranking import Ranking
from ranking.sentences import DIGITS


def why_above(ranking: Ranking, upper: Any, lower: Any) -> str:  # noqa: ANN401 - ids are of any kind
    """One sentence on why one row stands above another: the stage after which it did for good, and by how much."""
    explanation = explain(ranking, ids=[upper, lower])
    first, second = explanation.rows
    if not first.effects:
        return f"{upper} and {lower} were not ranked: the pipeline has no stages"
    if first.rank is None and second.rank is None:
        return _why_above_unreturned(ranking, first, second)
    if first.rank is None or second.rank is None:
        gone = first if first.rank is None else second
        return f"{gone.id} was not returned: {gone.effects[-1].sentence}"
    if first.rank > second.rank:
        return f"{upper} does not stand above {lower}: {why_above(ranking, lower, upper)}"
    decisive, reason = _reason(first, second, _apart_since(ranking, explanation.positions))
    mine, theirs = first.effects[decisive], second.effects[decisive]
    stage = type(mine.stage).__name__
    return f"{upper} stands above {lower} since {stage}: {reason} ({mine.sentence}; {theirs.sentence})"


def why_not_returned(ranking: Ranking, label: Any, k: int | None = None) -> str:  # noqa: ANN401 - ids are of any kind
    """One sentence on why a row is not among the results: the stage that dropped it, or its place beyond ``k``."""
    row = explain(ranking, ids=[label]).rows[0]
    if row.dropped_by is not None:
        before = next((effect.rank for effect in reversed(row.effects[:-1])), None)
        place = "" if before is None else f" from place {before + 1}"
        return f"{label} was dropped by {type(row.dropped_by).__name__}{place}: {row.effects[-1].sentence}"
    if k is not None and row.rank is not None and row.rank >= k:
        return f"{label} has place {row.rank + 1}, beyond the best {k}"
    return f"{label} was returned" + ("" if row.rank is None else f" at place {row.rank + 1}")


def _why_above_unreturned(ranking: Ranking, first: RowExplanation, second: RowExplanation) -> str:
    """As ``why_above`` for two rows that were dropped: who stayed longer stands above, else who stood above then."""
    upper, lower = first.id, second.id
    stayed, shorter = len(first.effects), len(second.effects)
    if stayed < shorter:
        return f"{upper} does not stand above {lower}: {_why_above_unreturned(ranking, second, first)}"
    end, stage = second.effects[-1], type(second.effects[-1].stage).__name__
    if stayed > shorter:
        return (
            f"neither was returned, {upper} stands above {lower}: {stage} dropped {lower} ({end.sentence}) "
            f"and kept {upper}, which {type(first.dropped_by).__name__} dropped later"
        )
    before = Ranking(ranking.candidates, ranking.steps[: stayed - 1])
    then = why_above(before, upper, lower) if before.steps else "no stage had ranked them"
    return f"neither was returned, {stage} dropped both ({end.sentence}); before it, {then}"


def _reason(first: RowExplanation, second: RowExplanation, apart: int | None) -> tuple[int, str]:
    """The stage to name, and what to say of it; ``apart`` is the stage whose tiers hold the two rows apart."""
    decisive = _decisive(first, second)
    if apart is not None and not _only_kept(first, second, apart, decisive):
        return apart, "that stage fixed the order, whatever the scores"
    if first.score == second.score:
        return decisive, "equal scores; the order of recall decides"
    mine, theirs = (row.shown()[decisive][1] for row in (first, second))
    return decisive, f"{mine:+.{DIGITS}f} against {theirs:+.{DIGITS}f}"


def _only_kept(first: RowExplanation, second: RowExplanation, apart: int, decisive: int) -> bool:
    """Whether the order was the same without the tiers: a budget, say, merely keeps what it finds."""
    if first.score > second.score:
        return decisive < apart or first.effects[apart].score > second.effects[apart].score
    found = decisive < apart and first.effects[apart - 1].score == second.effects[apart - 1].score
    return found and first.score == second.score


def _apart_since(ranking: Ranking, rows: Positions) -> int | None:
    """The step since which tiers hold two returned rows apart, None where score and candidate order decide."""
    since = None
    for number, step in reversed(tuple(enumerate(ranking.steps))):
        if step.tiers is None:
            break
        mine, theirs = step.tiers[step.find(rows)]
        if mine == theirs:
            break
        since = number
    return since


def _decisive(first: RowExplanation, second: RowExplanation) -> int:
    """The stage since which the first row has stood above the second without a break."""
    decisive = len(first.effects) - 1
    while decisive > 0:
        mine, theirs = first.effects[decisive - 1].rank, second.effects[decisive - 1].rank
        if mine is None or theirs is None or mine > theirs:
            break
        decisive -= 1
    return decisive
