"""Corroboration's figures, as they stand on the page, against planted statements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest

from controls import loading
from tests import sample
from tests.analysis.corroboration.agreeing import COPIED, SAID
from tests.pages.agreeing_organizations import HOSTILE, NAMES, plant_agreeing
from tests.pages.application import application
from tests.pages.corroboration_page import charts, figures, said, shown, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

FIRST = "00000000-0000-0000-0000-000000000001"  # a member of a cluster, and not its canonical
WHOLE = "-0.1,-0.1;1.1,-0.1;1.1,1.1;-0.1,1.1"


@pytest.fixture(scope="module")
def address(cluster: Cluster, template: str) -> Iterator[str]:
    """Organizations that no test changes, so that one worker serves all tests."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant_agreeing(owner)
    yield cluster.plain_url("dash_read", name)
    cluster.drop(name)


@pytest.fixture(scope="module")
def opened(address: str) -> Iterator[AppTest]:
    with application(address) as started:
        started.run()
        yield started


@pytest.fixture
def page(opened: AppTest) -> Any:  # noqa: ANN401 - a function
    def show(until_shown: str = "metric", **said: str) -> AppTest:
        opened.query_params.clear()
        for name, value in said.items():
            opened.query_params[name] = value
        return shown(opened, until_shown)

    return show


