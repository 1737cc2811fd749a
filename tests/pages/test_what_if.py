"""What-if's figures, as they stand on the page, against planted facts."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any
from uuid import uuid5

import pytest

from controls.glossary import FLIPS_COUNTED_APART
from controls.messages import number, percent
from controls.what_if.replayed import weight_change
from tests import sample
from tests.analysis.replay.planted_log import plant, plant_explored, plant_organization
from tests.conftest import NOW
from tests.hostile import TEXTS
from tests.jobs.command import jobs
from tests.pages.application import application, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner) -> str:
    """Acme: two retrievals that can be replayed and one that cannot; Birch: nothing."""
    hostile = TEXTS[0].ljust(40)[:40]
    plant_organization(owner, "org_a", "Acme", text_0=hostile)
    plant(owner, "org_a", "again")
    plant(owner, "org_a", "lossy", after=[0, 1, 1])
    sample.add_organization(owner, "org_b", "Birch")
    sample.add_session(owner, "org_b", "s")
    return cluster.plain_url("dash_read", store_database)


def opened(test: AppTest, *, until_shown: str = "metric") -> AppTest:
    """The page once the worker has answered."""
    test.run()
    test.switch_page("what_if.py").run()
    until(lambda: getattr(test.run(), until_shown) and not test.get("progress"), limit=60)
    assert not test.exception
    return test


@pytest.fixture
def page(address: str) -> Iterator[Any]:
    with application(address) as test:

        def show(**said: str) -> AppTest:
            for name, value in said.items():
                test.query_params[name] = value
            return opened(test)

        yield show


def figures(test: AppTest) -> dict[str, tuple[str, str]]:
    return {metric.label: (metric.value, metric.delta) for metric in test.metric}


def test_without_weights_the_first_enters_and_the_third_leaves(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", w="off")
    # of three places the first agrees in none, the first two in one of two, all in all
    overlap = 0.1 * (0.9 / 2 + 0.9**2) + 0.9**3
    assert figures(test) == {
        "Order changed": ("100 %", "2 retrievals"),
        "Top 5 vs. log": ("0 %", "0 retrievals"),
        "Mean RBO": (f"{overlap:.3g}", ""),
        "Mean τ-b": ("-0.333", ""),
        "Flips per 100": ("200", "▲ 2 ▼ 2"),
    }
    strip = next(line.value for line in test.markdown if "coverage" in line.value)
    assert "1 retrieval logged incompletely (a rank is missing or repeated)" in strip
    assert "coverage 66.7 %: 2 of 3 logged retrievals replayed" in strip
    table = test.dataframe[0].value
    assert list(table["change"]) == ["▲ enters", "▼ leaves"] * 2
    assert list(table["rank"]) == ["3 → 1", "2 → 3"] * 2
    assert table["text"][0] == TEXTS[0].ljust(40)[:40]
    assert any("Nothing outside that pool can enter" in caption.value for caption in test.caption)


def test_while_it_replays_figures_are_dashes_in_their_places(address: str) -> None:
    with application(address, org="org_a", w="off") as test:
        test.run()
        test.switch_page("what_if.py").run()  # no worker is there yet: one takes longer to start than a page waits
        assert test.get("progress")
        labels = ("Order changed", "Top 5 vs. log", "Mean RBO", "Mean τ-b", "Flips per 100")
        assert figures(test) == dict.fromkeys(labels, ("—", "not replayed"))
        assert {slider.label for slider in test.select_slider} >= {"Boost scale", "Token budget"}
        until(lambda: not test.run().get("progress"), limit=60)
        assert tuple(figures(test)) == labels
        assert figures(test)["Order changed"] == ("100 %", "2 retrievals")


def test_where_feedback_impact_asks_the_same_it_is_said_why_both_count_otherwise(page: Any) -> None:  # noqa: ANN401 - a function
    """Weighting off and nothing else is what Feedback Impact compares with; other settings it does not know."""
    for turned, expected in (
        ({"w": "off"}, 1),
        ({"w": "off", "tokens": "200"}, 0),
        ({"w": "on", "tokens": "as logged"}, 0),
    ):
        captions = [caption.value for caption in page(org="org_a", **turned).caption]
        assert captions.count(FLIPS_COUNTED_APART) == expected, turned


def test_as_logged_changes_nothing_and_says_so(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a")
    assert figures(test)["Order changed"] == ("0 %", "0 retrievals")
    assert figures(test)["Mean RBO"] == ("1", "")
    assert any(caption.value.startswith("No observation enters or leaves") for caption in test.caption)
    assert next(button for button in test.button if button.label == "Reset to as logged").disabled


def test_the_map_names_its_cells(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a")
    specs = [json.loads(chart.proto.spec) for chart in test.get("plotly_chart")]
    marks = next(trace for trace in specs[0]["data"] if trace.get("mode") == "markers")
    assert [entry[:2] for entry in marks["customdata"]][:2] == [["off", "as logged"], ["0.98", "as logged"]]
    # no vectors are stored here: only the order by score can be replayed
    assert [entry[2] for entry in marks["customdata"]][:5] == ["0", "—", "—", "—", "—"]


def test_a_setting_between_the_cells_says_why_there_is_no_ring(page: Any) -> None:  # noqa: ANN401 - a function
    told = "Your settings are not marked: the map has no cell for this boost scale. The figures above are of them."
    frames = "Teal frame: settings under which at least 95 % of retrievals keep their top 5"
    between = [caption.value for caption in page(org="org_a", boost="0.15").caption]
    assert f"{frames}. {told}" in between
    marked = [caption.value for caption in page(org="org_a", boost="0.1").caption]
    assert f"{frames}. Dotted grey frame: your settings, λ off and boost scale 0.1." in marked
    assert not [caption for caption in marked if "not marked" in caption]


@pytest.mark.parametrize(
    ("change", "shown"), [(0.0, "0, a tie"), (9.9e-7, "< 0.000001"), (8.252e-05, "0.000083"), (0.0099, "0.009900")]
)
def test_how_far_a_weight_is_from_a_flip_is_never_rounded_to_nothing(change: float, shown: str) -> None:
    assert weight_change(change) == shown


def test_flips_open_without_a_mouse(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", w="off")
    rows = test.dataframe[0].value
    test.selectbox(key="choose_flip").select_index(1).run()
    assert [title.value for title in test.title] == ["Observation"]
    assert test.query_params["observation"] == list(dict.fromkeys(rows["observation"]))[1]


@pytest.mark.parametrize(("panel", "key"), [("flips", "choose_flipped"), ("worst", "choose_worst")])
def test_retrievals_open_without_a_mouse(page: Any, panel: str, key: str) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", w="off", show=panel)
    rows = test.dataframe[0].value
    ids = list(dict.fromkeys(rows["retrieval" if panel == "flips" else "id"]))
    test.selectbox(key=key).select_index(1).run()
    assert [title.value for title in test.title] == ["Inspector"]
    assert test.query_params["retrieval"] == ids[1]


def test_a_knob_goes_into_the_address_and_back(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", boost="0.2", bits="7", lam="9", by="nonsense")
    ignored = "Not understood in this link, and ignored: Boost counts, λ: relevance vs. variety."
    assert [warning.value for warning in test.warning] == [f"{ignored} The default is shown instead."]
    sliders = {slider.label: slider.value for slider in test.select_slider}
    assert sliders == {
        "Boost scale": "0.2",
        "SimHash bits": "7",
        "λ: relevance vs. variety": "off",
        "Duplicate at cosine": "0.94",
        "Token budget": "as logged",
    }
    next(slider for slider in test.select_slider if slider.label == "Token budget").set_value("100").run()
    assert test.query_params["tokens"] in ("100", ["100"])
    next(button for button in test.button if button.label == "Reset to as logged").click().run()
    assert not {"tokens", "boost", "bits"} & set(test.query_params)


@pytest.mark.parametrize(("panel", "columns"), [("worst", {"query", "rbo", "id"}), ("fragile", set())])
def test_other_lists(page: Any, panel: str, columns: set[str]) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", w="off", show=panel)
    if columns:
        table = test.dataframe[0].value
        assert columns <= set(table.columns)
        expected = {str(uuid5(sample.NAMESPACE, f"org_a/{name}")) for name in ("sound", "again")}
        assert set(table["id"]) == expected
    else:
        assert any(caption.value.startswith("Not measured") for caption in test.caption)


def test_outcomes_say_what_cannot_be_said(page: Any) -> None:  # noqa: ANN401 - a function
    test = page(org="org_a", show="outcomes")
    said = " ".join(line.value for line in test.markdown)
    assert "Rank effects, for 66.7 % of the logged retrievals" in said
    assert "Not estimable." in said
    assert sum(caption.value == "No session with a retrieval has ended yet." for caption in test.caption) == 2


def test_outcomes_stand_on_top_for_whoever_a_link_led_to_them(page: Any) -> None:  # noqa: ANN401 - a function
    """A click on their name leaves all in its place, and says on top where they are."""

    def before_the_figures(test: AppTest) -> bool:
        kinds = [getattr(each, "value", "") if each.type == "markdown" else each.type for each in test.main]
        (place,) = (n for n, kind in enumerate(kinds) if "What happened around a switch" in str(kind))
        return place < kinds.index("metric")

    short = "No switch of a flag to compare outcomes around. Outcomes, below the map, has the rest."
    led = page(org="org_a", show="outcomes")
    assert before_the_figures(led)
    assert short not in [text.value for text in led.text]
    for name in ("flips", "outcomes"):
        led.segmented_control("pick_show").set_value(name).run()
    assert not before_the_figures(led)
    assert short in [text.value for text in led.text]


def test_outcomes_are_reweighted_where_propensities_were_logged(
    cluster: Cluster, store_database: str, owner: Owner
) -> None:
    plant_explored(owner, "org_a")
    with application(cluster.plain_url("dash_read", store_database), org="org_a", w="off", show="outcomes") as test:
        opened(test)
    said = " ".join(line.value for line in test.markdown)
    assert "Accepted sessions: 20 % under these settings" in said
    assert "66.2 % as it was." in said
    assert "Not estimable" not in said
    shown = {label: value for label, (value, _) in figures(test).items()}
    names = ("Effective sample", "Largest weight", "Clipped", "Mean weight")
    assert [shown[name] for name in names] == ["36", "4", "0 %", "0.75"]
    assert any("part of what these settings choose was never tried" in caption.value for caption in test.caption)


def test_without_an_organization_or_a_log_the_page_says_what_to_do(address: str) -> None:
    with application(address) as test:
        opened(test, until_shown="info")
        assert test.info[0].value.startswith("Settings are tried on one organization's log.")
    with application(address, org="org_b") as test:
        opened(test, until_shown="info")
        assert test.info[0].value.startswith("No retrievals in this scope.")


@pytest.mark.parametrize("said", [{}, {"w": "off"}, {"show": "outcomes"}], ids=str)
def test_where_nothing_was_logged_it_says_nothing_else(address: str, said: dict[str, str]) -> None:
    """No knobs, no captions of a map that is not there, and no outcomes of no session."""
    with application(address, org="org_b", **said) as test:
        opened(test, until_shown="info")
        here = test.main
        assert [line.value for line in here.info] == [
            "No retrievals in this scope. Choose a longer window or another organization."
        ]
        assert not [*here.caption, *here.select_slider, *here.get("button_group"), *here.button, *here.metric]


@pytest.mark.parametrize(
    "turned",
    [
        {"w": "off"},
        {"boost": "0.3", "bits": "5", "by": "agents", "tokens": "200"},
        pytest.param({}, marks=pytest.mark.long),
        pytest.param({"w": "on", "norm": "minmax", "boost": "0"}, marks=pytest.mark.long),
        pytest.param({"w": "off", "lam": "0.7", "dup": "0.9"}, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_the_line_to_copy_gives_the_figures_shown(cluster: Cluster, demo_database: str, turned: dict[str, str]) -> None:
    """On an organization whose boost is logged: a knob that is not turned stays as logged, not off."""
    address = cluster.plain_url("dash_read", demo_database)
    days = {"window": "custom", "from": "2025-12-01", "to": NOW.date().isoformat()}
    with application(address, org="org_tidewater", **days, **turned) as test:
        opened(test)
        seen, line = figures(test), shlex.split(test.code[0].value)
        ringless = [caption.value for caption in test.caption if "not marked" in caption.value]
    named = {"0.7": "this λ", "0.3": "this boost scale"}.get(turned.get("lam") or turned.get("boost", ""))
    told = f" Your settings are not marked: the map has no cell for {named}. The figures above are of them."
    assert [caption[caption.index(" Your") :] for caption in ringless] == ([told] if named else [])
    run = jobs(*line[3:], "--json", DATABASE_URL=address)
    assert (run.returncode, run.stderr) == (0, "")
    found = json.loads(run.stdout)
    count = found["coverage"]["replayed"]
    assert seen == {
        "Order changed": (percent(found["changed"], count), f"{number(found['changed'])} retrievals"),
        "Top 5 vs. log": (percent(found["top_changed"], count), f"{number(found['top_changed'])} retrievals"),
        "Mean RBO": (f"{found['rbo']:.3g}", ""),
        "Mean τ-b": (f"{found['tau']:.3g}", ""),
        "Flips per 100": (
            f"{100 * (found['entered'] + found['left']) / count:.3g}",
            f"▲ {number(found['entered'])} ▼ {number(found['left'])}",
        ),
    }
    assert bool(found["changed"]) is bool(turned)
