"""The Compare panel: the address chooses, the figures are the library's, and what failed is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from controls.inspector.agreement import FEWEST
from controls.inspector.compare import OTHERS, K, read_address
from controls.links import GOING
from queries.scope import isolated
from ranking.comparison import kendall_tau_b, rank_biased_overlap
from ranking.presets import FULL, LIVE, MEMINI, PRESETS
from ranking.relevance import Head, Relevance
from retrieval.neural import pair_scorer
from retrieval.onnx_models import MINILM
from retrieval.retrieve import AgentSession, Memory, retrieve
from tests.hostile import TEXTS
from tests.jobs.test_worker import until
from tests.pages.application import application
from tests.retrieval.models import installed
from tests.retrieval.planted import EMBEDDER, NOW, QUESTION, plant

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    from queries.engine import Store
    from retrieval.retrieve import Retrieval
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

PAGE = Path(__file__).with_name("compare_page.py")


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner) -> str:
    plant(owner)
    return cluster.plain_url("dash_read", store_database)


def figures(test: AppTest) -> list[dict[str, Any]]:
    rows = test.dataframe[0].value.to_dict("records")
    return [{str(name): None if pd.isna(cell) else cell for name, cell in row.items()} for row in rows]


def title(test: AppTest) -> str:
    text: str = json.loads(test.get("plotly_chart")[0].proto.spec)["layout"]["title"]["text"]
    return text


def by_hand(one: Retrieval, other: Retrieval, k: int) -> dict[str, Any]:
    """What any two retrievals agree in, of their own lists and blocks."""
    first, second = one.ranking.ids(), other.ranking.ids()
    best = set(first[:k]), set(second[:k])
    both = [id_ for id_ in first if id_ in second]
    return {
        "overlap": f"{len(best[0] & best[1])} of {min(k, len(first), len(second))}",
        "jaccard": len(best[0] & best[1]) / len(best[0] | best[1]),
        "rbo": rank_biased_overlap(first, second),
        "tau": kendall_tau_b(range(len(both)), [second.index(id_) for id_ in both]) if len(both) >= FEWEST else None,
        "both": len(both),
        "entered": len(set(other.injected) - set(one.injected)),
        "left": len(set(one.injected) - set(other.injected)),
    }


class TestAddress:
    @pytest.mark.parametrize("said", [["MEMINI,Relevance~~Head~k~5"], ["MEMINI", "Relevance~~Head~k~5"]])
    def test_presets_and_texts_repeated_or_with_commas(self, said: list[str]) -> None:
        chosen = read_address(said)
        assert list(chosen.pipelines.values()) == [MEMINI, (Relevance(), Head(5))]
        assert chosen.faults == ()

    def test_a_preset_in_any_case_and_nothing_twice(self) -> None:
        assert list(read_address(["full", "FULL", ""]).pipelines.values()) == [FULL]

    def test_what_cannot_be_read_is_told_with_what_was_expected(self) -> None:
        chosen = read_address(["MEMINI,Head~k~many,Nonsense"])
        assert list(chosen.pipelines) == ["MEMINI"]
        assert chosen.faults[0].endswith("stage 1, Head.k: expected int, found 'many'.")
        assert "no preset (LIVE, INTENDED, MEMSENSE, MEMINI, AI_MEMORY, FULL)" in chosen.faults[1]

    def test_three_at_most(self) -> None:
        chosen = read_address(list(PRESETS))
        assert len(chosen.pipelines) == OTHERS
        assert chosen.faults == ("Not compared: expected 3 pipelines at most, found 6.",)

    @pytest.mark.parametrize("text", TEXTS)
    def test_no_text_breaks_it(self, text: str) -> None:
        assert read_address([text]).pipelines == {}


class TestPanel:
    def test_nothing_chosen_says_what_to_do(self, address: str) -> None:
        with application(address, script=PAGE) as test:
            test.run()
        assert not test.exception
        assert "Choose a preset" in test.caption[0].value
        assert not test.get("plotly_chart")

    @pytest.mark.parametrize(
        ("said", "k"),
        [("5", 5), ("50", 50), ("0", K), ("51", K), ("9" * 5000, K), ("-3", K), ("x", K), ("٣", K), ("", K)],
    )
    def test_k_stays_within_its_limits(self, address: str, said: str, k: int) -> None:
        with application(address, script=PAGE, top=said) as test:
            test.run()
        assert not test.exception
        assert test.number_input(key="pick_k").value == k

    def test_every_figure_is_the_librarys(self, address: str, store: Store) -> None:
        with application(address, PAGE, vs="MEMINI,Relevance~~Head~k~3", top="2", now=NOW.isoformat()) as test:
            test.run()
        assert not test.exception
        memory, session = Memory(store, EMBEDDER), AgentSession("acme")
        runs = [retrieve(memory, session, QUESTION, each, NOW) for each in (LIVE, MEMINI, (Relevance(), Head(3)))]
        lists = [run.ranking.ids() for run in runs]  # all five fit the budget
        labels = ["A · Live without the boost", "B · Recent and important first", "C · Relevance → Head"]
        assert figures(test) == [
            {"pair": f"{labels[one]}  ↔  {labels[other]}"} | by_hand(runs[one], runs[other], 2)
            for one, other in ((0, 1), (0, 2), (1, 2))
        ]
        kept = [len(set(lists[0][:2]) & set(each[:2])) for each in lists[1:]]
        assert title(test) == f"Of the 2 best of A, B keeps {kept[0]}, C keeps {kept[1]}"
        assert test.multiselect(key="pick_vs").value == ["Recent and important first", "Relevance~~Head~k~3"]
        assert test.number_input(key="pick_k").value == 2

    def test_the_order_of_few_shared_rows_is_no_figure(self, address: str) -> None:
        """Two rows are in the same order or reversed: 1 or -1, whatever the pipelines do."""
        assert FEWEST == 5
        with application(
            address, PAGE, vs="MEMINI,Relevance~~Head~k~2,Relevance~~Head~k~4", now=NOW.isoformat()
        ) as test:
            test.run()
        shown = {
            row["pair"][0] + row["pair"].partition("↔  ")[2][0]: (row["tau"], row["both"]) for row in figures(test)
        }
        assert {pair: both for pair, (_, both) in shown.items()} == {
            "AB": 5, "AC": 2, "AD": 4, "BC": 2, "BD": 4, "CD": 2
        }  # fmt: skip
        assert [pair for pair, (tau, _) in shown.items() if tau is not None] == ["AB"]
        told = [line.value for line in test.caption if "too few shared" in line.value]
        assert told == ["No τ-b, too few shared: A ↔ C 2, A ↔ D 4, B ↔ C 2, B ↔ D 4, C ↔ D 2. It takes 5."]

    def test_where_enough_is_shared_nothing_is_said_of_too_few(self, address: str) -> None:
        with application(address, PAGE, vs="MEMINI", now=NOW.isoformat()) as test:
            test.run()
        assert figures(test)[0]["both"] == 5
        assert not [line.value for line in test.caption if "too few" in line.value]

    def test_what_enters_the_block_stands_in_a_table(self, address: str) -> None:
        with application(address, PAGE, vs="Relevance~~Head~k~1", now=NOW.isoformat()) as test:
            test.run()
        flips = test.dataframe[1].value
        assert set(flips["change"]) == {"▼ leaves"}
        assert flips["before"].tolist() == list(range(2, 2 + len(flips)))
        assert flips["after"].isna().all()

    def test_a_memory_is_called_by_its_title_where_it_has_one(self, address: str, owner: Owner) -> None:
        owner.execute("update observations set title = 'Called ' || right(id::text, 2)")
        with application(address, PAGE, vs="Relevance~~Head~k~1", now=NOW.isoformat()) as test:
            test.run()
        flips = test.dataframe[1].value
        assert flips["memory"].tolist() == [f"Called {id_[-2:]}" for id_ in flips["id"]]
        drawn = json.loads(test.get("plotly_chart")[0].proto.spec)["data"]
        texts = [text for trace in drawn if str(trace.get("name")).startswith("list") for text in trace["text"]]
        assert texts
        assert all(text.split("  ")[1].startswith("Called ") for text in texts)

    def test_a_row_of_that_table_opens_its_observation(self, address: str) -> None:
        with application(address, PAGE, vs="Relevance~~Head~k~1", now=NOW.isoformat()) as test:
            test.run()
        flips = test.dataframe[1]
        assert set(flips.value["open"]) == {"Open"}
        assert json.loads(flips.proto.columns)["open"]["type_config"]["type"] == "button"

    def test_it_opens_without_a_mouse_too(self, address: str) -> None:
        with application(address, PAGE, vs="Relevance~~Head~k~1", now=NOW.isoformat()) as test:
            test.run()
            flips = test.dataframe[1].value
            offered = test.selectbox("choose_compared")
            assert offered.options == [isolated(text) for text in flips["memory"]]
            offered.select_index(1).run()
            assert test.session_state[GOING] == ("observation.py", {"observation": flips["id"][1]})

    def test_a_bad_text_is_told_literally_and_the_rest_is_compared(self, address: str) -> None:
        with application(address, PAGE, vs=f"MEMINI,{TEXTS[20]}") as test:
            test.run()
        assert not test.exception
        assert any(text.value.startswith("Not compared: '![beacon](") for text in test.text)
        assert len(figures(test)) == 1

    def test_a_degraded_pipeline_says_so(self, address: str) -> None:
        with application(address, PAGE, vs="INTENDED") as test:
            test.run()
        assert any("Failed or degraded" in line.value for line in test.markdown)
        assert any("B · Live with the boost: no aggregation pass has finished" in text.value for text in test.text)

    def test_lists_that_failed_are_not_drawn_as_empty(self, address: str, owner: Owner) -> None:
        owner.execute("revoke all on observations from dash_read")
        with application(address, PAGE, vs="MEMINI") as test:
            test.run()
        assert not test.exception
        assert not test.dataframe
        assert title(test) == "Nothing to compare with"
        told = next(text.value for text in test.text if "A · Live without the boost" in text.value)
        assert "A · Live without the boost: the memory could not be looked up" in told
        assert "B · Recent and important first: the memory could not be looked up" in told

    def test_choosing_and_k_change_the_figures(self, address: str) -> None:
        with application(address, PAGE, vs="MEMINI", now=NOW.isoformat()) as test:
            test.run()
            test.multiselect(key="pick_vs").set_value(["Recent and important first", "Whole sessions, varied"]).run()
            assert len(figures(test)) == 3
            assert test.query_params["vs"] == "MEMINI,MEMSENSE"
            test.number_input(key="pick_k").set_value(3).run()
            assert test.query_params["top"] == "3"
            test.number_input(key="pick_k").set_value(K).run()
            test.multiselect(key="pick_vs").set_value([]).run()
            assert "top" not in test.query_params
            assert "vs" not in test.query_params


@pytest.fixture(params=["tiny", MINILM])
def cross_encoder(request: pytest.FixtureRequest, tiny_scorer: Path) -> Path:
    """A folder with a model of a few kilobytes and, where it is installed, that of the real one."""
    return tiny_scorer if request.param == "tiny" else installed(request.param)


def test_the_neural_scorer_runs_in_the_worker_and_gives_the_same(
    address: str, store: Store, monkeypatch: pytest.MonkeyPatch, cross_encoder: Path
) -> None:
    """The panel sends a comparison with a forward pass away; what comes back is what would have been computed here."""
    monkeypatch.setenv("RANKSCOPE_SCORER_FOLDER", str(cross_encoder))
    monkeypatch.setattr("controls.working.AT_ONCE", 0.01)
    with application(address, PAGE, vs="AI_MEMORY", now=NOW.isoformat()) as test:
        test.run()
        assert [element.proto.text for element in test.get("progress")]
        until(lambda: test.run().dataframe, limit=100.0)
    assert not test.exception
    memory = Memory(store, EMBEDDER, pair_scorer(cross_encoder))
    runs = [retrieve(memory, AgentSession("acme"), QUESTION, each, NOW) for each in (LIVE, PRESETS["AI_MEMORY"])]
    assert str(runs[1].scorer_used) == "neural"
    expected = by_hand(runs[0], runs[1], K)
    assert figures(test)[0]["rbo"] == expected["rbo"]
    assert figures(test)[0]["tau"] == expected["tau"]
    assert not [text.value for text in test.text if "scored by words" in text.value]
