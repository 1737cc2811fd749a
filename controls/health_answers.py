"""Everything Health asks of the store, from one snapshot where it can: what is lacking costs its own figure alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pandas as pd

from analysis.health import judged
from controls.loading import shape
from controls.partly import each
from queries.health.logged import LogIntegrity, LostRetrievals, Passes
from queries.health.stored import Duplicates, Usage, VectorGaps, Weights
from queries.log_writers import LogHealth
from queries.organizations import Organizations

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from analysis.health import Judged
    from controls.partly import Partly
    from queries.engine import Question
    from queries.scope import Scope

NEVER = float("inf")  # hours since a pass that was never made


@dataclass(frozen=True, eq=False)
class Memory:
    """The checks of a scope, of each of its organizations, and the frames behind them."""

    checks: tuple[Judged, ...]
    by_org: dict[str, tuple[Judged, ...]]
    names: dict[str, str]
    found: Partly
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
    }
    if log.retrieval_id:
        asked["lost"] = LostRetrievals(scope)
    found = each(asked)
    orgs = found.frames["organizations"]
    names = dict(zip(orgs["id"], orgs["name"], strict=True))
    counted = by_organization(found)
    total = summed(counted)
    by_org = {org: judged(counts) for org, counts in counted.items()}
    return Memory(judged(total), by_org, names, found, total)


def by_organization(found: Partly) -> dict[str, dict[str, float]]:
    """Every count of every organization that has any; a figure that could not be asked has none anywhere."""
    counts: dict[str, dict[str, float]] = {}
    for name in ("duplicates", "weights", "vectors", "usage", "log", "lost"):
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
