"""Everything Health asks of the store, the window from one snapshot where it can and the one before from another.

What is lacking costs its own figure alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from analysis.health.change import WHOLE, compare
from analysis.health.checks import judged
from analysis.health.counts import Shares, by_organization, summed, told
from analysis.health.dips import seen_by_day, with_dips
from analysis.health.organizations import compare_each
from controls.loading import shape
from controls.partly import Partly, each
from queries.errors import LACKING, StoreError
from queries.flags.turned import FlagsTurned
from queries.health.by_day import EndedByDay, LoggedByDay
from queries.health.earlier import EarlierUsage, EarlierWeights
from queries.health.logged import LogIntegrity, LostRetrievals
from queries.health.passes import Aggregated
from queries.health.served import AnySessions, Blocks, Ended, Misled
from queries.health.stored import Duplicates, Usage, VectorGaps, Weights
from queries.log_writers import LogHealth
from queries.organizations import Organizations

if TYPE_CHECKING:
    from analysis.health.change import Compared
    from analysis.health.checks import Judged
    from queries.engine import Question
    from queries.scope import Scope
    from queries.shape import LogShape

LONGER = {7: 30, 30: 90}  # days: what came slowly shows in a longer window
TURNED = 3  # changes of flags that are named


@dataclass(frozen=True, eq=False)
class HealthAnswers:
    """The checks of a scope and of each of its organizations, each beside the window before, and the frames behind."""

    checks: tuple[Judged, ...]
    by_org: dict[str, tuple[Judged, ...]]
    compared: tuple[Compared, ...]
    compared_by_org: dict[str, tuple[Compared, ...]]
    names: dict[str, str]
    found: Partly
    earlier: Partly
    counts: dict[str, float] = field(default_factory=dict)
    shares: Shares = WHOLE


def ask(scope: Scope) -> HealthAnswers:
    """All that the checks need, and what they say."""
    log = shape()
    stored, given = log.stored_share(scope), log.given_share(scope)
    # What takes longest comes last: of a store so large that not all can be answered, the most is.
    asked: dict[str, Question] = {
        "organizations": Organizations(scope, scope.org),
        "writers": LogHealth(scope),
        "outcomes": Ended(scope),
        "diagnostics": Misled(scope),
        "blocks": Blocks(scope),
        "passes": Aggregated(scope),
        "weights": Weights(scope, stored),
        "log": LogIntegrity(scope, log),
        **({"lost": LostRetrievals(scope, given)} if log.retrieval_id else {}),
        "duplicates": Duplicates(scope, share=stored),
        "vectors": VectorGaps(scope, stored),
        "usage": Usage(scope, log, stored),
    }
    found = each(asked)
    orgs = found.frames.get("organizations")
    names = {} if orgs is None else dict(zip(orgs["id"], orgs["name"], strict=True))
    slow = next((error for error in found.failed.values() if error.kind == "slow"), None)
    before = ask_earlier(scope, log) if slow is None else Partly({}, {"before": slow}, scope.since)
    counted, earlier = by_organization(found.frames, found.as_of), by_organization(before.frames, before.as_of)
    total, past = summed(counted), summed(earlier)
    of_log = min(_of_log(log.share(scope), counts) for counts in (total, past))
    shares = Shares(of_log, stored, given)
    known = {org: told(counts, shares) for org, counts in counted.items()}
    by_org = {org: judged(counts) for org, counts in known.items()}
    each_org, all_of_them = compare_each(known, earlier, shares), _with_dip(compare(total, past, shares), before, scope)
    return HealthAnswers(judged(total), by_org, all_of_them, each_org, names, found, before, total, shares)


def _with_dip(compared: tuple[Compared, ...], before: Partly, scope: Scope) -> tuple[Compared, ...]:
    """The same, with the dip of accepted sessions that they are better than alone, where their days are known."""
    days = before.frames.get("ended_by_day")
    by_name = {own.measure.name: own for own in compared}
    return tuple(with_dips(by_name, {} if days is None else {"accepted": seen_by_day(days)}, scope).values())


def _of_log(of_pages: float, counts: dict[str, float]) -> float:
    """The share of retrievals that the log's counts rest on, of which not all on the pages read were kept."""
    retrievals = counts.get("retrievals", 0.0)
    return min(of_pages, counts.get("drawn", 0.0) / retrievals) if retrievals else of_pages


def _up_to_today(scope: Scope, days: int) -> Scope:
    """The window that a link to so many days leads to, wherever the present one ends."""
    tomorrow = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return replace(scope, since=tomorrow - timedelta(days=days), until=tomorrow)


def ask_earlier(scope: Scope, log: LogShape) -> Partly:
    """The same for the window before, as far as the store kept it; a log without times cannot say what was read."""
    before, stored = scope.before(), log.stored_share(scope)
    asked: dict[str, Question] = {
        "duplicates": Duplicates(scope, by=scope.since, share=stored),
        "weights": EarlierWeights(scope, stored),
        "log": LogIntegrity(before, log),
        "outcomes": Ended(before),
        "diagnostics": Misled(before),
        "blocks": Blocks(before),
        "ended_by_day": EndedByDay(scope),
        "steered": FlagsTurned(replace(scope, since=before.since), TURNED),  # in either window
    }
    if scope.days in LONGER:
        asked["longer"] = AnySessions(_up_to_today(scope, LONGER[scope.days]).before())
    if log.created_at:
        asked["usage"] = EarlierUsage(scope, log, stored)
    if log.retrieval_id:
        asked["lost"] = LostRetrievals(before, log.given_share(scope))
    asked["logged_by_day"] = LoggedByDay(scope, log)
    try:
        return each(asked)
    except StoreError as error:
        if error.kind not in LACKING:
            raise
        return Partly({}, dict.fromkeys(asked, error), scope.since)
