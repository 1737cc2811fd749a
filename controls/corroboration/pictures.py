"""Corroboration's further pictures, the map and its area, sizes and boosts, and which clusters they leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from zlib import crc32

import pandas as pd
import streamlit as st

from analysis.corroboration.agreement import whole_time
from analysis.corroboration.rows import alone, marks
from analysis.corroboration.vectors import Places, inside
from charts.agreement import boost_curve, cluster_sizes
from charts.compared import shortened
from charts.look import QUIET, literal
from charts.observation_map import MARKS, observation_map
from controls import knobs
from controls.address import not_understood, said, say
from controls.corroboration.agreement import KNOBS, latest
from controls.corroboration.cluster import way_to_cluster
from controls.knobs import Knob
from controls.messages import counted, number, percent

if TYPE_CHECKING:
    from analysis.corroboration.clustered import Clustered
    from analysis.corroboration.rows import ClusterRow
    from queries.scope import Scope

SHOW = {"map": "Map", "sizes": "Sizes and boost"}
KINDS = {
    "": "All clusters",
    "independent": "● Independent",
    "repeated": "■ Self-repetition",
    "disputed": "✕ Disputed",
    "chained": "↔ Chained",
}
CORNERS = 40  # of an area in the address
TILES = {
    "top left": (0, 2), "top": (1, 2), "top right": (2, 2), "left": (0, 1), "middle": (1, 1), "right": (2, 1),
    "bottom left": (0, 0), "bottom": (1, 0), "bottom right": (2, 0),
}  # fmt: skip
AREA, WHOLE, DRAWN = "Area of the map", "whole map", "as drawn"
VERDICT = "shadow"  # go or no-go in the address
SHOWN, KIND = Knob("show", "Show", (*SHOW, VERDICT), "map"), Knob("kind", "Clusters", tuple(KINDS), "")
BESIDE = Knob("beside", "Show below go or no-go", tuple(SHOW), "map")
# A chart that a drag selects in hears no click: Streamlit takes one of the two.
MOUSES = {"click": "Click opens a cluster", "drag": "Drag lists an area"}
MOUSE = Knob("mouse", "Mouse on the map", tuple(MOUSES), "click")
MAP_HELP = {
    "click": "Click a mark to open its cluster.",
    "drag": "Drag around observations to list them; double-click to let go.",
}
Area = list[tuple[float, float]]


def pictured() -> str:
    """Which further picture is shown, by its name in the address; below go or no-go it has its own."""
    return SHOWN.value if SHOWN.value in SHOW else BESIDE.value


def ask_verdict() -> None:
    """Open go or no-go, the picture below it as it was."""
    say(**BESIDE.spoken(pictured()), **{SHOWN.name: VERDICT})


def close_verdict() -> None:
    """Leave go or no-go for the picture below it."""
    say(**SHOWN.spoken(pictured()), **{BESIDE.name: None})


def choose_show() -> str:
    """The further picture that is shown; choosing another leaves go or no-go as it is."""
    st.session_state["pick_picture"] = pictured()
    st.segmented_control(
        "Show", SHOW, format_func=SHOW.__getitem__, key="pick_picture", on_change=_show_picked, required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    return pictured()


def _show_picked() -> None:
    (BESIDE if SHOWN.value == VERDICT else SHOWN).say(st.session_state["pick_picture"])


def choose_kind() -> str:
    """Which clusters are listed and exported."""
    return KIND.choose(KINDS)


def ignored() -> list[str]:
    """What the address says about the sliders and pictures of this page and cannot be."""
    return [*knobs.ignored((*KNOBS, SHOWN, BESIDE, KIND, MOUSE)), *not_understood({"area": (AREA, area() or None)})]


def filtered(rows: list[ClusterRow], kind: str, within: set[str] | None) -> list[ClusterRow]:
    """The clusters of a kind, of those with a member in the area if there is one."""
    kept = [row for row in rows if within is None or row.canonical in within]
    if kind == "chained":
        return [row for row in kept if row.chained]
    if kind == "disputed":
        return [row for row in kept if row.disputed]
    return [row for row in kept if not kind or (row.agents > 1) == (kind == "independent")]


def area() -> Area:
    """The corners of the area in the address; none where it says none, or nonsense."""
    try:
        pairs = [corner.split(",") for corner in (said("area") or "").split(";") if corner]
        corners = [(float(x), float(y)) for x, y in pairs]
    except ValueError:
        return []
    sound = 3 <= len(corners) <= CORNERS and all(-1 <= value <= 2 for corner in corners for value in corner)  # noqa: PLR2004 - a polygon around the unit square
    return corners if sound else []


def say_area(corners: Area) -> None:
    """Put an area into the address, with as many corners as it takes to see its shape."""
    step = -(-len(corners) // CORNERS) if corners else 1
    say(area=";".join(f"{x:.3f},{y:.3f}" for x, y in corners[::step]) or None)


def places(scope: Scope) -> Places | None:
    """Where observations lie on the map; None while the worker projects them, which is then drawn."""
    told = latest("corroboration_map", whole_time(scope), words="Drawing the map")
    return None if told is None else Places.from_json(told)


def within(seen: Clustered, found: Places, corners: Area) -> list[int]:
    """The rows inside the area, newest first."""
    chosen = inside(found.x, found.y, corners).tolist()
    return sorted(
        seen.row_of[id_] for id_, is_in in zip(found.ids, chosen, strict=True) if is_in and id_ in seen.row_of
    )


def clusters_of(seen: Clustered, rows: list[int]) -> set[str]:
    """The clusters that have a member among some rows, by their canonicals' ids."""
    numbers = {int(seen.clusters.cluster[row]) for row in rows} - {-1}
    return {seen.agreement.ids[int(seen.clusters.canonical[number_])] for number_ in numbers}


