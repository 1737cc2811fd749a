"""Saved views belong to whoever saved them: by predicate, by row security, and through every change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from queries.engine import LIST
from queries.errors import StoreError
from queries.saved_views import ArchiveView, RenameView, SavedViews, SaveView, ViewError
from queries.scope import EVERYTHING, NOTHING
from tests.hostile import TEXTS

if TYPE_CHECKING:
    from queries.engine import Store
    from queries.saved_views import SavedView

    Change = SaveView | RenameView | ArchiveView


def apply(store: Store, change: Any) -> bool:  # noqa: ANN401 - one of three
    with store.writing(NOTHING, LIST) as connection:
        return bool(change.apply(connection))


def views(store: Store, principal: str) -> tuple[SavedView, ...]:
    with store.reading(NOTHING, LIST, principal=principal) as connection:
        return SavedViews(principal).ask(connection)


def test_saved_renamed_and_archived(store: Store) -> None:
    assert apply(store, SaveView("vera", "  weights ", "feedback_impact.py", "org=org_a&k=3"))
    (view,) = views(store, "vera")
    assert (view.name, view.page, view.query) == ("weights", "feedback_impact.py", "org=org_a&k=3")
    assert apply(store, RenameView("vera", view.id, "Weights of Acme"))
    assert [each.name for each in views(store, "vera")] == ["Weights of Acme"]
    assert apply(store, ArchiveView("vera", view.id))
    assert views(store, "vera") == ()
    assert not apply(store, ArchiveView("vera", view.id))
    assert not apply(store, RenameView("vera", view.id, "back"))
    # an archived name is free again
    assert apply(store, SaveView("vera", "Weights of Acme", "overview.py", ""))


def test_a_name_is_given_once(store: Store) -> None:
    assert apply(store, SaveView("vera", "one", "overview.py", "org=a"))
    assert not apply(store, SaveView("vera", "one", "overview.py", "org=b"))
    assert apply(store, SaveView("vera", "two", "overview.py", ""))
    assert [each.query for each in views(store, "vera")] == ["org=a", ""]
    with pytest.raises(StoreError, match="conflict"):
        apply(store, RenameView("vera", views(store, "vera")[1].id, "one"))
    assert apply(store, SaveView("omar", "one", "overview.py", ""))


def test_nobody_reaches_anothers(store: Store) -> None:
    apply(store, SaveView("vera", "mine", "overview.py", ""))
    (view,) = views(store, "vera")
    assert views(store, "omar") == ()
    assert not apply(store, RenameView("omar", view.id, "taken"))
    assert not apply(store, ArchiveView("omar", view.id))
    assert not apply(store, ArchiveView("vera", uuid4()))
    assert views(store, "vera") == (view,)
    # row security by itself, without any predicate and in every reach
    for principal, seen in (("", 0), ("omar", 0), ("vera", 1)):
        with store.reading(EVERYTHING, LIST, principal=principal) as connection:
            assert connection.execute(text("select count(*) from rankscope.saved_views")).scalar_one() == seen
    with pytest.raises(StoreError, match="privilege"), store.writing(EVERYTHING, LIST) as connection:
        connection.execute(
            text("insert into rankscope.saved_views (principal, name, page, query) values ('vera', 'x', 'y', 'z')")
        )


def test_names_are_kept_as_typed(store: Store) -> None:
    names = [each[:70].strip() for each in TEXTS if "\0" not in each and each[:70].strip()]
    for name in names:
        apply(store, SaveView("vera", name, "overview.py", ""))
    assert {each.name for each in views(store, "vera")} == set(names)


@pytest.mark.parametrize("name", ["", "   ", "x" * 81, "a\0b", "\ud800"], ids=["none", "blank", "long", "nul", "half"])
def test_a_name_that_cannot_be_kept(name: str) -> None:
    with pytest.raises(ViewError, match="1 to 80"):
        SaveView("vera", name, "overview.py", "")
    with pytest.raises(ViewError, match="1 to 80"):
        RenameView("vera", uuid4(), name)


def test_an_address_that_is_too_long() -> None:
    with pytest.raises(ViewError, match="too long"):
        SaveView("vera", "x", "overview.py", "x" * 8001)
