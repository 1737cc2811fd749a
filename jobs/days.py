"""The days that a command line names: up to today without a last one, thirty of them without a first."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

DAYS = 30  # as the pages' own window
EARLIEST, LATEST = date.min + timedelta(days=DAYS), date.max - timedelta(days=DAYS)


class DaysError(Exception):
    """Days that cannot be a window, in one sentence."""


def day(text: str) -> date:
    """An option's text as a day; argparse says of what it does not read that it is an invalid one."""
    return date.fromisoformat(text)


def window(first: date | None, last: date | None) -> tuple[date, date]:
    """The first and the last day of what was asked."""
    last = last or datetime.now(UTC).date()
    if not EARLIEST <= last <= LATEST:
        raise DaysError(f"expected a last day from {EARLIEST} to {LATEST}, found {last}")
    first = first or last - timedelta(days=DAYS - 1)
    if first > last:
        raise DaysError(f"expected a first day that is not after the last, found {first} and {last}")
    return first, last
