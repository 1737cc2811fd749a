"""The part of the address that one page owns. The address is the state; controls show it and change it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def said(name: str) -> str | None:
    """What the address says under a name."""
    found: str | None = st.query_params.get(name)
    return found or None


def say(**values: str | list[str] | None) -> None:
    """Change the address; what is None or empty has no place in it, and of a list each has one of its own.

    All at once: each change by itself would be a step of the browser's history, to a state that nobody saw.
    """
    before = {name: st.query_params.get_all(name) for name in st.query_params}
    after = before | {name: _each(value) for name, value in values.items()}
    if (kept := {name: each for name, each in after.items() if each}) != before:
        st.query_params.from_dict({name: each if len(each) > 1 else each[0] for name, each in kept.items()})


def _each(value: str | list[str] | None) -> list[str]:
    return value if isinstance(value, list) else [value] if value else []


def not_understood(read: Mapping[str, tuple[str, object]]) -> list[str]:
    """The labels of what the address says and nobody could read; ``read`` has by name a label and what was made of it.

    A part that came to ``None`` although the address says something was ignored, and whoever sent the link should know.
    """
    return [label for name, (label, value) in read.items() if value is None and said(name) is not None]


def unknown(names: Iterable[str]) -> list[str]:
    """How many parts of the address nobody reads, in words; ``names`` are those that someone does.

    What was sent is not repeated. A link that was broken in the middle has such a part, and shows something else.
    """
    odd = len(set(st.query_params) - set(names))
    return ["an unknown part" if odd == 1 else f"{odd:,} unknown parts"] if odd else []


def part(names: Iterable[str]) -> dict[str, str]:
    """What the address says under some names."""
    return {name: st.query_params[name] for name in names if name in st.query_params}


def replace_part(names: Iterable[str], values: Mapping[str, str]) -> None:
    """Let the address say this and nothing else under some names."""
    say(**{name: values.get(name) for name in names})
