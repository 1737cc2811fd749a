"""What Feedback Impact leaves out, listed one by one: reasons, what shows them, and every way to the list."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid5

import pytest

from controls.impact.answers import ask
from queries.impact.selection import Selection
from queries.scope import EVERYTHING, Scope
from tests import sample
from tests.hostile import TEXTS
from tests.impact_log import Retrieval, believable, plant, seeded
from tests.long_log import SAY_LONG
from tests.long_log import plant as plant_long
from tests.pages.application import application
from tests.pages.impact_page import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd
    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

PAGE = "feedback_impact.py"
WAY = "List what is left out"


def kept(name: str, **more: Any) -> Retrieval:  # noqa: ANN401 - Retrieval's own
    """Eight candidates that feedback left where they were."""
    made = believable(seeded(1), name, 8, block=4, **more)
    for place, row in enumerate(made.rows):
        row.before = row.after = place
        row.observation = uuid5(sample.NAMESPACE, f"kept/{place}")
    return made


def faults() -> list[Retrieval]:
    """One of each fault, the newest first, the third with several."""
    hole = kept("hole", days_ago=0, query=TEXTS[0])
    del hole.rows[6], hole.rows[2]
    doubled = kept("doubled", days_ago=1)
    doubled.rows[4].before = 1
    twice = kept("twice", days_ago=2)
    twice.rows[5].observation = twice.rows[0].observation
    twice.rows[1].weight = float("nan")
    number = kept("number", days_ago=3)
    number.rows[0].relevance, number.rows[1].weighted = None, float("inf")
    return [hole, doubled, twice, number]


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner) -> str:
    """Two whole retrievals of one agent; each fault, and two made while weighting was off, of another."""
    sample.add_organization(owner, "org_a", "Acme")
    for number in range(2):
        owner.execute(
            "insert into sessions (org_id, id, agent_id, created_at) values ('org_a', %s, %s, now())",
            (f"s{number}", f"agent-{number}"),
        )
    off = [kept(f"off{n}", weighting=False, days_ago=0, session="s1") for n in range(2)]
    broken = faults()
    for each in broken:
        each.session = "s1"
    plant(owner, [kept("one"), kept("two"), *off, *broken])
    return cluster.plain_url("dash_read", store_database)


@pytest.fixture
def opened(address: str, request: pytest.FixtureRequest) -> Iterator[AppTest]:
    with application(address, org="org_a", **{"part": "left", **getattr(request, "param", {})}) as test:
        yield test.switch_page(PAGE).run()
        assert not test.exception
        assert not test.error


def at(**parameters: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("opened", [parameters], indirect=True)


def table(test: AppTest) -> pd.DataFrame:
    """The list, told from other tables by its columns."""
    (found,) = (each.value for each in test.dataframe if "shown_by" in each.value)
    return found


def is_listed(test: AppTest) -> bool:
    return any("shown_by" in each.value for each in test.dataframe)


def test_each_stands_with_where_it_first_fails_and_what_shows_it(opened: AppTest) -> None:
    found = table(opened)
    off = "made while weighting was off, where both orders are one"
    assert list(zip(found["reason"], found["shown_by"], found["rows"], strict=True)) == [
        ("logged incompletely", "ranks 3, 7 missing", "6 of 8"),
        ("logged incompletely", "rank 5 → — missing, rank 2 → — doubled", "8 of 8"),
        ("with an observation logged twice", "1 row too many", "8 of 8"),
        ("with a score or weight that is no number", "in 2 rows", "8 of 8"),
        (off, "—", "8 of 8"),
        (off, "—", "8 of 8"),
    ]
    assert list(found["id"][:4]) == [str(each.id) for each in faults()]
    assert found["query"][0] == TEXTS[0][:300]
    assert (set(found["agent"]), set(found["session"])) == ({"agent-1"}, {"s1"})
    assert "organization" not in found
    assert any(caption.value.startswith("Newest first. Each stands under the first rule") for caption in opened.caption)
    assert "Hand ids and ranks to whoever runs the log writer" in said(opened)


def test_the_list_stands_alone_below_the_figures(opened: AppTest) -> None:
    assert len(opened.metric) == 5
    assert not opened.get("plotly_chart")
    assert len(opened.dataframe) == 1
    assert opened.segmented_control("pick_part").value == "left"
    assert WAY not in [button.label for button in opened.button]
    opened.segmented_control("pick_part").set_value("movers").run()
    assert "part" not in opened.query_params
    assert len(opened.get("plotly_chart")) == 2


class TestReason:
    @at(cell="1-1")
    def test_every_reason_says_how_many_and_keeps_its_own(self, opened: AppTest) -> None:
        reasons = opened.selectbox("pick_left")
        assert reasons.options == [
            "Every reason: 6",
            "Logged incompletely: 2",
            "With an observation logged twice: 1",
            "With a score or weight that is no number: 1",
            "Made while weighting was off, where both orders are one: 2",
        ]
        reasons.select("incomplete").run()
        assert (opened.query_params["left"], opened.query_params["cell"]) == ("incomplete", "1-1")
        assert set(table(opened)["reason"]) == {"logged incompletely"}
        assert "Weighting off is no fault" not in said(opened)
        opened.selectbox("pick_left").select("").run()
        assert "left" not in opened.query_params
        assert len(table(opened)) == 6

    @at(left="unweighted")
    def test_weighting_off_alone_is_called_no_fault(self, opened: AppTest) -> None:
        assert len(table(opened)) == 2
        assert "Weighting off is no fault" in said(opened)
        assert "whoever runs the log writer" not in said(opened)

    @at(left="unweighted", weighting="on")
    def test_a_reason_that_nothing_has_says_so(self, opened: AppTest) -> None:
        assert not is_listed(opened)
        assert "No retrieval of this selection is left out for this reason." in said(opened)

    @at(left="comparable")
    def test_one_that_is_none_is_named_and_ignored(self, opened: AppTest) -> None:
        assert "Not understood in this link, and ignored: Reason." in said(opened)
        assert len(table(opened)) == 6

    @pytest.mark.parametrize("text", TEXTS[::9])
    def test_a_hostile_one_is_only_text(self, address: str, text: str) -> None:
        with application(address, org="org_a", part="left", left=text) as test:
            test.switch_page(PAGE).run()
            assert not test.exception
            assert not test.error


@at(cell="1-1", left="incomplete")
def test_a_row_opens_in_place_without_a_mouse_and_leaves_the_list_as_it_is(opened: AppTest) -> None:
    name = str(faults()[1].id)
    opened.selectbox("choose_left_out").select_index(1).run()
    assert opened.query_params["retrieval"] == name
    assert list(table(opened)["open"]) == ["Open", "Opened"]
    assert "Opened retrieval" in said(opened)
    assert (opened.query_params["left"], opened.query_params["cell"]) == ("incomplete", "1-1")
    assert len(opened.dataframe) == 2
    # the retrieval stands below the list that opened it
    assert "shown_by" in opened.dataframe[0].value


class TestNothingComparable:
    @at(weighting="off", part="movers")
    def test_what_is_left_out_is_what_there_is_to_see(self, opened: AppTest) -> None:
        assert opened.subheader[0].value == "No retrieval in this selection can say what feedback changed"
        assert opened.segmented_control("pick_part").options == ["Left out"]
        assert len(table(opened)) == 2
        assert WAY not in [button.label for button in opened.button]

    @at(agent="agent-1", part="outcomes", left="repeated")
    def test_its_reason_is_kept_whatever_part_a_link_names(self, opened: AppTest) -> None:
        assert list(table(opened)["reason"]) == ["with an observation logged twice"]

    @at(agent="nobody")
    def test_where_there_is_no_retrieval_there_is_no_list(self, opened: AppTest) -> None:
        assert "is of the agent chosen above, so no retrieval is left." in said(opened)
        assert not is_listed(opened)
        assert [group.key for group in opened.get("button_group")] == ["pick_window"]


@at(agent="agent-0")
def test_where_nothing_is_left_out_it_says_so(opened: AppTest) -> None:
    assert "Nothing is left out: every retrieval of this selection is comparable." in said(opened)
    assert not is_listed(opened)


class TestWays:
    @at(part="weights")
    def test_the_words_that_count_them_lead_there(self, opened: AppTest) -> None:
        assert "counted apart: 2 logged incompletely, 1 with an observation logged twice" in said(opened)
        assert not is_listed(opened)
        opened.button("list_left_out").click().run()
        assert opened.query_params["part"] == "left"
        assert len(table(opened)) == 6

    @at(part="weights", agent="agent-0")
    def test_where_nothing_is_counted_apart_nothing_leads_there(self, opened: AppTest) -> None:
        assert WAY not in [button.label for button in opened.button]

    def test_it_is_asked_for_only_where_it_is_shown(self, address: str) -> None:
        today = sample.TODAY.date()
        chosen = Selection(Scope.of_days(EVERYTHING, today - timedelta(days=6), today, "org_a"))
        with application(address):
            assert ask(chosen, None, "movers", None).left_out is None
            found = ask(chosen, None, "left", None, "repeated")
            assert found.left_out is not None
            assert (len(found.left_out), found.part) == (1, None)


def test_over_all_organizations_each_row_names_its_own(address: str) -> None:
    with application(address, part="left") as test:
        test.switch_page(PAGE).run()
        assert not test.exception
        assert set(table(test)["organization"]) == {"Acme"}


def test_a_store_without_recommended_columns_lists_them_too(address: str, owner: Owner) -> None:
    owner.execute("drop policy scope on retrieval_ab_logs; alter table retrieval_ab_logs disable row level security")
    owner.execute(
        "alter table retrieval_ab_logs drop column retrieval_id, drop column created_at, drop column injected"
    )
    with application(address, org="org_a", part="left", left="incomplete") as test:
        test.switch_page(PAGE).run()
        assert not test.exception
        # equal queries of one session are one there, and so are doubled
        assert sorted(table(test)["rows"]) == ["16 of 8", "40 of 8", "6 of 8"]
        test.selectbox("choose_left_out").select_index(0).run()
        assert not test.exception
        assert "Opened retrieval" in said(test)


def test_of_a_drawn_log_it_says_that_these_are_those_drawn(cluster: Cluster, store_database: str, owner: Owner) -> None:
    plant_long(owner)
    owner.execute(SAY_LONG)
    with application(cluster.plain_url("dash_read", store_database), part="left") as test:
        test.switch_page(PAGE).run()
        assert not test.exception
        assert re.search(r"\d+ of those drawn, newest first; ≈ \d+ there are in all", said(test))
        assert test.selectbox("pick_left").options[1].startswith("Logged incompletely: ≈ ")
        assert set(table(test)["shown_by"]) == {"rank 19 missing", "rank 9 missing"}
