"""Edits of a table of pairs, taken over to pairs that someone else saved meanwhile."""

from __future__ import annotations

from controls.drift.drafts import edited, rebased

SEEN = (("hot", "cold"), ("up", "down"), ("on", "off"))


def test_edits_as_the_table_tells_them() -> None:
    told = {"deleted_rows": [1], "edited_rows": {"0": {"other": "icy"}}, "added_rows": [{"one": "half"}]}
    assert edited(SEEN, told) == [("hot", "icy"), ("on", "off"), ("half", None)]


def test_what_was_added_and_removed_is_added_to_and_removed_from_what_stands() -> None:
    typed = [("hot", "icy"), ("on", "off"), ("half", None)]
    stored = (("up", "down"), ("on", "off"), ("new", "old"))
    assert rebased(typed, SEEN, stored) == [("on", "off"), ("new", "old"), ("hot", "icy"), ("half", None)]


def test_without_edits_what_stands_is_shown() -> None:
    assert rebased(SEEN, SEEN, (("new", "old"),)) == [("new", "old")]
