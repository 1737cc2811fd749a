"""Presets are called by what they do, and still found by the names that links and commands have."""

from __future__ import annotations

import re

import pytest

from controls.glossary import inspector as glossary
from controls.inspector.presets import LABELS, ORIGINS, OWN
from ranking.presets import PRESETS
from tests.pages.inspector_page import opened
from tests.retrieval.planted import QUESTION

LONGEST = 26  # characters that fit above one of four lists in a window of 1400 pixels


def test_every_preset_has_a_name_by_what_it_does() -> None:
    assert list(LABELS) == [OWN, *PRESETS]
    assert list(ORIGINS) == list(PRESETS)
    assert len(set(LABELS.values())) == len(LABELS)
    for label in LABELS.values():
        assert len(label) <= LONGEST
        assert not re.search(r"memsense|memini|ai memory|\d", label, re.IGNORECASE)


def test_the_tooltip_says_where_each_comes_from_and_what_links_call_it() -> None:
    told = glossary.pipeline(boosted=True)
    for name, origin in ORIGINS.items():
        assert f"\n- {LABELS[name]}: `{name}`, {origin}" in told


@pytest.mark.usefixtures("planted")
@pytest.mark.parametrize("name", ["MEMSENSE", "AI_MEMORY"])
def test_a_link_made_under_the_old_names_opens_the_same_preset(address: str, name: str) -> None:
    test = opened(address, org="acme", q=QUESTION, preset=name, v="1", scorer="lexical")
    picked = test.selectbox(key="pick_preset")
    assert (picked.value, LABELS[name] in picked.options) == (name, True)
    assert not test.warning
