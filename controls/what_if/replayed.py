"""What a replay found: coverage, figures, flips with their texts, worst and fragile retrievals."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from analysis.replay.pool import REASONS
from analysis.replay.settings import WhatIf
from charts.flips import movers
from charts.look import QUIET
from controls import glossary, links, loading
from controls.figures import Figure, in_a_row
from controls.grid import WRAPPED, grid
from controls.messages import GONE, MISSING, counted, digits, number, percent
from controls.opening import choose_to_open
from controls.what_if.knobs import AS_LOGGED, OFF
from queries.replay.shown import ShownObservations, ShownRetrievals
from queries.retrievals import TOP

if TYPE_CHECKING:
    from collections.abc import Iterable

    from analysis.replay.pool import Coverage
    from analysis.replay.replaying import Replay
    from analysis.replay.sensitivity import SensitivityMap
    from queries.scope import Scope

VS_LOG = f"Top {TOP} vs. log"  # elsewhere a top 5 that changed is one that feedback changed
LEAST = 1e-6
CONTINUING = frozenset({"beyond", "incomplete"})


def coverage(found: Coverage, as_of: str) -> None:
    """When the log was read, how much of it the figures stand on, and why the rest is missing."""
    lost = [f":orange[:material/warning: {_lost(name, count)}]" for name, count in found.reasons]
    share = percent(found.replayed, found.logged)
    facts = (
        f"as of {datetime.fromisoformat(as_of):%H:%M} UTC · coverage {share}: {number(found.replayed)} of "
        f"{counted(found.logged, 'logged retrieval')} replayed"
    )
    st.markdown(" · ".join(f":small[{part}]" for part in (*lost, f":gray[{facts}]")), help=glossary.REPLAY)


def _lost(name: str, count: int) -> str:
    """How many were lost for a reason, which goes on with the sentence or says what is so of each."""
    return f"{counted(count, 'retrieval')}{' ' if name in CONTINUING else ': '}{REASONS[name]}"


def figures(found: Replay) -> None:
    """Five figures of the replayed retrievals."""
    count = found.coverage.replayed
    shown = (
        ("Order changed", percent(found.changed, count), counted(found.changed, "retrieval"), glossary.ORDER_CHANGED),
        (
            VS_LOG,
            percent(found.top_changed, count),
            counted(found.top_changed, "retrieval"),
            glossary.TOP_CHANGED_REPLAYED,
        ),
        ("Mean RBO", digits(found.rbo), None, glossary.RBO_WITH_LOGGED),
        ("Mean τ-b", digits(found.tau), None, glossary.TAU_WITH_LOGGED),
        (
            "Flips per 100",
            digits(100 * (found.entered + found.left) / count if count else None),
            f"▲ {number(found.entered)} ▼ {number(found.left)}",
            glossary.FLIPS_REPLAYED,
        ),
    )
    in_a_row(Figure(label, value, beside, explained) for label, value, beside, explained in shown)


def awaited() -> None:
    """Coverage and figures while they are not known, as tall as they will be: what stands below keeps its place."""
    st.markdown(":small[:gray[not replayed yet under these settings]]", help=glossary.REPLAY)
    names = ("Order changed", VS_LOG, "Mean RBO", "Mean τ-b", "Flips per 100")
    in_a_row(Figure(name, MISSING, "not replayed", glossary.REPLAY) for name in names)


def beside_feedback_impact(settings: WhatIf) -> None:
    """Why flips are not as many as there, where both ask what feedback did: weighting off, and all else as logged."""
    if settings == WhatIf(weighting=False):
        st.caption(glossary.FLIPS_COUNTED_APART)


def cells(found: SensitivityMap) -> pd.DataFrame:
    """The map's cells under the names that the knobs have for them."""
    return pd.DataFrame(
        {
            "lam": [OFF if cell.lam is None else f"{cell.lam:g}" for cell in found.cells],
            "boost": [AS_LOGGED if cell.boost is None else f"{cell.boost:g}" for cell in found.cells],
            "flips": [cell.flips for cell in found.cells],
            "kept": [cell.kept for cell in found.cells],
        }
    )


def flips(found: Replay, scope: Scope) -> None:
    """What enters and leaves blocks, with the texts."""
    if not found.flips:
        st.caption(
            "No observation enters or leaves a block under these settings."
            + (" They are as logged: turn a knob, or click a cell of the map." if found.what_if.as_logged else "")
        )
        return
    texts = _texts(scope, [*(flip.observation for flip in found.flips), *(mover.observation for mover in found.movers)])
    frame = pd.DataFrame([vars(mover) for mover in found.movers])
    frame["text"] = [texts.get(id_, GONE) for id_ in frame["observation"]]
    st.plotly_chart(
        movers(
            frame, f"Blocks gain {number(found.entered)} and lose {number(found.left)} observations: who moves most"
        ),
        key="movers",
        config=QUIET,
        alt="Observations that would enter and leave memory blocks most often",
    )
    rows = pd.DataFrame(
        {
            "open": "Open",
            "change": ["▲ enters" if flip.entered else "▼ leaves" for flip in found.flips],
            "rank": [f"{flip.before + 1} → {flip.after + 1}" for flip in found.flips],
            "text": [texts.get(flip.observation, GONE) for flip in found.flips],
            "observation": [flip.observation for flip in found.flips],
            "inspect": "Inspect",
            "retrieval": [flip.retrieval for flip in found.flips],
        }
    )
    total = found.entered + found.left
    if total > len(rows):
        st.caption(f"The {number(len(rows))} flips of the retrievals that change most, of {number(total)}.")
    with st.container(horizontal=True, gap="small"):
        said = dict(zip(rows["observation"], rows["text"], strict=True))
        choose_to_open("choose_flip", "an observation", said, links.open_observation)
        asked = _asked(scope, rows["retrieval"])
        of = {id_: asked.get(id_, GONE) for id_ in dict.fromkeys(rows["retrieval"])}
        choose_to_open("choose_flipped", "a retrieval", of, links.open_retrieval)
    grid(
        rows,
        hide_index=True,
        key="flips",
        column_config={
            "open": links.open_column("flips_open", tuple(rows["observation"]), "observation.py", "observation"),
            "inspect": links.open_column("flips_inspect", tuple(rows["retrieval"]), "inspector.py", "retrieval"),
            "change": st.column_config.TextColumn("In or out", width=85),
            "rank": st.column_config.TextColumn("Rank", width=80, help=glossary.RANK_REPLAYED),
            "text": st.column_config.TextColumn("Observation", width=520),
            "observation": st.column_config.TextColumn("Id", width=120),
            "retrieval": st.column_config.TextColumn("Retrieval", width=120),
        },
    )


