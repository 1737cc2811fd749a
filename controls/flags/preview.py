"""What a change of a flag would have done to the retrievals of the last days, before anyone makes it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from analysis.corroboration.shadow import GATES, gates_of_ranks
from analysis.replay.sensitivity import SAFE
from controls import glossary, working
from controls.corroboration.gates import failure
from controls.grid import grid
from controls.links import Heading
from controls.loading import flip_preview
from controls.messages import MISSING, digits, number, percent
from controls.scope import last_days_address
from queries.errors import StoreError
from queries.flags.registry import known_flag
from queries.scope import Scope, isolated
from retrieval.pipelines import BOOST_ON

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from analysis.corroboration.shadow import Gate
    from analysis.flags import Organization
    from queries.flags.registry import State
    from queries.scope import Reach

ALL_GATES = f"All {GATES} gates stand in *Go or no-go*, on the page Corroboration."
AGAIN = "Ranking the logged retrievals again"
FEW = 3  # organizations whose previews a page makes itself; more are the worker's
MEANWHILE = "no preview: the flag was changed meanwhile"
SAME = "means the same: no effect on ranking"
RESTORES = "nothing was retrieved under the present state yet: going back restores what was ranked until then"
UNTRIED = "none of these retrievals was made under the present state: the effect of leaving it is unknown"
COLUMNS = {  # with widths in pixels that a window of 900 has room for, 544 in all
    "organization": Heading("Organization", 114),
    "change": Heading("Change", 88),
    "top": Heading("Top 5 changed", 106, explained=glossary.TOP_CHANGED_REPLAYED),
    "per_100": Heading("Flips per 100", 101, explained=glossary.FLAG_PREVIEW),
    "rbo": Heading("RBO", 55, explained=glossary.RBO),
    "replayed": Heading("Replayed", 80, explained=glossary.REPLAYED_OF_LOGGED),
}


@dataclass(frozen=True)
class Foreseen:
    """One organization's preview: its figures as the audit keeps them, or why there are none."""

    figures: Mapping[str, Any] | None = None
    note: str | None = None


def previews(reach: Reach, orgs: list[Organization], flag: str, new: State, days: int) -> dict[str, Foreseen] | None:
    """A preview per organization; None while a worker is still at those of many, which is then drawn."""
    if len(orgs) > FEW:
        return _of_many(reach, orgs, flag, new, days)
    with st.spinner(AGAIN, show_time=True):
        return {org.id: foresee(reach, org.id, flag, (org.cells[flag].state, new), days) for org in orgs}


def foresee(reach: Reach, org: str, flag: str, change: tuple[State, State], days: int) -> Foreseen:
    """One organization's preview; a state that amounts to the present one needs none."""
    old, new = change
    if _same(flag, old, new):
        return Foreseen(note=SAME)
    try:
        return _told(flip_preview(last_days(reach, days, org), flag, old).to_json(), flag, new)
    except StoreError as error:
        return Foreseen(note=f"no preview: {error.sentence}")


def last_days(reach: Reach, days: int, org: str | None = None) -> Scope:
    """Whole days with today, as the sidebar's window has them: go or no-go on the same days then counts the same."""
    today = datetime.now(UTC).date()
    return Scope.of_days(reach, today - timedelta(days=days - 1), today, org)


def _of_many(reach: Reach, orgs: list[Organization], flag: str, new: State, days: int) -> dict[str, Foreseen] | None:
    """The same in one run of the worker, which can be stopped: then a change goes without."""
    seen = {org.id: org.cells[flag].state for org in orgs if not _same(flag, org.cells[flag].state, new)}
    params, scope = {"flag": flag, "seen": seen}, last_days(reach, days)
    # kept for the hour whatever is logged meanwhile: begun anew between preview and confirmation, a click would be lost
    version = f"{datetime.now(UTC):%Y-%m-%dT%H}"
    found = working.wait("flag_flips", params, scope, words=AGAIN, version=version) if seen else {}
    if found is None:
        why = working.given_up("flag_flips", params, scope)
        if why is None:
            return None
        found = {org: {"failed": why} for org in seen}
    told = {org: _read(each, flag, new) for org, each in found.items()}
    return {org.id: told.get(org.id, Foreseen(note=SAME)) for org in orgs}


def _read(found: Mapping[str, Any], flag: str, new: State) -> Foreseen:
    return Foreseen(note=f"no preview: {found['failed']}") if "failed" in found else _told(found["figures"], flag, new)


def _same(flag: str, old: State, new: State) -> bool:
    return known_flag(flag).is_on(old) == known_flag(flag).is_on(new)


def _told(figures: Mapping[str, Any], flag: str, new: State) -> Foreseen:
    # the replay reads the flag itself: by then it may be another than was shown here
    turned = known_flag(flag).effect(new).startswith(figures["effect"])
    return Foreseen(figures) if turned else Foreseen(note=MEANWHILE)


def show_previews(orgs: list[Organization], flag: str, new: State, found: dict[str, Foreseen], days: int) -> None:
    """One row per organization, old to new, with what the flip would have changed."""
    rows = [
        {
            "organization": org.name,
            "change": f"{org.cells[flag].state} → {new}",
            **in_figures(found[org.id].figures),
        }
        for org in orgs
    ]
    grid(
        pd.DataFrame(rows)[list(COLUMNS)],
        hide_index=True,
        key="flag_previews",
        column_config={
            name: st.column_config.TextColumn(heading.label, width=heading.width, help=heading.explained)
            for name, heading in COLUMNS.items()
        },
    )
    _say_notes(orgs, found)
    st.caption(glossary.FLAG_PREVIEW)
    judge(flag, new, {org.id: found[org.id].figures for org in orgs}, days)


