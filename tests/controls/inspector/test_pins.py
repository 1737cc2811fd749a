"""Pins as they stand on a page: held, shown, opened, taken away as a file, and who may change them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from controls import access
from controls.access import NotAllowedError, Principal
from controls.inspector import pins
from queries.errors import StoreError
from queries.pins import Pin
from queries.scope import isolated
from tests import hostile
from tests.controls.inspector.panels import SCRIPT, said
from tests.memories import add_memory
from tests.pages.application import application
from tests.retrieval.planted import QUESTION, TEXTS, plant

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    from queries.engine import Store
    from queries.principals import Role
    from tests.conftest import Cluster
    from tests.retrieval.planted import Planted

    Owner = psycopg.Connection[Any]

ADA = Principal("ada", "admin", None, "local")
UNRECORDED = "This download is not on record: no write login is configured."


@pytest.fixture
def _writable(cluster: Cluster, store_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", store_database))


def held(owner: Owner) -> list[tuple[Any, ...]]:
    return owner.execute(
        "select name, query_text, created_by, expectations, archived_at is not null from rankscope.pins order by id"
    ).fetchall()


def offered(test: AppTest, text: str) -> list[str]:
    """What stands in the list to choose from for an observation with this text."""
    return [option for option in test.multiselect("pin_include").options if text in option]


@pytest.mark.usefixtures("_writable")
class TestPins:
    def test_pin_this_then_see_it_fail_under_another_pipeline_then_take_it_down(
        self, address: str, planted: Planted, owner: Owner
    ) -> None:
        ids = [str(id_) for id_ in planted.ids]
        with application(address, SCRIPT, org="acme") as test:
            test.run()
            test.text_input("pin_name").input("banana guard")
            test.multiselect("pin_include").set_value([ids[4]])
            test.selectbox("pin_upper").set_value(ids[0])
            test.selectbox("pin_lower").set_value(ids[4])
            test.button("pin_save").click().run()
            assert said(test) == ["Pinned."]
            left = (test.text_input("pin_name").value, test.multiselect("pin_include").value)
            assert (*left, *(test.selectbox(f"pin_{name}").value for name in ("upper", "lower"))) == (
                "",
                [],
                None,
                None,
            )
        who = access.local_principal("127.0.0.1").name
        expected = {"must_include": [ids[4]], "must_precede": [[ids[0], ids[4]]]}
        assert held(owner) == [("banana guard", QUESTION, who, expected, False)]
        number = str((owner.execute("select id from rankscope.pins").fetchone() or (0,))[0])
        with application(address, SCRIPT, org="acme", pipeline="Relevance~~Head~k~2", pin=number) as test:
            test.run()
            table = next(table.value for table in test.dataframe if "why" in table.value)
            assert table["result"].tolist() == ["✕ fails"]
            assert table["why"].tolist() == [f"{ids[4]} was not returned, not in the block of 2"]
            first, last = (f"{isolated(TEXTS[n])} · {ids[n][:8]}" for n in (0, 4))
            assert f"{last} must be in the block\n{first} must rank above {last}" in [each.value for each in test.text]
            assert "**0 of 1 pins hold under this pipeline.**" in [line.value for line in test.markdown]
            test.button("pin_archive").click().run()
            assert said(test) == ["Taken down."]
        assert [row[-1] for row in held(owner)] == [True]

    def test_a_choice_outlives_a_turned_knob_and_another_question(
        self, address: str, planted: Planted, owner: Owner
    ) -> None:
        """A browser sends the words that were chosen, which may be from a list that has been ranked anew since."""
        best, last = str(planted.ids[0]), str(planted.ids[4])
        with application(address, SCRIPT, org="acme") as test:
            test.run()
            (above,), (below,) = offered(test, TEXTS[0]), offered(test, TEXTS[4])
            for query, pipeline in (
                (QUESTION, "SessionRecency"),
                (QUESTION, "Relevance~~Head~k~2"),
                ("which fruit ripens", "Relevance~~Head~k~1"),
            ):
                test.query_params.update(q=query, pipeline=pipeline)
                test.run()
                assert (offered(test, TEXTS[0]), offered(test, TEXTS[4])) == ([above], [below])
                test.multiselect("pin_include").set_value([below])
                test.selectbox("pin_upper").set_value(above)
                test.selectbox("pin_lower").set_value(below)
                test.run()
                assert test.multiselect("pin_include").value == [last]
            assert not offered(test, TEXTS[1])
            test.text_input("pin_name").input("kept").run()
            test.button("pin_save").click().run()
            assert said(test) == ["Pinned."]
        assert held(owner)[0][3] == {"must_include": [last], "must_precede": [[best, last]]}

    def test_no_observation_of_another_organization_is_offered(self, address: str, owner: Owner) -> None:
        plant(owner)
        plant(owner, "globex", ["a secret of globex about auth"])
        with application(address, SCRIPT, org="globex") as test:
            test.run()
            test.multiselect("pin_include").set_value(offered(test, "secret")).run()
            test.query_params["org"] = "acme"
            test.run()
            assert (offered(test, "secret"), test.multiselect("pin_include").value) == ([], [])
            assert "secret" not in str(test.session_state)

    def test_what_this_question_did_not_recall_is_told_in_its_words_too(
        self, address: str, planted: Planted, store: Store, owner: Owner
    ) -> None:
        other, unknown = add_memory(owner, planted.org, 900, "of the\nweb", project_id="web"), str(UUID(int=999))
        number = self.saved(store, Pin("p", QUESTION, (other, unknown)))
        with application(address, SCRIPT, org="acme", project="api", pin=str(number)) as test:
            test.run()
        line = f"{isolated('of the web')} · {other[:8]} must be in the block\n{unknown} must be in the block"
        assert line in [each.value for each in test.text]

    def test_opening_a_pin_asks_its_question_for_its_work(self, address: str, planted: Planted, store: Store) -> None:
        pin = Pin("p", "which fruit ripens", (str(planted.ids[4]),), project="api", work_type="bug_fix")
        number = self.saved(store, pin)
        with application(address, SCRIPT, org="acme", pin=str(number), retrieval="x") as test:
            test.run()
            test.button("pin_open").click().run()
            assert not test.exception
            assert (test.query_params["q"], test.query_params["project"]) == ("which fruit ripens", "api")
            assert test.query_params["work_type"] == "bug_fix"
            assert "retrieval" not in test.query_params

    @pytest.mark.parametrize(
        ("name", "include", "upper", "sentence"),
        [
            ("", [0], None, "name: expected 1 to 200 characters, found 0"),
            ("n", [], None, "expectations: expected 1 to 50, found 0"),
            ("n", [], 0, "Which ranks above which: choose both, or neither."),
        ],
    )
    def test_a_pin_that_is_none_says_why(  # noqa: PLR0917 - fixtures and cases come as arguments
        self, address: str, planted: Planted, owner: Owner, name: str, include: list[int], upper: int | None,
        sentence: str,
    ) -> None:  # fmt: skip
        with application(address, SCRIPT, org="acme") as test:
            test.run()
            test.text_input("pin_name").input(name)
            test.multiselect("pin_include").set_value([str(planted.ids[n]) for n in include])
            if upper is not None:
                test.selectbox("pin_upper").set_value(str(planted.ids[upper]))
            test.button("pin_save").click().run()
            assert said(test) == [sentence]
        assert held(owner) == []

    def test_the_same_name_twice(self, address: str, planted: Planted, store: Store, owner: Owner) -> None:
        self.saved(store, Pin("p", QUESTION, (str(planted.ids[0]),)))
        with application(address, SCRIPT, org="acme") as test:
            test.run()
            test.text_input("pin_name").input("p")
            test.multiselect("pin_include").set_value([str(planted.ids[1])])
            test.button("pin_save").click().run()
            assert said(test) == [pins.TAKEN]
            assert test.text_input("pin_name").value == "p"
        assert len(held(owner)) == 1

    def test_the_file_holds_the_pins_and_is_made_when_it_is_clicked(
        self, address: str, planted: Planted, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.saved(store, Pin("p", QUESTION, (str(planted.ids[0]),)))
        found = json.loads(pins._export(store, "acme", "name", ADA))
        assert [pin["name"] for pin in found["pins"]] == ["p"]
        with application(address, SCRIPT, org="acme") as test:
            test.run()
            assert not test.exception
            (button,) = test.get("download_button")
            assert (button.proto.url, bool(button.proto.deferred_file_id)) == ("", True)
            assert not [line.value for line in test.caption if UNRECORDED in line.value]
        monkeypatch.delenv("RANKSCOPE_WRITE_URL")
        with application(address, SCRIPT, org="acme") as test:
            assert [line.value for line in test.run().caption if UNRECORDED in line.value]

    def test_the_file_is_on_record_before_it_is_handed_out(self, planted: Planted, store: Store, owner: Owner) -> None:
        self.saved(store, Pin("p", QUESTION, (str(planted.ids[0]),)))
        assert pins._export(store, "acme", "name", ADA)
        rows = owner.execute("select org_id, kind, format, rows, file_name, actor from rankscope.exports").fetchall()
        assert rows == [("acme", "pins", "json", 1, "name", "ada")]
        owner.execute("revoke insert on rankscope.exports from dash_write")
        with pytest.raises(StoreError):
            pins._export(store, "acme", "name", ADA)

    def test_a_role_that_was_taken_away_takes_the_file_along(
        self, planted: Planted, store: Store, owner: Owner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.saved(store, Pin("p", QUESTION, (str(planted.ids[0]),)))
        monkeypatch.setattr("controls.exports.stored_role", lambda _: None)
        with pytest.raises(NotAllowedError, match="has changed"):
            pins._export(store, "acme", "name", Principal("vera", "viewer", frozenset({"acme"}), "proxy"))
        assert owner.execute("select count(*) from rankscope.exports").fetchone() == (0,)

    def test_hostile_pins_are_shown_literally(self, address: str, planted: Planted, store: Store) -> None:
        texts = [text for text in hostile.TEXTS[:60:7] if len(text) < 150]
        for text in texts:
            self.saved(store, Pin(f"{text} zebra", text, (str(planted.ids[0]),)))
        with application(address, SCRIPT, org="acme") as test:
            test.run()
            spoken = [*said(test), *(line.value for line in (*test.markdown, *test.caption))]
            assert not [line for line in spoken if "zebra" in line]
            table = next(table.value for table in test.dataframe if "why" in table.value)
            assert f"{texts[0]} zebra" in table["name"].tolist()

    @staticmethod
    def saved(store: Store, pin: Pin) -> int | None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(access, "current_principal", lambda: Principal("ada", "operator", None, "proxy"))
            return pins.hold(store, "acme", pin)


class TestWhoMayChange:
    """The write functions ask anew, whatever a browser sent."""

    @pytest.mark.parametrize(("role", "orgs"), [("viewer", None), ("viewer", {"acme"}), ("operator", {"globex"})])
    def test_viewers_and_strangers_are_refused(  # noqa: PLR0917 - fixtures and cases come as arguments
        self, planted: Planted, store: Store, owner: Owner, monkeypatch: pytest.MonkeyPatch, role: Role,
        orgs: set[str] | None,
    ) -> None:  # fmt: skip
        pin = Pin("p", QUESTION, (str(planted.ids[0]),))
        number = TestPins.saved(store, pin) or 0
        who = Principal("vera", role, None if orgs is None else frozenset(orgs), "proxy")
        monkeypatch.setattr(access, "current_principal", lambda: who)
        with pytest.raises(NotAllowedError):
            pins.hold(store, "acme", Pin("another", QUESTION, (str(planted.ids[0]),)))
        with pytest.raises(NotAllowedError):
            pins.take_down(store, "acme", number)
        assert [row[0] for row in held(owner)] == ["p"]
        assert [row[-1] for row in held(owner)] == [False]

    @pytest.mark.usefixtures("planted")
    def test_a_store_that_is_only_read_says_what_would_switch_writing_on(self, address: str) -> None:
        with application(address, SCRIPT, org="acme") as test:
            test.run()
            assert not test.exception
            assert pins.READ_ONLY in [line.value for line in test.caption]
            assert "pin_save" not in [button.key for button in test.button]

    @pytest.mark.usefixtures("planted")
    def test_a_store_that_was_not_migrated_says_so(self, address: str, owner: Owner) -> None:
        owner.execute("alter table rankscope.pins drop column archived_at cascade")
        with application(address, SCRIPT, org="acme") as test:
            assert said(test.run()) == [pins.NO_TABLE]
