"""What stands around the Inspector's picture: how it was made, the list, the row that was opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from analysis.inspector.inspection import before_budget, text_of
from analysis.inspector.listing import listed
from analysis.inspector.neighbours import neighbours
from controls import address, messages
from controls.exactly import all_digits
from controls.glossary import inspector as glossary
from controls.grid import WRAPPED, grid
from controls.inspector import applied
from controls.links import clicked, observation_address
from controls.messages import climbed, counted
from controls.opening import choose_to_open
from controls.verbatim import verbatim
from queries.scope import marked
from ranking.pair_scorer import ScorerUsed

if TYPE_CHECKING:
    from collections.abc import Container

    from streamlit.delta_generator import DeltaGenerator

    from analysis.inspector.neighbours import Neighbour
    from controls.inspector.pipeline import Chosen
    from controls.inspector.question import Asked
    from ranking.flips import Flip
    from retrieval.retrieve import Retrieval

FEW_FLIPS = 3
ROW, WHOLE = 36, 15  # pixels of a row of the list, and how many rows it shows without scrolling
NARROWEST = 265  # pixels that the settings need to be read; where a third of the width is less, they go below
TALL = 560  # pixels of the settings, about as high as the picture beside them
BESIDE_DIGITS = 190  # pixels that a third of the width leaves beside the toggle
SINCE = r"^№ \d+ stands above № \d+ since "  # the column's name says as much
FORMULAS = r" \(.*"  # they would not fit, and stand with a row that is opened
NONE_BELOW = "nothing stands below it"
# how candidates were recalled, as an operator would say it
WAYS = {"plain": "by the full vector", "routes": "by eight routes", "legs": "by vector and keywords"}


def beside_settings(ignored: list[str], panels: Container[str]) -> tuple[DeltaGenerator, DeltaGenerator]:
    """The place of the picture and that of the pipeline's settings: beside it, or below it in a narrow window.

    What the address says and nobody could read is told above both.
    """
    named = address.said("show")
    unknown = address.not_understood({"show": ("Panel", named if named in panels else None)})
    messages.ignored_in_link([*ignored, *unknown])
    thirds = st.grid(3, min_column_width=NARROWEST)
    picture = thirds.cell(column_span=2).container(key="picture")
    return picture, thirds.cell().container(key="pipeline").container(height=TALL, border=True)


def places(panel: str | None, opened: str | None) -> tuple[DeltaGenerator, DeltaGenerator]:
    """The place of a panel and that of the row that was opened.

    The list stays where it is, and a row stands beside it: above, it would push away what was clicked; below, one
    would have to look for it.
    """
    if panel != "list":
        row = st.container()
        return st.container(), row
    thirds = st.grid(3, min_column_width=NARROWEST)
    return thirds.cell(column_span=3 if opened is None else 1), thirds.cell(column_span=3 if opened is None else 2)


def strip(found: Retrieval, asked: Asked, chosen: Chosen) -> None:
    """One line on how the figures came about; what is degraded stands first, in ochre with a sign; or why none are."""
    if found.failed is not None:
        messages.not_looked_up(found.failed)
        return
    # The sentences are our own, but one may name a model of somebody's settings: nothing of it becomes markup.
    for reason in found.degraded:
        with st.container(horizontal=True, wrap=False, gap="xsmall", vertical_alignment="top"):
            st.markdown(":orange[:material/warning:]", width="content")
            st.text(f"{reason[:1].upper()}{reason[1:]}".replace("`", ""), width="stretch")
    scorer = "" if found.scorer_used is ScorerUsed.NONE else f" · pairs scored by {_scorer(found.scorer_used)}"
    recalled = f"{counted(len(found.ranking.candidates), 'candidate')} recalled {_way(found.way)}"
    packed = f"{len(found.block.ids)} in the block, {found.block.tokens:,} of {found.block.budget:,} tokens"
    packed = f"{packed}, {applied.budget(asked, chosen)}"
    st.caption(f"As of {found.at:%-d %b %H:%M} UTC · {recalled} · {packed}{scorer} · nothing is recorded")
    if (told := applied.weighting(asked, chosen)) is not None:
        st.markdown(f":small[:orange[:material/warning:] {told}]")
    if not len(found.ranking.candidates):
        messages.nothing_recalled()


def _way(way: str) -> str:
    return "by keywords alone" if way.endswith(" by keyword") else WAYS.get(way, f"by {way}")


def _scorer(used: ScorerUsed) -> str:
    return {"degraded_lexical": "words as said above"}.get(used.value, used.value)


def opened() -> str | None:
    """The candidate that the address opens."""
    return address.said("obs")


def line_clicked() -> None:
    """Open the candidate whose line was clicked, by its id."""
    points = st.session_state["bump"]["selection"]["points"]
    if points and points[0].get("customdata"):
        open_candidate(str(points[0]["customdata"][0]))


def open_candidate(label: str) -> None:
    """Put a candidate into the address."""
    address.say(obs=label)


def close() -> None:
    """Open no candidate."""
    address.say(obs=None)


def heading(found: Retrieval, label: str) -> None:
    """What was opened: its place, its id and what it says, verbatim; ways to its whole life and back to the list."""
    ranked = before_budget(found).ids()
    place = f"№ {ranked.index(label) + 1} of {len(ranked)}" if label in ranked else "Dropped"
    with st.container(horizontal=True, vertical_alignment="center"):
        st.text(f"{place} · {label}")
        st.page_link(
            "observation.py", label="Its whole life", icon=":material/article:", query_params=observation_address(label)
        )
        st.button("Close", key="close_row", type="tertiary", icon=":material/close:", on_click=close)
    verbatim(text_of(found, label))


def bars(frame: pd.DataFrame) -> None:
    """The waterfall in words and numbers, all digits on demand."""
    exact = all_digits("bar_digits")
    shown = pd.DataFrame(
        {
            "stage": frame["stage"],
            "delta": [repr(value) for value in frame["exact_delta"]] if exact else frame["delta"],
            "score": [repr(value) for value in frame["exact_score"]] if exact else frame["score"],
            "place": frame["place"],
            "how": frame["sentence"],
        }
    )
    wide = 170 if exact else 75
    grid(
        shown,
        hide_index=True,
        key="bars",
        height="content",
        row_height=WRAPPED,
        column_config={
            "stage": st.column_config.TextColumn("Stage", width=105),
            "delta": st.column_config.TextColumn("Change", width=wide, alignment="right"),
            "score": st.column_config.TextColumn("Score after", width=wide, alignment="right"),
            "place": st.column_config.NumberColumn("Place", width=55, help=glossary.PLACE_AFTER_STAGE),
            "how": st.column_config.TextColumn("How", width=285),
        },
    )


def beside(found: Retrieval, label: str | None) -> None:
    """The rows above and below the one opened, why they stand so, and how far they are from changing places."""
    for other in () if label is None else neighbours(found, label):
        where = f"Why № {other.place} stands above it" if other.above else f"Why it stands above № {other.place}"
        st.text(marked(f"{where}, {other.title}\n{other.why}."))
        st.caption(_distance(other))


def _distance(other: Neighbour) -> str:
    told = [] if other.untold is None else [other.untold]
    if other.flips:
        told.insert(0, "They change places at " + "; or ".join(map(_flip, other.flips[:FEW_FLIPS])) + ".")
    elif not told:
        told.append("No single knob of this pipeline makes the two change places.")
    return f"Flip distance: {' '.join(told)}"


def _flip(flip: Flip) -> str:
    return f"{flip.knob.value} {flip.needed:.3g} ({flip.change:+.3g} from {flip.current:.3g})"


def results(found: Retrieval, logged: pd.DataFrame | None) -> None:
    """The list, best first; a button opens a row by its id."""
    rows = listed(found, logged)
    # on one line however narrow, so that the list stays where it is when a row is opened beside it
    with st.container(horizontal=True, wrap=False, vertical_alignment="center"):
        exact = all_digits("list_digits")
        named = (f"{place} · {title}" for place, title in zip(rows["place"], rows["title"], strict=True))
        labels = dict(zip(rows["id"], named, strict=True))
        choose_to_open("choose_row", "a row", labels, open_candidate, width=BESIDE_DIGITS)
    shown = pd.DataFrame(
        {
            "open": ["▸ Open" if id_ == opened() else "Open" for id_ in rows["id"]],
            "place": rows["place"],
            "memory": rows["title"],
            "moved": [climbed(up) for up in rows["moved"]],
            "block": [_tick(given) for given in rows["injected"]],
            "score": [repr(score) if exact else f"{score:.3g}" for score in rows["score"]],
            "logged": [_logged_place(*each) for each in zip(rows["logged_place"], rows["written_since"], strict=True)],
            "given": [_tick(given) for given in rows["logged_injected"]],
            "why": rows["why"].str.replace(f"{SINCE}|{FORMULAS}", "", regex=True).fillna(NONE_BELOW),
            "routes": rows["routes"],
            "text": rows["content"],
            "id": rows["id"],
        }
    )
    if logged is None:
        shown = shown.drop(columns=["logged", "given"])
    grid(
        shown, hide_index=True, key="list", row_height=ROW, column_config=_columns(tuple(rows["id"]), exact=exact),
        height="content" if len(shown) <= WHOLE else ROW * WHOLE, placeholder=messages.MISSING,
    )  # fmt: skip
    if logged is not None:
        _lost(found, logged)


def _tick(given: Any) -> str | None:  # noqa: ANN401 - a truth of some library's, or none
    return None if pd.isna(given) else messages.TICK if given else ""


def _columns(ids: tuple[str, ...], *, exact: bool) -> dict[str, Any]:
    config = st.column_config
    return {
        "open": config.ButtonColumn("", width=56, type="tertiary", key="open_row", on_click=_row_clicked, args=(ids,)),
        "place": config.NumberColumn("Place", width=52, help=glossary.PLACE),
        "moved": config.TextColumn("Moved", width=57, help=glossary.MOVED),
        "block": config.TextColumn("In block", width=62, alignment="center"),
        "score": config.TextColumn("Score", width=180 if exact else 62, alignment="right"),
        "memory": config.TextColumn("Memory", width=253),
        "why": config.TextColumn("Why above the one below: the stage that decided", width=366, help=glossary.WHY_ABOVE),
        "routes": config.TextColumn("Found by", width=200, help=glossary.FOUND_BY),
        "logged": config.TextColumn("Logged place", width=105, alignment="right", help=glossary.LOGGED_PLACE),
        "given": config.TextColumn("Was given", width=80, alignment="center", help=glossary.WAS_GIVEN),
        "text": config.TextColumn("Text", width="large"),
        "id": config.TextColumn("Id", width="small"),
    }


def _logged_place(place: int | None, since: bool) -> str | None:  # noqa: FBT001 - a column's value
    return ("written since" if since else None) if place is None or pd.isna(place) else str(place)


def _row_clicked(ids: tuple[str, ...]) -> None:
    if (id_ := clicked("open_row", ids)) is not None:
        open_candidate(id_)


def _lost(found: Retrieval, logged: pd.DataFrame) -> None:
    now = set(found.ranking.candidates.ids.tolist())
    gone = len(set(logged["observation_id"]) - now)
    if gone:
        st.caption(f"{counted(gone, 'logged candidate')} would not be recalled now: deleted, inactive, or outranked.")


def choose_panel(labels: dict[str, str]) -> str:
    """The panel that the address shows; only its body runs."""
    named = address.said("show")
    st.session_state["pick_panel"] = named if named in labels else next(iter(labels))
    st.segmented_control(
        "Show", list(labels), format_func=labels.__getitem__, key="pick_panel", required=True,
        label_visibility="collapsed", on_change=_panel_picked, args=(next(iter(labels)),),
    )  # fmt: skip
    return str(st.session_state["pick_panel"])


def _panel_picked(first: str) -> None:
    picked = st.session_state["pick_panel"]
    address.say(show=None if picked == first else picked)
