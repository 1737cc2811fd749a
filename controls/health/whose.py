"""Whose: of many organizations those in which something got worse or is not in order, each with what that is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import streamlit as st

from analysis.health.change import SERVICES, worst_first
from analysis.health.checks import WAYS
from controls.health.words import SIGNS, passage, shown
from controls.messages import counted, number
from controls.scope import enter
from queries.scope import isolated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.health.change import Compared
    from analysis.health.checks import Judged
    from controls.health.answers import HealthAnswers
    from queries.scope import Scope

NAMED = 3  # organizations; the table below has all
MEASURES = 3  # of one organization in a line


@dataclass(frozen=True)
class Standing:
    """An organization with what got worse in it, in its order, and the checks that are to act on and to watch."""

    org: str
    name: str
    worse: list[Compared]
    banded: Mapping[Literal["red", "watch"], list[Judged]]

    @property
    def urgency(self) -> tuple[int, float, int, int, int, str]:
        """Sessions that got worse come first, most first; then most to act on, most to watch, most that got worse.

        What got worse and is still in order waits: no check asks for a hand.
        """
        served = [each for each in self.worse if each.measure in SERVICES]
        place, fell = (
            (SERVICES.index(served[0].measure), abs(served[0].change or 0.0)) if served else (len(SERVICES), 0)
        )
        return place, -fell, -len(self.banded["red"]), -len(self.banded["watch"]), -len(self.worse), self.name

    @property
    def needs_a_hand(self) -> bool:
        """Whether there is anything to say of it."""
        return bool(self.worse or any(self.banded.values()))

    @property
    def told(self) -> str:
        """What it is, as plain text: the name is the tenant's own."""
        worse = [f"{each.measure.label.lower()} {passage(each)}" for each in self.worse]
        parts = [f"▼ worse: {_some(worse)}"] if worse else []
        for band, way in WAYS.items():
            if found := self.banded[band]:
                what = _some([f"{each.check.label.lower()} {shown(each.check, each.value)}" for each in found])
                parts.append(f"{SIGNS[band][0]} {way}: {what}")
        return f"{isolated(self.name)} {' · '.join(parts)}"


def whose(memory: HealthAnswers, scope: Scope) -> None:
    """The most urgent organizations with a way into each, how many more there are, and what is certain in none."""
    if scope.org is not None or len(memory.by_org) <= 1:
        return
    found = [each for each in standings(memory) if each.needs_a_hand]
    named = _named(found)
    with st.container(gap="xsmall"):
        for place, each in enumerate(named):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.button("Open", key=f"whose_{place}", type="tertiary", icon=":material/arrow_forward:",
                          on_click=enter, args=(each.org,))  # fmt: skip
                # in a container of its own: a long line by itself would go below the button
                st.container().text(each.told)
    if more := len(found) - len(named):
        st.caption(f"{counted(more, 'organization')} more in the table under Memory.")
    in_one = {own.measure.name for each in found for own in each.worse}
    alone = [each.measure.label.lower() for each in worst_first(memory.compared) if each.measure.name not in in_one]
    if alone:
        st.caption(f"Worse over all, but certain in no single organization: {', '.join(alone)}.")


def got_worse(memory: HealthAnswers, scope: Scope) -> str | None:
    """Where the organizations are told in which something got worse; none where there is none."""
    if scope.org is not None or len(memory.by_org) <= 1:
        return None
    found = [each for each in standings(memory) if each.needs_a_hand]
    if any(each.worse for each in _named(found)):
        return "below"
    return "in the table under Memory" if any(each.worse for each in found) else None


def _named(found: list[Standing]) -> list[Standing]:
    """Those that have a line; a line that counts one more would be as long as the one that names it."""
    return found[: NAMED + 1] if len(found) == NAMED + 1 else found[:NAMED]


def standings(memory: HealthAnswers) -> list[Standing]:
    """Every organization, the most urgent first: the order of the lines on top and of the table below."""
    found = []
    for org, checks in memory.by_org.items():
        banded = {band: [each for each in checks if each.band == band] for band in WAYS}
        found.append(Standing(org, memory.names.get(org, org), worst_first(memory.compared_by_org[org]), banded))
    return sorted(found, key=lambda each: each.urgency)


def _some(told: list[str]) -> str:
    more = f" and {number(len(told) - MEASURES)} more" if len(told) > MEASURES else ""
    return f"{', '.join(told[:MEASURES])}{more}"
