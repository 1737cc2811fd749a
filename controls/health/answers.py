"""Everything Health asks of the store, the window from one snapshot where it can and the one before from another.

What is lacking costs its own figure alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analysis.health.change import compare
from analysis.health.checks import judged
from analysis.health.counts import by_organization, summed
from controls.loading import shape
from controls.partly import Partly, each
from queries.errors import LACKING, StoreError
from queries.flags.history import FlagHistory
from queries.health.earlier import EarlierUsage, EarlierWeights
from queries.health.logged import LogIntegrity, LostRetrievals
from queries.health.passes import Aggregated
from queries.health.served import Blocks, Ended, Misled
from queries.health.stored import Duplicates, Usage, VectorGaps, Weights
from queries.log_writers import LogHealth
from queries.organizations import Organizations

if TYPE_CHECKING:
    from analysis.health.change import Compared
    from analysis.health.checks import Judged
    from queries.engine import Question
    from queries.scope import Scope
    from queries.shape import LogShape


@dataclass(frozen=True, eq=False)
class Memory:
    """The checks of a scope and of each of its organizations, each beside the window before, and the frames behind."""

    checks: tuple[Judged, ...]
    by_org: dict[str, tuple[Judged, ...]]
    compared: tuple[Compared, ...]
    compared_by_org: dict[str, tuple[Compared, ...]]
    names: dict[str, str]
    found: Partly
    earlier: Partly
    counts: dict[str, float] = field(default_factory=dict)


def ask(scope: Scope) -> Memory:
    """All that the checks need, and what they say."""
    log = shape()
    # What takes longest comes last: of a store so large that not all can be answered, the most is.
    asked: dict[str, Question] = {
        "organizations": Organizations(scope, scope.org),
        "writers": LogHealth(scope),
        "outcomes": Ended(scope),
        "diagnostics": Misled(scope),
        "blocks": Blocks(scope),
        "passes": Aggregated(scope),
        "weights": Weights(scope),
        "log": LogIntegrity(scope, log),
        **({"lost": LostRetrievals(scope)} if log.retrieval_id else {}),
        "duplicates": Duplicates(scope),
        "vectors": VectorGaps(scope),
        "usage": Usage(scope, log),
    }
    found = each(asked)
    orgs = found.frames["organizations"]
    names = dict(zip(orgs["id"], orgs["name"], strict=True))
    slow = next((error for error in found.failed.values() if error.kind == "slow"), None)
    before = ask_earlier(scope, log) if slow is None else Partly({}, {"before": slow}, scope.since)
    counted, earlier = by_organization(found.frames, found.as_of), by_organization(before.frames, before.as_of)
    total = summed(counted)
    by_org = {org: judged(counts) for org, counts in counted.items()}
    compared = {org: compare(counts, earlier.get(org, {}), log.share(scope)) for org, counts in counted.items()}
    return Memory(
        judged(total), by_org, compare(total, summed(earlier), log.share(scope)), compared, names, found, before, total
    )


def ask_earlier(scope: Scope, log: LogShape) -> Partly:
    """The same for the window before, as far as the store kept it; a log without times cannot say what was read."""
    before = scope.before()
    asked: dict[str, Question] = {
        "duplicates": Duplicates(scope, by=scope.since),
        "weights": EarlierWeights(scope),
        "log": LogIntegrity(before, log),
        "outcomes": Ended(before),
        "diagnostics": Misled(before),
        "blocks": Blocks(before),
        "steered": FlagHistory(scope),
    }
    if log.created_at:
        asked["usage"] = EarlierUsage(scope, log)
    if log.retrieval_id:
        asked["lost"] = LostRetrievals(before)
    try:
        return each(asked)
    except StoreError as error:
        if error.kind not in LACKING:
            raise
        return Partly({}, dict.fromkeys(asked, error), scope.since)
