"""Triage and opposition pairs in the store: once, compared with what was seen, audited, and seen by nobody else."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from queries import once
from queries.aggregation_input import OppositionPairs
from queries.drift.opposing import PairError, SetPairs, changes, digest, tidy
from queries.drift.triage import DecisionsOf, EarlierTriage, NewAlerts, TriageOf, Verdicts
from queries.drift.triaging import SetTriage, history
from queries.engine import Store
from queries.errors import NO_WRITER
from queries.once import make, settle
from queries.scope import EVERYTHING, Reach, Scope
from tests import sample
from tests.drift_store import window

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

MINE = Reach(("org_a",))
OLDER, NEWER = str(uuid4()), str(uuid4())
DEFAULTS = (("always", "never"), ("on", "off"))


def triage(seen: int, state: str, **more: Any) -> SetTriage:  # noqa: ANN401 - SetTriage's own
    named = {"org_id": "org_a", "fingerprint": "f1", "request_id": uuid4(), "actor": "omar", "older": OLDER}
    return SetTriage(
        **{**named, "newer": NEWER, "kind": "value", "found_up_to": 0.8, "threshold": 0.5, **more},
        seen=seen,
        state=state,
    )


def stands(owner: Owner, fingerprint: str = "f1") -> tuple[Any, ...] | None:
    return owner.execute(
        "select state, verdict, version, changed_by from rankscope.drift_triage where fingerprint = %s", (fingerprint,)
    ).fetchone()


def events(owner: Owner) -> list[tuple[str, str]]:
    return owner.execute("select old_state, new_state from rankscope.drift_triage_events order by id").fetchall()


class TestTriage:
    def test_a_path_through_the_states_with_its_history(self, store: Store, owner: Owner) -> None:
        until = datetime.now(UTC) + timedelta(days=7)
        path = [
            triage(0, "acknowledged", note="seen", owner="ada"),
            triage(1, "snoozed", snoozed_until=until),
            triage(2, "resolved", verdict="newer", actor="pia"),
            triage(3, "new"),
            triage(4, "false_positive"),
        ]
        for change in path:
            assert make(store, MINE, change).kind == "applied"
        assert stands(owner) == ("false_positive", None, 5, "omar")
        steps = ["new", *(change.state for change in path)]
        assert events(owner) == list(pairwise(steps))
        with store.reading(MINE) as snapshot:
            told = history(snapshot, "org_a", "f1")
            assert [(e.new_state, e.verdict, e.actor) for e in told][2] == ("resolved", "newer", "pia")
            assert (told[-1].note, told[-1].owner, told[-1].threshold) == ("seen", "ada", 0.5)
            assert told[-2].snoozed_until == until
            assert TriageOf("org_a", ("f1", "f2")).ask(snapshot)["f1"].version == 5
            decided = DecisionsOf("org_a", ("f1", "f2")).ask(snapshot)
            assert [(e.state, e.snoozed_until) for e in decided.pop("f1")] == [
                (change.state, change.snoozed_until) for change in path
            ]
            assert decided == {}
        with store.reading(Reach(("org_b",))) as snapshot:
            assert DecisionsOf("org_a", ("f1",)).ask(snapshot) == {}

    def test_a_second_click_is_the_same_request(self, store: Store, owner: Owner) -> None:
        change = triage(0, "acknowledged")
        told = [make(store, MINE, change) for _ in range(3)]
        assert [one.kind for one in told] == ["applied", "already", "already"]
        assert told[1].entry == told[0].entry
        assert events(owner) == [("new", "acknowledged")]
        other = make(store, MINE, replace(change, seen=1, state="investigating"))
        assert (other.kind, other.sentence) == ("refused", once.USED)

    def test_whoever_saw_an_older_version_writes_nothing_and_learns_who_was_faster(
        self, store: Store, owner: Owner
    ) -> None:
        make(store, MINE, triage(0, "resolved", verdict="older", actor="pia"))
        told = make(store, MINE, triage(0, "false_positive"))
        assert (told.kind, told.sentence) == ("conflict", once.CONFLICT)
        assert told.last is not None
        assert (told.last.actor, told.last.new_state, told.last.verdict) == ("pia", "resolved", "older")
        assert stands(owner) == ("resolved", "older", 1, "pia")
        assert len(events(owner)) == 1

    def test_eight_operators_at_once(self, store: Store, owner: Owner) -> None:
        def work(number: int) -> int:
            won = 0
            for version in range(4):
                state = ("acknowledged", "investigating")[number % 2]
                won += make(store, MINE, triage(version, state, actor=f"op{number}")).kind == "applied"
            return won

        with ThreadPoolExecutor(4) as pool:
            won = sum(pool.map(work, range(8)))
        chain = events(owner)
        assert won == len(chain) == 4
        assert [old for old, _ in chain[1:]] == [new for _, new in chain[:-1]]
        assert stands(owner) is not None

    def test_without_its_event_nothing_is_saved(self, store: Store, owner: Owner) -> None:
        owner.execute("revoke insert on rankscope.drift_triage_events from dash_write")
        assert make(store, MINE, triage(0, "acknowledged")).kind == "failed"
        assert stands(owner) is None

    def test_nothing_outside_ones_reach_and_nothing_without_a_write_login(self, store: Store, owner: Owner) -> None:
        assert make(store, Reach(("org_b",)), triage(0, "acknowledged")).kind == "failed"
        told = make(Store(store.reader), MINE, triage(0, "acknowledged"))
        assert (told.kind, told.sentence) == ("failed", NO_WRITER)
        assert stands(owner) is None

    def test_a_lost_answer_is_looked_up(self, store: Store) -> None:
        change = triage(0, "acknowledged")
        assert settle(store, MINE, change).kind == "failed"
        make(store, MINE, change)
        assert settle(store, MINE, change).kind == "applied"

    @pytest.mark.parametrize(
        "wrong",
        [
            {"state": "gone"},
            {"state": "resolved"},
            {"state": "new", "verdict": "older"},
            {"state": "snoozed"},
            {"state": "new", "note": "x" * 2001},
            {"state": "new", "note": "\0"},
        ],
        ids=["state", "no verdict", "a verdict", "no end", "long", "NUL"],
    )
    def test_what_is_no_triage_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValueError, match=r"\w"):
            triage(0, **wrong)

    def test_a_changed_text_is_a_new_alert_that_knows_of_the_earlier_one(self, store: Store) -> None:
        make(store, MINE, triage(0, "false_positive"))
        make(store, MINE, triage(0, "resolved", fingerprint="f0", verdict="both"))
        with store.reading(MINE) as snapshot:
            found = EarlierTriage("org_a", ((OLDER, NEWER),), ("value",), ("f2",)).ask(snapshot)
            assert {pair: row.state for pair, row in found.items()} == {(OLDER, NEWER): "resolved"}
            assert EarlierTriage("org_a", ((OLDER, NEWER),), ("negation",), ("f2",)).ask(snapshot) == {}
            assert EarlierTriage("org_a", ((NEWER, OLDER),), ("value",), ("f2",)).ask(snapshot) == {}
            assert EarlierTriage("org_a", ((OLDER, NEWER),), ("value",), ("f0", "f1")).ask(snapshot) == {}
        with store.reading(Reach(("org_b",))) as snapshot:
            assert EarlierTriage("org_a", ((OLDER, NEWER),), ("value",), ()).ask(snapshot) == {}

    def test_verdicts_are_what_someone_decided(self, store: Store) -> None:
        for number, (state, more) in enumerate(
            [("resolved", {"verdict": "both"}), ("false_positive", {}), ("acknowledged", {}), ("investigating", {})]
        ):
            make(store, MINE, triage(0, state, fingerprint=f"f{number}", found_up_to=number / 10, **more))
        with store.reading(MINE) as snapshot:
            assert sorted(Verdicts("org_a").ask(snapshot)) == [(0.0, True), (0.1, False)]


class TestNewAlerts:
    def test_of_standing_passes_less_what_was_triaged(self, store: Store, owner: Owner) -> None:
        for org, project, prints in (("org_a", "api", "abc"), ("org_a", None, "d"), ("org_b", "api", "")):
            for run, standing in enumerate((prints + "z", prints)):
                row = owner.execute(
                    """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version)
                       values (%s, %s, 'done', %s) returning id""",
                    (org, project, str(run)),
                ).fetchone()
                assert row
                for place, name in enumerate(standing):
                    owner.execute(
                        """insert into rankscope.contradictions values
                           (%s, %s, %s, %s, gen_random_uuid(), gen_random_uuid(), 'value', 'r', 1, 1, '{}', '[]')""",
                        (org, row[0], place, name),
                    )
        make(store, MINE, triage(0, "false_positive", fingerprint="a"))
        over = datetime.now(UTC) - timedelta(days=1)
        make(store, MINE, triage(0, "snoozed", fingerprint="b", snoozed_until=over))
        fleet = Scope(EVERYTHING, sample.TODAY - timedelta(days=1), sample.TODAY)
        found = store.ask(NewAlerts(fleet)).set_index("org_id")
        assert found.loc["org_a"].to_dict() == {"alerts": 3, "new": 3}
        assert found.loc["org_b"].to_dict() == {"alerts": 0, "new": 0}
        assert list(store.ask(NewAlerts(window("org_c")))["org_id"]) == []

    @pytest.mark.parametrize(
        ("decided", "counted"),
        [
            ({"state": "new"}, (1, 1)),
            ({"state": "acknowledged"}, (1, 0)),
            ({"state": "investigating"}, (1, 0)),
            ({"state": "snoozed", "snoozed_until": datetime.now(UTC) + timedelta(days=1)}, (1, 0)),
            ({"state": "resolved", "verdict": "older"}, (1, 0)),
            ({"state": "resolved", "verdict": "newer"}, (1, 0)),
            ({"state": "resolved", "verdict": "both"}, (0, 0)),
            ({"state": "false_positive"}, (0, 0)),
        ],
        ids=lambda each: each.get("verdict", each["state"]) if isinstance(each, dict) else "",
    )
    def test_what_was_dismissed_is_no_drift(
        self, store: Store, owner: Owner, decided: dict[str, Any], counted: tuple[int, int]
    ) -> None:
        row = owner.execute(
            """insert into rankscope.aggregation_runs (org_id, project_id, state, data_version)
               values ('org_a', 'api', 'done', 'v') returning id"""
        ).fetchone()
        assert row
        owner.execute(
            """insert into rankscope.contradictions values
               ('org_a', %s, 0, 'f1', gen_random_uuid(), gen_random_uuid(), 'value', 'r', 1, 1, '{}', '[]')""",
            row,
        )
        make(store, MINE, triage(0, **decided))
        (found,) = store.ask(NewAlerts(window("org_a"))).to_dict("records")
        assert (found["alerts"], found["new"]) == counted


def pairs(new: tuple[tuple[str, str], ...] | None, seen: str = digest(()), **more: Any) -> SetPairs:  # noqa: ANN401 - SetPairs' own
    named = {"org_id": "org_a", "shown": DEFAULTS, "defaults": DEFAULTS, "request_id": uuid4(), "actor": "omar", **more}
    return SetPairs(seen=seen, new=new, **named)


def stored(store: Store, org: str = "org_a") -> set[tuple[str, str]]:
    with store.reading(Reach((org,))) as snapshot:
        return set(OppositionPairs(org).ask(snapshot))


class TestPairs:
    def test_edited_then_reset_and_both_audited(self, store: Store) -> None:
        mine = (("always", "never"), ("hot", "cold"))
        assert make(store, MINE, pairs(mine)).kind == "applied"
        assert stored(store) == set(mine)
        assert make(store, MINE, pairs(None, digest(mine), shown=mine)).kind == "applied"
        assert stored(store) == set()
        with store.reading(MINE) as snapshot:
            last, first = changes(snapshot, "org_a")
        assert (first.action, first.added, first.removed) == ("edited", [["hot", "cold"]], [["on", "off"]])
        assert (last.action, last.added, last.removed) == ("reset", [["on", "off"]], [["hot", "cold"]])

    def test_a_second_click_and_a_stale_page(self, store: Store) -> None:
        change = pairs((("hot", "cold"),))
        assert [make(store, MINE, change).kind for _ in range(2)] == ["applied", "already"]
        told = make(store, MINE, pairs((("big", "small"),), actor="pia"))
        assert told.kind == "conflict"
        assert told.last is not None
        assert told.last.actor == "omar"
        assert stored(store) == {("hot", "cold")}

    def test_without_its_audit_nothing_is_saved(self, store: Store, owner: Owner) -> None:
        owner.execute("revoke insert on rankscope.opposition_changes from dash_write")
        assert make(store, MINE, pairs((("hot", "cold"),))).kind == "failed"
        assert stored(store) == set()

    def test_nobody_changes_anothers(self, store: Store) -> None:
        assert make(store, Reach(("org_b",)), pairs((("hot", "cold"),))).kind == "failed"
        assert stored(store) == set()

    def test_what_is_kept_of_what_was_typed(self) -> None:
        assert tidy([(" Hot ", "cold"), ("COLD", "hot"), (None, ""), ("a b", "c")]) == (("Hot", "cold"), ("a b", "c"))

    @pytest.mark.parametrize(
        "given",
        [[], [("a", "")], [("a", "A")], [("x" * 61, "y")], [("a\0", "b")], [(f"a{n}", "b") for n in range(501)]],
    )
    def test_what_is_no_pair_is_refused(self, given: list[tuple[str, str]]) -> None:
        with pytest.raises(PairError):
            tidy(given)
