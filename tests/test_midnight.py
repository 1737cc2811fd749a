"""When a run of the tests waits for the next day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.midnight import ahead


@pytest.mark.parametrize(
    ("at", "expected"),
    [("23:39:59", 0), ("23:40:00", 21), ("23:50:00", 11), ("23:59:30", 1.5), ("00:00:00", 0), ("12:00:00", 0)],
)
def test_a_run_of_twenty_minutes_waits_only_for_a_midnight_it_would_meet(at: str, expected: float) -> None:
    now = datetime.fromisoformat(f"2026-12-31T{at}+00:00").astimezone(UTC)
    wait = ahead(now, timedelta(minutes=20))
    assert wait == timedelta(minutes=expected)
    assert (now + wait).date() == (now + wait + timedelta(minutes=20)).date()
