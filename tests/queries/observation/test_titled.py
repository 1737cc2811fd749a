"""Observations by their titles: in what order, whose, and how much of a store is read for it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from queries.moments import BEGIN, END
from queries.observation.titled import PART, TEXT, WHOLE, WORDS, TitleMatches
from queries.scope import EVERYTHING, NOTHING, Reach, Scope
from tests import sample
from tests.hostile import TEXTS
from tests.memories import add_thousands_titled
from tests.scopes import add_observation

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

ACME = Scope(EVERYTHING, BEGIN, END, "org_a")


def found(store: Store, words: str, scope: Scope = ACME) -> list[tuple[str, int]]:
    frame = store.ask(TitleMatches(scope, words))
    return list(zip(frame["id"], frame["held"], strict=True))


@pytest.fixture
def titled(owner: Owner) -> dict[str, str]:
    """By name, each a day older than the one before."""
    sample.add_organization(owner, "org_a")
    texts = {
        "split": ("Deploys", "the port of billing is closed"),
        "quoted": ("Deploys", "we call it port of deploys"),
        "letters": ("A report of deploys", "x"),
        "whole": ("port of DEPLOYS ", "x"),
        "untitled": (None, "port of deploys"),
        "other": ("Ports", "of billing"),
    }
    return {
        name: str(
            add_observation(owner, "org_a", name, text, title=title, created_at=sample.TODAY - timedelta(days=days))
        )
        for days, (name, (title, text)) in enumerate(texts.items())
    }


def test_the_whole_title_first_then_its_letters_then_the_newest(store: Store, titled: dict[str, str]) -> None:
    named = {id_: name for name, id_ in titled.items()}
    rows = [(named[id_], how) for id_, how in found(store, " Port of deploys")]
    assert rows == [("whole", WHOLE), ("letters", PART), ("split", WORDS), ("quoted", TEXT)]
    assert found(store, "Port of deploys", Scope(EVERYTHING, BEGIN, END, "org_a", "web")) == []


@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_title_is_found_by_its_own_letters(store: Store, owner: Owner, text: str) -> None:
    sample.add_organization(owner, "org_a")
    id_ = add_observation(owner, "org_a", "one", "x", title=text[:500])
    add_observation(owner, "org_a", "other", "x", title="ordinary")
    matches = dict(found(store, text[:500]))
    assert not text.strip() or matches[str(id_)] in (WHOLE, PART)


def test_nothing_of_an_organization_out_of_reach(store: Store, owner: Owner, titled: dict[str, str]) -> None:
    sample.add_organization(owner, "org_b")
    theirs = add_observation(owner, "org_b", "one", "x", title="Port of deploys")
    everywhere = found(store, "port of deploys", Scope(EVERYTHING, BEGIN, END))
    assert {id_ for id_, _ in everywhere[:2]} == {titled["whole"], str(theirs)}
    for reach in (Reach(("org_a",)), Reach(("org_a", "org_c"))):
        ids = {id_ for id_, _ in found(store, "port of deploys", Scope(reach, BEGIN, END))}
        assert titled["whole"] in ids
        assert str(theirs) not in ids
    assert found(store, "port of deploys", Scope(NOTHING, BEGIN, END)) == []


def test_no_more_are_read_than_the_bound_whatever_the_project(
    store: Store, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of three thousand the newest thirty, by the index of the newest; the project is asked of these."""
    add_thousands_titled(owner)
    monkeypatch.setattr("queries.anything.LOOKED_THROUGH", 30)
    scope = Scope(EVERYTHING, BEGIN, END, "org_a", "web")
    with store.reading(EVERYTHING) as connection:
        asked = TitleMatches(scope, "title").statement().compile(store.reader)
        explained = connection.exec_driver_sql(f"explain (analyze, costs off) {asked}", asked.params)
        plan = [row[0] for row in explained]
    (walked,) = [line.strip() for line in plan if " on observations" in line]
    assert "Index Scan Backward using observations_recent" in walked
    assert "rows=30.00 loops=1" in walked
