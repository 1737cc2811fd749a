"""What switching one flag of an organization would have done to the retrievals it logged."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from analysis.replay.pool import REASONS
from analysis.replay.realised import made_under
from analysis.replay.replaying import Replayer
from analysis.replay.settings import WhatIf
from queries.engine import LIST
from queries.errors import StoreError
from queries.flags.registry import NAMES
from queries.scope import OutOfReachError, Scope
from ranking.corroboration import SCALE
from retrieval.pipelines import WEIGHTING_OFF, read_flags

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from queries.engine import Store
    from queries.scope import Reach
    from retrieval.retrieve import Memory

    Report = Callable[[int, int, str], None]


@dataclass(frozen=True)
class FlipPreview:
    """The flag and what it would come to mean, then counts over the replayed retrievals of the window.

    ``as_of`` is when the log was read: a window of whole days may end later. ``reasons`` says how many of the logged
    retrievals could not be replayed and why. ``rbo`` is None where none was. ``present`` of those replayed were made
    under what the flag amounts to now: where none was, nothing says what turning it would change.
    """

    org_id: str
    flag: str
    effect: str
    since: str
    until: str
    as_of: str
    logged: int
    retrievals: int
    present: int
    changed: int
    top_changed: int
    entered: int
    left: int
    rbo: float | None
    reasons: tuple[tuple[str, int], ...]
    worst: tuple[str, ...]

    @property
    def coverage(self) -> float | None:
        """Replayed over logged; nothing where nothing was logged."""
        return self.retrievals / self.logged if self.logged else None

    def to_json(self) -> dict[str, Any]:
        """Every figure by name, as an audit row keeps it."""
        return {**asdict(self), "coverage": self.coverage}


def flag_flip(  # noqa: PLR0917 - a flag of an organization in a window
    store: Store, reach: Reach, org_id: str, flag: str, since: datetime, until: datetime
) -> FlipPreview:
    """The logged retrievals of a window under the opposite of what the flag amounts to now.

    A retrieval that was logged under that opposite already counts, unchanged. A boost that was not there is counted in
    clusters of what existed at each moment; one that was logged stays as it was. Raises ``OutOfReachError`` for an
    organization that is out of reach or unknown, ``ValueError`` for a flag that is not known.
    """
    if flag not in NAMES:
        raise ValueError(f"flag: expected one of {', '.join(NAMES)}, found {flag!r}")
    scope, as_of = Scope(reach, since, until, org_id), datetime.now(UTC)
    with store.reading(reach, LIST, name="flags") as snapshot:
        now = read_flags(snapshot, org_id)
    if flag == WEIGHTING_OFF:
        effect, settings = f"weighting {_said(not now.weighting)}", WhatIf(weighting=not now.weighting)
    else:
        effect = f"boost {_said(not now.boost)}"
        settings = WhatIf(boost=0.0) if now.boost else WhatIf(boost=SCALE, logged_boost_stays=True)
    replayer = Replayer(store, scope)
    found = replayer.replay(settings)
    is_on = not now.weighting if flag == WEIGHTING_OFF else now.boost
    return FlipPreview(
        org_id=org_id,
        flag=flag,
        effect=effect,
        since=since.isoformat(),
        until=until.isoformat(),
        as_of=as_of.isoformat(),
        logged=found.coverage.logged,
        retrievals=found.coverage.replayed,
        present=made_under(replayer.pool, flag, on=is_on),
        changed=found.changed,
        top_changed=found.top_changed,
        entered=found.entered,
        left=found.left,
        rbo=found.rbo,
        reasons=tuple((REASONS[name], count) for name, count in found.coverage.reasons),
        worst=tuple(each.retrieval for each in found.worst),
    )


def flips_in_worker(memory: Memory, scope: Scope, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``flag_flips``: ``flag`` of each organization in ``seen`` turned, in the scope's window.

    By organization the figures of its preview, or the sentence for which it has none: one fails no other.
    """
    found: dict[str, Any] = {}
    for number, org in enumerate(params["seen"]):
        report(number, len(params["seen"]), f"organization {number + 1} of {len(params['seen'])}")
        try:
            told = flag_flip(memory.store, scope.reach, org, params["flag"], scope.since, scope.until)
            found[org] = {"figures": told.to_json()}
        except StoreError as error:
            found[org] = {"failed": error.sentence}
        except OutOfReachError:
            found[org] = {"failed": "It is no longer there, or no longer yours to see."}
    return found


def _said(on: bool) -> str:  # noqa: FBT001 - the flag itself
    return "on" if on else "off"
