"""The gates that are stages: what dropped a candidate, against which number, and what would have kept it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from analysis.inspector.gates import Gate, Loss, State, Verdict, apart
from analysis.inspector.names import in_words, stage_name
from ranking.budget import TokenBudget, estimate_tokens, fitting
from ranking.dedup import Dedup, normalized
from ranking.explanation import explain
from ranking.floor import Floor, FloorMode, cut_off
from ranking.mmr import Mmr
from ranking.ranking import Ranking
from ranking.redundancy import redundancy_with
from ranking.relevance import Head
from ranking.session_support import SessionSupport
from ranking.simhash import hamming, simhash64

if TYPE_CHECKING:
    from ranking.candidates import Candidates, Positions
    from ranking.ranking import Stage

CAN_DROP = (Head, SessionSupport, Floor, Dedup, Mmr, TokenBudget)


def stage_gates(ranking: Ranking, wanted: str, budget: int) -> tuple[list[Gate], Loss | None]:
    """A gate per stage that may drop rows, and the block's own budget where no stage has one; and where it was lost."""
    row = explain(ranking, ids=[wanted]).rows[0]
    gates: list[Gate] = []
    loss = None
    for number, effect in enumerate(row.effects):
        if not isinstance(effect.stage, CAN_DROP) and effect.held:
            continue
        if not effect.held:
            before = Ranking(ranking.candidates, ranking.steps[:number])
            needed, loss = lost_at(before, ranking.steps[number].positions, effect.stage, wanted)
            place = _place(before, wanted)
            gates.append(
                Gate(stage_name(effect.stage), State.LOST, in_words(effect.sentence), place, effect.score, needed)
            )
            break
        gates.append(Gate(stage_name(effect.stage), State.PASSED, in_words(effect.sentence), effect.rank, effect.score))
    gates += unreached(ranking, after=len(row.effects))
    if not any(isinstance(step.stage, TokenBudget) for step in ranking.steps):
        if loss is None:
            loss = _over_budget(ranking, wanted, budget)
            gates.append(_block_gate(ranking, wanted, budget, loss))
        else:
            gates.append(Gate("block", State.NOT_REACHED))
    return gates, loss


def unreached(ranking: Ranking, after: int = 0) -> list[Gate]:
    """The gates of the stages from a number on, none of which the observation came to."""
    stages = [step.stage for step in ranking.steps[after:]]
    return [Gate(stage_name(stage), State.NOT_REACHED) for stage in stages if isinstance(stage, CAN_DROP)]


def lost_at(before: Ranking, kept: Positions, stage: Stage, wanted: str) -> tuple[float | None, Loss]:
    """The score that a stage asked of a row it dropped, if it asks for one, and the loss in words."""
    if isinstance(stage, Floor):
        return _below_floor(before, stage, wanted)
    if isinstance(stage, Head):
        return _behind_head(before, stage, wanted)
    if isinstance(stage, Mmr):
        return _not_chosen(before, kept, stage, wanted)
    return None, _lost_unscored(before, stage, wanted)


def _lost_unscored(before: Ranking, stage: Stage, wanted: str) -> Loss:
    """The loss at a stage that no score would have passed."""
    place = _place(before, wanted) + 1
    if isinstance(stage, Dedup):
        return _copy(before, stage, wanted)
    if isinstance(stage, TokenBudget) and (loss := _over_budget(before, wanted, stage.tokens)) is not None:
        return loss
    if isinstance(stage, SessionSupport):
        return Loss(
            Verdict.SESSIONS,
            f"Lost at session support from rank {place}: whole sessions were found, and then only they are kept. "
            "It would need to be stored as a session.",
        )
    return Loss(Verdict.STAGE, f"Lost at {stage_name(stage)} from rank {place}.")


def _below_floor(before: Ranking, stage: Floor, wanted: str) -> tuple[float, Loss]:
    score, top = _score(before, wanted), float(before.scores[before.last.head(1)[0]])
    floor = float(cut_off(stage.mode, stage.value, top))
    mine, least = apart(score, floor)
    of_top = f", {stage.value:g} of the top score {top:.3g}" if stage.mode is FloorMode.RELATIVE_TO_TOP else ""
    return floor, Loss(
        Verdict.FLOOR,
        f"Lost at the floor from rank {_place(before, wanted) + 1}: its score is {mine}, the floor {least}{of_top}.",
    )


def _behind_head(before: Ranking, stage: Head, wanted: str) -> tuple[float | None, Loss]:
    place, kept = _place(before, wanted), before.last.head(stage.k)
    beyond = f"Lost at best rows: rank {place + 1} of {before.scores.size}, beyond the best {stage.k}"
    if not kept.size:
        return None, Loss(Verdict.HEAD, f"{beyond}.")
    last = float(before.scores[kept[-1]])
    mine, needed = apart(_score(before, wanted), last)
    return last, Loss(Verdict.HEAD, f"{beyond}; its score is {mine}, the last kept has {needed}.")


def _copy(before: Ranking, stage: Dedup, wanted: str) -> Loss:
    """The best row with the same normalised content, as the stage compares them; without one, its limit was reached."""
    order, place = before.order(), _place(before, wanted)
    same = np.asarray(normalized(before.candidates.texts("content").take(order)).dictionary_encode().indices)
    first = int(np.flatnonzero(same == same[place])[0])
    if first == place:
        return Loss(
            Verdict.DUPLICATE, f"Lost at dedup: rank {place + 1}, and its limit of {stage.limit} is reached above it."
        )
    of = order[first]
    alike = likeness(before.candidates, before.candidates.position(wanted), int(of))
    return Loss(
        Verdict.DUPLICATE,
        f"Lost as a duplicate of {before.candidates.ids[of]}, which says the same at rank {first + 1} while it stood "
        f"at rank {place + 1} ({alike}). It would need to rank above that one.",
    )


