"""What a store of an older revision lets Drift Alerts do."""

from __future__ import annotations

import pytest

from queries import own_schema
from queries.drift.kept import TABLES, kept

WHOLE = {
    name.removeprefix("rankscope."): frozenset(column.name for column in table.columns)
    for name, table in own_schema.ours.tables.items()
}


def without(*names: str) -> dict[str, frozenset[str]]:
    """All tables but some, or but some of their columns."""
    left = dict(WHOLE)
    for name in names:
        table, _, column = name.partition(".")
        if column:
            left[table] -= {column}
        else:
            del left[table]
    return left


def test_everything_there() -> None:
    here = kept(WHOLE)
    assert here.missing == ()
    assert all((here.states, here.earlier, here.verdicts, here.decisions, here.pairs, here.pair_changes, here.passes))
    assert (here.triage, here.nothing) == (True, False)


def test_nothing_there() -> None:
    here = kept({})
    assert here.missing == TABLES
    assert not any((here.states, here.earlier, here.verdicts, here.decisions, here.pairs, here.pair_changes))
    assert (here.triage, here.nothing, here.passes) == (False, True, False)


@pytest.mark.parametrize(
    ("gone", "lost"),
    [
        ("drift_triage.older", {"earlier", "triage"}),
        ("drift_triage.found_up_to", {"verdicts", "triage"}),
        ("drift_triage.note", {"states", "earlier", "triage"}),
        ("drift_triage_events.snoozed_until", {"decisions", "triage"}),
        ("drift_triage_events.owner", {"triage"}),
        ("opposition_changes", {"pair_changes"}),
        ("opposition_pairs.other", {"pairs", "pair_changes"}),
        ("contradictions.place", {"passes"}),
    ],
)
def test_one_thing_missing_costs_what_needs_it(gone: str, lost: set[str]) -> None:
    here = kept(without(gone))
    names = ("states", "earlier", "verdicts", "decisions", "pairs", "pair_changes", "passes", "triage")
    assert {name for name in names if not getattr(here, name)} == lost
    assert here.missing == (() if gone.startswith("contradictions") else (gone,))
    assert not here.nothing