def worst(found: Replay, scope: Scope) -> None:
    """The retrievals that change most, each with a way to its inspection."""
    if not found.worst:
        st.caption("No retrieval changes under these settings.")
        return
    asked = _asked(scope, [each.retrieval for each in found.worst])
    rows = pd.DataFrame([vars(each) for each in found.worst]).rename(columns={"retrieval": "id"})
    rows.insert(0, "query", [asked.get(id_, GONE) for id_ in rows["id"]])
    rows["id"] = rows.pop("id")  # last, which tells the least
    _retrievals(
        rows,
        "worst",
        {
            "rbo": st.column_config.NumberColumn("RBO", width=70, format="%.3f", help=glossary.RBO_WITH_LOGGED),
            "top_changed": st.column_config.CheckboxColumn(VS_LOG, width=105, help=glossary.TOP_CHANGED_REPLAYED),
            "entered": st.column_config.NumberColumn("▲ in", width=60),
            "left": st.column_config.NumberColumn("▼ out", width=60),
        },
    )


def fragile(found: Replay, scope: Scope) -> None:
    """The retrievals whose block one small change of a weight would alter."""
    held = found.fragile
    if held is None:
        st.caption("Not measured: under these settings the order is not by weighted score, so no weight decides a cut.")
        return
    st.caption(
        f"In {number(held.fragile)} of {counted(held.measured, 'retrieval')} with a cut "
        f"({percent(held.fragile, held.measured)}) a change of one weight by less than {held.epsilon:g} puts an "
        "observation from outside the block above one inside it. One verdict on a session moves a weight by up to 0.3."
    )
    if not held.nearest:
        return
    asked = _asked(scope, [each.retrieval for each in held.nearest])
    texts = _texts(scope, [id_ for each in held.nearest for id_ in (each.upper, each.lower)])
    rows = pd.DataFrame(
        {
            "query": [asked.get(each.retrieval, GONE) for each in held.nearest],
            "change": [weight_change(each.change) for each in held.nearest],
            "upper": [texts.get(each.upper, GONE) for each in held.nearest],
            "lower": [texts.get(each.lower, GONE) for each in held.nearest],
            "id": [each.retrieval for each in held.nearest],
        }
    )
    _retrievals(
        rows,
        "fragile",
        {
            "query": st.column_config.TextColumn("Question", width=115),
            "change": st.column_config.TextColumn("Weight change", width=100, help=glossary.WEIGHT_CHANGE),
            "upper": st.column_config.TextColumn("Inside", width=126),
            "lower": st.column_config.TextColumn("Outside", width=126),
        },
        row_height=WRAPPED,
    )


def weight_change(change: float) -> str:
    """How far a weight is from a flip: as much of it as can be read, for many are far below a hundredth."""
    return "0, a tie" if not change else "< 0.000001" if change < LEAST else f"{change:.6f}"


def _retrievals(rows: pd.DataFrame, key: str, more: dict[str, Any], row_height: int | None = None) -> None:
    """A table of retrievals; its button opens one in the inspector, by id, and so does a list above it."""
    labels = dict(zip(rows["id"], rows["query"], strict=True))
    choose_to_open(f"choose_{key}", "a retrieval", labels, links.open_retrieval)
    grid(
        rows.assign(open="Inspect")[["open", *rows.columns]],
        hide_index=True,
        key=key,
        row_height=row_height,
        column_config={
            "query": st.column_config.TextColumn("Question", width=330),
            "id": st.column_config.TextColumn("Retrieval", width=110),
            "open": links.open_column(f"{key}_open", tuple(rows["id"]), "inspector.py", "retrieval"),
            **more,
        },
    )


def _texts(scope: Scope, ids: Iterable[str]) -> dict[str, str]:
    frame = loading.load(ShownObservations(scope, tuple(sorted(set(ids))))).frames[0]
    return dict(zip(frame["id"], frame["text"], strict=True))


def _asked(scope: Scope, ids: Iterable[str]) -> dict[str, str]:
    frame = loading.load(ShownRetrievals(scope, tuple(sorted(set(ids))), loading.shape())).frames[0]
    return dict(zip(frame["id"], frame["query"], strict=True))