def _not_chosen(before: Ranking, kept: Positions, stage: Mmr, wanted: str) -> tuple[float | None, Loss]:
    """How near it is to those chosen before the last, and its gain against the last one's: what MMR compared then."""
    found, row, place = before.candidates, before.candidates.position(wanted), _place(before, wanted)
    start = f"Lost at MMR from rank {place + 1}"
    last_step, held = before.last, before.last.find(np.append(kept, row))
    tiers = last_step.tiers
    if not kept.size or (tiers is not None and tiers[held[-1]] != tiers[held[:-1]].min()):
        return None, Loss(Verdict.DIVERSITY, f"{start}: the {stage.k} places were taken by rows that stand above it.")
    rows = np.append(kept, row)
    redundancy = redundancy_with(
        found["embeddings"][rows] if "embeddings" in found else None,
        found.texts("tags").take(rows) if "tags" in found else None,
    )
    mine, last = rows.size - 1, rows.size - 2
    near = np.array([redundancy(chosen)[[mine, last]] for chosen in range(last)]).reshape(last, 2)
    nearest = near.max(axis=0, initial=0.0)
    scores = last_step.scores[held]
    if nearest[0] >= stage.duplicate_threshold:
        of = int(near[:, 0].argmax())
        alike = likeness(found, row, int(rows[of]))
        return None, Loss(
            Verdict.DUPLICATE,
            f"{start} as a duplicate of {found.ids[rows[of]]}, chosen at place {of + 1}: redundancy {nearest[0]:.3g} "
            f"reaches the threshold {stage.duplicate_threshold:g} ({alike}).",
        )
    gains = stage.lam * scores - (1 - stage.lam) * np.append(np.zeros(last), [nearest[1], nearest[0]])
    needed = float((gains[last] + (1 - stage.lam) * nearest[0]) / stage.lam) if stage.lam else None
    gain, least = apart(float(gains[mine]), float(gains[last]))
    more = "" if needed is None else " It would need a score of {1} instead of {0}.".format(
        *apart(float(scores[mine]), needed)
    )  # fmt: skip
    return needed, Loss(
        Verdict.DIVERSITY,
        f"{start}: λ·score - (1 - λ)·redundancy gives it {gain} (redundancy {nearest[0]:.3g}, λ {stage.lam:g}), and "
        f"the last of the {kept.size} chosen {least}.{more}",
    )


def _over_budget(before: Ranking, wanted: str, budget: int) -> Loss | None:
    """What is left of the budget against what it needs, and the lowest rank at which it would still fit."""
    order, place = before.order(), _place(before, wanted)
    tokens = estimate_tokens(before.candidates.texts("content").take(order))
    if place < fitting(tokens, budget):
        return None
    if not budget:
        return Loss(Verdict.BUDGET, "Lost to the budget: 0 tokens hold nothing.")
    needs, taken = int(tokens[place]), int(tokens[: fitting(tokens, budget)].sum())
    lowest = lowest_rank(tokens[:place].tolist(), needs, budget)
    return Loss(
        Verdict.BUDGET,
        f"Lost to the budget from rank {place + 1}: it needs {needs} tokens, and {max(budget - taken, 0)} of {budget} "
        f"are left after the {fitting(tokens, budget)} above that fit. It would need rank {lowest + 1} or better.",
    )


def lowest_rank(above: list[int], needs: int, budget: int) -> int:
    """The last place, from 0, where a row would still fit behind the first rows above it; the first always fits."""
    used, lowest = 0, 0
    for place, tokens in enumerate(above, 1):
        used += tokens
        if used + needs > budget:
            break
        lowest = place
    return lowest


def _block_gate(ranking: Ranking, wanted: str, budget: int, loss: Loss | None) -> Gate:
    place = _place(ranking, wanted)
    fits = f"fits the budget of {budget} tokens" if loss is None else f"does not fit the budget of {budget} tokens"
    return Gate("block", State.PASSED if loss is None else State.LOST, fits, place, _score(ranking, wanted))


def likeness(candidates: Candidates, one: int, other: int) -> str:
    """Cosine where vectors are at hand, and how many of 64 SimHash bits differ."""
    contents: Any = candidates.texts("content")
    hashes = simhash64([contents[one].as_py(), contents[other].as_py()])
    bits = f"{int(hamming(hashes[0], hashes[1]))} of 64 SimHash bits differ"
    if "embeddings" not in candidates or not candidates["embeddings"].shape[1]:
        return bits
    pair = candidates["embeddings"][[one, other]].astype(np.float64)
    lengths = np.linalg.norm(pair, axis=1)
    return f"cosine {float(pair[0] @ pair[1] / lengths.prod()):.3g}, {bits}" if lengths.all() else bits


def _place(ranking: Ranking, wanted: str) -> int:
    position = np.array([ranking.candidates.position(wanted)], dtype=np.intp)
    return int(ranking.last.ranks_of(position)[0])


def _score(ranking: Ranking, wanted: str) -> float:
    position = np.array([ranking.candidates.position(wanted)], dtype=np.intp)
    return float(ranking.scores[ranking.last.find(position)[0]])
