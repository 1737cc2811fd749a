"""The feature flags that Rankscope knows: the only ones it offers to change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["on", "off", "absent"]
STATES: tuple[State, ...] = ("on", "off", "absent")
DEFAULT_STALE = 90  # days after which an override counts as stale


@dataclass(frozen=True)
class KnownFlag:
    """One key of ``organizations.features``, and what each of its three states amounts to."""

    name: str
    description: str
    default: Literal["on", "off"]
    owner: str
    steers: str
    effects: tuple[tuple[State, str], ...]
    # A protected flag takes two people, which this dashboard does not arrange: it shows the flag and changes nothing.
    protected: bool = False

    def effect(self, state: State) -> str:
        """What a state does, in a few words."""
        return f"{self.steers} {self.makes(state)}"

    def choice(self, state: State) -> str:
        """A state as it is chosen: what it does, then the flag's own word, which may say the opposite."""
        effect = self.effect(state).replace(" (default)", ", the default")
        return f"{effect} (flag {state})"

    def makes(self, state: State) -> str:
        """What a state makes of the thing that the flag steers."""
        return dict(self.effects)[state]

    def is_on(self, state: State) -> bool:
        """Whether a state amounts to on: absent is whatever the default is."""
        return (self.default if state == "absent" else state) == "on"


FLAGS: tuple[KnownFlag, ...] = (
    KnownFlag(
        "feedback_weighting_disabled",
        "Switches feedback weights off: memories then rank by relevance alone, whatever sessions learned about them.",
        default="off",
        owner="memory ranking",
        steers="weighting",
        effects=(("on", "off"), ("off", "on"), ("absent", "on (default)")),
    ),
    KnownFlag(
        "corroboration_boost_enabled",
        "Lifts what several observations agree on by 0.1 · log2(1 + corroborating), before feedback weighs in.",
        default="off",
        owner="memory ranking",
        steers="boost",
        effects=(("on", "on"), ("off", "off"), ("absent", "off (default)")),
    ),
)
NAMES: tuple[str, ...] = tuple(flag.name for flag in FLAGS)


def as_state(text: str) -> State:
    """The state of a name, which has to be one of the three."""
    for state in STATES:
        if state == text:
            return state
    raise ValueError(f"expected one of {', '.join(STATES)}; found another state")


def known_flag(name: str) -> KnownFlag:
    """The flag of a name, which has to be a known one."""
    for flag in FLAGS:
        if flag.name == name:
            return flag
    raise ValueError(f"expected one of {', '.join(NAMES)}; found another flag")
