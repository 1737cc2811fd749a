"""What Feature flags proposes for a change, and what its preview alone says of go or no-go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controls.flags.preview import UNTRIED
from queries.flags.registry import known_flag
from tests.pages.application import application
from tests.pages.flags_page import opened
from tests.pages.test_narrow_tables import ROOM, spans
from tests.queries.flags.flag_store import BOOST, WEIGHTING
from tests.sample import add_organization
from tests.weighed import add_observed, add_weighed

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_writing", "_flagged")


def previewed(test: AppTest) -> list[str]:
    """The changes that the preview lists."""
    return [line for frame in test.dataframe if "per_100" in frame.value.columns for line in frame.value["change"]]


class TestNewState:
    @pytest.mark.parametrize(
        ("targets", "now"),
        [
            (["org_a"], " It is absent now, which means: weighting on (default)."),
            (["org_b"], " It is on now, which means: weighting off."),
            (["org_a", "org_b"], ""),
        ],
        ids=["absent", "on", "both"],
    )
    def test_none_is_proposed(self, address: str, targets: list[str], now: str) -> None:
        """Whoever only looks is shown no change that waits for a click."""
        with application(address) as test:
            test.query_params["target"] = targets
            opened(test)
            assert test.session_state["pick_state"] is None
            assert previewed(test) == []
            assert "review" not in [button.key for button in test.button]
            (said,) = (line.value for line in test.caption if "Choose the new state" in line.value)
            assert said == f"{known_flag(WEIGHTING).description}{now} Choose the new state to see what it would do."
            assert test.segmented_control("pick_state").options == [
                "weighting off (flag on)", "weighting on (flag off)", "weighting on, the default (flag absent)"
            ]  # fmt: skip
            assert "Off and absent rank alike" in test.segmented_control("pick_state").help
            test.segmented_control("pick_state").set_value("off").run()
            assert test.query_params["state"] == "off"
            assert previewed(test)[-1] == ("absent → off" if targets == ["org_a"] else "on → off")

    def test_one_that_is_there_already_changes_nothing(self, address: str) -> None:
        with application(address, target="org_b", state="on") as test:
            opened(test)
        assert "1 organization chosen: already on, nothing to change." in [line.value for line in test.caption]

    def test_the_last_day_of_a_window_is_no_state(self, address: str) -> None:
        days = {"window": "custom", "from": "2026-01-01", "to": "2026-01-31"}
        with application(address, target="org_a", state="on", **days) as test:
            opened(test)
        assert not [line for line in test.warning if "Not understood" in line.value]
        assert previewed(test) == ["absent → on"]


class TestTable:
    def test_all_of_it_is_in_sight_in_a_window_of_900_pixels(self, address: str) -> None:
        with application(address, target="org_a", state="on") as test:
            (table,) = (table for table in opened(test).dataframe if "per_100" in table.value.columns)
        placed = spans(table)
        assert list(placed) == ["organization", "change", "top", "per_100", "rbo", "replayed"]
        assert placed["replayed"][1] <= ROOM

    def test_why_a_preview_is_not_whole_stands_below_it_once_letter_by_letter(self, address: str, owner: Owner) -> None:
        for letter in "cd":
            add_organization(owner, f"org_{letter}", f"{letter.upper()} \u202eylf")
        with application(address, state="on") as test:
            test.query_params["target"] = ["org_a", "org_c", "org_d"]
            said = [line.value for line in opened(test).text if "logged in these days" in line.value]
        assert said == ["C ⟦U+202E⟧ylf, D ⟦U+202E⟧ylf: nothing was logged in these days: the effect is unknown"]


class TestSize:
    def test_a_large_change_is_called_so_whichever_flag_makes_it(self, address: str) -> None:
        """Turning weighting changes the top 5 of all four retrievals."""
        with application(address, target="org_a", state="on") as test:
            (said,) = [line.value for line in opened(test).warning]
        assert said == "A large change: 100 % of the retrievals would begin with another top 5."

    def test_of_many_it_says_in_how_many(self, address: str, owner: Owner) -> None:
        owner.execute("update organizations set features = '{}' where id = 'org_b'")
        add_weighed(owner, "org_b", add_observed(owner, "org_b"), 2, on=False)
        with application(address, state="on") as test:
            test.query_params["target"] = ["org_a", "org_b"]
            (said,) = [line.value for line in opened(test).warning]
        assert said == (
            "A large change: more than 5 % of the retrievals would begin with another top 5 in 1 of 2 organizations."
        )

    def test_where_nothing_was_logged_under_the_present_state_its_end_has_no_effect_that_is_known(
        self, address: str, owner: Owner
    ) -> None:
        """The boost was switched on just now: the log was made without it, and taking it away would alter nothing."""
        owner.execute("""update organizations set features = '{"corroboration_boost_enabled": true}'""")
        with application(address, target="org_a", flag=BOOST, state="off") as test:
            opened(test)
            frame = next(frame.value for frame in test.dataframe if "per_100" in frame.value.columns)
            test.button(key="review").click().run()
            listed = [line.value for line in test.text]
        row = frame.iloc[0]
        assert (row["replayed"], row["top"], row["per_100"], row["rbo"]) == ("4 of 4", "—", "—", "—")
        assert f"Acme: {UNTRIED}" in listed
        assert any(line.endswith(f"Preview: {UNTRIED}") for line in listed)


class TestGates:
    """Nobody agrees with anybody here, so that a boost changes nothing; four retrievals are too few to say so."""

    def gates(self, test: AppTest) -> list[str]:
        said = [*test.error, *test.warning, *test.caption]
        return [line.value for line in said if "gates" in line.value]

    def test_those_that_fail_by_the_preview_stand_there_and_in_the_last_step(self, address: str) -> None:
        with application(address, target="org_a", flag=BOOST, state="on") as test:
            (there,) = self.gates(opened(test))
            test.button(key="review").click().run()
            assert self.gates(test) == [there] * 2
            assert there in [line.value for line in test.error]  # as go or no-go itself says it
        assert there.startswith(
            "No-go on these days: 1 of the 3 gates that a preview can tell fails: retrievals replayed (4, at"
        )
        assert there.endswith(". All 5 gates stand in *Go or no-go*, on the page Corroboration.")

    def test_where_all_of_them_hold_the_others_decide(self, address: str, owner: Owner) -> None:
        ids = [id_ for (id_,) in owner.execute("select id from observations where org_id = 'org_a'").fetchall()]
        add_weighed(owner, "org_a", ids, 50, hours_ago=13)
        with application(address, target="org_a", flag=BOOST, state="on") as test:
            (there,) = self.gates(opened(test))
        assert there.startswith("The 3 gates that a preview can tell hold")
        assert there.endswith(". All 5 gates stand in *Go or no-go*, on the page Corroboration.")

    @pytest.mark.parametrize("asked", [{"flag": BOOST, "state": "off"}, {"flag": WEIGHTING, "state": "on"}])
    def test_no_other_change_has_them(self, address: str, asked: dict[str, str]) -> None:
        with application(address, target="org_a", **asked) as test:
            assert self.gates(opened(test)) == []
