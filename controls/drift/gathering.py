"""Everything a drift page shows, from one search: alerts with exposure and triage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.drift.search import STEPS
from analysis.drift.weighing import admitted, exposed, triaged
from controls.loading import load, own_columns, shape, store
from queries.drift.exposure import Exposure
from queries.drift.kept import kept
from queries.drift.triage import DecisionsOf, EarlierTriage, TriageOf, Verdicts
from queries.engine import AGGREGATE

if TYPE_CHECKING:
    from datetime import datetime

    from analysis.drift.alerts import AlertFilter, Listed
    from analysis.drift.search import Searched
    from queries.drift.kept import Kept
    from queries.drift.triage import DecisionRow, TriageRow
    from queries.scope import Scope


@dataclass(frozen=True, eq=False)
class Drift:
    """Alerts of a scope at one threshold: ``every`` one of them, and ``listed``, those that pass the filter ``now``."""

    scope: Scope
    searched: Searched
    every: tuple[Listed, ...]
    listed: tuple[Listed, ...]
    earlier: dict[tuple[str, str], TriageRow]
    verdicts: list[tuple[float, bool]]
    wanted: AlertFilter
    logged: bool
    decided: dict[str, list[DecisionRow]]
    kept: Kept
    now: datetime

    @property
    def total(self) -> int:
        """All alerts at this threshold."""
        return self.searched.total(self.wanted.threshold)

    @property
    def left_out(self) -> int:
        """How many of them are not here, because there are very many and these are the most severe."""
        return self.total - len(self.every)

    @property
    def complete(self) -> bool:
        """Whether every threshold was searched, or only the documented one so far."""
        return self.searched.steps == STEPS


def gather(scope: Scope, searched: Searched, wanted: AlertFilter, now: datetime) -> Drift:
    """The alerts of a search with what the logs and triage say of them."""
    pairs = tuple(dict.fromkeys((one.older.id, one.newer.id) for one in searched.found))
    given = None
    if shape().injected:
        of = f"{searched.version} at {searched.steps[0]:g} to {searched.steps[-1]:g}"
        frame = load(Exposure(scope, of, pairs, shape())).frames[0] if pairs else None
        rows = () if frame is None else frame.itertuples(index=False)
        given = {(row[0], row[1]): (int(row[2]), int(row[3]), int(row[4])) for row in rows}
    found = exposed(searched.at(wanted.threshold), given)
    fingerprints = tuple(one.fingerprint for one in found)
    org, here = scope.org or "", kept(own_columns())
    with store().reading(scope.reach, AGGREGATE, name="triage") as snapshot:
        known = TriageOf(org, fingerprints).ask(snapshot) if here.states else {}
        untouched = [one for one in found if one.fingerprint not in known]
        sides = tuple((one.older.id, one.newer.id) for one in untouched)
        kinds = tuple(one.kind.value for one in untouched)
        earlier = EarlierTriage(org, sides, kinds, fingerprints).ask(snapshot) if here.earlier else {}
        decided = DecisionsOf(org, tuple(known)).ask(snapshot) if here.decisions else {}
        verdicts = Verdicts(org).ask(snapshot) if here.verdicts else []
    every = triaged(found, known, now)
    listed = admitted(every, wanted)
    return Drift(scope, searched, every, listed, earlier, verdicts, wanted, given is not None, decided, here, now)
