"""The counts behind Health's checks, by organization and of all together, from the answers to its questions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from datetime import datetime

    import pandas as pd

COUNTS = ("duplicates", "weights", "vectors", "usage", "log", "lost", "outcomes", "diagnostics", "blocks")
NEVER = float("inf")  # hours since a pass that was never made
FLOOR = 30  # of what was drawn of one organization; below it a share says next to nothing

# What is formed of observations, of injections and of retrievals; the first of each is all that were counted.
STORED = ("active", "surplus", "weighed", "collapsed", "unusable_weights", "embeddable", "vectorless",
          "other_dimension", "settled", "never", "kept", "stale")  # fmt: skip
GIVEN = ("injections", "lost")
LOGGED = ("retrievals", "complete", "sound", "lopsided", "truncated", "repeated", "unusable")


@dataclass(frozen=True)
class Shares:
    """Which share of the log, the observations and the injections was read; what is read whole is counted."""

    log: float = 1.0
    stored: float = 1.0
    given: float = 1.0

    def of(self, count: str) -> float:
        """The share that a count rests on."""
        for names, share in ((LOGGED, self.log), (STORED, self.stored), (GIVEN, self.given)):
            if count in names:
                return share
        return 1.0


def told(counts: Mapping[str, float], shares: Shares) -> dict[str, float]:
    """The counts of one organization without those of which too little was drawn to say anything: they are unknown."""
    thin = {
        name
        for names in (LOGGED, STORED, GIVEN)
        if shares.of(names[0]) < 1 and counts.get(names[0], 0) * shares.of(names[0]) < FLOOR
        for name in names
    }
    return {name: value for name, value in counts.items() if name not in thin}


def by_organization(frames: Mapping[str, pd.DataFrame], as_of: datetime) -> dict[str, dict[str, float]]:
    """Every count of every organization that has any; a figure that could not be asked has none anywhere."""
    counts: dict[str, dict[str, float]] = {}
    for name in COUNTS:
        for row in frames[name].to_dict("records") if name in frames else ():
            numbers = {str(key): float(value) for key, value in row.items() if isinstance(value, int)}
            counts.setdefault(str(row["org_id"]), {}).update(numbers)
    for row in frames["writers"].to_dict("records") if "writers" in frames else ():
        lost = float(row["dropped"] + row["failed"])
        more = {"dropped_or_failed": lost, "logged": float(row["written"]) + lost}
        counts.setdefault(str(row["org_id"]), {}).update(more)
    for row in frames["passes"].to_dict("records") if "passes" in frames else ():
        more = {"repeats": float(row["repeats"]), "passed": float(row["passed"])}
        counts.setdefault(str(row["org_id"]), {}).update(more, hours_since_pass=_age(row, as_of))
    return counts


def _age(row: Mapping[Hashable, Any], as_of: datetime) -> float:
    """Hours since an organization's project that was looked at longest ago; one that never was counts before all."""
    if row["unfinished"]:
        return NEVER
    oldest: datetime = row["oldest"].to_pydatetime()
    return max((as_of - oldest).total_seconds(), 0.0) / 3600


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
