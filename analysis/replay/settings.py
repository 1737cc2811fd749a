"""Other settings for retrievals that were logged: each knob as it was logged unless it is turned."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ranking.budget import TokenBudget
from ranking.clusters import CountBy
from ranking.corroboration import Corroboration
from ranking.feedback import Feedback, Normalise
from ranking.limits import within
from ranking.mmr import DEFAULT_LAMBDA, DUPLICATE_THRESHOLD, Mmr
from ranking.near_pairs import check_threshold
from ranking.pipeline_text import PipelineError
from ranking.presets import PRESETS
from ranking.relevance import Head, Relevance

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ranking.ranking import Stage

EVERY = 1_000  # candidates of one retrieval: more are never recalled
# what the log keeps enough of, in the only order in which their scores can be made from it
REPLAYABLE: tuple[type[Any], ...] = (Relevance, Head, Corroboration, Feedback, Mmr, TokenBudget)


@dataclass(frozen=True)
class WhatIf:
    """What would have been set: ``None`` leaves a knob as it was at each retrieval.

    ``boost`` is the scale of the corroboration boost, counted in clusters of what existed at the moment, within so many
    ``bits``; with ``logged_boost_stays`` a retrieval that had a boost keeps it. ``lam`` of ``None`` is no diversity at
    all, which is how retrievals are logged. ``head`` and ``chosen`` cut the list as ``Head`` and ``Mmr`` do.
    """

    weighting: bool | None = None
    normalise: Normalise = Normalise.NONE
    boost: float | None = None
    bits: int = 3
    count_by: CountBy = CountBy.MEMBERS
    lam: float | None = None
    duplicate: float = DUPLICATE_THRESHOLD
    budget: int | None = None
    head: int = EVERY
    chosen: int = EVERY
    logged_boost_stays: bool = False

    def __post_init__(self) -> None:
        Mmr(self.chosen, DEFAULT_LAMBDA if self.lam is None else self.lam, self.duplicate)
        Head(self.head)
        TokenBudget(self.budget or 0)
        within("boost", self.boost or 0.0, 0)
        check_threshold(self.bits)

    @property
    def as_logged(self) -> bool:
        """Whether no knob is turned."""
        return self == AS_LOGGED

    @property
    def recounts(self) -> bool:
        """Whether clusters have to be counted anew."""
        return bool(self.boost)

    @property
    def diversifies(self) -> bool:
        """Whether stored vectors are compared."""
        return self.lam is not None

    @property
    def mmr(self) -> Mmr | None:
        """The diversity stage, if there is one."""
        return None if self.lam is None else Mmr(self.chosen, self.lam, self.duplicate)

    def stages(self, *, weighting: bool, budget: int) -> tuple[Stage, ...]:
        """The same as a pipeline, for a retrieval that was logged with these; a logged boost is part of relevance."""
        on = weighting if self.weighting is None else self.weighting
        return (
            Relevance(),
            Head(self.head),
            *(() if self.boost is None else (Corroboration(self.boost),)),
            Feedback(on, self.normalise),
            *(() if self.mmr is None else (self.mmr,)),
            TokenBudget(budget if self.budget is None else self.budget),
        )

    def to_json(self) -> dict[str, Any]:
        """The knobs by name; ``from_json`` reads them back."""
        return {**asdict(self), "normalise": self.normalise.value, "count_by": self.count_by.value}

    @classmethod
    def from_json(cls, said: dict[str, Any]) -> WhatIf:
        """The settings that were sent; raises ``ValueError`` for values that no stage would take."""
        return cls(**{**said, "normalise": Normalise(said["normalise"]), "count_by": CountBy(said["count_by"])})


AS_LOGGED = WhatIf()


def what_if(stages: Sequence[Stage] | None) -> WhatIf:
    """The settings a pipeline amounts to; without one, as logged.

    A stage that is not there is off. A preset keeps each retrieval's own budget, as it does live; any other pipeline
    means the number it names.
    """
    if stages is None:
        return AS_LOGGED
    places = [next((n for n, kind in enumerate(REPLAYABLE) if isinstance(each, kind)), None) for each in stages]
    if None in places or places != sorted(set(places)) or not stages or places[0] != 0:  # type: ignore[type-var]
        names = ", ".join(kind.__name__ for kind in REPLAYABLE)
        found = ", ".join(type(each).__name__ for each in stages) or "nothing"
        raise PipelineError(f"replay: expected some of {names} in this order, from the first on, found {found}")
    held: dict[type[Any], Any] = {type(each): each for each in stages}
    feedback, boost, chosen = held.get(Feedback, Feedback(enabled=False)), held.get(Corroboration), held.get(Mmr)
    own_budget = tuple(stages) not in PRESETS.values() and TokenBudget in held
    return WhatIf(
        weighting=feedback.enabled,
        normalise=feedback.normalise if feedback.enabled else Normalise.NONE,
        boost=boost.scale if boost else 0.0,
        lam=chosen.lam if chosen else None,
        duplicate=chosen.duplicate_threshold if chosen else DUPLICATE_THRESHOLD,
        budget=held[TokenBudget].tokens if own_budget else None,
        head=held[Head].k if Head in held else EVERY,
        chosen=chosen.k if chosen else EVERY,
    )
