"""What got better and what got worse since the window before, and whether chance alone could have done it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from analysis.health.checks import CHECKS, Check
from analysis.health.counts import Shares
from analysis.intervals import newcombe

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from analysis.intervals import Seen

Meaning = Literal["worse", "better", "chance", "moved", "same", "present", "nothing"]
WHOLE = Shares()
SAME = 0.0005  # a change of a share that is none; of a value that is no share, this part of it
UNKNOWN = 0.05  # of what a share is formed of; a past that is less known than this is not compared with
NOTICED = 0.01  # a change of a share that is worth a sentence though its band stayed

# About single events of the window, so that few of them vary by chance; a share of what is stored does not.
EVENTS = frozenset({"accepted", "misled", "empty", "coverage", "integrity", "lost"})
# Vectors have no date, a writer's counts no days, and only the last passes are kept.
PRESENT_ONLY = frozenset({"near", "vectorless", "dimension", "drops", "aggregation"})
# Of these the store may have forgotten what was before: as many counted as they stand now.
FORGOTTEN = {"collapsed": "unknown_weights", "never": "unknown_never", "stale": "unknown_stale"}


@dataclass(frozen=True)
class Service:
    """How memory served sessions: a part of a whole without bands, for what is usual differs between platforms.

    ``falling`` says whether less is worse; none where neither is.
    """

    name: str
    label: str
    part: str
    whole: str
    formula: str
    todo: str
    falling: bool | None
    is_share: bool = True

    def value(self, counts: Mapping[str, float]) -> float | None:
        """The figure; none where a count is missing or there is nothing to form it of."""
        part, whole = counts.get(self.part), counts.get(self.whole)
        return part / whole if part is not None and whole else None


SERVICES = (
    Service(
        "accepted", "Sessions accepted", "accepted", "judged",
        "sessions accepted, neither rejected nor sent to rework ÷ sessions of the window with an outcome",
        "See in Feedback Impact whether sessions whose block feedback changed ended otherwise, and under Top "
        "observations what misled. Sessions fail for other reasons too: a release, another model, harder work.",
        falling=True,
    ),
    Service(
        "misled", "Sessions misled", "misled", "diagnosed",
        "sessions whose diagnostics name a misleading observation ÷ sessions with diagnostics",
        "Top observations, misleading, lists what they name: correct or archive it, and look for what contradicts it.",
        falling=False,
    ),
    Service(
        "empty", "Empty blocks", "empty", "blocks",
        "memory blocks without any observation ÷ memory blocks",
        "Agents asked and were given nothing. Where something was a candidate, the Inspector opens the retrieval and "
        "shows what kept it out; where nothing was, the log has no question: ask there what such an agent would, and "
        "Why not? names the gate.",
        falling=False,
    ),
    Service(
        "tokens", "Tokens per block", "tokens", "blocks",
        "tokens of all memory blocks ÷ memory blocks",
        "More costs more and is not better by itself: Context budget sets it against how sessions ended.",
        falling=None, is_share=False,
    ),
)  # fmt: skip

Measure = Check | Service


class Dip(NamedTuple):
    """The worst seven days of the window before, by their last; their share in percent, and that of the others."""

    last: datetime
    share: float
    others: float


@dataclass(frozen=True)
class Compared:
    """A measure now and in the window before, and what its change means; either value may be missing.

    What is better only against a ``dip`` of the window before has one.
    """

    measure: Measure
    now: float | None
    before: float | None
    meaning: Meaning
    seen: tuple[Seen, Seen] | None = None  # single events before and now, where chance has a part in it
    dip: Dip | None = None

    @property
    def of(self) -> tuple[int, int] | None:
        """How many events there were before and now, where they were too few."""
        return (self.seen[0][1], self.seen[1][1]) if self.seen is not None and self.meaning == "chance" else None

    @property
    def change(self) -> float | None:
        """Now less before."""
        return None if self.now is None or self.before is None else self.now - self.before

    @property
    def large(self) -> bool:
        """Whether the change is worth a sentence: one point, or another band."""
        if self.now is None or self.before is None:
            return False
        return round(abs(self.now - self.before), 9) >= NOTICED or self._changed_band(self.now, self.before)

    @property
    def improved(self) -> bool:
        """Whether it got better by so much, be it against a dip."""
        return self.meaning == "better" and self.large

    @property
    def noticed(self) -> bool:
        """Whether it got worse by so much."""
        return self.meaning == "worse" and self.large

    @property
    def unsure(self) -> bool:
        """Whether it looks worse by so much, of too few events to tell that from chance."""
        change = self.change
        return self.meaning == "chance" and self.large and change is not None and (change < 0) == self.measure.falling

    def _changed_band(self, now: float, before: float) -> bool:
        check = self.measure
        return isinstance(check, Check) and check.band(now) != check.band(before)


def compare(now: Mapping[str, float], before: Mapping[str, float], shares: Shares = WHOLE) -> tuple[Compared, ...]:
    """Every measure of two windows, how sessions were served first; ``shares`` of the store were read for them."""
    return tuple(_compared(measure, now, before, shares) for measure in (*SERVICES, *CHECKS))


def _compared(measure: Measure, now: Mapping[str, float], before: Mapping[str, float], shares: Shares) -> Compared:
    value = measure.value(now)
    if measure.name in PRESENT_ONLY:
        return Compared(measure, value, None, "present")
    earlier = None if _is_forgotten(measure, before) else measure.value(before)
    if value is None or earlier is None:
        return Compared(measure, value, earlier, "nothing")
    seen = _seen(measure, now, before, shares)
    return Compared(measure, value, earlier, _meaning(measure, value, earlier, seen), seen)


def _meaning(measure: Measure, now: float, before: float, seen: tuple[Seen, Seen] | None) -> Meaning:
    change = now - before
    if not change or abs(change) < (SAME if measure.is_share else SAME * before):
        return "same"
    if seen is not None and is_chance(seen[1], seen[0]):
        return "chance"
    if measure.falling is None:
        return "moved"
    return "worse" if (change < 0) == measure.falling else "better"


def _is_forgotten(measure: Measure, before: Mapping[str, float]) -> bool:
    """Whether the past of so many is not known that a change could lie in them alone."""
    return before.get(FORGOTTEN.get(measure.name, ""), 0.0) > UNKNOWN * before.get(measure.whole or "", 0.0)


def _seen(
    measure: Measure, now: Mapping[str, float], before: Mapping[str, float], shares: Shares
) -> tuple[Seen, Seen] | None:
    """The events before and now; none of what is stored, which does not vary by chance unless it was drawn."""
    share = shares.of(measure.whole or "")  # of what a count stands for, only a share was seen
    if measure.name not in EVENTS and share >= 1:
        return None
    return _events(measure, before, share), _events(measure, now, share)


def _events(measure: Measure, counts: Mapping[str, float], share: float) -> Seen:
    whole = round(counts[measure.whole or ""] * share)
    return min(round(counts[measure.part] * share), whole), whole


def is_chance(now: Seen, before: Seen) -> bool:
    """Whether the 95 % interval of the difference of two shares holds zero; of nothing seen, nothing can be told."""
    if not now[1] or not before[1]:
        return True
    found = newcombe(now, before)
    return found.low <= 0 <= found.high


def worst_first(found: Sequence[Compared]) -> list[Compared]:
    """What got noticeably worse: how sessions were served in its own order, then the checks by how much."""
    served = [service.name for service in SERVICES]
    noticed = [each for each in found if each.noticed]

    def place(each: Compared) -> tuple[int, float]:
        name = each.measure.name
        return (served.index(name), 0.0) if name in served else (len(served), -abs(each.change or 0.0))

    return sorted(noticed, key=place)
