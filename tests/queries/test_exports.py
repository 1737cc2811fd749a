"""The record of files, read back: the newest of one kind and organization, and nobody else's."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from queries.exports import TAKEN, RecordExport, TakenFiles
from queries.scope import EVERYTHING, OutOfReachError, Reach, Scope
from tests import sample

if TYPE_CHECKING:
    from queries.engine import Store

TODAY = sample.TODAY.date()


def record(store: Store, name: str, *orgs: str, kind: str = "drift-report", sha256: str | None = None) -> None:
    told = {} if sha256 is None else {"sha256": sha256}
    RecordExport(kind, "pdf", told, dict.fromkeys(orgs, 3), name, "omar").record(store, EVERYTHING)


def taken(store: Store, org: str, reach: Reach = EVERYTHING) -> list[str]:
    scope = Scope.of_days(reach, TODAY - timedelta(days=6), TODAY, org)
    return list(store.ask(TakenFiles(scope, "drift-report"))["file_name"])


def test_the_newest_of_its_kind_and_organization_the_last_first(store: Store) -> None:
    for number in range(TAKEN + 2):
        record(store, f"a{number}", "org_a")
    record(store, "b", "org_b")
    record(store, "clusters", "org_a", kind="clusters")
    assert taken(store, "org_a") == [f"a{number}" for number in range(TAKEN + 1, 1, -1)]
    assert taken(store, "org_b") == ["b"]


def test_nothing_of_an_organization_out_of_reach(store: Store) -> None:
    record(store, "a", "org_a")
    assert taken(store, "org_a", Reach.of(frozenset({"org_a"}))) == ["a"]
    with pytest.raises(OutOfReachError):
        taken(store, "org_a", Reach.of(frozenset({"org_b"})))


def test_who_when_how_many_and_the_digest_where_it_was_kept(store: Store) -> None:
    record(store, "without", "org_a")
    record(store, "with", "org_a", sha256="5" * 64)
    scope = Scope.of_days(EVERYTHING, TODAY - timedelta(days=6), TODAY, "org_a")
    found = store.ask(TakenFiles(scope, "drift-report"))
    assert found[["actor", "file_name", "rows"]].to_numpy().tolist() == [["omar", "with", 3], ["omar", "without", 3]]
    assert found["sha256"].isna().tolist() == [False, True]
    assert found["sha256"][0] == "5" * 64
    assert found["exported_at"].is_monotonic_decreasing
