"""The history of flags as it stands on the page: its pages, its filters, its file, and an entry opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controls.flags import history as flag_history
from tests.pages.application import application
from tests.pages.flags_page import opened
from tests.queries.flags.flag_store import WEIGHTING

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_flagged", "_writing")


class TestHistory:
    @pytest.fixture(autouse=True)
    def _entries(self, owner: Owner) -> None:
        owner.execute(
            """insert into rankscope.flag_changes
                 (org_id, request_id, flag, old_state, new_state, reason, actor, source)
               select 'org_' || case when n %% 2 = 0 then 'a' else 'b' end, gen_random_uuid(), %s, 'absent', 'true',
                      'reason ' || n, 'actor', 'test' from generate_series(1, 60) n""",
            (WEIGHTING,),
        )

    def test_pages_of_fifty(self, address: str) -> None:
        with application(address) as test:
            opened(test)
            first = test.dataframe[-1].value["reason"].tolist()
            test.button(key="older").click().run()
            assert not test.exception
            second = test.dataframe[-1].value["reason"].tolist()
        assert (len(first), len(second)) == (50, 10)
        assert len({*first, *second}) == 60

    @pytest.mark.parametrize("nonsense", ["x", "-1", "9" * 5000])
    def test_a_page_and_an_age_that_cannot_be(self, address: str, nonsense: str) -> None:
        with application(address, before=nonsense, stale=nonsense, flag=nonsense, state=nonsense, days="8d") as test:
            opened(test)
        (told,) = (warning.value for warning in test.warning)
        assert told.startswith("Not understood in this link, and ignored: Flag, New state, Preview on the last, Stale")
        assert told.endswith(", Page of the history. The default is shown instead.")
        assert len(test.dataframe[-1].value) == 50

    def test_a_history_longer_than_a_file_says_so(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        def told(**filters: str) -> list[str]:
            with application(address, **filters) as test:
                opened(test)
            return [caption.value for caption in test.caption if caption.value.startswith("A file holds")]

        assert told() == []
        monkeypatch.setattr(flag_history, "MOST", 60)
        assert told() == []
        monkeypatch.setattr(flag_history, "MOST", 59)
        (said,) = told()
        assert said.startswith("A file holds the newest 59 changes and there are more: choose an organization")
        assert told(org="org_a") == []

    def test_one_organization_and_words(self, address: str) -> None:
        with application(address, org="org_a", words="reason 1") as test:
            opened(test)
        assert set(test.dataframe[-1].value["reason"]) == {f"reason {n}" for n in (10, 12, 14, 16, 18)}

    def test_a_change_is_opened_by_keyboard_and_closed(self, address: str) -> None:
        with application(address, words="reason 1") as test:
            opened(test)
            wanted = str(test.dataframe[-1].value["id"].iloc[1])
            test.selectbox(key="pick_change").select(wanted).run()
            assert test.query_params["change"] == wanted
            assert test.subheader[-1].value == f"Change {wanted}"
            test.button(key="close_change").click().run()
            assert "change" not in test.query_params
            assert f"Change {wanted}" not in [each.value for each in test.subheader]

    @pytest.mark.parametrize("change", ["999999999", "x", "-3", "9" * 40, "9" * 5000, "%27"])
    def test_an_unknown_entry(self, address: str, change: str) -> None:
        with application(address, change=change) as test:
            opened(test)
        assert "Unknown change in this link" in test.warning[-1].value
