"""One banner for all that could not be followed in an address, whichever part of a page finds it out."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streamlit.delta_generator import DeltaGenerator


@dataclass
class Banner:
    """What was found so far, and where it stands."""

    place: DeltaGenerator
    unknown: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    instead: list[str] = field(default_factory=list)
    drawn: DeltaGenerator | None = None

    def draw(self) -> None:
        """All of it anew, in the same place."""
        if self.drawn is None:
            self.drawn = self.place.empty()  # not before: a place that is cleared in every run would flicker
        told = [
            f"{what} in this link: it does not exist here, or you may not see it. Showing all instead."
            for what in self.unknown
        ]
        if self.ignored:
            names = ", ".join(self.ignored)
            told.append(f"Not understood in this link, and ignored: {names}. The default is shown instead.")
        told += self.instead
        self.drawn.warning(" ".join(told), icon=":material/link_off:")


_banner: ContextVar[Banner | None] = ContextVar("banner", default=None)


@contextmanager
def told_in(place: DeltaGenerator) -> Iterator[None]:
    """Let whatever runs inside tell it at this place."""
    token = _banner.set(Banner(place))
    try:
        yield
    finally:
        _banner.reset(token)


def tell(unknown: Sequence[str] = (), ignored: Sequence[str] = (), instead: Sequence[str] = ()) -> None:
    """Add to the banner; a part of a page that runs again by itself has its own, where it stands.

    ``instead`` are whole sentences that say also what is shown.
    """
    banner = _banner.get() or Banner(st.container())
    banner.unknown += unknown
    banner.ignored += ignored
    banner.instead += instead
    banner.draw()
