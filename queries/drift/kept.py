"""What a store of this or an older revision keeps for Drift Alerts: the columns that are there decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from queries import own_schema
from queries.drift.triage import TriageRow

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    Columns = Mapping[str, frozenset[str]]

TABLES = ("drift_triage", "drift_triage_events", "opposition_pairs", "opposition_changes")
PASSES = ("aggregation_runs", "clusters", "contradictions")


@dataclass(frozen=True)
class Kept:
    """What can be read of triage and opposition pairs, and what is missing, as ``table.column`` or a table's name.

    ``states`` is where alerts stand; ``earlier`` what was said before a text changed; ``verdicts`` what the precision
    is counted from; ``decisions`` the history. Nothing can be changed while anything that a change writes is missing.
    """

    states: bool
    earlier: bool
    verdicts: bool
    decisions: bool
    pairs: bool
    pair_changes: bool
    passes: bool
    missing: tuple[str, ...] = ()

    @property
    def triage(self) -> bool:
        """Whether decisions can be kept."""
        return not any(name.startswith("drift_triage") for name in self.missing)

    @property
    def nothing(self) -> bool:
        """Whether the store has none of these tables."""
        return set(self.missing) == set(TABLES)


def kept(columns: Columns) -> Kept:
    """What the columns of schema rankscope let Drift Alerts do."""

    def has(table: str, names: Iterable[str]) -> bool:
        return set(names) <= columns.get(table, frozenset())

    whole = {name: [column.name for column in own_schema.ours.tables[f"rankscope.{name}"].columns] for name in TABLES}
    missing = []
    for table, names in whole.items():
        there = columns.get(table)
        missing += [table] if there is None else [f"{table}.{name}" for name in names if name not in there]
    states = has("drift_triage", ("org_id", *TriageRow._fields))
    return Kept(
        states=states,
        earlier=states and has("drift_triage", ("older", "newer", "kind")),
        verdicts=has("drift_triage", ("org_id", "state", "found_up_to")),
        decisions=has(
            "drift_triage_events", ("org_id", "id", "fingerprint", "new_state", "changed_at", "snoozed_until")
        ),
        pairs=has("opposition_pairs", ("org_id", "one", "other")),
        pair_changes=all(has(name, whole[name]) for name in ("opposition_pairs", "opposition_changes")),
        passes=all(
            has(name, [column.name for column in own_schema.ours.tables[f"rankscope.{name}"].columns])
            for name in PASSES
        ),
        missing=tuple(missing),
    )
