"""Everything a drift page shows, from one search: alerts with exposure and triage, figures, trust, and trends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.drift.alerts import OPEN
from analysis.drift.figures import AGE_NAMES, FLOOR, precision_by_threshold, trend
from analysis.drift.search import STEPS
from analysis.drift.weighing import admitted, exposed, triaged
from charts.drift import precision_curve, trends
from charts.look import QUIET
from controls import glossary
from controls.drift import messages
from controls.figures import Figure, in_a_row
from controls.loading import load, own_columns, shape, store
from controls.messages import MISSING, counted, number, percent
from queries.aggregation_input import LIMIT
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

LIST, PANEL = 648, 290


@dataclass(frozen=True, eq=False)
class Drift:
    """Alerts of a scope at one threshold: ``every`` one of them, and ``listed``, those that pass the filter."""

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
    return Drift(scope, searched, every, listed, earlier, verdicts, wanted, given is not None, decided, here)


def trust(found: Drift) -> None:
    """What was searched, when, and what could not be."""
    searched, alarms = found.searched, []
    if searched.active > searched.considered:
        alarms.append(f"only the newest {number(LIMIT)} of {counted(searched.active, 'active observation')} compared")
    if searched.set_apart:
        alarms.append(f"{counted(searched.set_apart, 'observation')} left out for a weight that is no number")
    if found.left_out:
        alarms.append(
            f"the {number(len(found.every))} most severe of {number(found.total)} alerts are here: filters, list, bars "
            "and figures are of those; a report has them all"
        )
    if not found.logged:
        alarms.append("this store does not log what was injected: harm counts severity alone")
    if found.kept.missing:
        alarms.append(messages.missing_here(found.kept))
    facts = [
        f"as of {searched.as_of:%H:%M} UTC",
        f"{counted(searched.considered - searched.set_apart, 'active observation')} compared, inside each project",
        f"injections of {counted(found.scope.days, 'day')}",
    ]
    said = [*(f":orange[:material/warning: {sentence}]" for sentence in alarms), f":gray[{' · '.join(facts)}]"]
    st.markdown(" · ".join(f":small[{part}]" for part in said))


def figures(found: Drift) -> None:
    """Five figures, the first of what is listed, the others of what is open or judged."""
    waiting = [one for one in found.every if one.triage.state in OPEN]
    new = sum(one.triage.state == "new" for one in found.every)
    both = sum(bool(one.both_injected) for one in waiting)
    reached = sum(bool((one.older_injected or 0) + (one.newer_injected or 0)) for one in waiting)
    here = precision_by_threshold(found.verdicts, (found.wanted.threshold,))[0]
    judged = f"of {number(here.judged)} judged" if here.share is not None else f"{here.judged} of {FLOOR} verdicts"
    here_alone = " here" if found.left_out else ""
    of_all, of_open = f"of {number(found.total)}", f"of {number(len(waiting))} open{here_alone}"
    reopened = [f"{number(len(found.earlier))} reopened"] if found.earlier else []
    beside_new = [*reopened, *([f"of {number(len(found.every))} here"] if found.left_out else [])]
    shown = (
        ("Listed", number(len(found.listed)), of_all, glossary.ALERTS_LISTED),
        ("New", number(new), ", ".join(beside_new) or None, glossary.ALERTS_NEW),
        ("Reached agents", number(reached) if found.logged else MISSING, of_open, glossary.ALERTS_REACHED),
        ("Both in a session", number(both) if found.logged else MISSING, of_open, glossary.ALERTS_BOTH),
        (
            "Confirmed",
            MISSING if here.share is None else percent(here.right, here.judged),
            judged if found.kept.verdicts else None,
            glossary.ALERTS_CONFIRMED,
        ),
    )  # fmt: skip
    in_a_row(Figure(label, value, beside, explained) for label, value, beside, explained in shown)


def draw_trends(found: Drift) -> None:
    """Alerts by the day they arose and the open ones by age, of everything at this threshold."""
    if not found.kept.decisions and not found.kept.nothing:
        messages.no_history()
        return
    days, undated = trend(found.every, found.decided, found.scope.since, found.scope.until)
    frame = pd.DataFrame(
        [(day.day, day.arisen, *day.open_by_age) for day in days], columns=["day", "arisen", *AGE_NAMES]
    )
    st.plotly_chart(
        trends(frame, AGE_NAMES),
        key="drift_trends",
        config=QUIET,
        alt="Alerts per day, and open alerts by age at the end of each day",
    )
    if undated:
        st.caption(f"{counted(undated, 'alert')} without a date: in no bar.")


def draw_precision(found: Drift) -> None:
    """How often alerts were confirmed at each threshold, by the verdicts given here."""
    shares = precision_by_threshold(found.verdicts, STEPS)
    st.plotly_chart(
        precision_curve(
            pd.DataFrame([vars(each) for each in shares]).astype({"share": "float64"}), found.wanted.threshold
        ),
        key="drift_precision",
        config=QUIET,
        alt="Share of judged alerts that were confirmed, by threshold, with its interval",
    )