def _say_notes(orgs: list[Organization], found: dict[str, Foreseen]) -> None:
    """What keeps previews from being whole, each reason once with whom it is true of: a cell would cut it."""
    whose: dict[str, list[str]] = {}
    for org in orgs:
        if said := found[org.id].note or note(found[org.id].figures):
            whose.setdefault(said, []).append(isolated(org.name))
    for said, names in whose.items():
        st.text(f"{', '.join(names)}: {said}", width="stretch")


def judge(flag: str, new: State, foreseen: Mapping[str, Mapping[str, Any] | None], days: int) -> None:
    """What the preview says of go or no-go and the way to all of it: for the boost, switched on for one organization.

    Of any other change, whether it is a large one.

    ``foreseen`` has the figures of each organization that is changed.
    """
    if flag != BOOST_ON or new != "on" or len(foreseen) != 1:
        _say_size(foreseen.values())
        return
    ((org, figures),) = foreseen.items()
    _say_gates(gates_told(flag, new, figures))
    st.page_link(
        "corroboration.py",
        label="Is that good enough? Go or no-go, gate by gate",
        icon=":material/rule:",
        query_params={"org": org, "show": "shadow"} | last_days_address(days),
    )


def gates_told(flag: str, new: str, figures: Mapping[str, Any] | None) -> tuple[Gate, ...]:
    """The gates that a preview measures itself, three of the five; none where it is not the boost switched on."""
    if flag != BOOST_ON or new != "on" or figures is None or not figures.get("retrievals") or untried(figures):
        return ()
    return gates_of_ranks(figures["retrievals"], figures["entered"] + figures["left"], figures["top_changed"])


def _say_gates(found: tuple[Gate, ...]) -> None:
    """Where one of them fails, that decides."""
    if not found:
        return
    failed = [failure(gate) for gate in found if gate.holds is False]
    if failed:
        st.error(
            f"No-go on these days: {len(failed)} of the {len(found)} gates that a preview can tell "
            f"{'fails' if len(failed) == 1 else 'fail'}: {'; '.join(failed)}. {ALL_GATES}",
            icon=":material/block:",
        )
    else:
        st.caption(
            f"The {len(found)} gates that a preview can tell hold: enough retrievals, flips, top 5 kept. What "
            f"remains is self-repetition and disputes. {ALL_GATES}"
        )


def _say_size(told: Collection[Mapping[str, Any] | None]) -> None:
    """A change that alters more than a boost may alter is large, whichever flag makes it."""
    known = [each for each in told if each is not None and each["retrievals"] and not untried(each)]
    large = [each for each in known if each["top_changed"] > (1 - SAFE) * each["retrievals"]]
    if not large:
        return
    one = len(told) == 1
    share = percent(large[0]["top_changed"], large[0]["retrievals"]) if one else f"more than {100 * (1 - SAFE):.0f} %"
    where = "" if one else f" in {number(len(large))} of {number(len(told))} organizations"
    st.warning(
        f"A large change: {share} of the retrievals would begin with another top 5{where}.", icon=":material/swap_vert:"
    )


def in_figures(figures: Mapping[str, Any] | None) -> dict[str, str]:
    """The figures of a preview or of what came of it, as they are shown."""
    if figures is None or "retrievals" not in figures:
        return dict.fromkeys(("replayed", "top", "flips", "per_100", "rbo"), MISSING)
    replayed, flips = figures["retrievals"], figures["entered"] + figures["left"]
    counted = {"replayed": f"{number(replayed)} of {number(figures['logged'])}"}
    if untried(figures):
        return counted | dict.fromkeys(("top", "flips", "per_100", "rbo"), MISSING)
    return counted | {
        "top": percent(figures["top_changed"], replayed),
        "flips": number(flips) if replayed else MISSING,
        "per_100": digits(100 * flips / replayed if replayed else None),
        "rbo": MISSING if figures["rbo"] is None else f"{figures['rbo']:.3f}",
    }


def untried(figures: Mapping[str, Any] | None) -> bool:
    """Whether the log knows nothing of the present state; an older audit does not say, nor does what was realised."""
    return figures is not None and bool(figures.get("retrievals")) and figures.get("present") == 0


def note(figures: Mapping[str, Any] | None) -> str:
    """What keeps a preview from being whole."""
    if figures is None:
        return ""
    if not figures["logged"]:
        return "nothing was logged in these days: the effect is unknown"
    if untried(figures):
        return UNTRIED
    return "; ".join(f"{number(count)} not replayed: {reason}" for reason, count in figures["reasons"] if count)


def in_a_line(figures: Mapping[str, Any] | None, days: int, *, unused: bool = False) -> str:
    """A preview on so many days in one line, for the list that is confirmed.

    ``unused`` is a state that nothing was retrieved under, and that is left for the one before it.
    """
    told = in_figures(figures)
    if untried(figures):
        return f"Preview: {RESTORES if unused else UNTRIED}"
    if told["per_100"] == MISSING:
        return "Effect on ranking: none, or unknown"
    measured = f"{told['per_100']} flips per 100 retrievals, top 5 changed in {told['top']}"
    return f"Preview on the {told['replayed']} retrievals of the last {days} days: {measured}"
