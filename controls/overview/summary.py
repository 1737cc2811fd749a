"""Overview: its figures, its trust strip and its table of organizations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.health.change import is_chance
from analysis.overview import by_day, totals
from charts.look import UP
from controls import glossary, messages
from controls.figures import Figure, in_a_row
from controls.grid import grid
from controls.health.words import DIP, SHORT_DIP, change, colour, dip, points, same, unclear
from controls.links import enter_column
from controls.messages import MISSING, counted, digits, number, percent
from controls.overview import matrix
from controls.overview.changes import changes
from controls.trust import Trust
from queries.drawn import WHOLE
from queries.flags.registry import as_state, known_flag
from queries.flags.states import FlagStates, flag_states
from queries.organizations import SHOWN
from queries.retrievals import TOP
from retrieval.pipelines import BOOST_ON, WEIGHTING_OFF

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from analysis.health.change import Compared
    from analysis.overview import Totals

    Sums = tuple[Totals, Totals, Mapping[str, Compared]]
    from queries.scope import Scope
    from queries.shape import LogShape

SMALLEST_CHANGE = 0.05  # percentage points


def trust_of(overview: pd.DataFrame, features: pd.DataFrame, as_of: datetime, shape: LogShape, scope: Scope) -> Trust:
    """What the overview's own counts say about the log behind it."""
    newest = overview["newest"].max()
    degraded = (
        [] if shape.retrieval_id else ["this store logs no retrieval id: equal queries of one session count as one"]
    )
    if not shape.created_at:
        degraded.append(
            "this store logs no time: a retrieval takes its session's, and one without a session is left out"
        )
    unreadable = sum(state.malformed is not None for state in _states(features).values())
    if unreadable:
        degraded.append(f"flags of {counted(unreadable, 'organization')} unreadable")
    degraded += messages.unknown_outcomes(overview["unknown_outcome"].sum())
    totals = {
        name: int(overview[name].sum()) for name in ("retrievals", "complete", "truncated", "repeated", "unusable")
    }
    return Trust(
        as_of=as_of,
        newest=None if pd.isna(newest) else newest.to_pydatetime(),
        rows=int(overview["log_rows"].sum()),
        degraded=tuple(degraded),
        share=shape.share(scope),
        drawn=int(overview["drawn"].sum()),
        retrievals=totals["retrievals"],
        complete=totals["complete"],
        truncated=totals["truncated"],
        repeated=totals["repeated"],
        unusable=totals["unusable"],
    )


def figures(  # noqa: PLR0917 - what the page knows
    now: Totals, then: Totals, judged: Mapping[str, Compared], scope: Scope, as_of: datetime, share: float = WHOLE
) -> None:
    """Totals of the scope, each with its change since the window before; those of a part of the log with a sign.

    A count of a window whose last day is not over is held against whole days, and says so; a share is not the less for
    it.
    """
    is_over = as_of >= scope.until
    about = "" if share >= WHOLE else "≈ "
    new = f"{now['new_observations']:+,.0f} new" if now["new_observations"] else "none new"
    retrieved = _change(now["retrievals"], then["retrievals"], is_over=is_over)
    shown = (
        ("Observations", number(now["observations"]), new, glossary.OBSERVATIONS),
        ("Retrievals", about + number(now["retrievals"]), retrieved, glossary.RETRIEVALS),
        ("Top 5 changed", *_share(now, then, "moved", "measured", share), glossary.top_changed(TOP)),
    )
    meant = (
        ("Accepted", percent(now["accepted"], now["judged"]), judged.get("accepted"), glossary.ACCEPTED),
        (
            "Log coverage",
            about + percent(now["complete"], now["retrievals"]),
            judged.get("coverage"),
            glossary.LOG_COVERAGE,
        ),
    )
    figures = [Figure(label, value, beside, explained, arrow=True) for label, value, beside, explained in shown]
    figures += [
        Figure(
            label,
            value,
            _beside(found),
            explained if found is None else glossary.with_dip(explained, dip(found)),
            colour="off" if found is None else colour(found),
            arrow=True,
        )
        for label, value, found, explained in meant
    ]
    in_a_row(figures)
    messages.compared(then["retrievals"], scope.days, "" if is_over or retrieved is None else f" {_so_far(as_of)}")


def _beside(found: Compared | None) -> str | None:
    """The change of a share of which less is worse, in the words that Health has for it, as short as a card."""
    return None if found is None or found.change is None else change(found).lstrip("▲▼= ").replace(DIP, SHORT_DIP)