def draw_map(
    seen: Clustered, rows: list[ClusterRow], found: Places, opened: str | None, said_by: dict[str, str]
) -> None:
    """The map, with a way to choose a part of it by keyboard."""
    corners = area()
    drawn = pd.DataFrame(
        [
            {**vars(mark), "text": literal(shortened(said_by.get(mark.cluster, ""), 70))}
            for mark in marks(seen, found, rows, MARKS)
        ],
        columns=["x", "y", "count", "kind", "cluster", "text"],
    )
    xs, ys = alone(seen, found)
    held = seen.clusters.corroborated_count
    title = f"{percent(held, len(seen.agreement))} of observations are marks: they are in a cluster"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        mouse = MOUSE.choose(MOUSES)
        _choose_tile(corners)
        if corners:
            st.button("Whole map", key="clear_area", on_click=say_area, args=([],), icon=":material/close:")
        if opened is not None:
            way_to_cluster()
    key = f"map_{mouse}_{crc32(repr((corners, opened, seen.agreement.as_of)).encode())}"  # a mark can be clicked again
    drags = mouse == "drag"
    st.plotly_chart(
        observation_map(pd.DataFrame({"x": xs, "y": ys}, dtype="float64"), drawn, opened, corners, title, drags=drags),
        key=key,
        on_select=_map_used(key),
        selection_mode=("box", "lasso") if drags else ("points",),
        config=QUIET,
        alt=f"Observations by likeness; those in a cluster are marked. {MAP_HELP[mouse]} Or choose a part above",
    )
    missing = len(seen.agreement) - len(found.ids)
    without = f" {counted(missing, 'observation')} without a comparable vector not drawn." if missing else ""
    st.caption(
        f"{MAP_HELP[mouse]} Two directions of the {found.by}, so near means alike; far can still be alike.{without}"
    )


def _choose_tile(corners: Area) -> None:
    options = (WHOLE, *TILES, *((DRAWN,) if corners and _tile(corners) is None else ()))
    st.session_state["pick_tile"] = WHOLE if not corners else _tile(corners) or DRAWN
    st.selectbox(AREA, options, key="pick_tile", on_change=_tile_picked, width=180)


def _tile_picked() -> None:
    name = st.session_state["pick_tile"]
    if name != DRAWN:
        say_area(_rectangle(name) if name in TILES else [])


def _rectangle(name: str) -> Area:
    x, y = TILES[name]
    sides = [round(side / 3, 3) for side in (x, x + 1, y, y + 1)]
    # the outermost points lie on the border itself
    left, right, low, high = (side + (0.01 if side == 1 else -0.01 if side == 0 else 0) for side in sides)
    return [(left, low), (right, low), (right, high), (left, high)]


def _tile(corners: Area) -> str | None:
    return next((name for name in TILES if _rectangle(name) == corners), None)


def _map_used(key: str) -> Any:  # noqa: ANN401 - a callback
    """What was drawn becomes the area; a mark that was clicked opens its cluster."""

    def used() -> None:
        chosen = st.session_state[key]["selection"]
        drawn = [list(zip(each["x"], each["y"], strict=True)) for each in chosen.get("lasso", [])]
        for each in chosen.get("box", []):
            (x0, x1), (y0, y1) = each["x"], each["y"]
            drawn.append([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])
        named = [point["customdata"][0] for point in chosen["points"] if point.get("customdata")]
        if drawn:
            say_area(drawn[-1])
        elif named and named[0]:
            say(cluster=str(named[0]))

    return used


def sizes_and_boost(seen: Clustered, rows: list[ClusterRow]) -> None:
    """How large clusters are, and what that is worth."""
    if not rows:
        st.caption("No cluster at this threshold.")
        return
    frame = pd.DataFrame([vars(row) for row in rows])
    pairs = int((frame["size"] == 2).sum())  # noqa: PLR2004 - a pair
    nothing = int((frame["independent_boost"] == 0).sum())
    row = st.container(horizontal=True, gap="medium")
    largest = number(frame["size"].max())
    row.plotly_chart(
        cluster_sizes(frame, f"{percent(pairs, len(frame))} of clusters are pairs, the largest has {largest}"),
        key="cluster_sizes",
        width=460,
        config=QUIET,
        alt="Clusters by number of members",
    )  # fmt: skip
    lost = f"by agents only, {number(nothing)} of {number(len(frame))} earn none"
    row.plotly_chart(
        boost_curve(frame, seen.nearness.scale, f"Up to +{frame['boost'].max():.3g}; {lost}"),
        key="boost_curve",
        width=460,
        config=QUIET,
        alt="Boost by number of other voices, and where clusters sit on it",
    )
