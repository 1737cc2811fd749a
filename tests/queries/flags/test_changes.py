"""One flag changed in one transaction: FLG-7 and 9 of the bar, and what an operator is told."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queries import once
from queries.engine import Store
from queries.errors import NO_WRITER
from queries.flags import registry
from queries.flags.change import CONFLICT, MOVED_ON, NO_ORGANIZATION, NO_SUCH_ENTRY, PROTECTED, SetFlag, is_outside
from queries.flags.registry import FLAGS, KnownFlag
from queries.flags.states import flag_states, other_keys
from queries.once import make
from queries.scope import EVERYTHING
from tests.queries.flags.flag_store import BOOST, MINE, WEIGHTING, audit_rows, features_text, live_and_audited, set_flag

if TYPE_CHECKING:
    import psycopg

    from queries.flags.registry import State

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_organizations")


class TestApplied:
    @pytest.mark.parametrize(
        ("path", "expected"),
        [
            (("absent", "on"), {WEIGHTING: True}),
            (("absent", "off"), {WEIGHTING: False}),
            (("absent", "on", "off"), {WEIGHTING: False}),
            (("absent", "on", "absent"), {}),
        ],
    )
    def test_the_one_key_is_set_or_removed_and_no_other_is_touched(
        self, store: Store, owner: Owner, path: tuple[State, ...], expected: dict[str, bool]
    ) -> None:
        for seen, new in pairwise(path):
            assert make(store, MINE, set_flag(seen, new)).kind == "applied"
        stored = features_text(owner)
        assert stored
        assert {key: value for key, value in json.loads(stored).items() if key == WEIGHTING} == expected
        assert '"other": {"deep": [1, null]}' in stored
        assert "1" + "0" * 400 in stored
        assert live_and_audited(owner)[0] == live_and_audited(owner)[1] == path[-1]

    def test_the_audit_says_who_what_why_and_from_where(self, store: Store, owner: Owner) -> None:
        change = set_flag("absent", "on", reason="  drift of week 12 ", preview={"flips": 3}, source="feature_flags/1")
        outcome = make(store, MINE, change)
        assert outcome.entry is not None
        row = owner.execute(
            """select id, request_id, flag, old_state, new_state, reason, actor, reverts_id, source, preview, changed_at
                 from rankscope.flag_changes"""
        ).fetchall()
        entry = outcome.entry
        assert row == [
            (entry.id, change.request_id, WEIGHTING, "absent", "true", "drift of week 12", "omar", None,
             "feature_flags/1", {"flips": 3}, entry.at),
        ]  # fmt: skip

    def test_null_features_count_as_an_empty_object(self, store: Store, owner: Owner) -> None:
        owner.execute("update organizations set features = null where id = 'org_a'")
        assert make(store, MINE, set_flag("absent", "on")).kind == "applied"
        assert features_text(owner) == f'{{"{WEIGHTING}": true}}'

    def test_a_store_whose_features_are_of_type_json(self, store: Store, owner: Owner) -> None:
        owner.execute("alter table organizations alter column features type json using features::json")
        assert make(store, MINE, set_flag("absent", "on")).kind == "applied"
        stored = features_text(owner)
        assert stored
        assert other_keys(stored).keys() == {"other", "n"}
        assert live_and_audited(owner) == ("on", "on")


class TestOnce:
    """FLG-4 in the store: one change per intention."""

    def test_the_same_request_again_is_already_applied(self, store: Store, owner: Owner) -> None:
        change = set_flag("absent", "on")
        first = make(store, MINE, change)
        again = make(store, MINE, change)
        assert (first.kind, again.kind) == ("applied", "already")
        assert again.entry == first.entry
        assert audit_rows(owner) == [("absent", "on")]

    def test_also_after_someone_took_it_back(self, store: Store, owner: Owner) -> None:
        change = set_flag("absent", "on")
        make(store, MINE, change)
        make(store, MINE, set_flag("on", "absent"))
        assert make(store, MINE, change).kind == "already"
        assert live_and_audited(owner) == ("absent", "absent")

    @pytest.mark.parametrize("other", [{"org": "org_b"}, {"flag": BOOST}, {"new": "off"}])
    def test_a_request_id_serves_one_change_only(self, store: Store, owner: Owner, other: dict[str, Any]) -> None:
        request = uuid4()
        make(store, EVERYTHING, set_flag("absent", "on", request=request))
        given: dict[str, Any] = {"new": "on", "org": "org_a", "flag": WEIGHTING} | other
        refused = make(store, EVERYTHING, set_flag("absent", given.pop("new"), request=request, **given))
        assert (refused.kind, refused.sentence) == ("refused", once.USED)
        assert features_text(owner, "org_b") == "{}"

    def test_also_where_the_other_change_may_not_be_seen(self, store: Store, owner: Owner) -> None:
        request = uuid4()
        make(store, EVERYTHING, set_flag("absent", "on", org="org_b", request=request))
        assert make(store, MINE, set_flag("absent", "on", request=request)).sentence == once.USED
        assert live_and_audited(owner) == ("absent", None)


class TestConflict:
    """FLG-5 in the store."""

    def test_nothing_is_written_and_who_changed_it_is_told(self, store: Store, owner: Owner) -> None:
        first = make(store, MINE, set_flag("absent", "on", actor="olga", reason="she knows"))
        late = make(store, MINE, set_flag("absent", "off"))
        assert (late.kind, late.found, late.last, is_outside(late)) == ("conflict", "on", first.entry, False)
        assert live_and_audited(owner) == ("on", "on")
        assert len(audit_rows(owner)) == 1

    def test_a_change_outside_this_dashboard_is_told_apart(self, store: Store, owner: Owner) -> None:
        first = make(store, MINE, set_flag("absent", "on"))
        owner.execute(
            "update organizations set features = features || %s where id = 'org_a'", (f'{{"{WEIGHTING}": false}}',)
        )
        late = make(store, MINE, set_flag("on", "absent"))
        assert (late.kind, late.found, late.last, is_outside(late)) == ("conflict", "off", first.entry, True)

    def test_another_flag_or_key_is_no_conflict(self, store: Store, owner: Owner) -> None:
        make(store, MINE, set_flag("absent", "on", flag=BOOST))
        owner.execute("update organizations set features = features || '{\"other\": 2}' where id = 'org_a'")
        assert make(store, MINE, set_flag("absent", "on")).kind == "applied"
        assert live_and_audited(owner, flag=BOOST) == ("on", "on")


class TestRevert:
    def test_it_leads_back_and_says_what_it_reverts(self, store: Store, owner: Owner) -> None:
        entry = make(store, MINE, set_flag("absent", "on")).entry
        assert entry
        back = make(store, MINE, set_flag("on", "absent", reverts_id=entry.id))
        assert back.kind == "applied"
        assert back.entry
        assert back.entry.reverts_id == entry.id
        assert live_and_audited(owner) == ("absent", "absent")

    def test_not_once_the_flag_moved_even_if_it_came_back(self, store: Store, owner: Owner) -> None:
        entry = make(store, MINE, set_flag("absent", "on")).entry
        assert entry
        make(store, MINE, set_flag("on", "off"))
        moved = make(store, MINE, set_flag("on", "absent", reverts_id=entry.id))
        make(store, MINE, set_flag("off", "on"))
        back_again = make(store, MINE, set_flag("on", "absent", reverts_id=entry.id))
        assert (moved.kind, moved.sentence) == ("conflict", CONFLICT)
        assert (back_again.kind, back_again.sentence) == ("conflict", MOVED_ON)
        assert len(audit_rows(owner)) == 3

    def test_only_an_entry_of_the_same_flag_and_organization(self, store: Store) -> None:
        entry = make(store, EVERYTHING, set_flag("absent", "on", org="org_b")).entry
        assert entry
        make(store, EVERYTHING, set_flag("absent", "on"))
        for reverts in (entry.id, 10**9):
            refused = make(store, EVERYTHING, set_flag("on", "absent", reverts_id=reverts))
            assert (refused.kind, refused.sentence) == ("conflict", NO_SUCH_ENTRY)


class TestWhoMay:
    """ISO in the write itself: an organization out of reach and one that is not there look the same."""

    def test_out_of_reach(self, store: Store, owner: Owner) -> None:
        said = {make(store, MINE, set_flag("absent", "on", org=org)).sentence for org in ("org_b", "org_zzz")}
        assert said == {NO_ORGANIZATION}
        assert features_text(owner, "org_b") == "{}"

    def test_out_of_reach_where_row_security_is_off(self, store: Store, owner: Owner) -> None:
        owner.execute("alter table organizations disable row level security")
        assert make(store, MINE, set_flag("absent", "on", org="org_b")).sentence == NO_ORGANIZATION
        assert features_text(owner, "org_b") == "{}"

    def test_a_store_that_is_only_read(self, store: Store) -> None:
        refused = make(Store(store.reader), MINE, set_flag("absent", "on"))
        assert (refused.kind, refused.sentence) == ("failed", NO_WRITER)

    def test_a_protected_flag_is_shown_and_not_changed(
        self, store: Store, owner: Owner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shown = KnownFlag(WEIGHTING, "x", "off", "x", "x", (("on", "x"),), protected=True)
        monkeypatch.setattr(registry, "FLAGS", (shown, *FLAGS[1:]))
        assert make(store, MINE, set_flag("absent", "on")).sentence == PROTECTED
        assert live_and_audited(owner) == ("absent", None)


class TestValue:
    @pytest.mark.parametrize(
        "given",
        [
            {"reason": ""}, {"reason": " \n"}, {"reason": "x" * 2001}, {"reason": "a\0b"}, {"seen": "on"},
            {"new": "maybe"}, {"flag": "no_such_flag"}, {"actor": "\ud800"},
        ],
    )  # fmt: skip
    def test_a_change_that_makes_no_sense_cannot_be_said(self, given: dict[str, Any]) -> None:
        good: dict[str, Any] = {
            "org_id": "org_a", "flag": WEIGHTING, "seen": "absent", "new": "on", "reason": "why",
            "request_id": uuid4(), "actor": "omar", "source": "test",
        }  # fmt: skip
        SetFlag(**good)
        with pytest.raises(ValueError, match=r"expected|found"):
            SetFlag(**good | given)


MALFORMED = [
    "null", "[]", "[1]", '"text"', "12", "true", f'{{"{WEIGHTING}": "yes"}}', f'{{"{WEIGHTING}": "maybe"}}',
    f'{{"{WEIGHTING}": null}}', f'{{"{WEIGHTING}": 1}}', f'{{"{WEIGHTING}": 1e400}}', f'{{"{WEIGHTING}": {{}}}}',
    f'{{"{BOOST}": "yes"}}', '{"a":' + "[" * 7000 + "]" * 7000 + "}", '{"long": "' + "x" * 30_000 + '"}',
]  # fmt: skip
ONLY_JSON = [f'{{"{WEIGHTING}":true,"{WEIGHTING}":false}}', '{"a":1,"a":2}', '{"a":{"b":1,"b":2}}', '{"a": "\\u0000"}']


class TestMalformed:
    """FLG-9 and HOS-5: what is not a flag object is never overwritten."""

    @pytest.mark.parametrize("stored", MALFORMED, ids=lambda text: text[:30])
    def test_it_is_refused_and_left_as_it_was(self, store: Store, owner: Owner, stored: str) -> None:
        owner.execute("update organizations set features = %s where id = 'org_a'", (stored,))
        before = features_text(owner)
        for seen, new in (("absent", "on"), ("on", "off"), ("on", "absent")):
            refused = make(store, MINE, set_flag(seen, new))  # type: ignore[arg-type]
            assert refused.kind == "refused"
            assert "the stored flags are" in refused.sentence
        assert features_text(owner) == before
        assert audit_rows(owner) == []
        assert make(store, EVERYTHING, set_flag("absent", "on", org="org_b")).kind == "applied"

    @pytest.mark.parametrize("stored", ONLY_JSON)
    def test_what_only_the_type_json_can_hold(self, store: Store, owner: Owner, stored: str) -> None:
        owner.execute("alter table organizations alter column features type json using features::json")
        owner.execute("update organizations set features = %s where id = 'org_a'", (stored,))
        assert make(store, MINE, set_flag("absent", "on")).kind in ("refused", "failed")
        assert features_text(owner) == stored
        assert audit_rows(owner) == []

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(st.characters(codec="utf-8", exclude_characters="\0")),
            lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from([WEIGHTING, BOOST, "x"]), inner),
            max_leaves=8,
        )
    )
    def test_any_json_survives_or_gains_exactly_the_key(self, store: Store, owner: Owner, value: object) -> None:
        owner.execute("update organizations set features = %s where id = 'org_a'", (json.dumps(value),))
        known = flag_states(json.dumps(value))
        seen: State = known.state(WEIGHTING) or "absent"  # type: ignore[assignment]
        outcome = make(store, MINE, set_flag(seen, "off" if seen == "on" else "on"))
        stored = features_text(owner)
        assert stored
        if known.malformed is None:
            assert isinstance(value, dict)
            assert outcome.kind == "applied"
            assert json.loads(stored) == value | {WEIGHTING: seen != "on"}
        else:
            assert outcome.kind == "refused"
            assert json.loads(stored) == value

    def test_a_store_without_the_column(self, store: Store, owner: Owner) -> None:
        owner.execute("alter table organizations drop column features")
        assert "lacks a column" in make(store, MINE, set_flag("absent", "on")).sentence
