"""The states of flags against the audit: what stands, since when, what was set outside, and which are old."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from analysis.flags import Override, organizations, stale_overrides
from queries.flags.history import FlagObjectRow
from queries.flags.standing import StandingRow

WEIGHTING, BOOST = "feedback_weighting_disabled", "corroboration_boost_enabled"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def standing(org: str, flag: str, new: str, days: int) -> StandingRow:
    return StandingRow(org, flag, 1, new, "a trial", "omar", NOW - timedelta(days=days, hours=1))


def test_an_override_is_stale_after_so_many_days_the_oldest_first() -> None:
    objects = [
        FlagObjectRow("org_a", "Acme", f'{{"{WEIGHTING}": true, "{BOOST}": true}}', 3),
        FlagObjectRow("org_b", "Birch", f'{{"{BOOST}": true}}', 3),
        FlagObjectRow("org_c", "Cedar", None, 3),
    ]
    audit = [
        standing("org_a", WEIGHTING, "on", 30),
        standing("org_a", BOOST, "on", 31),
        standing("org_b", BOOST, "on", 90),
    ]
    found = organizations(objects, audit, NOW, 30)
    assert [(org.id, flag) for org, flag, _ in stale_overrides(found)] == [("org_b", BOOST), ("org_a", BOOST)]
    assert [org.override for org in found] == [
        Override(31, stale=True, outside=False), Override(90, stale=True, outside=False), None,
    ]  # fmt: skip


def test_what_the_audit_does_not_say_was_set_outside() -> None:
    objects = [FlagObjectRow("org_a", "Acme", f'{{"{WEIGHTING}": true, "{BOOST}": false, "x": 1}}', 3)]
    (found,) = organizations(objects, [standing("org_a", BOOST, "on", 5)], NOW, 30)
    assert [cell.outside for cell in found.cells.values()] == [True, True]
    assert found.override == Override(None, stale=False, outside=True)
    assert found.others == {"x": 1}


def test_an_unreadable_object_has_no_cells() -> None:
    (found,) = organizations([FlagObjectRow("org_a", "Acme", '"text"', 3)], [], NOW, 30)
    assert (found.cells, found.malformed) == ({}, "not an object but a string")
    assert found.override is None
