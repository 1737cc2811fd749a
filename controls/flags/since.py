"""The way from a change of a flag to what sessions did since: the address of What-if's outcomes around it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from analysis.replay.outcomes import LOOKED_BACK
from controls.scope import LONGEST_WINDOW, scope_address
from queries.flags.registry import NAMES, as_state, known_flag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from queries.scope import Scope

DAY = timedelta(days=1)
WINDOW = ("window", "from", "to")  # what an address says of it
EARLIER = timedelta(days=30)  # before the change, for something to compare with
# What-if looks back from a window's end by itself; with so many days before the change in it, that is enough.
REACHED = LOOKED_BACK - EARLIER / 2


def outcomes_address(
    entry: Mapping[str, object], changed_at: datetime, next_at: datetime | None, scope: Scope
) -> dict[str, str]:
    """The organization's outcomes in a window that holds the change and not the next one; empty where none can.

    It is the window of ``scope`` where What-if reaches the change from its end: whoever goes on from there finds every
    page as it was. A change that left the ranking as it was has no before and after.
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
    last = today if next_at is None else next_at.date() - DAY
    told = {"org": str(entry["org_id"]), "show": "outcomes"}
    if last - day < REACHED:
        if scope.until.date() - DAY == last and scope.until - scope.since <= LOOKED_BACK:
            return told | {name: value for name, value in scope_address().items() if name in WINDOW}
        if last == today:
            return told
    first = max(day - EARLIER, last - LONGEST_WINDOW)
    window = {"window": "custom", "from": first.isoformat(), "to": last.isoformat()}
    return told | window if first < day else {}
