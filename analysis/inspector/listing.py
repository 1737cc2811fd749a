"""The ranking as a list, best first, each row beside its logged place, and what did not come into the block."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from analysis.inspector.inspection import before_budget, title_of
from analysis.inspector.names import in_words, route_name
from queries.frames import frame
from ranking.budget import estimate_tokens
from ranking.why import why_above
from retrieval.block import one_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from ranking.ranking import Ranking, Stage
    from retrieval.retrieve import Retrieval


@dataclass(frozen=True)
class Listed:
    """One row returned or packed, best first; ``moved`` is recall place − place, ``why`` is against the row below."""

    place: int
    moved: int
    injected: bool
    score: float
    title: str
    content: str
    routes: str
    why: str | None
    logged_place: int | None
    logged_injected: bool | None
    written_since: bool
    id: str


def listed(found: Retrieval, logged: pd.DataFrame | None = None) -> pd.DataFrame:
    """The rows as the last stage before the budget left them, so that what just missed the block is seen, too."""
    whole = before_budget(found)
    ids = whole.ids()
    places = {label: place for place, label in enumerate(ids, 1)}
    scores = dict(zip(whole.positions.tolist(), whole.scores.tolist(), strict=True))
    then, since = _as_logged(logged), _written_since(whole)
    routes = [] if found.recalled is None else found.recalled.routes
    rows = []
    for label, place in places.items():
        position = whole.candidates.position(label)
        below = ids[place] if place < len(ids) else None
        rows.append(
            Listed(
                place=place,
                moved=position + 1 - place,
                injected=label in found.block.ids,
                score=scores[position],
                title=title_of(found, position),
                content=one_line(whole.candidates.texts("content")[position].as_py() or ""),
                routes=", ".join(f"{route_name(name)} {rank + 1}" for name, rank in routes[position].items())
                if routes
                else "",
                why=None if below is None else why(whole, label, below, places),
                logged_place=then.get(str(label), (None, None))[0],
                logged_injected=then.get(str(label), (None, None))[1],
                written_since=since[position],
                id=str(label),
            )
        )
    return frame([tuple(vars(row).values()) for row in rows], Listed)


def why(ranking: Ranking, upper: Any, lower: Any, places: Mapping[Any, int]) -> str:  # noqa: ANN401 - ids are of any kind
    """The library's sentence on two rows, which are told by their places instead of their ids."""
    said = why_above(ranking, upper, lower)
    for label in (upper, lower):
        said = re.sub(rf"\b{re.escape(str(label))}\b", f"№ {places[label]}", said)
    return in_words(said)


def _written_since(ranking: Ranking) -> list[bool]:
    """Whether each candidate was written after the moment that is looked at, so that it cannot have been found then."""
    known = ranking.candidates
    if known.now is None or "created_at" not in known:
        return [False] * len(known)
    since: list[bool] = (known["created_at"] > known.now).tolist()
    return since


def _as_logged(logged: pd.DataFrame | None) -> dict[str, tuple[int | None, bool | None]]:
    if logged is None:
        return {}
    ranks, flags = (
        logged[name].astype("object").where(logged[name].notna(), None) for name in ("weighted_rank", "injected")
    )
    return {
        label: (None if rank is None else int(rank) + 1, flag)
        for label, rank, flag in zip(logged["observation_id"], ranks, flags, strict=True)
    }


@dataclass(frozen=True)
class LeftOut:
    """The first row that did not fit the block, and what it would have cost."""

    place: int
    title: str
    tokens: int


def left_out(found: Retrieval) -> LeftOut | None:
    """The first row behind the block; None where every row fitted."""
    whole = before_budget(found)
    order = whole.order().tolist()
    fitted = len(found.block.ids)
    if fitted >= len(order):
        return None
    content = whole.candidates.texts("content")[order[fitted]].as_py()
    return LeftOut(fitted + 1, title_of(found, order[fitted]), int(estimate_tokens([content])[0]))


@dataclass(frozen=True)
class Dropped:
    """How many rows a stage dropped, and how many it kept."""

    stage: Stage
    rows: int
    kept: int


def dropped(found: Retrieval) -> tuple[Dropped, ...]:
    """What each stage before the budget dropped, in their order; stages that dropped nothing are not named."""
    whole = before_budget(found)
    sizes = [len(whole.candidates), *(step.positions.size for step in whole.steps)]
    counts = zip(whole.steps, sizes, sizes[1:], strict=False)
    return tuple(Dropped(step.stage, before - after, after) for step, before, after in counts if after < before)
