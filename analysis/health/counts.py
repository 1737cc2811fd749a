"""The counts behind Health's checks, by organization and of all together, from the answers to its questions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    import pandas as pd

COUNTS = ("duplicates", "weights", "vectors", "usage", "log", "lost", "outcomes", "diagnostics", "blocks")
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
        counts.setdefault(str(row["org_id"]), {}).update(more, **_age(row["oldest"], as_of))
    return counts


def _age(oldest: pd.Timestamp, as_of: datetime) -> dict[str, float]:
    """Hours since an organization's project that waits longest; nothing where none has anything to wait for."""
    hours = (as_of - oldest).total_seconds() / 3600
    return {} if math.isnan(hours) else {"hours_since_pass": max(hours, 0.0)}


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
