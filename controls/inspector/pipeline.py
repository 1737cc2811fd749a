"""The pipeline panel: a preset, then every knob of its stages with its default and a way back to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from analysis.inspector.names import stage_name
from controls import address
from controls.glossary import inspector as glossary
from controls.inspector import as_code, pipeline_parts, threshold
from controls.inspector.presets import LABELS, OWN
from controls.inspector.stages import (
    KNOBS,
    NAMES,
    PARTS,
    STARTS,
    VERSION,
    from_address,
    holds,
    in_order,
    knobs_of,
    shown,
    start_of,
    started,
    to_address,
)
from ranking.budget import TokenBudget
from ranking.corroboration import Corroboration
from ranking.cross_encoder import CrossEncoder
from ranking.lexical import LexicalScorer
from ranking.presets import PRESETS
from ranking.session_recency import SessionRecency

if TYPE_CHECKING:
    from controls.inspector.question import Asked
    from controls.inspector.stages import Knob
    from ranking.pair_scorer import PairScorer
    from ranking.ranking import Stage
    from retrieval.pipelines import Pipeline

START_LABELS = {
    "relevance": "Full vector, by similarity",
    "routes": "Eight routes, by rank from 1",
    "legs": "Vector and keywords, by rank from 0",
    "scores": "Vector and keywords, by score",
}
NEURAL, LEXICAL = "neural", "lexical"
START, PRESET = "start", "preset"
NOTES = {
    SessionRecency: "Only the process that serves a session knows what it was shown: adds nothing here.",
}


@dataclass(frozen=True)
class Chosen:
    """The stages to run, what to call them, who scores pairs, and within how many bits two texts say the same.

    ``bits`` is None where the voices of the last aggregation pass count. ``own_budget`` is where somebody chose the
    tokens, and no work type changes them.
    """

    stages: Pipeline
    name: str
    scorer: str
    bits: int | None = None
    own_budget: bool = False

    def scorer_from(self, own: PairScorer) -> PairScorer:
        """The process's own scorer, or words alone."""
        return LexicalScorer() if self.scorer == LEXICAL else own


def choose(asked: Asked, own: PairScorer) -> Chosen:
    """Draw the panel and return what it says."""
    preset = _preset(asked)
    base = asked.fit(asked.flags.pipeline if preset == OWN else PRESETS[preset])
    read = from_address(address.part(NAMES), base)
    _warn(read.ignored)
    stages, changed = read.stages, to_address(read.stages, base)
    bits = threshold.said() if holds(stages, Corroboration) else None
    turned = len(changed) + (bits is not None)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{turned} changed" if turned else "As the preset has it")
        st.button("Reset all", key="reset_all", type="tertiary", disabled=not turned, on_click=_reset, args=(base,))
    by_kind = {kind: name for name, kind in PARTS.items()}
    differs = {by_kind[knob.stage] for knob in KNOBS if knob.key in changed and knob.stage in by_kind}
    shown = pipeline_parts.opened(START, differs | ({by_kind[Corroboration]} if bits is not None else set()))
    _start(stages, base, shown)
    _pick_parts(stages, base)
    for name, kind in PARTS.items():
        if holds(stages, kind):
            _part(name, stages, base, shown, own)
    own_budget = any(isinstance(stage, TokenBudget) and stage not in base for stage in stages)
    name = LABELS[preset] + (", changed" if turned else "")
    chosen = Chosen(stages, name, _scorer(own), bits, own_budget)
    as_code.rank(asked, chosen)
    return chosen


def ignored() -> list[str]:
    """What the address says of the pipeline as a whole and nobody knows; its knobs are told beside them."""
    named, scorer = address.said(PRESET), address.said("scorer")
    return address.not_understood(
        {
            PRESET: ("pipeline", named if named in PRESETS else None),
            threshold.BITS: ("SimHash bits", threshold.understood()),
            "scorer": ("Pairs are scored by", scorer if scorer in (LEXICAL, NEURAL) else None),
        }
    )


def _reset(base: Pipeline) -> None:
    _write(base, base, bits=None)


def _preset(asked: Asked) -> str:
    named = address.said(PRESET)
    chosen = named if named in PRESETS else OWN
    st.session_state["pick_preset"] = chosen
    st.selectbox(
        "Pipeline", LABELS, format_func=LABELS.__getitem__, key="pick_preset", on_change=_preset_picked,
        help=glossary.pipeline(boosted=asked.flags.boost),
    )  # fmt: skip
    return chosen


def _preset_picked() -> None:
    picked = st.session_state["pick_preset"]
    chosen = {} if picked == OWN else {PRESET: picked, "v": VERSION}
    address.replace_part((*NAMES, threshold.BITS, pipeline_parts.OPEN, PRESET, "v"), chosen)


def _warn(ignored: tuple[str, ...]) -> None:
    version = address.said("v")
    if version not in (None, VERSION):
        st.caption(
            ":orange[:material/warning: This link was made when other defaults held; what it leaves out may differ.]"
        )
    if ignored:
        names = ", ".join(ignored)  # our own names: an unknown one is never looked at
        st.caption(f":orange[:material/warning: Not read from this link: {names}. The preset's value holds.]")


def _start(stages: Pipeline, base: Pipeline, shown: frozenset[str]) -> None:
    start = start_of(stages)
    inside = pipeline_parts.part(START, "Recall and fusion", shown)
    if inside is None:
        return
    with inside:
        st.session_state["pick_start"] = start
        st.selectbox(
            "Recalled by", STARTS, format_func=START_LABELS.__getitem__, key="pick_start", on_change=_start_picked,
            args=(base,), help=glossary.preset(START_LABELS[start_of(base)]),
        )  # fmt: skip
        for knob in knobs_of(stages[0]):
            default = getattr(base[0] if type(base[0]) is type(stages[0]) else STARTS[start], knob.field)
            _knob(knob, stages, base, default)