def table(shown: pd.DataFrame, every: int) -> None:
    """One row per organization; its button moves the scope there, and each cell of the matrix opens its page."""
    if every > len(shown):
        st.caption(f"The {number(len(shown))} most active of {number(every)} organizations; the figures count all.")
    orgs = tuple(shown["id"])
    grid(
        shown,
        hide_index=True,
        row_height=38,
        key="organizations",
        column_config={
            "organization": st.column_config.TextColumn("Organization", width=matrix.NAME, pinned=True),
            **matrix.columns(orgs),
            "open": enter_column(orgs),
            "retrievals": st.column_config.NumberColumn(
                "Retrievals", width=78, format="localized", help=glossary.RETRIEVALS
            ),
            "changed": st.column_config.ProgressColumn(
                "Top 5 changed", width=98, format="%.3g %%", min_value=0, max_value=100, help=glossary.top_changed(TOP)
            ),
            "outcomes": st.column_config.TextColumn("Outcomes", width=82, help=glossary.OUTCOMES),
            "by day": st.column_config.BarChartColumn(
                "By day",
                width=100,
                y_min=0,
                color=UP,
                help=glossary.RETRIEVALS_BY_DAY,
            ),
            "observations": st.column_config.NumberColumn(
                "Observations", width=95, format="localized", help=glossary.OBSERVATIONS
            ),
            "id": st.column_config.TextColumn("Id", width=90),
        },
    )
    st.caption(matrix.explained(list(shown["accepted"]), every))


def listed(overview: pd.DataFrame) -> pd.DataFrame:
    """The most active organizations, as many as the table shows."""
    return overview.head(SHOWN)


def told(  # noqa: PLR0917 - what the page asked
    now: pd.DataFrame, then: pd.DataFrame, daily: pd.DataFrame, features: pd.DataFrame, scope: Scope, share: float
) -> tuple[Sums, pd.DataFrame]:
    """What the figures say, the sums of both windows and how shares changed; and the rows of the table."""
    changed = changes(now, then, listed(now)["org_id"], share, scope)
    return (totals(now), totals(then), changed.together), _rows(now, changed.each, daily, features, scope)


def _rows(
    overview: pd.DataFrame,
    accepted: Mapping[str, Compared],
    daily: pd.DataFrame,
    features: pd.DataFrame,
    scope: Scope,
) -> pd.DataFrame:
    """What the table shows: the most active organizations, and what the matrix says of each."""
    overview = listed(overview)
    states = _states(features)

    def share(part: str, whole: pd.Series[float]) -> pd.Series[float]:
        return 100 * (overview[part].astype("float64") / whole.where(whole > 0)).astype("float64")

    def flag(org: str, name: str) -> str:
        found = states.get(org)
        if found is None:
            return MISSING
        if found.malformed:
            return f"unreadable: {found.malformed}"
        return known_flag(name).makes(as_state(found.state(name) or "absent"))

    found = matrix.cells(overview, accepted, scope)
    flags = {
        name: [flag(org, key) for org in overview["org_id"]]
        for name, key in (("weighting", WEIGHTING_OFF), ("boost", BOOST_ON))
    }
    buttons = matrix.as_buttons({name: (found | flags)[name] for name in matrix.CELLS})
    return pd.DataFrame(
        {
            "organization": overview["name"],
            **buttons,
            **({"open": "Open"} if scope.org is None else {}),
            # of a log that is drawn from: none was drawn, and there are some
            "retrievals": overview["retrievals"].mask((overview["retrievals"] == 0) & overview["newest"].notna()),
            "changed": share("moved", overview["measured"].astype("float64")),
            "outcomes": [
                _mix(*counts) for counts in overview[["accepted", "rework", "rejected"]].itertuples(index=False)
            ],
            "by day": by_day(daily, overview["org_id"], scope),
            "observations": overview["observations"],
            "id": overview["org_id"],
        }
    )


def _states(features: pd.DataFrame) -> dict[str, FlagStates]:
    stored = zip(features["org_id"], features["features"], strict=True)
    return {org: flag_states(None if pd.isna(found) else found) for org, found in stored}


def _mix(*counts: int) -> str:
    judged = sum(counts)
    return " / ".join(f"{100 * count / judged:.0f}" for count in counts) if judged else MISSING


def _so_far(as_of: datetime) -> str:
    return f"So far: today's retrievals count until {as_of:%H:%M} UTC, those before are of whole days."


def _change(now: float, then: float, *, is_over: bool) -> str | None:
    if not then:
        return None
    return f"{digits(100 * (now - then) / then, 2, signed=True)} %{'' if is_over else ' so far'}"


def _share(now: Totals, then: Totals, part: str, whole: str, share: float = WHOLE) -> tuple[str, str | None]:
    """A share and its change; ``share`` of the counts were seen, and of few of them a change may be chance."""
    shown = percent(now[part], now[whole])
    about = "" if share >= WHOLE else "≈ "
    if not now[whole] or not then[whole]:
        return about + shown, None
    change = 100 * (now[part] / now[whole] - then[part] / then[whole])
    if abs(change) < SMALLEST_CHANGE:
        return about + shown, same(shown, percent(then[part], then[whole])).lstrip("= ")
    seen, past = ((round(each[part] * share), round(each[whole] * share)) for each in (now, then))
    told = points(change)
    return about + shown, unclear(told) if is_chance(seen, past) else told
