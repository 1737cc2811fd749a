"""Feedback Impact as it stands on the page: planted facts, every part and filter, hostile links, and other stores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.hostile import TEXTS
from tests.impact_log import believable, plant, seeded
from tests.pages.application import application
from tests.pages.impact_page import PAGE, said, swapped, titles

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_swapped")


@pytest.fixture
def opened(address: str, request: pytest.FixtureRequest) -> Iterator[AppTest]:
    with application(address, org="org_a", **getattr(request, "param", {})) as test:
        yield test.switch_page(PAGE).run()
        assert not test.exception


def at(**parameters: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("opened", [parameters], indirect=True)


def test_the_figures_on_top(opened: AppTest) -> None:
    assert opened.subheader[0].value == "Feedback changed the top 5 in 0 % of retrievals"
    figures = {metric.label: (metric.value, metric.delta) for metric in opened.metric}
    # Five comparable retrievals of eight: two candidates moved one place in two of them. A swap of ranks 4 and 5 leaves
    # three of four at depth 4, one of 1 and 2 none of one at depth 1. Before, the first fell to the fifth place: at
    # depths 1 to 4 all but one are shared.
    now = (3 + (1 - 0.1 * 0.9**3 / 4) + (1 - 0.1)) / 5
    then = 1 - 0.1 * (1 + 0.9 / 2 + 0.9**2 / 3 + 0.9**3 / 4)
    assert figures == {
        "Top 5 changed": ("0 %", "no change"),
        "Block changed": ("20 %", "≈ -80 pt, unclear"),  # one of five, one of one before
        "Mean move": ("0.1", "-0.9"),
        "RBO": (f"{now:.3g}", f"{now - then:+.2g}"),
        "Injection rate: usual": ("50 %", "no change"),
    }
    assert "An injection rate of 40 to 70 % is usual." in said(opened)


def test_a_change_beyond_chance_has_no_mark(address: str, owner: Owner) -> None:
    """21 of 25 blocks changed, and 1 of 21 in the window before."""
    plant(owner, [swapped(f"now{n}", 3, 4) for n in range(20)])
    plant(owner, [swapped(f"then{n}", 7, 7, days_ago=40) for n in range(20)])
    with application(address, org="org_a") as test:
        test.switch_page(PAGE).run()
        deltas = {metric.label: metric.delta for metric in test.metric}
        assert deltas["Block changed"] == "+79 pt"
        assert "too few to tell it from chance" not in said(test)
        assert "Only shares of retrievals are tested for chance." in said(test)


def test_nothing_is_said_to_be_undrawn_where_all_is_drawn(opened: AppTest) -> None:
    assert "not drawn" not in said(opened)
    assert "without a line" not in said(opened)


def test_what_stands_too_deep_to_draw_is_counted_and_found(address: str, owner: Owner) -> None:
    deep = believable(seeded(3), "deep", 45, block=4)
    for place, row in enumerate(deep.rows):
        row.before, row.after = place, {30: 44, 44: 30}.get(place, place)
        row.relevance = row.weighted = 0.9 - place / 100
        row.weight, row.boost, row.injected = 1.0, None, place < 4
    plant(owner, [deep])
    with application(address, org="org_a", retrieval=str(deep.id), cell="31-45") as test:
        test.switch_page(PAGE).run()
        assert not test.exception
        captions = [caption.value for caption in test.caption]
        # ranks 31 to 45 of one retrieval; of them 41 to 45 and rank 31, which fell to 45, have no line
        assert any(told.startswith("15 candidates with a rank beyond 30 not drawn on the map") for told in captions)
        assert any(told.startswith("6 candidates without a line: a rank beyond 40") for told in captions)
        assert "**1 retrieval with a candidate at rank 31 without and 45 with feedback**" in said(test)
        assert len(test.dataframe[1].value) == 45
        assert "Feedback moved 2 of 45 candidates and brought 0 into the block of 4" in titles(test)


@at(k="4")
def test_the_depth_of_the_top_is_in_the_address(opened: AppTest) -> None:
    assert opened.subheader[0].value == "Feedback changed the top 4 in 20 % of retrievals"
    opened.number_input("pick_k").set_value(1).run()
    assert opened.query_params["k"] == "1"
    assert opened.subheader[0].value == "Feedback changed the top 1 in 20 % of retrievals"


def test_what_is_left_out_is_counted_apart(opened: AppTest) -> None:
    assert "Based on 5 comparable retrievals" in said(opened)
    for words in (
        "1 logged incompletely", "1 with an observation logged twice", "1 with a score or weight that is no number",
        "1 made while weighting was off",
    ):  # fmt: skip
        assert words in said(opened)
    assert "1 of those logged incompletely are unbalanced: rank changes that do not sum to 0" in said(opened)


def test_pictures_say_their_finding(opened: AppTest) -> None:
    assert titles(opened) == [
        "Feedback moved 10 % of candidates: ▲ above the diagonal, ▼ below",
        "90 % kept their rank; half the rest moved ≤ 1 place",
    ]


def test_the_table_lists_the_most_changed_first(opened: AppTest) -> None:
    table = opened.dataframe[0].value
    assert list(table["flips"]) == [2, 0, 0, 0, 0]
    assert list(table["shift"]) == [2, 2, 0, 0, 0]
    assert table["query"].iloc[0] == "how do we deploy"


@at(cell="5-4")
def test_a_cell_in_the_address_keeps_its_retrievals(opened: AppTest) -> None:
    assert "1 retrieval with a candidate at rank 5 without and 4 with feedback" in said(opened)
    assert list(opened.dataframe[0].value["query"]) == ["how do we deploy"]
    opened.button("no_cell").click().run()
    assert "cell" not in opened.query_params
    assert len(opened.dataframe[0].value) == 5


@pytest.mark.parametrize("cell", ["0-1", "a-b", "5", "-", "1-99999999999", "٣-٤", "1-2-3"])
def test_a_cell_that_cannot_be_shows_all(address: str, cell: str) -> None:
    with application(address, org="org_a", cell=cell) as test:
        test.switch_page(PAGE).run()
        assert not test.exception
        assert len(test.dataframe[0].value) == 5
        assert "Not understood in this link, and ignored: Cell of the map. The default is shown instead." in said(test)


class TestCells:
    """The map without a mouse."""

    def test_every_cell_is_in_the_list_and_choosing_one_is_a_click_on_it(self, opened: AppTest) -> None:
        cells = opened.selectbox("pick_cell")
        assert (cells.value, len(cells.options)) == ("every cell", 1 + 8 + 4)
        # one of the five retrievals moved its first
        assert "rank 1 → 1 (kept): 4 candidates" in cells.options
        cells.select("rank 5 → 4 (▲1): 1 candidate").run()
        assert opened.query_params["cell"] == "5-4"
        assert list(opened.dataframe[0].value["query"]) == ["how do we deploy"]
        opened.selectbox("pick_cell").select("every cell").run()
        assert "cell" not in opened.query_params
        assert len(opened.dataframe[0].value) == 5

    @at(cell="8-1")
    def test_an_empty_cell_of_a_link_is_there_and_says_so(self, opened: AppTest) -> None:
        assert opened.selectbox("pick_cell").value == "rank 8 → 1 (▲7): 0 candidates"
        assert "0 retrievals with a candidate at rank 8 without and 1 with feedback" in said(opened)


class TestFilters:
    @at(query="100% _S")
    def test_words_of_the_query_mean_themselves(self, opened: AppTest) -> None:
        assert "Based on 1 comparable retrieval" in said(opened)
        opened.text_input("pick_query").set_value("%").run()
        assert opened.query_params["query"] == "%"
        assert "Based on 1 comparable retrieval" in said(opened)

    @at(agent="agent-2")
    def test_an_agent(self, opened: AppTest) -> None:
        assert "Based on 3 comparable retrievals" in said(opened)
        opened.selectbox("pick_agent").select("agent-0").run()
        assert opened.query_params["agent"] == "agent-0"
        assert "agent" not in opened.selectbox("pick_agent").select("").run().query_params

    @at(weighting="off")
    def test_with_weighting_off_no_order_is_compared(self, opened: AppTest) -> None:
        assert opened.subheader[0].value == "No retrieval in this selection can say what feedback changed"
        values = {metric.label: metric.value for metric in opened.metric}
        assert values == {
            "Top 5 changed": "—", "Block changed": "—", "Mean move": "—", "RBO": "—", "Injection rate: usual": "50 %",
        }  # fmt: skip
        assert not opened.get("plotly_chart")

    @at(agent="nobody", outcome="rubbish", k="-3", part="nothing")
    def test_a_link_with_nonsense_finds_nothing_and_says_so(self, opened: AppTest) -> None:
        assert "No session that this organization has in this window is of the agent chosen above" in said(opened)
        assert "Not understood in this link, and ignored: Outcome, Top k, Part." in said(opened)
        assert opened.number_input("pick_k").value == 5

    @at(agent="nobody", project="api")
    def test_of_a_project_it_is_said_of_the_project(self, opened: AppTest) -> None:
        told = "No session that this project has in this window is of the agent chosen above, so no retrieval is left. "
        assert f"{told}It may be another project's or organization's" in said(opened)

    @at(query="nobody asked")
    def test_filters_that_leave_nothing_say_so(self, opened: AppTest) -> None:
        assert "No retrievals in this scope pass these filters." in said(opened)

    @at(agent="agent-0", work="chore")
    def test_what_another_organization_lacks_is_named_and_can_be_cleared(self, opened: AppTest) -> None:
        assert "chosen above" not in said(opened)
        opened.selectbox("pick_org").select("org_b").run()
        told = "No session that this organization has in this window is of the agent or work type chosen above"
        assert told in said(opened)
        assert opened.query_params["agent"] == "agent-0"
        opened.button("clear_agent").click().run()
        opened.button("clear_work").click().run()
        assert not {"agent", "work"} & set(opened.query_params)
        assert "chosen above" not in said(opened)

    @at(agent="agent-0", outcome="accepted", k="3", weighting="on", query="deploy", part="weights", cell="1-1")
    def test_a_link_that_makes_sense_is_told_nothing(self, opened: AppTest) -> None:
        assert "Not understood" not in said(opened)

    @pytest.mark.parametrize("number", range(0, len(TEXTS), 6))
    def test_hostile_filters_are_only_text(self, address: str, number: int) -> None:
        text = TEXTS[number]
        with application(address, org="org_a", agent=text, query=text, retrieval=text, cell=text) as test:
            test.switch_page(PAGE).run()
            assert not test.exception
            assert not test.error


class TestParts:
    @at(part="weights")
    def test_weights(self, opened: AppTest) -> None:
        assert titles(opened)[-1] == "100 % of candidates still have weight 1, 0 % fell below 0.5"

    @at(part="outcomes")
    def test_too_few_sessions_collect_data(self, opened: AppTest) -> None:
        assert "1 session where feedback changed the block: collecting data, 30 are needed" in said(opened)
        assert "1 session where feedback kept the block, and 1 without an outcome yet: collecting data" in said(opened)
        assert len(titles(opened)) == 2
        told = "Collecting data: too few sessions to compare. Outcomes, below the list, has the rest."
        assert told in [text.value for text in opened.text]

    def test_sessions_of_an_unknown_outcome_stand_on_neither_side(self, address: str, owner: Owner) -> None:
        owner.execute("alter table sessions drop constraint sessions_outcome_check")
        owner.execute("update sessions set outcome = 'abandoned' where outcome is not null")
        with application(address, part="outcomes") as test:
            test.switch_page("feedback_impact.py").run()
            told = said(test)
        assert "0 sessions where feedback changed the block, and 1 with an unknown one: collecting data" in told
        assert "kept the block, and 1 without an outcome yet and 1 with an unknown one: collecting data" in told

    @at(part="measures")
    def test_all_measures_have_a_trend_and_all_digits(self, opened: AppTest) -> None:
        table = opened.dataframe[-1].value
        assert list(table["measure"])[5:] == ["Top 1 changed", "Flips per 100", "Kendall τ-b", "Weight dominance"]
        flips = table.set_index("measure").loc["Flips per 100"]
        # one in and one out in one of five retrievals now, and in the only one of the window before
        assert (flips["now"], flips["before"], flips["change"], flips["of"]) == ("40", "200", "-160", 5)
        assert all(len(trend) for trend in table["trend"][:8])
        assert list(table["change"])[:3] == ["no change", "≈ -80 pt, unclear", "-0.9"]
        assert "read" not in table
        (how,) = [text.value for text in opened.markdown if text.value.startswith("- **Top 5 changed**: ")]
        assert [line.split("**")[1] for line in how.splitlines()] == list(table["measure"])
        tau = table.set_index("measure").loc["Kendall τ-b"]
        assert float(str(tau["exact"])) == pytest.approx(1 - (2 * 4 / 56) / 5)
        assert "1 observation entered the block through feedback and as many were kept out" in said(opened)
        assert re.search("40 flips per 100", said(opened))

    def test_movers_are_the_first_part(self, opened: AppTest) -> None:
        up, down = opened.dataframe[1].value, opened.dataframe[2].value
        assert sorted(up["places"]) == ["▲1", "▲1"]
        assert sorted(down["places"]) == ["▼1", "▼1"]
        opened.segmented_control("pick_part").set_value("outcomes").run()
        assert opened.query_params["part"] == "outcomes"


def test_a_store_without_recommended_columns_says_what_it_cannot_know(address: str, owner: Owner) -> None:
    owner.execute(
        "alter table retrieval_ab_logs drop column injected, drop column corroboration_boost, drop column pipeline"
    )
    name = str(swapped("cut", 3, 4).id)
    with application(address, org="org_a", retrieval=name, part="outcomes") as test:
        test.switch_page(PAGE).run()
        assert not test.exception
        values = {metric.label: metric.value for metric in test.metric}
        assert (values["Block changed"], values["Injection rate"]) == ("—", "—")
        assert "this store does not log which observations were injected" in said(test)
        assert any("who was in the block is not logged" in title for title in titles(test))


def test_an_empty_organization_explains_itself(address: str) -> None:
    with application(address, org="org_b") as test:
        test.switch_page(PAGE).run()
        assert not test.exception
        assert "Nothing was ever stored here" in said(test)
        assert "No retrievals in this scope" not in said(test)  # said once: no longer window would help
        assert not test.metric