def _start_picked(base: Pipeline) -> None:
    held = {type(stage): stage for stage in _present(base)}
    _write(in_order(started(held, st.session_state["pick_start"]).values()), base)


def _pick_parts(stages: Pipeline, base: Pipeline) -> None:
    """Which stages run, in the order in which they do."""
    st.session_state["pick_parts"] = [part for part, kind in PARTS.items() if holds(stages, kind)]
    st.pills(
        "Stages that run", list(PARTS), selection_mode="multi", key="pick_parts", on_change=_parts_picked,
        format_func=lambda part: _label(_in(stages, PARTS[part])), args=(base,), wrap=True,
        help=glossary.STAGES_THAT_RUN,
    )  # fmt: skip


def _parts_picked(base: Pipeline) -> None:
    stages = _present(base)
    here = {type(stage): stage for stage in (*base, *stages)}
    picked = [PARTS[part] for part in st.session_state["pick_parts"]]
    _write(in_order((stages[0], *(here.get(kind) or kind() for kind in picked))), base)


def _part(name: str, stages: Pipeline, base: Pipeline, shown: frozenset[str], own: PairScorer) -> None:
    """One stage that runs, with its knobs."""
    kind = PARTS[name]
    changed = any(knob.key in to_address(stages, base) for knob in knobs_of(kind))
    inside = pipeline_parts.part(name, _label(_in(stages, kind)) + (" · changed" if changed else ""), shown)
    if inside is None:
        return
    with inside:
        if kind in NOTES:
            st.caption(NOTES[kind])
        default = next((stage for stage in base if type(stage) is kind), None) or kind()
        for knob in knobs_of(kind):
            _knob(knob, stages, base, getattr(default, knob.field))
        if kind is Corroboration:
            threshold.choose()
        if kind is CrossEncoder:
            _pick_scorer(own)


def _in(stages: Pipeline, kind: type[Any]) -> Stage | type[Any]:
    """The stage of a kind where it runs: what it is called may depend on how it is set."""
    return next((stage for stage in stages if type(stage) is kind), kind)


def _label(stage: Stage | type[Any]) -> str:
    name = stage_name(stage)
    return f"{name[:1].upper()}{name[1:]}"


def _knob(knob: Knob, stages: Pipeline, base: Pipeline, default: Any) -> None:  # noqa: ANN401 - of any stage's field
    stage = next(stage for stage in stages if type(stage) is knob.stage)
    value, key = getattr(stage, knob.field), f"turn_{knob.key}"
    st.session_state[key] = value
    shared: dict[str, Any] = {"key": key, "on_change": _turned, "args": (knob, base)}
    told = glossary.default(shown(default), turned=value != default)
    if knob.switch:
        st.toggle(knob.label, help=told, **shared)
    elif knob.options is not None:
        st.segmented_control(
            knob.label, list(knob.options), format_func=lambda each: each.value.replace("_", " "), required=True,
            help=told, **shared,
        )  # fmt: skip
    elif knob.whole:
        st.number_input(knob.label, int(knob.low), int(knob.high), step=int(knob.step), help=told, **shared)
    else:
        st.slider(knob.label, float(knob.low), float(knob.high), step=float(knob.step), help=told, **shared)
    if value != default:
        st.button(
            f"Reset to {shown(default)}", key=f"reset_{knob.key}", type="tertiary", icon=":material/undo:",
            on_click=_turn, args=(knob, default, base),
        )  # fmt: skip


def _turned(knob: Knob, base: Pipeline) -> None:
    value = st.session_state[f"turn_{knob.key}"]
    if value is not None:
        _turn(knob, value, base)


def _turn(knob: Knob, value: Any, base: Pipeline) -> None:  # noqa: ANN401 - of any stage's field
    _write(_with(_present(base), knob, value), base)


def _present(base: Pipeline) -> Pipeline:
    """The pipeline of the address by now: what was turned while a run went on comes all at once, call by call."""
    return from_address(address.part(NAMES), base).stages


def _with(stages: Pipeline, knob: Knob, value: Any) -> Pipeline:  # noqa: ANN401 - of any stage's field
    turned: Any = value if knob.whole or knob.switch or knob.options else round(float(value), 6)
    return tuple(
        replace(stage, **{knob.field: turned}) if type(stage) is knob.stage else stage  # type: ignore[type-var]
        for stage in stages
    )


def _write(stages: Pipeline, base: Pipeline, **more: str | None) -> None:
    written = to_address(stages, base)
    version = VERSION if written or address.said(PRESET) else None
    address.say(**{name: written.get(name) for name in NAMES}, v=version, **more)


def _scorers(own: PairScorer) -> list[str]:
    return [LEXICAL] if isinstance(own, LexicalScorer) else [NEURAL, LEXICAL]


def _scorer(own: PairScorer) -> str:
    """Who reads the pairs: the model where the settings name one, words otherwise or by choice."""
    named = address.said("scorer")
    return named if named in _scorers(own) else _scorers(own)[0]


def _pick_scorer(own: PairScorer) -> None:
    st.session_state["pick_scorer"] = _scorer(own)
    st.segmented_control(
        "Pairs are scored by", _scorers(own), key="pick_scorer", required=True, on_change=_scorer_picked,
        help=glossary.PAIR_SCORER,
    )  # fmt: skip


def _scorer_picked() -> None:
    address.say(scorer=LEXICAL if st.session_state["pick_scorer"] == LEXICAL else None)
