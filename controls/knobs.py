"""Settings that take one of some values. The address is the state: a knob shows what it says, and turns it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from controls.address import not_understood, said, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping


@dataclass(frozen=True)
class Knob:
    """One setting: its name in the address, in words, the values it takes, and which of them is silent.

    Where none of them is, nothing is chosen until someone chooses.
    """

    name: str
    label: str
    options: tuple[str, ...]
    default: str
    explained: str = ""

    @property
    def understood(self) -> str | None:
        """What the address says, if it is one of the values."""
        found = said(self.name)
        return found if found in self.options else None

    @property
    def value(self) -> str:
        """The same, or the value that is silent."""
        return self.understood or self.default

    def spoken(self, value: str) -> dict[str, str | None]:
        """A value as the address has it: the silent one has no place there."""
        return {self.name: value if value in self.options and value != self.default else None}

    def say(self, value: str) -> None:
        """Put a value into the address."""
        say(**self.spoken(value))

    def draw(
        self,
        widget: Callable[..., object],
        *,
        also: Callable[[], object] | None = None,
        **more: Any,  # noqa: ANN401 - the widget's own options
    ) -> str:
        """Draw it at its value and return that; what is chosen goes into the address, and ``also`` is called."""
        key = f"pick_{self.name}"
        st.session_state[key] = self.value if self.value in self.options else None
        widget(
            self.label, self.options, key=key, on_change=self._picked, args=(also,), help=self.explained or None, **more
        )
        return self.value

    def choose(self, names: Mapping[str, str], *, also: Callable[[], object] | None = None) -> str:
        """Draw the values beside each other under these names, without a label, and return the one that is chosen."""
        return self.draw(
            st.segmented_control, also=also, format_func=names.__getitem__, required=True, label_visibility="collapsed"
        )

    def _picked(self, also: Callable[[], object] | None) -> None:
        self.say(st.session_state[f"pick_{self.name}"])
        if also is not None:
            also()


def ignored(knobs: Iterable[Knob]) -> list[str]:
    """The labels of those that the address would turn to what they cannot be."""
    return not_understood({knob.name: (knob.label, knob.understood) for knob in knobs})
