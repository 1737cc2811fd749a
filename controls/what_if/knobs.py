"""The knobs of a replay. The address is the state: knobs show what it says and change it; silence is as logged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import streamlit as st

from analysis.replay.command import command
from analysis.replay.sensitivity import BOOSTS, LAMBDAS, SAFE
from analysis.replay.settings import WhatIf
from controls import glossary, knobs
from controls.address import say
from controls.knobs import Knob
from ranking.clusters import CountBy
from ranking.feedback import Normalise

if TYPE_CHECKING:
    from queries.scope import Scope

AS_LOGGED, OFF = "as logged", "off"
MAP = "sensitivity_map"


def _numbers(*numbers: float) -> tuple[str, ...]:
    return tuple(f"{number:g}" for number in numbers)


WEIGHTING = Knob(
    "w", "Feedback weighting", (AS_LOGGED, "on", OFF), AS_LOGGED,
    glossary.WEIGHTING_REPLAYED,
)  # fmt: skip
NORMALISE = Knob(
    "norm", "Relevance before weighting", ("none", "minmax"), "none",
    glossary.NORMALISE,
)  # fmt: skip
BOOST = Knob(
    "boost", "Boost scale", (AS_LOGGED, *_numbers(0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 1)), AS_LOGGED,
    glossary.BOOST_SCALE_REPLAYED,
)  # fmt: skip
BITS = Knob(
    "bits", "SimHash bits", tuple(str(bits) for bits in range(17)), "3",
    glossary.SIMHASH_BITS,
)  # fmt: skip
COUNT_BY = Knob(
    "by", "Boost counts", ("members", "agents"), "members",
    glossary.BOOST_COUNTS,
)  # fmt: skip
LAMBDA = Knob(
    "lam", "λ: relevance vs. variety",
    (OFF, *_numbers(1, 0.98, 0.95, 0.9, 0.85, 0.78, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0)), OFF,
    glossary.LAMBDA,
)  # fmt: skip
DUPLICATE = Knob(
    "dup", "Duplicate at cosine", _numbers(0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98, 1), "0.94",
    glossary.DUPLICATE_COSINE,
)  # fmt: skip
TOKENS = Knob(
    "tokens", "Token budget", (AS_LOGGED, *_numbers(100, 200, 300, 400, 500, 600, 750, 1000, 1500, 2000)), AS_LOGGED,
    glossary.BLOCK_BUDGET,
)  # fmt: skip
PANELS = {"flips": "Flips", "worst": "Worst retrievals", "fragile": "Fragile", "outcomes": "Outcomes"}
CHOSEN = "what_if_panel_chosen"
PANEL = Knob("show", "Show", tuple(PANELS), next(iter(PANELS)))
KNOBS = (WEIGHTING, NORMALISE, BOOST, BITS, COUNT_BY, LAMBDA, DUPLICATE, TOKENS)


def choose() -> WhatIf:
    """Draw the knobs and return what they say; one that has no effect as the others stand cannot be turned."""
    chosen = settings()
    slider, segments = st.select_slider, st.segmented_control
    stretched: dict[str, Any] = {"required": True, "width": "stretch"}
    WEIGHTING.draw(segments, **stretched)
    NORMALISE.draw(segments, disabled=chosen.weighting is False, **stretched)
    BOOST.draw(slider)
    BITS.draw(slider, disabled=not chosen.recounts)
    COUNT_BY.draw(segments, disabled=not chosen.recounts, **stretched)
    LAMBDA.draw(slider)
    DUPLICATE.draw(slider, disabled=not chosen.diversifies)
    TOKENS.draw(slider)
    st.button(
        "Reset to as logged",
        key="reset_what_if",
        on_click=_reset,
        disabled=chosen == WhatIf(),
        icon=":material/restart_alt:",
        width="stretch",
    )
    return chosen


def ignored() -> list[str]:
    """What the address says about this page and no knob can be turned to."""
    return knobs.ignored((*KNOBS, PANEL))


def settings() -> WhatIf:
    """What the address says."""
    boost, lam, tokens = BOOST.value, LAMBDA.value, TOKENS.value
    return WhatIf(
        weighting=None if WEIGHTING.value == AS_LOGGED else WEIGHTING.value == "on",
        normalise=Normalise(NORMALISE.value),
        boost=None if boost == AS_LOGGED else float(boost),
        bits=int(BITS.value),
        count_by=CountBy(COUNT_BY.value),
        lam=None if lam == OFF else float(lam),
        duplicate=float(DUPLICATE.value),
        budget=None if tokens == AS_LOGGED else int(tokens),
    )


def labels() -> tuple[list[str], list[str]]:
    """The map's λ and boosts as the knobs call them."""
    lambdas = [OFF if lam is None else f"{lam:g}" for lam in LAMBDAS]
    return lambdas, [AS_LOGGED if boost is None else f"{boost:g}" for boost in BOOSTS]


def place() -> tuple[str, str]:
    """Where on the map the knobs stand, whether or not it has that cell."""
    return LAMBDA.value, BOOST.value


def tell_frames() -> None:
    """What the frames on the map are; or why the settings have none, where the knobs stand between its cells."""
    zone = f"Teal frame: settings under which at least {100 * SAFE:.3g} % of retrievals keep their top 5."
    st.caption(f"{zone} {_own_frame()}")


def _own_frame() -> str:
    lambdas, boosts = labels()
    between = (LAMBDA.value not in lambdas, BOOST.value not in boosts)
    if not any(between):
        return f"Dotted grey frame: your settings, λ {LAMBDA.value} and boost scale {BOOST.value}."
    which = "this λ and boost scale" if all(between) else "this λ" if between[0] else "this boost scale"
    return f"Your settings are not marked: the map has no cell for {which}. The figures above are of them."


def choose_panel() -> str:
    """Which list is shown below the map, by its name in the address."""
    return PANEL.choose(PANELS, also=_panel_chosen)


def _panel_chosen() -> None:
    st.session_state[CHOSEN] = PANEL.value


def led_to_outcomes() -> bool:
    """Whether a link asks for the outcomes, which then stand on top; a click on their name leaves all in its place."""
    return PANEL.value == "outcomes" and st.session_state.get(CHOSEN) != "outcomes"


def show_command(chosen: WhatIf, scope: Scope) -> None:
    """The same replay as one line to copy."""
    st.caption("The same figures without the page; `--json` prints every one of them:")
    st.code(command(chosen, scope), language=None, wrap_lines=True)


def map_clicked() -> None:
    """Turn λ and boost to the cell that was clicked."""
    points: list[Any] = st.session_state[MAP]["selection"]["points"]
    named = [point["customdata"] for point in points if point.get("customdata")]
    if named:
        say(**LAMBDA.spoken(str(named[0][0])), **BOOST.spoken(str(named[0][1])))


def _reset() -> None:
    say(**dict.fromkeys(knob.name for knob in KNOBS))
