"""What Feature flags proposes for a change, and what its preview alone says of go or no-go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.pages.application import application
from tests.pages.flags_page import opened
from tests.queries.flags.flag_store import BOOST, WEIGHTING
from tests.weighed import add_weighed

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_writing", "_flagged")


def previewed(test: AppTest) -> list[str]:
    """The changes that the preview lists."""
    return [line for frame in test.dataframe if "per_100" in frame.value.columns for line in frame.value["change"]]


class TestNewState:
    def test_none_is_proposed_that_all_chosen_have_already(self, address: str) -> None:
        with application(address, target="org_b") as test:
            opened(test)
            assert test.session_state["pick_state"] is None
            assert previewed(test) == []
            (said,) = (line.value for line in test.caption if "Choose another state" in line.value)
            assert "It is on now, which means: weighting off." in said
            test.segmented_control("pick_state").set_value("off").run()
            assert test.query_params["state"] == "off"
            assert previewed(test) == ["on → off"]

    def test_it_is_proposed_where_one_of_them_has_another(self, address: str) -> None:
        with application(address) as test:
            test.query_params["target"] = ["org_a", "org_b"]
            opened(test)
            assert previewed(test) == ["absent → on"]
        with application(address, target="org_b", flag=BOOST) as test:
            assert previewed(opened(test)) == ["absent → on"]

    def test_a_link_that_names_it_says_that_there_is_nothing_to_change(self, address: str) -> None:
        with application(address, target="org_b", state="on") as test:
            opened(test)
        assert "1 organization chosen: already on, nothing to change." in [line.value for line in test.caption]

    def test_the_last_day_of_a_window_is_no_state(self, address: str) -> None:
        days = {"window": "custom", "from": "2026-01-01", "to": "2026-01-31"}
        with application(address, target="org_a", **days) as test:
            opened(test)
        assert not test.warning
        assert previewed(test) == ["absent → on"]


class TestGates:
    """Nobody agrees with anybody here, so that a boost changes nothing; four retrievals are too few to say so."""

    def gates(self, test: AppTest) -> list[str]:
        said = [*test.warning, *test.caption]
        return [line.value for line in said if "gates" in line.value]

    def test_those_that_fail_by_the_preview_stand_there_and_in_the_last_step(self, address: str) -> None:
        with application(address, target="org_a", flag=BOOST) as test:
            (there,) = self.gates(opened(test))
            test.button(key="review").click().run()
            assert self.gates(test) == [there] * 2
        assert there.startswith("No-go on these days. Failed gates: retrievals replayed (4, at least 50)")

    def test_where_all_of_them_hold_the_others_decide(self, address: str, owner: Owner) -> None:
        ids = [id_ for (id_,) in owner.execute("select id from observations where org_id = 'org_a'").fetchall()]
        add_weighed(owner, "org_a", ids, 50, hours_ago=13)
        with application(address, target="org_a", flag=BOOST) as test:
            (there,) = self.gates(opened(test))
        assert there.startswith("The gates that this preview measures hold")

    @pytest.mark.parametrize("asked", [{"flag": BOOST, "state": "off"}, {"flag": WEIGHTING}])
    def test_no_other_change_has_them(self, address: str, asked: dict[str, str]) -> None:
        with application(address, target="org_a", **asked) as test:
            assert self.gates(opened(test)) == []
