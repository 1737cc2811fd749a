"""The states of flags as pages show them: read from frames, in words and as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from analysis import flags
from queries.flags.history import FlagObjectRow
from queries.flags.registry import FLAGS
from queries.flags.standing import StandingRow

if TYPE_CHECKING:
    from datetime import datetime

    from analysis.flags import Cell, Organization
    from queries.flags.registry import KnownFlag

SIGNS = {"on": "●", "off": "○", "absent": "–"}


def organizations(objects: pd.DataFrame, standing: pd.DataFrame, now: datetime, stale_days: int) -> list[Organization]:
    """Every organization with its flags joined to their last audited changes."""
    whole = objects.astype(object).where(objects.notna(), None)
    return flags.organizations(
        [FlagObjectRow(*row) for row in whole.itertuples(index=False)],
        [StandingRow(*row) for row in standing.itertuples(index=False)],
        now,
        stale_days,
    )


def in_words(cell: Cell, flag: KnownFlag) -> str:
    """The state, what it amounts to, and what is odd about it."""
    said = f"{SIGNS[cell.state]} {cell.state}: {flag.effect(cell.state)}"
    if cell.outside:
        return f"{said} · set outside"
    if cell.restored is not None:
        said = f"{said} · restored by {cell.actor} on {cell.restored:%-d %b %Y}"
        return f"{said} · stale, {cell.days} d" if cell.stale else said
    if cell.state == "absent" or cell.days is None:
        return said
    return f"{said} · stale, {cell.days} d" if cell.stale else f"{said} · {cell.days} d"


def override_age(org: Organization) -> str | None:
    """How long the oldest override that the audit knows has stood, and whether one was set outside."""
    found = org.override
    if found is None:
        return None
    age = None if found.days is None else f"{'stale, ' if found.stale else ''}{found.days} d"
    return " · ".join(filter(None, ("set outside" if found.outside else None, age))) or None


def table(found: list[Organization]) -> pd.DataFrame:
    """The matrix: one row per organization, one column per known flag."""

    def said(org: Organization, flag: KnownFlag) -> str:
        return f"not a valid flag object: {org.malformed}" if org.malformed else in_words(org.cells[flag.name], flag)

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
    return pd.DataFrame(
        {"organization": org.name, "reason": cell.reason, "days": cell.days or 0, "actor": cell.actor, "flag": flag,
         "state": cell.state, "id": org.id}
        for org, flag, cell in flags.stale_overrides(found)
    )  # fmt: skip
