"""One retrieval opened on Feedback Impact: its session and formula, whatever numbers were logged."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pytest

from tests.impact_log import EXTREMES, NUMBERS, Retrieval, plant
from tests.pages.application import application
from tests.pages.impact_page import PAGE, said, swapped, titles

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_swapped")


class TestOpened:
    def test_a_retrieval_shows_its_session_and_formula(self, address: str) -> None:
        name = str(swapped("cut", 3, 4).id)
        with application(address, org="org_a", retrieval=name) as test:
            test.switch_page(PAGE).run()
            assert not test.exception
            assert "Feedback moved 2 of 8 candidates and brought 1 into the block of 4" in titles(test)
            assert "session s0 · agent agent-0 · work chore · outcome accepted · weighting on · pipeline live" in said(
                test
            )
            table = test.dataframe[1].value
            assert list(table["weighted_rank"]) == list(range(1, 9))
            assert list(table["moved"])[3:5] == ["▲1", "▼1"]
            assert table["formula"].iloc[0] == "0.9 × 1.0 = 0.9"
            (way,) = [link.proto for link in test.get("page_link") if link.proto.label == "Open in Inspector"]
            assert (way.page, way.query_string) == ("inspector", f"org=org_a&retrieval={name}")
            test.button("close_retrieval").click().run()
            assert "retrieval" not in test.query_params

    def test_rows_open_without_a_mouse(self, address: str) -> None:
        with application(address, org="org_a") as test:
            test.switch_page(PAGE).run()
            listed = list(test.dataframe[0].value["id"])
            test.selectbox("choose_retrieval").select_index(1).run()
            assert test.query_params["retrieval"] == listed[1]
            candidates = list(test.dataframe[1].value["id"])
            test.selectbox("choose_candidate").select_index(2).run()
            assert not test.exception
            assert [title.value for title in test.title] == ["Observation"]
            assert test.query_params["observation"] == candidates[2]

    @pytest.mark.parametrize("org", ["org_a", "org_b"])
    def test_an_unknown_retrieval_and_a_foreign_one_look_the_same(self, address: str, org: str) -> None:
        name = str(swapped("cut", 3, 4).id) if org == "org_b" else "11111111-1111-1111-1111-111111111111"
        with application(address, org=org, retrieval=name) as test:
            test.switch_page(PAGE).run()
            assert "No such retrieval: it does not exist here, or you may not see it" in said(test)


COUNTED_APART = ("2 with a score or weight that is no number", "2 logged incompletely", "Based on 6")


class TestNoNumbers:
    """HOS-5: whatever stands in the log, it opens, and what is no number is called so."""

    @pytest.mark.parametrize("value", [*NUMBERS, *EXTREMES], ids=str)
    def test_a_score_or_weight(self, address: str, owner: Owner, value: float | None) -> None:
        made = swapped("odd", 2, 5)
        made.rows[0].relevance = made.rows[1].weight = made.rows[2].weighted = value
        finite = value is not None and math.isfinite(value)
        shown = self.opened(
            address, owner, made, "Based on 6" if finite else "2 with a score or weight that is no number"
        )
        assert shown["formula"].str.endswith("(not a number)").sum() == (0 if finite else 3)

    @pytest.mark.parametrize("rank", [None, -1, 2**31 - 1, -(2**31)], ids=str)
    def test_a_rank(self, address: str, owner: Owner, rank: int | None) -> None:
        made = swapped("odd", 2, 5)
        made.rows[0].before = made.rows[1].after = rank
        shown = self.opened(address, owner, made, "2 logged incompletely")
        if rank is None:
            assert list(shown["moved"]).count("—") == 2

    def opened(self, address: str, owner: Owner, made: Retrieval, due: str) -> Any:  # noqa: ANN401 - a frame
        plant(owner, [made])
        with application(address, org="org_a", retrieval=str(made.id), part="weights") as test:
            test.switch_page(PAGE).run()
            assert not test.exception
            assert not test.error
            assert [words for words in COUNTED_APART if words in said(test)] == [due]
            return test.dataframe[1].value
