"""Whether memory is in good order: each check's formula, its bands, what to do about it, and where a store stands."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from queries.engine import POOL_WAIT
from queries.errors import listed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Band = Literal["good", "watch", "red", "unknown"]


@dataclass(frozen=True)
class Check:
    """A part of a whole, read against two limits; beyond ``red`` something has to be done.

    ``best`` and ``worst`` are the ends of its scale: a share falls from 1 where more is better, hours grow from 0.
    """

    name: str
    label: str
    part: str
    whole: str | None
    watch: float
    red: float
    formula: str
    todo: str
    best: float = 0.0
    worst: float = 1.0
    unit: Literal["h", "s", ""] = "h"  # of what is no share

    @property
    def falling(self) -> bool:
        """Whether less is worse."""
        return self.worst < self.best

    @property
    def is_share(self) -> bool:
        """Whether it is shown in percent."""
        return self.whole is not None

    def value(self, counts: Mapping[str, float]) -> float | None:
        """The figure; none where a count is missing or there is nothing to form it of."""
        part = counts.get(self.part, math.nan)
        whole = 1.0 if self.whole is None else counts.get(self.whole, math.nan)
        return part / whole if whole > 0 and not math.isnan(part) else None

    def band(self, value: float | None) -> Band:
        """Good up to and including ``watch``, red beyond ``red``."""
        if value is None:
            return "unknown"
        sign = -1 if self.falling else 1
        if sign * value <= sign * self.watch:
            return "good"
        return "watch" if sign * value <= sign * self.red else "red"

    def place(self, value: float) -> float:
        """Where a value lies on a scale of three equal bands, 0 to 3: 1 is the limit of good, 2 that of red."""
        edges = (self.best, self.watch, self.red, self.worst)
        band = ("good", "watch", "red").index(self.band(value))
        low, high = edges[band], edges[band + 1]
        inside = (value - low) / (high - low) if high != low else 0.0
        return band + min(max(inside, 0.0), 1.0)


@dataclass(frozen=True)
class Judged:
    """A check on one store or organization; ``value`` is missing where it cannot be known."""

    check: Check
    value: float | None
    part: float | None
    whole: float | None
    band: Band


CHECKS = (
    Check(
        "duplicates", "Exact duplicates", "surplus", "active", 0.01, 0.05,
        "1 − distinct (project, agent, content hash) ÷ active observations; one without a hash counts as distinct",
        "The platform drops these when they are written: Corroboration lists them among its clusters, each with who "
        "wrote it; look for a writer that sends no content hash, then archive all but the oldest of each.",
    ),
    Check(
        "near", "Near-duplicates", "repeats", "passed", 0.25, 0.50,
        "(members of clusters − clusters) ÷ observations of the last aggregation pass",
        "Corroboration is wanted, crowding is not: open Corroboration, and let agents merge each cluster into "
        "one observation; MMR and the duplicate threshold keep them out of one block meanwhile.",
    ),
    Check(
        "vectorless", "Without a vector", "vectorless", "embeddable", 0.01, 0.05,
        "active observations without a full vector ÷ active observations",
        "Only keywords find these, and no page lists them: run the platform's embedding for whatever has no vector, "
        "and look at why it was skipped.",
    ),
    Check(
        "dimension", "Other dimension", "other_dimension", "embeddable", 0.0, 0.01,
        "active observations whose full vector is not of their organization's most common dimension ÷ active "
        "observations",
        "Another model made these, and no question's vector compares with them: embed them again with the present one.",
    ),
    Check(
        "never", "Never retrieved", "never", "settled", 0.30, 0.60,
        "active observations older than 7 days, never accessed and in no logged retrieval, whatever the window ÷ those "
        "older than 7 days",
        "Top observations lists them. Ask the Inspector's Why not? about some: if they are unreachable mend vectors or "
        "tags, if they are noise let agents write less.",
    ),
    Check(
        "stale", "Stale", "stale", "kept", 0.20, 0.40,
        "active observations neither written, accessed nor in a logged retrieval for 90 days, whatever the window ÷ "
        "active observations",
        "Coverage shows whose and how old they are. Archive them by a retention rule, or ask the Inspector's Why not? "
        "what keeps one out.",
    ),
    Check(
        "collapsed", "Collapsed weights", "collapsed", "weighed", 0.05, 0.15,
        "active observations with weight below 0.2 ÷ active observations with a weight",
        "Each failed session lowers the weights of all that it was given, each accepted one raises them again: look at "
        "Top observations, lowest, and archive what misleads; if sessions fail for another reason, weights fall for a "
        "reason that is not theirs.",
    ),
    Check(
        "coverage", "Log coverage", "complete", "retrievals", 0.95, 0.80,
        "retrievals whose two rank columns are whole ÷ retrievals of the window",
        "Rows were lost: Left out, on Feedback Impact, lists these retrievals with the ranks that are missing; look at "
        "Log-queue drops where that is known, else at the log of the process that writes. Read every figure about "
        "feedback as a sample until then.",
        best=1.0, worst=0.0,
    ),
    Check(
        "integrity", "Permutation integrity", "sound", "retrievals", 0.95, 0.80,
        "retrievals logged whole, each observation once, every score finite ÷ retrievals of the window",
        "Where Log coverage falls as far, rows were lost: begin there. Else something writes the log twice, or scores "
        "that are no numbers: Left out, on Feedback Impact, lists these retrievals, and *Runs and writers* has the "
        "processes that report what they log.",
        best=1.0, worst=0.0,
    ),
    Check(
        "lost", "Lost retrievals", "lost", "injections", 0.01, 0.05,
        "injections with candidates whose retrieval has no row in the log ÷ injections with candidates",
        "Agents were given blocks of which nothing is known: check that both logs are written in one transaction.",
    ),
    Check(
        "drops", "Log-queue drops", "dropped_or_failed", "logged", 0.0, 0.01,
        "(dropped + failed) ÷ (written + dropped + failed) since each writer started, of the organization's writers "
        "seen in the window, all projects together",
        "A full queue means that the store was away for long or is too slow: its last failure stands under *Runs and "
        "writers*. Nothing that was dropped can be brought back, and a writer counts it until it ends: once the cause "
        "is mended, restart the process; its old count leaves the window with its last report.",
    ),
    Check(
        "aggregation", "Aggregation age", "hours_since_pass", None, 1.0, 24.0,
        "hours since every project was last aggregated or seen to be unchanged, or since the oldest observation of one "
        "that no pass has finished; the longest counts",
        "`python -m jobs aggregate --every 60` is not running or fails: *Runs and writers* says which project and why.",
        worst=72.0,
    ),
)  # fmt: skip


# The database server itself, for whoever runs it.
SERVER_CHECKS = (
    Check(
        "connections", "Connections", "connections", "most_connections", 0.70, 0.90,
        "connections of the server ÷ max_connections",
        "At the limit nobody can sign in any more: close what is idle, put a pooler before the server, or raise "
        "max_connections.",
    ),
    Check(
        "reading", "Pool for reading", "reading_most", "reading_room", 0.70, 0.90,
        "most connections that this process had in use at once since it started ÷ what its pool may open, for the read "
        "login",
        f"When all are in use a page waits {POOL_WAIT:.0f} s and then says so: look in the log for questions that take "
        "long (query name=… ms=…), and start a second process for so many people at once.",
    ),
    Check(
        "writing", "Pool for writing", "writing_most", "writing_room", 0.75, 0.90,
        "the same for the write login",
        f"When all are in use a change waits {POOL_WAIT:.0f} s, is refused and changes nothing: look on the server for "
        "what holds locks (application_name begins with rankscope), and start a second process for so many people.",
    ),
    Check(
        "lag", "Behind the primary", "lag_seconds", None, 10.0, 60.0,
        "seconds since the last transaction that this standby replayed",
        "Every figure here is as old; a primary that nobody writes to looks the same. Else look at its replay and at "
        "the network between both.", worst=600.0, unit="s",
    ),
    Check(
        "deadlocks", "Deadlocks", "deadlocks", None, 0.0, math.inf,
        "deadlocks in this database since its statistics began",
        "Look again in a day: if there are more, the server's log names both statements of each; let writers change "
        "rows in one order.", worst=math.inf, unit="",
    ),
)  # fmt: skip
WAYS: dict[Literal["red", "watch"], str] = {"red": "to act on", "watch": "to watch"}


def judged(counts: Mapping[str, float], checks: tuple[Check, ...] = CHECKS) -> tuple[Judged, ...]:
    """Every check on some counts; a count that is missing makes its checks unknown, never good."""
    found = []
    for check in checks:
        value = check.value(counts)
        part = counts.get(check.part)
        whole = None if check.whole is None else counts.get(check.whole)
        found.append(Judged(check, value, part, whole, check.band(value)))
    return tuple(found)


def finding(found: tuple[Judged, ...], by_organization: Collection[tuple[Judged, ...]] = ()) -> str:
    """What the checks say together, in a line; of several organizations also how many are not in order by themselves.

    A sum hides the small: all of a fleet can be in order while one of its organizations is not.
    """
    return _told(found) + (_apart(by_organization) if len(by_organization) > 1 else "")


def worst_band(found: tuple[Judged, ...]) -> Literal["red", "watch"] | None:
    """The worst band of some checks, if one of them is not in order."""
    bands = {each.band for each in found}
    return "red" if "red" in bands else "watch" if "watch" in bands else None


def _apart(by_organization: Collection[tuple[Judged, ...]]) -> str:
    bands = [worst_band(checks) for checks in by_organization]
    counted = [(bands.count(band), way) for band, way in WAYS.items() if band in bands]
    if not counted:
        return ""
    (first, way), *rest = counted
    return f"; {first} organization{'' if first == 1 else 's'} {way}" + "".join(f" and {n} {also}" for n, also in rest)


def _told(found: tuple[Judged, ...]) -> str:
    red, watched, known = (
        [each.check.label.lower() for each in found if each.band in bands]
        for bands in (("red",), ("watch",), ("good", "watch", "red"))
    )
    if not known:
        return "Nothing can be said about this memory yet"
    good = len(known) - len(red) - len(watched)
    rest = f", {len(found) - len(known)} cannot be known" if len(known) < len(found) else ""
    told = f"{good} of {len(known)} checks are in order{rest}"
    if red:
        return f"{told}; act on {listed(red)}"
    return (
        f"{told}; watch {listed(watched)}"
        if watched
        else f"All {len(known)} checks of store and log are in order{rest}"
    )
