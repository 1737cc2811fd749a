"""The audit as pages read it, against plain lists; and the record of exports."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from analysis.flags import Cell, Organization
from controls.flags.states import organizations, override_age, stale_overrides, table
from queries.errors import StoreError
from queries.exports import RecordExport
from queries.flags.history import FlagHistory, FlagObjects, OpenedChange
from queries.flags.registry import FLAGS, NAMES
from queries.flags.standing import StandingChanges
from queries.once import make
from queries.scope import EVERYTHING, Reach, Scope
from tests import sample
from tests.queries.flags.flag_store import BOOST, WEIGHTING, set_flag

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

NOW = datetime.now(UTC)
MINE = Reach(("org_a",))


def scope(reach: Reach = EVERYTHING, org: str | None = None) -> Scope:
    return Scope(reach, NOW - timedelta(days=30), NOW, org)


@pytest.fixture
def made(owner: Owner) -> list[tuple[int, str, str, str, str]]:
    """Entries of two organizations, some at the same moment, newest first as (id, org, flag, reason, actor)."""
    for org in ("org_a", "org_b"):
        sample.add_organization(owner, org, f"Name {org}")
    rows = []
    for number in range(23):
        org = "org_a" if number % 3 else "org_b"
        flag, reason, actor = NAMES[number % 2], f"reason {number} 100%_x", f"actor-{number % 4}"
        at = NOW - timedelta(days=(number // 2) * 10)
        row = owner.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
               values (%s, gen_random_uuid(), %s, 'absent', 'true', %s, %s, 'test', %s) returning id""",
            (org, flag, reason, actor, at),
        ).fetchone()
        assert row
        rows.append((at, int(row[0]), org, flag, reason, actor))
    return [row[1:] for row in sorted(rows, reverse=True)]


