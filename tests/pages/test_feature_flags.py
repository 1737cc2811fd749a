"""Feature flags as they stand on the page and are changed, against planted facts and planted faults."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from controls.flags.confirm import SENT, Sent, Staged
from jobs.worker_pool import CANCELLED
from queries import once
from queries.engine import Store, make_engine
from queries.flags.change import APPLIED
from queries.once import make
from queries.scope import Reach
from tests import sample
from tests.pages.application import application, until
from tests.pages.flags_page import opened
from tests.queries.flags.flag_store import BOOST, WEIGHTING, audit_rows, live_and_audited, set_flag
from tests.queries.flags.test_changes import MALFORMED, ONLY_JSON
from tests.tcp_proxy import Proxy
from tests.weighed import add_observed, add_weighed

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_flagged")


def sent(store: Store) -> Sent:
    """A change of Acme that was confirmed, and what became of it; Streamlit's harness cannot click in a dialog."""
    staged = Staged("org_a", "Acme", WEIGHTING, "absent", "on", uuid4())
    made = Sent([staged], "because")
    made.outcomes.append(make(store, Reach(("org_a",)), staged.said("because", "omar")))
    made.over.set()
    return made


def matrix(test: AppTest) -> dict[str, dict[str, str]]:
    shown = test.dataframe[0].value.set_index("id")
    return {str(org): {str(name): str(said) for name, said in row.items()} for org, row in shown.iterrows()}


def marked(test: AppTest) -> list[str]:
    """The organizations whose rows are chosen in the matrix."""
    ids = list(test.dataframe[0].value["id"])
    (key,) = (key for key in test.session_state if key.startswith("flag_matrix_"))
    return [ids[row] for row in test.session_state[key]["selection"]["rows"]]


def test_a_store_that_is_only_read_says_what_would_switch_writing_on(address: str) -> None:
    with application(address) as test:
        opened(test)
    assert "RANKSCOPE_WRITE_URL" in test.info[0].value
    assert [line for line in test.caption if "This download is not on record" in line.value]
    assert [button.label for button in test.button] == []
    assert matrix(test)["org_b"] == {
        "organization": "Birch",
        WEIGHTING: "● on: weighting off · set outside",
        BOOST: "– absent: boost off (default)",
        "others": "theirs",
    }
    assert {metric.label: metric.value for metric in test.metric} == {
        "Organizations": "2", "Overrides": "1", "Stale": "0", "Set outside": "1", "Unreadable": "0",
    }  # fmt: skip


