"""The present pipeline beside up to three others: the same question, at the same moment, with the live code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.inspector.compared import PipelineRun, compared, run_pipelines, runs_from_json
from charts.compared import shortened, side_by_side
from charts.look import QUIET
from controls import loading, working
from controls.glossary import inspector as glossary
from controls.grid import grid
from controls.inspector import agreement
from controls.inspector.agreement import LETTERS
from controls.inspector.presets import LABELS
from controls.knobs import Knob
from controls.links import open_column, open_observation
from controls.messages import MISSING
from controls.observations import PAGE
from controls.opening import choose_to_open
from controls.view import view
from queries.scope import Scope
from ranking.cross_encoder import CrossEncoder
from ranking.pipeline_text import PipelineError, from_text, to_text
from ranking.presets import PRESETS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from analysis.inspector.compared import Compared
    from controls.inspector.pipeline import Chosen
    from controls.inspector.question import Asked
    from retrieval.pipelines import Pipeline
    from retrieval.retrieve import Memory, Retrieval

    Fit = Callable[[Pipeline], Pipeline]

OTHERS = 3
K, MOST_K = 10, 50
# k is a knob of the pipeline in the address
TOP = Knob("top", "Top k", tuple(map(str, range(1, MOST_K + 1))), str(K), glossary.COMPARED_TOP_K)
CHIP = 44


@dataclass(frozen=True)
class ComparedWith:
    """What the address asks to compare with: pipelines by the text that named them, and what could not be read."""

    pipelines: dict[str, Pipeline]
    faults: tuple[str, ...]


def panel(found: Retrieval, asked: Asked, memory: Memory, present: Chosen) -> None:
    """Choose pipelines and k, then lists side by side, how far they agree, and what enters and leaves the block.

    Every pipeline is asked what the present one is: a preset is fitted to the same organization and work, and who says
    the same is counted within the same bits.
    """
    chosen, k = _choose(found, asked.fit)
    for fault in chosen.faults:
        st.text(fault)
    if not chosen.pipelines:
        st.caption("Choose a preset or paste a pipeline: its list appears beside this one's, with how far they agree.")
        return
    others = _others(found, memory, tuple(chosen.pipelines.values()), present.bits)
    if others is None:
        return
    result = compared((PipelineRun.of(found), *others), k)
    called = (present.name, *(_label(text) for text in chosen.pipelines))
    labels = [f"{letter} · {each}" for letter, each in zip(LETTERS, called, strict=False)]
    _trouble(result, labels)
    st.plotly_chart(
        side_by_side(_listed(result), labels, _notes(result), k, _finding(result)),
        key="compare_lists",
        config=QUIET,
        alt="The best observations of each pipeline side by side, lines joining the same observation",
    )
    st.caption(READING)
    agreement.figures(result, labels)
    _flips(result, labels)


def read_address(said: Sequence[str], fit: Fit = lambda stages: stages) -> ComparedWith:
    """The pipelines that ``vs`` names, each a preset or a pipeline's text, repeated or with commas between.

    A preset is fitted as the present pipeline was; a text means every number in it.
    """
    texts = list(dict.fromkeys(part.strip() for text in said for part in text.split(",") if part.strip()))
    pipelines: dict[str, Pipeline] = {}
    faults = []
    for text in texts:
        try:
            stages = fit(PRESETS[text.upper()]) if text.upper() in PRESETS else from_text(text)
        except PipelineError as error:
            presets = ", ".join(PRESETS)
            faults.append(f"Not compared: {shortened(text, CHIP)!r} is no preset ({presets}) and no pipeline: {error}.")
            continue
        if stages and stages not in pipelines.values():
            pipelines[text] = stages
    if len(pipelines) > OTHERS:
        faults.append(f"Not compared: expected {OTHERS} pipelines at most, found {len(pipelines)}.")
    return ComparedWith(dict(list(pipelines.items())[:OTHERS]), tuple(faults))


def _choose(found: Retrieval, fit: Fit) -> tuple[ComparedWith, int]:
    said = [part for text in st.query_params.get_all("vs") for part in text.split(",") if part.strip()]
    chosen, k = read_address(said, fit), int(TOP.value)
    picked = [LABELS.get(text.upper(), text) for text in list(dict.fromkeys(said))[: OTHERS + 1]]
    # The address is the state: the controls show it, and their callbacks change it.
    st.session_state["pick_vs"] = picked
    st.session_state["pick_k"] = k
    # Where new options may be typed, the browser sends back what it shows: the options are the labels themselves.
    presets = [LABELS[name] for name, stages in PRESETS.items() if fit(stages) != found.stages]
    left, right = st.columns((5, 1), vertical_alignment="bottom")
    left.multiselect(
        "Compare with",
        list(dict.fromkeys([*presets, *picked])),
        key="pick_vs",
        accept_new_options=True,
        max_selections=max(OTHERS, len(picked)),
        on_change=_picked_pipelines,
        placeholder="Presets, or a pipeline pasted as text",
        help=glossary.COMPARE_WITH,
    )
    right.number_input("Top k", 1, MOST_K, key="pick_k", on_change=_picked_k, help=glossary.COMPARED_TOP_K)
    return chosen, k


def _picked_pipelines() -> None:
    names = {label: name for name, label in LABELS.items() if name in PRESETS}
    picked = [names.get(label, label) for label in st.session_state["pick_vs"]]
    if picked:
        st.query_params["vs"] = ",".join(picked)
    else:
        st.query_params.pop("vs", None)


def _picked_k() -> None:
    TOP.say(str(st.session_state["pick_k"]))


def _label(text: str) -> str:
    """What a preset is called, or the stages of a pipeline's text."""
    if text.upper() in PRESETS:
        return LABELS[text.upper()]
    stages = from_text(text)
    return shortened(" → ".join(type(stage).__name__ for stage in stages), CHIP)