class TestHistory:
    @pytest.mark.parametrize("size", [1, 4, 50])
    def test_pages_by_their_keys_hold_every_entry_once_in_order(
        self, store: Store, made: list[tuple[int, ...]], size: int
    ) -> None:
        found: list[int] = []
        while page := list(store.ask(FlagHistory(scope(), before=found[-1] if found else None, size=size))["id"]):
            found += page
        assert found == [entry[0] for entry in made]

    def test_filters_find_what_a_plain_search_finds(
        self, store: Store, made: list[tuple[int, str, str, str, str]]
    ) -> None:
        for flag in (None, *NAMES, "no such flag"):
            for words in (None, "ACTOR-1", "reason 2", "100%_x", "%", "_", "nothing", "'; drop table x; --"):
                expected = [
                    entry[0]
                    for entry in made
                    if flag in (None, entry[2])
                    and (words is None or words.lower() in entry[3].lower() or words.lower() in entry[4].lower())
                ]
                assert list(store.ask(FlagHistory(scope(), flag, words))["id"]) == expected, (flag, words)

    def test_a_scope_and_a_reach_limit_it(self, store: Store, made: list[tuple[int, str, str, str, str]]) -> None:
        mine = [entry[0] for entry in made if entry[1] == "org_a"]
        assert list(store.ask(FlagHistory(scope(org="org_a")))["id"]) == mine
        assert list(store.ask(FlagHistory(scope(MINE)))["id"]) == mine
        foreign = next(entry[0] for entry in made if entry[1] == "org_b")
        assert store.ask(OpenedChange(scope(MINE), foreign)).empty
        assert store.ask(OpenedChange(scope(MINE), 10**9)).empty
        assert set(store.ask(StandingChanges(scope(MINE)))["org_id"]) == {"org_a"}

    def test_an_opened_entry_knows_what_came_after_it(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a", "Acme")
        first = make(store, MINE, set_flag("absent", "on", preview={"flips": 1})).entry
        assert first
        second = make(store, MINE, set_flag("on", "absent", reverts_id=first.id)).entry
        assert second
        row = store.ask(OpenedChange(scope(MINE), first.id)).iloc[0]
        assert (row["name"], row["old"], row["new"], row["preview"]) == ("Acme", "absent", "on", '{"flips": 1}')
        assert row["reverted_by"] == second.id
        assert row["next_at"] == second.at
        assert pd.isna(store.ask(OpenedChange(scope(MINE), second.id)).iloc[0]["next_at"])


class TestStates:
    def test_stale_outside_and_unreadable_are_told_apart(self, store: Store, owner: Owner) -> None:
        for org in ("org_a", "org_b", "org_c", "org_d", "org_e"):
            sample.add_organization(owner, org, org.upper())
        make(store, EVERYTHING, set_flag("absent", "on", reason="a trial"))
        make(store, EVERYTHING, set_flag("absent", "on", org="org_b"))
        make(store, EVERYTHING, set_flag("absent", "off", org="org_d", flag=BOOST))
        owner.execute("update organizations set features = '{\"x\": 1}' where id = 'org_b'")
        owner.execute(
            "update organizations set features = features || %s where id = 'org_c'", (f'{{"{BOOST}": true}}',)
        )
        owner.execute("update organizations set features = '\"text\"' where id = 'org_e'")
        objects, standing = store.ask_all(FlagObjects(scope()), StandingChanges(scope()))[0]
        for days, stale in ((91, True), (90, False)):
            found = {org.id: org for org in organizations(objects, standing, NOW + timedelta(days=days, hours=1), 90)}
            assert found["org_a"].cells[WEIGHTING].stale is stale
            assert found["org_d"].cells[BOOST].stale is stale
            assert not found["org_a"].cells[BOOST].stale
        assert found["org_a"].cells[WEIGHTING].reason == "a trial"
        assert [org for org, each in found.items() for cell in each.cells.values() if cell.outside] == [
            "org_b",
            "org_c",
        ]
        assert found["org_b"].others == {"x": 1}
        assert found["org_e"].malformed == "not an object but a string"
        old = organizations(objects, standing, NOW + timedelta(days=100), 30)
        assert list(stale_overrides(old)["id"]) == ["org_a", "org_d"]
        shown = table(old).set_index("id")
        assert shown.loc["org_a", WEIGHTING] == "● on: weighting off · stale, 99 d"
        assert shown.loc["org_b", WEIGHTING] == "– absent: weighting on (default) · set outside"
        assert shown.loc["org_e", BOOST] == "not a valid flag object: not an object but a string"

    @pytest.mark.parametrize(
        ("cells", "said"),
        [
            ((Cell("on", 40), Cell("absent")), "40 d"),
            ((Cell("on", 12), Cell("off", 120, stale=True)), "stale, 120 d"),
            ((Cell("on", outside=True), Cell("absent")), "set outside"),
            ((Cell("on", 40), Cell("on", outside=True)), "set outside · 40 d"),
            ((Cell("on", 300, outside=True), Cell("off", 40)), "set outside · 40 d"),
            ((Cell("absent", 3, outside=True), Cell("absent")), None),
        ],
    )
    def test_a_known_override_never_hides_one_set_outside(self, cells: tuple[Cell, Cell], said: str | None) -> None:
        assert override_age(Organization("org_a", "Acme", dict(zip((WEIGHTING, BOOST), cells, strict=True)))) == said

    def test_every_known_flag_says_what_each_state_does(self) -> None:
        assert [flag.name for flag in FLAGS] == [WEIGHTING, BOOST]
        for flag in FLAGS:
            assert flag.effect("absent").endswith("(default)")
            assert flag.is_on("on")
            assert not flag.is_on("off")
            assert flag.is_on("absent") == (flag.default == "on")


class TestExports:
    def test_one_row_per_organization(self, store: Store, owner: Owner) -> None:
        RecordExport("k", "csv", {"words": None}, {"org_a": 2, "org_b": 1}, "k-1.csv", "omar").record(store, EVERYTHING)
        rows = owner.execute(
            "select org_id, rows, filter, file_name, actor from rankscope.exports order by id"
        ).fetchall()
        assert rows == [(org, n, {"words": None}, "k-1.csv", "omar") for org, n in (("org_a", 2), ("org_b", 1))]

    def test_not_for_an_organization_out_of_reach(self, store: Store, owner: Owner) -> None:
        with pytest.raises(StoreError):
            RecordExport("k", "csv", {}, {"org_a": 2, "org_b": 1}, "k-1.csv", "omar").record(store, MINE)
        assert owner.execute("select count(*) from rankscope.exports").fetchone() == (0,)
