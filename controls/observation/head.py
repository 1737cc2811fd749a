"""The top of an observation's page: which one the address names, its text, its trust strip and its figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from controls import glossary
from controls.figures import WIDE, Figure, in_a_row
from controls.loading import shape
from controls.messages import MISSING, counted, number, percent, unknown_outcomes
from controls.trust import Trust
from controls.verbatim import verbatim
from queries.scope import isolated, marked, with_id

if TYPE_CHECKING:
    from controls.dossier import Dossier
    from queries.scope import Scope

SAME = 1e-6  # apart by less, two weights differ by how they are stored
TALL = 1_500  # characters above which a text scrolls


def said() -> str | None:
    """What the address names as the observation, whatever that is."""
    return st.query_params.get("observation") or None


def trust_of(found: Dossier) -> Trust:
    """What stands behind the figures, and what this store or its last pass cannot say."""
    log, totals, degraded = shape(), found.totals, []
    if not log.retrieval_id:
        degraded.append("this store logs no retrieval id: equal queries of one session count as one")
    if not log.created_at:
        degraded.append("this store logs no time: a retrieval takes its session's")
    if not log.injected or totals["injection_unknown"]:
        degraded.append(f"injection unknown for {counted(int(totals['injection_unknown']), 'retrieval')}")
    if totals["unranked"]:
        degraded.append(f"{counted(int(totals['unranked']), 'retrieval')} without a rank")
    if found.last_pass is None:
        degraded.append("no aggregation pass yet")
    degraded += unknown_outcomes(totals["unknown_outcome"])
    return Trust(
        as_of=found.as_of,
        newest=None if pd.isna(totals["newest"]) else totals["newest"].to_pydatetime(),
        rows=int(totals["log_rows"]),
        retrievals=int(totals["retrievals"]),
        complete=None,
        truncated=0,
        repeated=int(totals["repeated"]),
        unusable=0,  # it looks at ranks, not at scores
        degraded=tuple(degraded),
    )


def text(found: Dossier, scope: Scope) -> None:
    """Whose it is in a sentence, and the text as it is stored, every character of it shown and none of it obeyed."""
    record = found.record
    whose = isolated(str(record["org_name"]))
    if not pd.isna(record["project_id"]):
        id_, name = str(record["project_id"]), record["project_name"]
        whose += f", project {with_id(None if pd.isna(name) else str(name), id_)}"
    written = "" if pd.isna(record["created_at"]) else f", written {record['created_at']:%-d %b %Y %H:%M} UTC"
    stored = f"{record['status']} {record['kind']}".capitalize()
    outside = scope.org is not None and not (
        scope.org == record["org_id"] and scope.project in (None, record["project_id"])
    )
    where = " It lies outside the chosen scope." if outside else ""
    st.text(f"{stored} of {whose}{written}.{where} All of its life is shown, whatever the window.")
    if not pd.isna(record["title"]) and record["title"]:
        st.text(marked(record["title"]))
    content = str(record["content"])
    tall = len(content) > TALL or content.count("\n") > TALL // 100
    verbatim(content, height=260 if tall else "content")
    if record["characters"] > len(content):
        st.caption(f"The first {number(len(content))} of {number(record['characters'])} characters.")


def figures(found: Dossier) -> None:
    """Weight, retrievals, injections, how sessions that were given it ended, and who else says it."""
    totals, steps = found.totals, found.steps
    weight = found.record["weight"]
    judged = int(totals["accepted"] + totals["rejected"] + totals["rework"])
    moved = (
        f"{float(weight) - float(steps['first_weight'].iloc[0]):+.3g} since first"
        if len(steps) and not pd.isna(weight)
        else None
        if len(steps)
        else "no outcome yet"
    )
    unknown = int(totals["injection_unknown"]) == int(totals["retrievals"]) > 0
    shown = (
        ("Weight", MISSING if pd.isna(weight) else f"{weight:.3g}", moved, glossary.WEIGHT),
        (
            "Retrieved",
            number(totals["retrievals"]),
            f"▲{number(totals['up'])} ▼{number(totals['down'])}",
            glossary.RETRIEVED,
        ),
        (
            "Injected",
            MISSING if unknown else number(totals["injected"]),
            f"{percent(totals['injected'], totals['retrievals'])} of them" if not unknown else "not logged here",
            glossary.INJECTED,
        ),
        (
            "Accepted",
            percent(totals["accepted"], judged),
            f"of {counted(judged, 'session')}",
            glossary.ACCEPTED_OF_GIVEN,
        ),
        ("Said by others", *_said_by_others(found), glossary.SAID_BY_OTHERS),
    )
    in_a_row((Figure(label, value, beside, explained) for label, value, beside, explained in shown), WIDE)


def contradicted_weight(found: Dossier) -> None:
    """Where the weight is not what its last recorded change made of it: what is recorded is then not all there was."""
    weight, steps = found.record["weight"], found.steps
    if pd.isna(weight) or steps.empty:
        return
    left = float(steps["new_weight"].iloc[0])
    if float(weight) == left or not abs(float(weight) - left) > SAME:
        return
    now, then = next(pair for d in (3, 6, 17) if len(set(pair := (f"{weight:.{d}g}", f"{left:.{d}g}"))) > 1)
    st.caption(
        f":orange[:material/warning: The weight stands at {now}, and the last recorded change left it at {then}: "
        "it was changed outside what is recorded.]"
    )


def sizes(happened: pd.DataFrame) -> None:
    """What the size of a mark on the timeline says, where they differ."""
    most = int(happened["count"].max()) if len(happened) else 1
    if most > 1:
        st.caption(f"A larger mark stands for several at about the same time, {most:,} at most; it says how many.")


NONE = "none against"


def _said_by_others(found: Dossier) -> tuple[str, str]:
    if found.voices is None or found.contradictions is None:
        return MISSING, "no pass yet"
    others, agents = max(int(found.voices["members"]) - 1, 0), int(found.voices["agents"])
    against = int(found.contradictions["standing"].iloc[0]) if len(found.contradictions) else 0
    # the contradiction first, which a narrow card would cut off; one agent that says it nine times is no second voice
    dismissed = int(found.contradictions["total"].iloc[0]) if len(found.contradictions) else 0  # where none stands
    opposed = f"✕ {number(against)} against" if against else f"{number(dismissed)} dismissed" if dismissed else NONE
    return number(others), f"{opposed} · {counted(agents, 'agent')}" if others else opposed