def test_figures_sweep_and_table(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", bits="0")
    assert figures(test) == {
        "Clusters": ("2", "0 chained"),
        "Corroborated": ("5", "3 by 2+ agents"),  # the other two are one agent's
        "Independent": ("1", "1 self-repetition"),
        "Disputed": ("0", "✕ 0 % of clusters"),
        "Boosted share": ("50 %", "0 % as logged"),
    }
    assert "9 active observations, whatever the window" in said(test)
    assert "2 retrievals in the window" in said(test)
    sweep = charts(test)[0]
    lines = {trace["name"]: [point[1] for point in trace["customdata"]] for trace in sweep["data"]}
    assert lines["clusters"][0] == 2
    assert lines["alone"][0] == 4
    assert lines["largest"][0] == 3
    assert lines["boosted"][0] == 50
    assert sweep["layout"]["title"]["text"].startswith("2 clusters at 0")
    listed = table(test, "kind")
    assert list(listed["kind"]) == ["● independent", "■ self-repetition"]
    assert list(listed["size"]) == [3, 2]
    assert listed["text"][0] == COPIED


def test_a_slider_is_the_address(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", scale="0.2", bits="99", cos="nonsense", method="other")
    assert test.warning[0].value.startswith(
        "Not understood in this link, and ignored: Compare by, SimHash threshold, bits, Minimum cosine."
    )
    sliders = {slider.label: slider.value for slider in test.select_slider}
    assert sliders == {"SimHash threshold, bits": "3", "Boost scale": "0.2"}
    assert list(table(test, "kind")["boost"])[1] == pytest.approx(0.2)
    next(each for each in test.select_slider if each.label.startswith("SimHash")).set_value("5").run()
    assert test.query_params["bits"] in ("5", ["5"])
    next(button for button in test.button if button.label == "Reset").click().run()
    assert not {"bits", "scale"} & set(test.query_params)


def test_kinds_filter_the_table(page: Any) -> None:  # noqa: ANN401 - a function
    assert page(org="org_a", bits="0").button_group(key="pick_kind").value == ""  # all of them, and marked
    repeated = page(org="org_a", bits="0", kind="repeated")
    assert list(table(repeated, "kind")["agents"]) == [1]
    assert "This download is not on record: no write login is configured." in said(repeated)
    assert "No cluster here" in said(page(org="org_a", bits="0", kind="disputed"))


def test_an_opened_cluster(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_c", bits="16", cluster=FIRST)
    told = figures(test)
    assert [card.label for card in test.metric if not card.help] == []
    assert told["Members"][1] == "2 agents, 3 sessions"
    assert told["Boost as configured"] == ("+0.158", "2 other members")  # 0.1 · log2(3)
    assert told["Boost by agents only"] == ("+0.1", "1 other agent")
    rows = table(test, "diff")
    assert list(rows["role"]) == ["★ canonical", "member", "member"]
    assert list(rows["agent"]) == ["bob", "ann", "ann"]
    assert rows["diff"][1].endswith("[−now−]")
    strips = page(org="org_c", bits="16", cluster=FIRST, part="bits")
    titles = [chart["layout"]["title"]["text"] for chart in charts(strips)]
    assert any("of 64 bits differ from the canonical" in title for title in titles)
    assert any("of 3 pairs lie beyond 16 bits" in title for title in titles)
    assert "Nothing would join" in said(page(org="org_c", bits="16", cluster=FIRST, part="misses"))
    replayed = page(org="org_a", bits="0", cluster=FIRST, part="retrievals")
    assert "1 retrieval of 2 replayed hold a member. Its boost reorders" in said(replayed)


def test_an_observation_in_no_cluster_and_one_that_is_not_there(page: Any) -> None:  # noqa: ANN401 - a function
    other = str(UUID(int=2 * len(HOSTILE)))  # Drake's, and not Acme's
    assert "is in no cluster as the sliders stand" in said(
        page(org="org_a", bits="0", cluster="00000000-0000-0000-0000-000000000007")
    )
    unknown = [said(page(org="org_a", cluster=name)) for name in (other, str(sample.NAMESPACE), "nonsense'")]
    assert all("No such observation among the newest of this scope" in words for words in unknown)


def test_the_area_in_the_address_lists_by_id(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", bits="0", area=WHOLE)
    assert len(table(test, "id")) == 7  # all that have words; no vectors are stored here
    assert "7 observations in this area." in said(test)
    assert "Clusters with a member in this area" in [each.value for each in test.subheader]
    assert "Clusters" in [each.value for each in page(org="org_a", bits="0").subheader]
    assert "No observation in this area." in said(page(org="org_a", bits="0", area="2,2;2,2;2,2"))
    nonsense = page(org="org_a", bits="0", area="1;2,x", kind="none", part="no", show="nothing")
    assert "in this area" not in said(nonsense)
    assert "Not understood in this link, and ignored: Show, Clusters, Area of the map, Part." in said(nonsense)


def test_a_cluster_is_opened_by_keyboard(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", bits="0")
    wanted = table(test, "kind")["canonical"].iloc[-1]
    test.selectbox(key="pick_cluster").select(wanted).run()
    assert test.query_params["cluster"] == wanted


@pytest.mark.parametrize(
    ("key", "column", "where"),
    [
        ("choose_members", "role", {"org": "org_c", "bits": "16", "cluster": FIRST}),
        ("choose_misses", "diff", {"org": "org_c", "bits": "3", "cluster": FIRST, "part": "misses"}),
        ("choose_area_rows", "id", {"org": "org_a", "bits": "0", "area": WHOLE}),
    ],
)
def test_an_observation_opens_without_a_mouse(page: Any, key: str, column: str, where: dict[str, str]) -> None:  # noqa: ANN401 - a function
    test = page(**where)
    rows = table(test, column)
    offered = test.selectbox(key=key)
    assert [each.split(" · ")[0] for each in offered.options] == list(rows["agent"])
    offered.select_index(len(rows) - 1).run()
    assert [title.value for title in test.title] == ["Observation"]
    assert test.query_params["observation"] == rows["id"].iloc[-1]


def test_a_reordered_retrieval_opens_without_a_mouse(page: Any) -> None:  # noqa: ANN401 - a function
    canonical = table(page(org="org_f"), "canonical")["canonical"][0]
    test = page(org="org_f", cluster=canonical, part="retrievals", scale="1")
    rows = table(test, "entered")
    test.selectbox(key="choose_reordered").select_index(1).run()
    assert [title.value for title in test.title] == ["Inspector"]
    assert test.query_params["retrieval"] == rows["id"][1]


def test_shadow_mode_judges_and_leads_to_the_flag(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", show="shadow")
    gates = table(test, "gate").set_index("gate")
    assert gates.loc["Retrievals replayed", "holds"] == "✕ fails"
    assert gates.loc["Retrievals replayed", "limit"] == "≥ 50"
    assert gates.loc["Disputed among the boosted", "limit"] == "≤ 5 %"
    assert any(message.value.startswith("No-go. Failed gates: retrievals replayed (") for message in test.error)
    (link,) = [link for link in test.get("page_link") if "flag change" in link.proto.label]
    assert link.proto.query_string == "org=org_a&flag=corroboration_boost_enabled&state=on&days=30d"


def test_go_or_no_go_is_asked_for_above_the_sweep_and_leaves_the_picture_below(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a")
    test.button("ask_verdict").click().run()
    assert test.query_params["show"] == "shadow"
    test.button("close_verdict").click().run()
    assert "show" not in test.query_params
    assert test.button("ask_verdict").label == "Should the boost be on? Go or no-go"
    for name in ("map", "sizes"):
        beside = page(org="org_a", show="shadow", beside=name)
        assert beside.session_state["pick_picture"] == name
        assert len(charts(beside)) == 1 + {"map": 1, "sizes": 2}[name]  # beside the sweep
    test.button("close_verdict").click().run()
    assert (test.query_params["show"], "beside" in test.query_params) == ("sizes", False)
    test.button("ask_verdict").click().run()
    assert (test.query_params["show"], test.query_params["beside"]) == ("shadow", "sizes")


def test_a_boost_that_is_on_is_judged_by_what_it_did(page: Any) -> None:  # noqa: ANN401 - a function
    """Each of fifty gives 0.9, 1.3, 1.2 with the boost and 0.9, 0.8, 0.7 without: one enters and one leaves."""
    test = page(org="org_f", show="shadow")
    gates = table(test, "gate").set_index("gate")
    assert list(gates["holds"]) == ["✓ holds", "✕ fails", "✓ holds", "✓ holds", "✓ holds"]
    assert gates.loc["Flips per 100 retrievals", "measured"] == "200"
    assert [message.value for message in test.error] == [
        "Look again. Failed gates: flips per 100 retrievals (200, at most 20). It would not be switched on today."
    ]
    told = said(test)
    assert "51 of 51 logged retrievals replayed, 50 of them made with the boost." in told
    assert "Of those it changed the order of 100 % and the top 5 of 0 %, and lifted 100 candidates." in told
    assert "Without it 50 observations would leave a memory block, and 50 that it kept out" in told
    ways = [link.proto.query_string for link in test.get("page_link") if "boost" in link.proto.query_string]
    assert ways == ["org=org_f&flag=corroboration_boost_enabled&state=off&days=30d", "org=org_f&boost=0"]


def test_a_boost_that_was_never_logged_is_not_judged(page: Any) -> None:  # noqa: ANN401 - a function
    told = page("info", org="org_g", show="shadow")
    assert "no replayed retrieval was made with it" in said(told)
    assert not told.error
    assert not told.success
    assert "No retrieval was logged in this window" in said(page("info", org="org_c", show="shadow"))


def test_embedding_without_any_vector_says_so(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", method="embedding")
    assert figures(test)["Clusters"] == ("0", "0 chained")
    assert "9 observations without a comparable vector" in said(test)


def marked_up(test: AppTest) -> set[str]:
    """The hostile names that stand where Markdown is read."""
    kinds = (test.markdown, test.caption, test.info, test.warning, test.error, test.subheader)
    sinks = "\n".join(str(element.value) for kind in kinds for element in kind)
    return {name for name in NAMES if name in sinks}


def test_hostile_texts_are_shown_literally(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_d", bits="0")
    listed = table(test, "kind")
    assert set(HOSTILE) >= set(listed["text"])
    assert len(listed) > 10
    marks = [mark for trace in charts(test)[1]["data"] for mark in trace.get("customdata", [])]
    assert not any("<" in str(mark[2]) for mark in marks)
    assert marked_up(test) == set()


def test_hostile_agents_sessions_and_projects_are_shown_literally(page: Any) -> None:  # noqa: ANN401 - a function
    canonical = table(page(org="org_d", bits="0"), "kind")["canonical"][0]
    opened = page(org="org_d", bits="0", cluster=canonical)
    text = opened.code[0].value
    assert text in HOSTILE
    members = table(opened, "diff")
    assert set(members["text"]) == {text}
    assert {*members["agent"], *members["session"], *members["project"]} == {text[:60]}
    assert marked_up(opened) == set()
    alone = page(org="org_d", project=text[:60], show="shadow")
    assert figures(alone)["Corroborated"] == ("2", "0 by 2+ agents")
    assert marked_up(alone) == set()


def test_a_hundred_texts_of_a_megabyte_stay_a_small_page(page: Any) -> None:  # noqa: ANN401 - a function
    """LOAD-10: cells are cut in the store, so the page weighs a hundredth of what it shows."""
    test = page(org="org_e")
    assert figures(test)["Corroborated"] == ("100", "100 by 2+ agents")
    opened = page(org="org_e", cluster=table(test, "kind")["canonical"][0])
    assert len(table(opened, "diff")) == 100
    protos = [proto for element in opened.main if (proto := getattr(element, "proto", None)) is not None]
    assert 20_000 < sum(len(proto.SerializeToString()) for proto in protos) <= 1 << 20


def test_without_an_organization_or_observations_the_page_says_what_to_do(page: Any) -> None:  # noqa: ANN401 - a function
    assert page("info").info[0].value.startswith("Agreement is looked for inside one organization.")
    said = [info.value for info in page("info", org="org_b").info]
    assert any(line.startswith("No active observation is stored in this scope.") for line in said)


def test_one_project(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", project="web")
    assert figures(test)["Clusters"] == ("0", "0 chained")
    assert len(SAID) == 9
    assert "1 active observation, whatever the window" in said(test)


def test_sliders_go_on_moving_while_newer_data_are_read(page: Any) -> None:  # noqa: ANN401 - a function
    """A store that is written to all the time has another version at every click."""
    test = page(org="org_a", bits="1")
    for job in loading.workers()._jobs.values():
        job.version, job.ended = "of older data", 0.0
    test.query_params["bits"] = "0"
    test.run()
    assert figures(test)["Clusters"] == ("2", "0 chained")
    assert not test.get("progress")
    assert all(trace["name"] for trace in charts(test)[1]["data"])  # the map stands too
