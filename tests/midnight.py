"""Wait for midnight UTC to pass where a run would meet it: ``python -m tests.midnight MINUTES``, how long a run takes.

Tests share stores whose rows lie so many days before now, and the pages count days until today: where a day ends
between the two, every count of days is another one.
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime, timedelta


def ahead(now: datetime, length: timedelta) -> timedelta:
    """How long it is until the next day, and a minute more, where that comes before a run's end; else nothing."""
    tomorrow = now.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
    return tomorrow - now + timedelta(minutes=1) if now + length >= tomorrow else timedelta(0)


def main() -> None:
    """Say what is waited for, and wait."""
    left = ahead(datetime.now(UTC), timedelta(minutes=float(sys.argv[1])))
    if left:
        sys.stdout.write(
            f"waiting {left.total_seconds() / 60:.0f} minutes: tests count days, and one ends at midnight UTC\n"
        )
        sys.stdout.flush()
        time.sleep(left.total_seconds())


if __name__ == "__main__":
    main()
