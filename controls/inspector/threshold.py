"""The SimHash threshold of an inspection: within how many bits two texts say the same. The address is the state."""

from __future__ import annotations

import streamlit as st

from analysis.replay.settings import AS_LOGGED
from controls import address, glossary

BITS = "bits"
LAST_PASS, MOST = AS_LOGGED.bits, 16
BOX = "pick_bits"
OF_THE_PASS = (
    f"Voices are those of the last aggregation pass, within {LAST_PASS} bits. Any other value counts them anew."
)


def said() -> int | None:
    """The threshold the address asks for; None where that is the last pass's own, or no threshold at all."""
    bits = understood()
    return None if bits == LAST_PASS else bits


def understood() -> int | None:
    """The threshold the address names, if the slider has it."""
    text = address.said(BITS) or ""
    bits = int(text) if text.isascii() and text.isdecimal() and len(text) <= len(str(MOST)) else MOST + 1
    return bits if bits <= MOST else None


def choose() -> None:
    """The slider, and in a sentence what it means where it stands."""
    bits = said()
    st.session_state[BOX] = LAST_PASS if bits is None else bits
    st.slider("SimHash bits", 0, MOST, key=BOX, on_change=_picked, help=glossary.SIMHASH_BITS)
    if bits is None:
        st.caption(OF_THE_PASS)
        return
    alike = "Only texts with the same fingerprint count" if not bits else f"Texts up to {bits} of 64 bits apart count"
    st.caption(f"{alike} as saying the same, counted anew among what was stored by the moment asked for.")
    if bits > LAST_PASS:
        st.caption("Chains count whole: the further apart texts may be, the more unrelated ones join.")
    st.button(
        f"Reset to {LAST_PASS}", key="reset_bits", type="tertiary", icon=":material/undo:", on_click=address.say,
        kwargs={BITS: None},
    )  # fmt: skip


def _picked() -> None:
    bits = st.session_state[BOX]
    address.say(**{BITS: None if bits == LAST_PASS else str(bits)})
