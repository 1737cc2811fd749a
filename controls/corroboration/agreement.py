"""Corroboration's sliders, what stands behind its figures, and the figures. The address is the state."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from analysis.corroboration.agreement import BITS, Agreement, whole_time
from analysis.corroboration.clustered import Nearness, cliff, clustered
from analysis.corroboration.log import LoggedCandidates
from analysis.corroboration.vectors import COSINES, VectorLinks, Widths
from charts.agreement import threshold_sweep
from charts.look import QUIET
from controls import working
from controls.address import say
from controls.figures import WIDE, Figure, in_a_row
from controls.glossary import corroboration as glossary
from controls.knobs import Knob
from controls.messages import MISSING, counted, number, percent
from jobs.worker_pool import question_of
from ranking.clusters import Method

if TYPE_CHECKING:
    from analysis.corroboration.clustered import Clustered
    from analysis.corroboration.rows import ClusterRow
    from queries.scope import Scope

SWEEP = "corroboration_sweep"
KEPT, MOST_KEPT = "corroboration_kept", 5  # values of this session, a megabyte each
SMALL = "<span style='font-size: 13px; font-weight: normal'>"  # plotly's own tag; nothing of a tenant stands in it
METHOD = Knob(
    "method", "Compare by", tuple(map(str, Method)), str(Method.SIMHASH), glossary.NEAR_BY,
)  # fmt: skip
THRESHOLD = Knob(
    "bits", "SimHash threshold, bits", tuple(map(str, BITS)), "3", glossary.SIMHASH_BITS,
)  # fmt: skip
COSINE = Knob(
    "cos", "Minimum cosine", tuple(f"{cosine:.2f}" for cosine in COSINES), "0.94",
    glossary.LEAST_COSINE,
)  # fmt: skip
SCALE = Knob(
    "scale", "Boost scale", tuple(f"{step / 100:g}" for step in (0, 1, 2, 5, 8, 10, 15, 20, 30, 40, 60, 100)), "0.1",
    glossary.BOOST_SCALE,
)  # fmt: skip
KNOBS = (METHOD, THRESHOLD, COSINE, SCALE)
LOOSER = {Method.SIMHASH: "Raise the threshold", Method.EMBEDDING: "Lower the minimum cosine"}
STRICTER = {Method.SIMHASH: "Lower the threshold", Method.EMBEDDING: "Raise the minimum cosine"}
LABELS = {Method.SIMHASH: "SimHash", Method.EMBEDDING: "Embedding"}
UNKNOWN = {
    "corroboration_disputes": "contradictions are not known",
    "corroboration_log": "the window's log is not known",
    "corroboration_widths": "widths are not known",
}


def nearness() -> Nearness:
    """What the address says."""
    return Nearness(Method(METHOD.value), int(THRESHOLD.value), float(COSINE.value), float(SCALE.value))


def choose() -> None:
    """The sliders in a row that breaks on a narrow window, each with its documented default and a way back to all."""
    chosen = nearness()
    with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
        _draw(chosen)


def _draw(chosen: Nearness) -> None:
    METHOD.draw(st.segmented_control, format_func=lambda name: LABELS[Method(name)], required=True, width=200)
    for knob in (THRESHOLD if chosen.method is Method.SIMHASH else COSINE, SCALE):
        knob.draw(st.select_slider, width=240)
    st.button(
        "Reset", key="reset_corroboration", on_click=_reset, disabled=chosen == Nearness(),
        icon=":material/restart_alt:",
    )  # fmt: skip


def _reset() -> None:
    say(**dict.fromkeys(knob.name for knob in KNOBS))


def found(scope: Scope) -> Clustered | None:
    """The clusters as the sliders stand; None while the worker reads, which is then drawn.

    Everything that takes long is asked for at once, so that it is under way while the first figures are drawn.
    """
    chosen, whole = nearness(), whole_time(scope)
    by_vector = chosen.method is Method.EMBEDDING
    for task in ("corroboration", "corroboration_disputes", *(("corroboration_vectors",) if by_vector else ())):
        working.begin(task, {}, whole)
    working.begin("corroboration_log", {}, scope)
    said = latest("corroboration", whole, words="Reading the newest observations")
    if said is None:
        return None
    links = None
    if by_vector:
        vectors = latest("corroboration_vectors", whole, words="Comparing vectors")
        if vectors is None:
            return None
        links = VectorLinks.from_json(vectors)
    told = latest("corroboration_disputes", whole)
    widths = working.glance("corroboration_widths", {"cosine": chosen.cosine}, whole) if by_vector else None
    return clustered(Agreement.from_json(said), chosen, told, links, None if widths is None else Widths(widths))


def latest(task: str, scope: Scope, words: str | None = None) -> Any:  # noqa: ANN401 - JSON, as the task returned it
    """The value of a task; while a busy store's newer data are read, the one before, so that sliders go on moving.

    With ``words`` the very first value is waited for on the page.
    """
    kept: dict[str, Any] = st.session_state.setdefault(KEPT, {})
    question = question_of(task, {}, scope)
    told = working.wait(task, {}, scope, words=words) if words and question not in kept else None
    told = working.glance(task, {}, scope) if told is None and (not words or question in kept) else told
    if told is not None:
        kept[question] = told
        for oldest in list(kept)[:-MOST_KEPT]:
            del kept[oldest]
    return kept.get(question)


def documented(seen: Clustered, scope: Scope) -> Clustered:
    """The same observations clustered as they are live, whatever the sliders say: SimHash within 3 bits, scale 0.1."""
    if seen.nearness == Nearness():
        return seen
    return clustered(seen.agreement, Nearness(), latest("corroboration_disputes", whole_time(scope)))


def logged(scope: Scope) -> LoggedCandidates | None:
    """The candidates of the window's retrievals, once the worker has them."""
    told = latest("corroboration_log", scope)
    return None if told is None else LoggedCandidates.from_json(told)


