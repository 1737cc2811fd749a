"""What each organization's flags say now, beside what the audit says they should."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from queries.flags.registry import FLAGS
from queries.flags.states import flag_states, other_keys

if TYPE_CHECKING:
    from datetime import datetime

    from queries.flags.registry import KnownFlag, State

SIGNS = {"on": "●", "off": "○", "absent": "–"}
DAY = 24 * 3600


@dataclass(frozen=True)
class Cell:
    """One flag of one organization; ``days`` since this dashboard last changed it, none if it never did."""

    state: State
    days: int | None = None
    reason: str | None = None
    actor: str | None = None
    outside: bool = False
    stale: bool = False

    def in_words(self, flag: KnownFlag) -> str:
        """The state, what it amounts to, and what is odd about it."""
        said = f"{SIGNS[self.state]} {self.state}: {flag.effect(self.state)}"
        if self.outside:
            return f"{said} · set outside"
        if self.state == "absent" or self.days is None:
            return said
        return f"{said} · stale, {self.days} d" if self.stale else f"{said} · {self.days} d"


@dataclass(frozen=True)
class Organization:
    """One organization: its flags, or why they cannot be read, and the keys that Rankscope does not know."""

    id: str
    name: str
    cells: dict[str, Cell] = field(default_factory=dict)
    malformed: str | None = None
    others: dict[str, Any] = field(default_factory=dict)


def organizations(objects: pd.DataFrame, standing: pd.DataFrame, now: datetime, stale_days: int) -> list[Organization]:
    """Every organization with its flags joined to their last audited changes.

    An override is stale once it has stood for longer than so many days. One that differs from what the audit says
    last, or that the audit has never heard of, was set outside this dashboard.
    """
    audited = {(row.org_id, row.flag): row for row in standing.itertuples(index=False)}
    found = []
    for org, name, stored in zip(objects["org_id"], objects["name"], objects["features"], strict=True):
        features = None if pd.isna(stored) else str(stored)
        states = flag_states(features)
        if states.malformed is not None:
            found.append(Organization(org, name, malformed=states.malformed))
            continue
        cells = {}
        for flag in FLAGS:
            state: State = states.state(flag.name)  # type: ignore[assignment]
            cells[flag.name] = _cell(state, audited.get((org, flag.name)), now, stale_days)
        found.append(Organization(org, name, cells, others=other_keys(features)))
    return found


def _cell(state: State, last: Any, now: datetime, stale_days: int) -> Cell:  # noqa: ANN401 - a row of a frame
    if last is None:
        return Cell(state, outside=state != "absent")
    days = int((now - last.changed_at).total_seconds() // DAY)
    if last.new != state:
        return Cell(state, days, outside=True)
    return Cell(state, days, last.reason, last.actor, stale=state != "absent" and days > stale_days)


def override_age(org: Organization) -> str | None:
    """How long the oldest override that the audit knows has stood, and whether one was set outside."""
    standing = [cell for cell in org.cells.values() if cell.state != "absent"]
    known = [cell.days for cell in standing if cell.days is not None and not cell.outside]
    said = [f"{'stale, ' if any(cell.stale for cell in standing) else ''}{max(known)} d"] if known else []
    if any(cell.outside for cell in standing):
        said.insert(0, "set outside")
    return " · ".join(said) or None


def table(found: list[Organization]) -> pd.DataFrame:
    """The matrix: one row per organization, one column per known flag."""

    def said(org: Organization, flag: KnownFlag) -> str:
        return f"not a valid flag object: {org.malformed}" if org.malformed else org.cells[flag.name].in_words(flag)

    return pd.DataFrame(
        {
            "organization": [org.name for org in found],
            **{flag.name: [said(org, flag) for org in found] for flag in FLAGS},
            "others": [", ".join(sorted(org.others)) for org in found],
            "id": [org.id for org in found],
        },
        dtype="string",
    )


def stale_overrides(found: list[Organization]) -> pd.DataFrame:
    """Overrides that have stood too long, longest first, with the reason they were given."""
    found_stale = [
        {"organization": org.name, "flag": flag, "state": cell.state, "days": cell.days or 0, "reason": cell.reason,
         "actor": cell.actor, "id": org.id}
        for org in found
        for flag, cell in org.cells.items()
        if cell.stale
    ]  # fmt: skip
    return pd.DataFrame(found_stale).sort_values("days", ascending=False) if found_stale else pd.DataFrame()
