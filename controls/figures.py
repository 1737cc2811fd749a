"""Figures in a row: a label, a value and what stands beside it, each explained; one look on every page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOVED = re.compile(r"[+\-−][\d.,]+")
WIDTH = 138  # five beside each other in a window of 1100 pixels, with a scroll bar
WIDE = 170  # with a line by day, or a label of three words: three in a window of 900
FEW = 3  # that are never parted


@dataclass(frozen=True)
class Figure:
    """A figure; ``colour`` and ``arrow`` are of what stands beside it, ``line`` is drawn below.

    An arrow points only where something moved: what stands beside begins with a sign, and is not zero.
    """

    label: str
    value: str
    beside: str | None = None
    explained: str | None = None
    colour: Literal["off", "red", "green"] = "off"
    arrow: bool = False
    line: Sequence[float] = ()

    @property
    def moved(self) -> bool:
        """Whether what stands beside it is a change up or down."""
        amount = MOVED.match(self.beside or "")
        return amount is not None and any(digit in "123456789" for digit in amount[0])


def in_a_row(shown: Iterable[Figure], width: int = WIDTH) -> None:
    """Side by side where there is room, on two lines where there is not."""
    with st.container(horizontal=True, gap="xsmall"):
        cards(shown, width)


def cards(shown: Iterable[Figure], width: int = WIDTH) -> None:
    """The same inside a row that has more than figures.

    Two halves, of which the second goes below as a whole: one card alone on a line looks like an accident.
    """
    every = list(shown)
    half = len(every) if len(every) <= FEW else (len(every) + 1) // 2
    for part in filter(None, (every[:half], every[half:])):
        with st.container(horizontal=True, gap="xsmall", width="content", height="stretch"):
            for each in part:
                _card(each, width)


def _card(each: Figure, width: int) -> None:
    st.metric(
        each.label,
        each.value,
        each.beside,
        delta_color=each.colour,
        delta_arrow="auto" if each.arrow and each.moved else "off",
        border=True,
        width=width,
        height="stretch",
        help=each.explained,
        chart_data=each.line if len(each.line) > 1 else None,
    )