def _others(
    found: Retrieval, memory: Memory, pipelines: Sequence[Pipeline], bits: int | None
) -> tuple[PipelineRun, ...] | None:
    """The other runs: here where that takes milliseconds, else by the worker; None as long as it is at it."""
    neural = memory.scorer.neural and any(isinstance(stage, CrossEncoder) for stages in pipelines for stage in stages)
    session, scope = found.session, view().scope
    if not neural:
        asked = partial(loading.recollected, scope, session, found.query, at=found.at, bits=bits)
        return run_pipelines(memory, pipelines, asked)
    day = found.at.date()
    value = working.wait(
        "compare",
        {
            "query": found.query,
            "session": session.id,
            "project": session.project_id,
            "work_type": session.work_type,
            "pipelines": [to_text(stages) for stages in pipelines],
            "at": found.at.isoformat(),
            "bits": bits,
        },
        Scope.of_days(scope.reach, day, day, session.org_id),
        words="Comparing pipelines",
        version=loading.recall_version(scope.reach, *pipelines),
    )
    return None if value is None else runs_from_json(value)


def _listed(result: Compared) -> pd.DataFrame:
    rows = [
        (column, rank, id_, name, text, id_ in set(run.block))
        for column, run in enumerate(result.runs)
        for rank, (id_, name, text) in enumerate(zip(run.ids, run.names, run.texts, strict=True), 1)
    ]
    return pd.DataFrame(rows, columns=["column", "rank", "id", "name", "text", "in_block"])


def _notes(result: Compared) -> dict[int, str]:
    failed = {place: "could not be run" for place, run in enumerate(result.runs) if run.failed is not None}
    empty = {place: "found nothing" for place, run in enumerate(result.runs) if run.failed is None and not run.ids}
    return failed | empty


def _trouble(result: Compared, labels: Sequence[str]) -> None:
    """Which lists are missing or not what they should be, before anyone compares them."""
    told = [f"{label}: {run.failed}" for label, run in zip(labels, result.runs, strict=True) if run.failed is not None]
    told += [f"{label}: {what}" for label, run in zip(labels, result.runs, strict=True) for what in run.degraded]
    if told:
        st.markdown(":small[:orange[:material/warning: Failed or degraded]]", help=glossary.FAILED_OR_DEGRADED)
        st.text("\n".join(told))


def _finding(result: Compared) -> str:
    """How many of the best the others keep, by letter: names would not fit a narrow window."""
    pairs = result.against_present()
    if not pairs:
        return "Nothing to compare with"
    first = set(result.runs[0].ids[: result.k])
    kept = [
        f"{LETTERS[pair.second]} keeps {len(first & set(result.runs[pair.second].ids[: result.k]))}" for pair in pairs
    ]
    return f"Of the {len(first)} best of {LETTERS[0]}, {', '.join(kept)}"


def _flips(result: Compared, labels: Sequence[str]) -> None:
    """Which observations the agent would be given in addition, and which no more."""
    present, names = result.runs[0], result.names
    rows = [
        {
            "open": "Open",
            "pipeline": labels[pair.second],
            "change": change,
            "memory": names.get(id_, MISSING),
            "before": present.rank(id_),
            "after": result.runs[pair.second].rank(id_),
            "id": id_,
        }
        for pair in result.against_present()
        for change, ids in (("▲ enters", pair.entered), ("▼ leaves", pair.left))
        for id_ in ids
    ]
    if not rows:
        if result.against_present():
            st.caption("The memory block holds the same observations under each of them.")
        return
    called = {str(row["id"]): str(row["memory"]) for row in rows}
    choose_to_open("choose_compared", "an observation", called, open_observation)
    ranks = ("before", "after")
    grid(
        pd.DataFrame(rows).astype(dict.fromkeys(ranks, "Int64")),
        key="compare_flips",
        hide_index=True,
        placeholder=MISSING,
        column_config={
            "open": open_column("open_flip", tuple(str(row["id"]) for row in rows), PAGE, "observation"),
            "pipeline": st.column_config.TextColumn("Under"),
            "change": st.column_config.TextColumn("Memory block", help=glossary.AGAINST_A),
            "memory": st.column_config.TextColumn("Memory", width="large"),
            "before": st.column_config.NumberColumn("Rank in A", help=glossary.RANK_IN_LIST),
            "after": st.column_config.NumberColumn("Rank there", help=glossary.RANK_IN_LIST),
            "id": st.column_config.TextColumn("Id", width="small"),
        },
    )


READING = (
    "Filled: in the memory block. Diamond: not among the best k of A. Lines join neighbouring lists only: a memory "
    "rises (teal), falls (vermilion) or stays (grey) in the next; without a line it is not among that list's best k."
)