def strip(seen: Clustered, log: LoggedCandidates | None, scope: Scope) -> None:
    """What stands behind the figures, and what is missing or still being looked for."""
    agreement, alarms = seen.agreement, []
    if agreement.set_apart:
        alarms.append(f"{counted(agreement.set_apart, 'observation')} left out: the weight is no number")
    if seen.without:
        alarms.append(f"{counted(seen.without, 'observation')} without a comparable vector")
    whole = whole_time(scope)
    for task, params, where in (
        ("corroboration_disputes", {}, whole),
        ("corroboration_log", {}, scope),
        ("corroboration_widths", {"cosine": seen.nearness.cosine}, whole),
    ):
        if (sentence := working.failure(task, params, where)) is not None:
            alarms.append(f"{UNKNOWN[task]}: {sentence}")
    read = f"the newest {number(len(agreement))} of " if agreement.truncated else ""
    active = agreement.active if agreement.truncated else len(agreement)
    facts = [
        f"as of {datetime.fromisoformat(agreement.as_of):%H:%M} UTC",
        f"{read}{counted(active, 'active observation')}, whatever the window",
    ]
    if log is not None:
        newest = f"the newest {number(log.retrievals)} of " if log.logged > log.retrievals else ""
        facts.append(f"{newest}{counted(log.logged, 'retrieval')} in the window")
    warned = [f":orange[:material/warning: {words}]" for words in alarms]
    st.markdown(" · ".join(f":small[{part}]" for part in (*warned, f":gray[{' · '.join(facts)}]")))


def figures(seen: Clustered, rows: list[ClusterRow], log: LoggedCandidates | None) -> None:
    """Five figures: how much is said again, by whom, against whom, and what of it reaches agents."""
    count, chained = len(rows), sum(row.chained for row in rows)
    independent = int(seen.independent.sum())
    disputed = None if seen.disputed is None else int(seen.disputed.sum())
    held = seen.clusters.corroborated_count
    shown = (
        (
            "Clusters",
            number(count),
            f"{number(chained)} chained" if seen.measured else "measuring width",
            glossary.CLUSTERS,
        ),
        (
            "Corroborated",
            number(held),
            f"{number(seen.independent_count)} by 2+ agents",
            glossary.CORROBORATED,
        ),
        ("Independent", number(independent), f"{number(count - independent)} self-repetition", glossary.INDEPENDENT),
        (
            "Disputed",
            number(disputed),
            "being looked for" if disputed is None else f"✕ {percent(disputed, count)} of clusters",
            glossary.DISPUTED,
        ),
        (
            "Boosted share",
            MISSING if log is None else percent(seen.boosted(log), log.retrievals),
            "being read" if log is None else f"{percent(log.boosted, log.retrievals)} as logged",
            glossary.BOOSTED_SHARE,
        ),
    )
    in_a_row((Figure(label, value, beside, explained) for label, value, beside, explained in shown), WIDE)


def sweep(seen: Clustered, log: LoggedCandidates | None) -> None:
    """What every threshold would find; a click on it sets the slider."""
    by_hash = seen.nearness.method is Method.SIMHASH
    knob, unit = (THRESHOLD, "SimHash threshold, bits") if by_hash else (COSINE, "least cosine")
    shares = [None] * len(seen.sweep) if log is None else seen.shares(log)
    points = pd.DataFrame(
        {
            "label": list(knob.options),
            "clusters": [point.clusters for point in seen.sweep],
            "alone": [len(seen.agreement) - point.clustered for point in seen.sweep],
            "largest": [point.largest for point in seen.sweep],
            "share": pd.Series([share if seen.nearness.scale else None for share in shares], dtype="float64"),
        }
    )
    steep = cliff(seen.sweep)
    now = knob.options.index(knob.value)
    st.plotly_chart(
        threshold_sweep(points, now, steep, unit, _finding(points, now, steep)),
        key=SWEEP,
        on_select=sweep_clicked,
        selection_mode="points",
        config=QUIET,
        alt="Clusters, observations alone, largest cluster and boosted retrievals at every threshold; click to set it",
    )


def _finding(points: pd.DataFrame, now: int, steep: int | None) -> str:
    here = points.iloc[now]
    told = f"{counted(int(here['clusters']), 'cluster')} at {unit(str(here['label']))}"
    if steep is None:
        return f"{told}<br>{SMALL}no threshold lets one cluster swallow the rest</span>"
    before, after = points.iloc[steep - 1], points.iloc[steep]
    grows = f"the largest grows from {number(before['largest'])} to {number(after['largest'])} between"
    return f"{told}<br>{SMALL}{grows} {before['label']} and {after['label']}</span>"


def unit(label: str) -> str:
    """A threshold with its unit: bits are whole numbers, cosines are not."""
    return f"cosine {label}" if "." in label else counted(int(label), "bit")


def sweep_clicked() -> None:
    """Turn the slider to the threshold that was clicked."""
    points: list[Any] = st.session_state[SWEEP]["selection"]["points"]
    named = [point["customdata"] for point in points if point.get("customdata")]
    if named:
        (THRESHOLD if nearness().method is Method.SIMHASH else COSINE).say(str(named[0][0]))