@pytest.mark.usefixtures("_writing")
class TestChange:
    def test_a_pick_is_previewed_and_nothing_is_made_before_the_confirm(self, address: str, owner: Owner) -> None:
        with application(address, target="org_a", state="on") as test:
            opened(test)
            preview = test.dataframe[1].value.iloc[0]
            assert (preview["change"], preview["replayed"], preview["top"]) == ("absent → on", "4 of 4", "100 %")
            assert preview["per_100"] == "200"
            test.button(key="review").click().run()
            assert not test.exception
            listed = [line.value for line in test.text]
        assert (
            f"Acme · org_a\n{WEIGHTING}: absent → on\nweighting on (default) → weighting off\n"
            "Preview on the 4 of 4 retrievals of the last 7 days: 200 flips per 100 retrievals, top 5 changed in 100 %"
        ) in listed
        assert test.text_area(key="flag_reason").value == ""
        assert live_and_audited(owner) == ("absent", None)

    def test_the_last_step_leads_to_go_or_no_go_where_the_boost_is_switched_on(self, address: str) -> None:
        for flag, ways in ((BOOST, 2), (WEIGHTING, 0)):  # below the preview and in the last step
            with application(address, target="org_a", flag=flag, state="on") as test:
                opened(test).button(key="review").click().run()
                found = [link.proto.query_string for link in test.get("page_link") if "Go or no-go" in link.proto.label]
            assert found == ["org=org_a&show=shadow&window=7d"] * ways  # the days of the preview

    def test_many_are_previewed_by_the_worker_as_one_is_by_the_page(self, address: str, owner: Owner) -> None:
        others = [f"org_{letter}" for letter in "cdefg"]
        for number, org in enumerate(others):
            sample.add_organization(owner, org, org.upper())
            add_weighed(owner, org, add_observed(owner, org), number)
        alone = {}
        for org in ("org_a", "org_g"):
            with application(address, target=org, state="on") as test:
                alone[org] = opened(test).dataframe[1].value.iloc[0].to_dict()
        with application(address, state="on") as test:
            test.query_params["target"] = ["org_a", *others]
            opened(test)
            until(lambda: not test.run().get("progress") and len(test.dataframe) > 1, limit=60)
            shown = test.dataframe[1].value
            told = {row["organization"]: row.to_dict() for _, row in shown.iterrows()}
            test.button(key="review").click().run()
            listed = [line.value for line in test.text]
        assert told["Acme"] == alone["org_a"]
        assert told["ORG_G"] == alone["org_g"]
        assert [told[org.upper()]["replayed"] for org in others] == [f"{n} of {n}" for n in range(5)]
        assert "ORG_C: nothing was logged in these days: the effect is unknown" in listed
        assert any("of the last 7 days: 200 flips per 100 retrievals" in line for line in listed)

    def test_stopped_previews_leave_the_change_possible(self, address: str, owner: Owner) -> None:
        for letter in "cdef":
            sample.add_organization(owner, f"org_{letter}", letter.upper())
        four = "C, D, E, F"
        with application(address, state="on") as test:
            test.query_params["target"] = ["org_c", "org_d", "org_e", "org_f"]
            opened(test)
            assert test.get("progress")
            assert "review" not in [button.key for button in test.button]
            next(button for button in test.button if button.label == "Cancel").click().run()
            assert f"{four}: no preview: {CANCELLED}" in [line.value for line in test.text]
            assert "review" in [button.key for button in test.button]
            next(button for button in test.button if button.label == "Try again").click().run()
            until(lambda: not test.run().get("progress") and len(test.dataframe) > 1, limit=60)
            notes = [line.value for line in test.text]
        assert f"{four}: nothing was logged in these days: the effect is unknown" in notes

    def test_a_link_marks_the_rows_it_names_and_no_other(self, address: str) -> None:
        with application(address, state="on") as test:
            test.query_params["target"] = ["org_b", "nobody"]
            assert marked(opened(test)) == ["org_b"]
            test.multiselect(key="pick_target").set_value(["org_b", "org_a"]).run()
            assert marked(test) == ["org_a", "org_b"]
            test.multiselect(key="pick_target").set_value([]).run()
            assert marked(test) == []
            assert "target" not in test.query_params

    def test_organizations_that_a_link_names_in_vain_are_told(self, address: str) -> None:
        with application(address, org="org_a", target="org_b", state="on") as test:
            opened(test)
            assert test.warning[0].value.startswith("1 organization in this link left out: not in this scope")
        with application(address, state="on") as test:
            test.query_params["target"] = ["org_a", "nobody", "org_b"]
            opened(test)
            assert test.warning[0].value.startswith("1 organization in this link left out")
            assert len(test.dataframe[1].value) == 1  # Birch has it on already

    def test_without_its_audit_row_nothing_is_changed_and_the_page_says_so(
        self, address: str, owner: Owner, store: Store
    ) -> None:
        """FLG-6 on the page."""
        owner.execute("revoke insert on rankscope.flag_changes from dash_write")
        with application(address, target="org_a", state="on") as test:
            test.session_state[SENT] = sent(store)
            opened(test)
            (told,) = (alert.value for alert in test.error)
            assert told.startswith("Nothing was changed. The database user may not do this.")
            assert matrix(test)["org_a"][WEIGHTING] == "– absent: weighting on (default)"
            test.button(key="outcomes_seen").click().run()
            assert not test.error
        assert live_and_audited(owner) == ("absent", None)

    def test_whoever_was_slower_reads_the_reason_of_the_faster_letter_by_letter(
        self, address: str, store: Store
    ) -> None:
        make(store, Reach(("org_a",)), set_flag("absent", "off", reason="by mistake \u202efforlla"))
        with application(address, target="org_a", state="on") as test:
            test.session_state[SENT] = sent(store)
            opened(test)
            assert any(line.value.endswith("UTC: by mistake ⟦U+202E⟧fforlla") for line in test.text)

    def test_a_change_whose_answer_was_lost_is_unknown_until_it_is_looked_up(  # noqa: PLR0917 - fixtures
        self, address: str, owner: Owner, store: Store, cluster: Cluster, store_database: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:  # fmt: skip
        """FLG-3 on the page: the connection went as COMMIT was sent, and the database stayed away for a while."""
        monkeypatch.setattr(once, "SETTLING", 0.3)
        with Proxy(f"{cluster.lease._socket}/.s.PGSQL.5432", b"COMMIT\0", "forward", close_after=True) as proxy:
            engine = make_engine(f"postgresql://dash_write@127.0.0.1:{proxy.port}/{store_database}", name="lost")
            engine.connect().close()
            proxy.arm()
            lost = sent(Store(store.reader, engine))
            engine.dispose()
        with application(address, target="org_a", state="on") as test:
            test.session_state[SENT] = lost
            opened(test)
            assert test.warning[0].value == once.UNSURE
            test.button(key="check_0").click().run()
            assert [alert.value for alert in test.success] == [APPLIED]
            assert any(line.value.startswith("Change 1, ") for line in test.text)
            test.button(key="show_0").click().run()
            assert test.query_params["change"] == "1"
            assert "Change 1" in [heading.value for heading in test.subheader]
            assert "revert" in [button.key for button in test.button]
        assert audit_rows(owner) == [("absent", "on")]

    def test_a_state_that_means_the_same_says_so(self, address: str) -> None:
        with application(address, target="org_a", state="off") as test:
            opened(test)
        assert "Acme: means the same: no effect on ranking" in [line.value for line in test.text]

    def test_predicted_against_realised(self, address: str, owner: Owner) -> None:
        row = owner.execute(
            """insert into rankscope.flag_changes (org_id, request_id, flag, old_state, new_state, reason, actor,
                 source, preview, changed_at)
               values ('org_a', gen_random_uuid(), %s, 'true', 'absent', 'back', 'olga', 'test',
                 '{"logged": 10, "retrievals": 10, "top_changed": 5, "entered": 3, "left": 2, "rbo": 0.5,
                   "reasons": []}', now() - interval '20 hours')
               returning id""",
            (WEIGHTING,),
        ).fetchone()
        assert row
        with application(address, change=str(row[0])) as test:
            opened(test)
        assert test.subheader[0].value == f"Change {row[0]}"  # on top: a link led to it
        shown = test.dataframe[0].value.set_index("what")
        assert list(shown.loc["Predicted"]) == ["10 of 10", "50 %", "5", "50", "0.500"]
        assert list(shown.loc["Realised"])[:4] == ["4 of 4", "100 %", "8", "200"]
        assert "100 % of the retrievals since were logged under the new state." in [c.value for c in test.caption]

    def test_an_organization_that_is_malformed_cannot_be_changed_and_hides_no_other(
        self, address: str, owner: Owner
    ) -> None:
        """FLG-9 and HOS-5 on the page."""
        for number, stored in enumerate(MALFORMED):
            sample.add_organization(owner, f"bad_{number:02}", features=stored)
        with application(address, target="bad_00") as test:
            opened(test)
            assert "1 chosen organization without a valid flag object" in test.warning[0].value
            assert "review" not in [button.key for button in test.button]
            shown = matrix(test)
        assert len(shown) == 2 + len(MALFORMED)
        assert all(shown[f"bad_{n:02}"][WEIGHTING].startswith("not a valid flag object") for n in range(len(MALFORMED)))
        assert shown["org_b"][WEIGHTING].startswith("● on")
        assert {m.label: m.value for m in test.metric}["Unreadable"] == str(len(MALFORMED))
        assert audit_rows(owner, "bad_00") == []

    def test_also_where_the_column_is_json(self, address: str, owner: Owner) -> None:
        owner.execute("alter table organizations alter column features type json using features::json")
        for number, stored in enumerate(ONLY_JSON):
            sample.add_organization(owner, f"bad_{number}", features=stored)
        with application(address) as test:
            shown = matrix(opened(test))
        assert shown["bad_0"][WEIGHTING] == "not a valid flag object: an object with the same key twice"
        assert len(shown) == 2 + len(ONLY_JSON)

    @pytest.mark.parametrize(
        ("damage", "expected"),
        [
            ("alter table organizations drop column features", "lacks a column"),
            ("drop schema rankscope cascade", "table"),
            ("delete from projects; delete from organizations", "No organization can be seen"),
        ],
    )
    def test_a_store_that_lacks_something(self, address: str, owner: Owner, damage: str, expected: str) -> None:
        owner.execute("delete from context_injection_logs; delete from retrieval_ab_logs; delete from observations")
        owner.execute(damage.encode())
        with application(address) as test:
            opened(test)
        said = [alert.value for kind in (test.error, test.warning, test.info) for alert in kind]
        assert expected in " ".join(said)
