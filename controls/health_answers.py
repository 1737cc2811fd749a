"""Everything Health asks of the store, the window from one snapshot where it can and the one before from another.

What is lacking costs its own figure alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from analysis.health import judged
from analysis.health_change import compare
from controls.loading import shape
from controls.partly import Partly, each
from queries.errors import LACKING, StoreError
from queries.flags.history import FlagHistory
from queries.health.earlier import EarlierUsage, EarlierWeights
from queries.health.logged import LogIntegrity, LostRetrievals, Passes
from queries.health.served import Blocks, Ended, Misled
from queries.health.stored import Duplicates, Usage, VectorGaps, Weights
from queries.log_writers import LogHealth
from queries.organizations import Organizations

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from analysis.health import Judged
    from analysis.health_change import Compared
    from queries.engine import Question
    from queries.scope import Scope
    from queries.shape import LogShape

COUNTS = ("duplicates", "weights", "vectors", "usage", "log", "lost", "outcomes", "diagnostics", "blocks")
NEVER = float("inf")  # hours since a pass that was never made


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
    asked: dict[str, Question] = {
        "organizations": Organizations(scope, scope.org),
        "duplicates": Duplicates(scope),
        "weights": Weights(scope),
        "vectors": VectorGaps(scope),
        "usage": Usage(scope, log),
        "log": LogIntegrity(scope, log),
        "passes": Passes(scope),
        "writers": LogHealth(scope),
        "outcomes": Ended(scope),
        "diagnostics": Misled(scope),
        "blocks": Blocks(scope),
    }
    if log.retrieval_id:
        asked["lost"] = LostRetrievals(scope)
    found = each(asked)
    orgs = found.frames["organizations"]
    names = dict(zip(orgs["id"], orgs["name"], strict=True))
    before = ask_earlier(scope, log)
    counted, earlier = by_organization(found), by_organization(before)
    total = summed(counted)
    by_org = {org: judged(counts) for org, counts in counted.items()}
    compared = {org: compare(counts, earlier.get(org, {})) for org, counts in counted.items()}
    return Memory(judged(total), by_org, compare(total, summed(earlier)), compared, names, found, before, total)


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


def by_organization(found: Partly) -> dict[str, dict[str, float]]:
    """Every count of every organization that has any; a figure that could not be asked has none anywhere."""
    counts: dict[str, dict[str, float]] = {}
    for name in COUNTS:
        for row in found.frames.get(name, pd.DataFrame()).to_dict("records"):
            numbers = {str(key): float(value) for key, value in row.items() if isinstance(value, int)}
            counts.setdefault(str(row["org_id"]), {}).update(numbers)
    for row in found.frames.get("writers", pd.DataFrame()).to_dict("records"):
        lost = float(row["dropped"] + row["failed"])
        more = {"dropped_or_failed": lost, "logged": float(row["written"]) + lost}
        counts.setdefault(str(row["org_id"]), {}).update(more)
    if "passes" in found.frames:
        for org, passes in found.frames["passes"].groupby("org_id"):
            counts.setdefault(str(org), {}).update(_passed(passes, found.as_of))
        for known in counts.values():
            if known.get("active"):
                known.setdefault("hours_since_pass", NEVER)
    return counts


def _passed(passes: pd.DataFrame, as_of: datetime) -> dict[str, float]:
    """What the passes of one organization add up to; the project that was looked at longest ago counts."""
    done = passes[passes["finished_at"].notna()]
    found = {
        "repeats": float((done["clustered"] - done["clusters"]).sum()),
        "passed": float(done["observations"].sum()),
    }
    if len(done) < len(passes):
        return found | {"hours_since_pass": NEVER}
    seen = done["checked_at"].fillna(done["finished_at"])
    return found | {"hours_since_pass": max((pd.Timestamp(as_of) - seen.min()).total_seconds(), 0.0) / 3600}


def summed(counts: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """The counts of all organizations together; the oldest pass stands for all of them."""
    total: dict[str, float] = {}
    for each_org in counts.values():
        for name, value in each_org.items():
            if name == "hours_since_pass":
                total[name] = max(total.get(name, 0.0), value)
            else:
                total[name] = total.get(name, 0.0) + value
    return total
