"""What each organization's flags say now against what the audit says they should, and which overrides are old."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from queries.flags.registry import FLAGS
from queries.flags.states import flag_states, other_keys

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from queries.flags.history import FlagObjectRow
    from queries.flags.registry import State
    from queries.flags.standing import StandingRow

DAY = 24 * 3600


@dataclass(frozen=True)
class Cell:
    """One flag of one organization; ``days`` since this dashboard left it so, none if it never did.

    A change that was taken back within a day is as if it had never been made (``queries/flags/series.py``).

    ``restored`` is when this dashboard took back a change of its own, and left again what other software had set.
    """

    state: State
    days: int | None = None
    reason: str | None = None
    actor: str | None = None
    outside: bool = False
    stale: bool = False
    restored: datetime | None = None


@dataclass(frozen=True)
class Override:
    """What stands in an organization instead of the defaults: the oldest that the audit knows, and what is odd."""

    days: int | None
    stale: bool
    outside: bool


@dataclass(frozen=True)
class Organization:
    """One organization: its flags, or why they cannot be read, and the keys that Rankscope does not know."""

    id: str
    name: str
    cells: dict[str, Cell] = field(default_factory=dict)
    malformed: str | None = None
    others: dict[str, Any] = field(default_factory=dict)

    @property
    def override(self) -> Override | None:
        """Its overrides together; none where every flag is absent."""
        standing = [cell for cell in self.cells.values() if cell.state != "absent"]
        known = [cell.days for cell in standing if cell.days is not None and not cell.outside]
        stale, outside = (any(getattr(cell, name) for cell in standing) for name in ("stale", "outside"))
        return Override(max(known, default=None), stale, outside) if standing else None


def organizations(
    objects: Iterable[FlagObjectRow], standing: Iterable[StandingRow], now: datetime, stale_days: int
) -> list[Organization]:
    """Every organization with its flags joined to their last audited changes.

    An override is stale once it has stood for longer than so many days. One that differs from what the audit says
    last, or that the audit has never heard of, was set outside this dashboard; what a revert restored is audited again,
    and has stood since then at least.
    """
    audited = {(row.org_id, row.flag): row for row in standing}
    found = []
    for each in objects:
        states = flag_states(each.features)
        if states.malformed is not None:
            found.append(Organization(each.org_id, each.name, malformed=states.malformed))
            continue
        cells = {}
        for flag in FLAGS:
            state: State = states.state(flag.name)  # type: ignore[assignment]
            cells[flag.name] = _cell(state, audited.get((each.org_id, flag.name)), now, stale_days)
        found.append(Organization(each.org_id, each.name, cells, others=other_keys(each.features)))
    return found


def _cell(state: State, last: StandingRow | None, now: datetime, stale_days: int) -> Cell:
    if last is None:
        return Cell(state, outside=state != "absent")
    days = int((now - last.changed_at).total_seconds() // DAY)
    if last.new != state:
        return Cell(state, days, outside=True)
    stale = state != "absent" and days > stale_days
    restored = last.changed_at if last.restored else None
    return Cell(state, days, last.reason, last.actor, stale=stale, restored=restored)


def stale_overrides(found: Iterable[Organization]) -> list[tuple[Organization, str, Cell]]:
    """Overrides that have stood too long, longest first, with the flag of each."""
    stale = [(org, flag, cell) for org in found for flag, cell in org.cells.items() if cell.stale]
    return sorted(stale, key=lambda each: -(each[2].days or 0))
