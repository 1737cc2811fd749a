"""What a flag change really did: the retrievals logged since, against what they would have been without it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.replay.replaying import Replayer
from analysis.replay.settings import WhatIf
from queries.flags.registry import known_flag
from ranking.corroboration import SCALE
from retrieval.pipelines import WEIGHTING_OFF

if TYPE_CHECKING:
    from analysis.replay.pool import Pool
    from queries.engine import Store
    from queries.flags.registry import State
    from queries.scope import Scope


@dataclass(frozen=True)
class Realised:
    """Counts over the retrievals logged while a change held, in the same measures as its preview.

    ``obeyed`` is how many of those replayed were logged under the new state: a platform reads flags when it likes.
    """

    logged: int
    retrievals: int
    obeyed: int
    changed: int
    top_changed: int
    entered: int
    left: int
    rbo: float | None

    @property
    def flips(self) -> int:
        """Observations that entered or left a memory block."""
        return self.entered + self.left


def realised(store: Store, scope: Scope, flag: str, old: State, new: State) -> Realised | None:
    """The log of one organization's window against its replay under the old state: the difference the change made.

    None where both states mean the same, so that there is nothing to realise.
    """
    known = known_flag(flag)
    if known.is_on(old) == known.is_on(new):
        return None
    replayer = Replayer(store, scope)
    found = replayer.replay(_as_before(flag, on=known.is_on(old)))
    obeyed = made_under(replayer.pool, flag, on=known.is_on(new))
    return Realised(
        logged=found.coverage.logged,
        retrievals=found.coverage.replayed,
        obeyed=obeyed,
        changed=found.changed,
        top_changed=found.top_changed,
        entered=found.entered,
        left=found.left,
        rbo=found.rbo,
    )


def made_under(pool: Pool, flag: str, *, on: bool) -> int:
    """How many of the retrievals that can be replayed were logged with the flag on, or off."""
    logged = ((~group.weighting if flag == WEIGHTING_OFF else group.boosted) for group in pool.groups)
    return sum(int((each == on).sum()) for each in logged)


def _as_before(flag: str, *, on: bool) -> WhatIf:
    """The settings that a flag's old state stood for."""
    if flag == WEIGHTING_OFF:
        return WhatIf(weighting=not on)
    return WhatIf(boost=SCALE, logged_boost_stays=True) if on else WhatIf(boost=0.0)
