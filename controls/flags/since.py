"""The way from a change of a flag to what sessions did since: the address of What-if's outcomes around it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from controls.scope import DEFAULT_WINDOW, LONGEST_WINDOW
from queries.flags.registry import NAMES, as_state, known_flag

if TYPE_CHECKING:
    from collections.abc import Mapping

EARLIER = timedelta(days=30)  # before the change, for something to compare with
USUAL = timedelta(days=int(DEFAULT_WINDOW.removesuffix("d")) - 1)


def outcomes_address(entry: Mapping[str, object], changed_at: datetime, next_at: datetime | None) -> dict[str, str]:
    """The organization's outcomes in a window that holds the change and not the next one; empty where none can.

    A change that left the ranking as it was has no before and after.
    """
    flag = str(entry["flag"])
    if flag not in NAMES:
        return {}
    before, since = (known_flag(flag).is_on(as_state(str(entry[name]))) for name in ("old", "new"))
    if before == since:
        return {}
    today, day = datetime.now(UTC).date(), changed_at.date()
    if next_at is not None and next_at.date() <= day:
        return {}  # a window has whole days
    last = today if next_at is None else next_at.date() - timedelta(days=1)
    told = {"org": str(entry["org_id"]), "show": "outcomes"}
    if last == today and today - day <= USUAL:
        return told
    first = max(day - EARLIER, last - LONGEST_WINDOW)
    window = {"window": "custom", "from": first.isoformat(), "to": last.isoformat()}
    return told | window if first < day else {}
