"""The Inspector with models from folders: what they rank, what they cost, and what is said without them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ranking import AI_MEMORY, LexicalScorer, explain
from retrieval.embedders import EmbeddingModel, OnnxEmbedder, Pooling
from retrieval.neural import pair_scorer
from retrieval.retrieve import AgentSession, Memory, retrieve
from tests.pages.application import application
from tests.pages.inspector_page import opened, said
from tests.retrieval.models import counted_passes
from tests.retrieval.planted import QUESTION, plant

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    from queries.engine import Store
    from ranking.pair_scorer import PairScorer
    from retrieval.retrieve import Retrieval
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

ASKED = {"org": "acme", "q": QUESTION, "preset": "AI_MEMORY", "v": "1"}


@pytest.fixture
def embedder(tiny_embedder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(tiny_embedder, EmbeddingModel(Pooling.MEAN))


@pytest.fixture(autouse=True)
def folders(monkeypatch: pytest.MonkeyPatch, tiny_embedder: Path, tiny_scorer: Path) -> None:
    monkeypatch.setenv("RANKSCOPE_EMBEDDER", "onnx")
    monkeypatch.setenv("RANKSCOPE_EMBEDDER_FOLDER", str(tiny_embedder))
    monkeypatch.setenv("RANKSCOPE_SCORER_FOLDER", str(tiny_scorer))


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner, embedder: OnnxEmbedder) -> str:
    """A memory whose vectors are the folder's."""
    plant(owner, embedder=embedder)
    return cluster.plain_url("dash_read", store_database)


def ranked(store: Store, embedder: OnnxEmbedder, scorer: PairScorer) -> Retrieval:
    return retrieve(Memory(store, embedder, scorer), AgentSession("acme"), QUESTION, AI_MEMORY)


def test_the_list_is_what_the_folders_models_make_of_it(
    address: str, store: Store, embedder: OnnxEmbedder, tiny_scorer: Path
) -> None:
    found = ranked(store, embedder, pair_scorer(tiny_scorer))
    test = opened(address, **ASKED, digits="all")
    table = test.dataframe[0].value
    assert table["id"].tolist() == found.ranking.ids()
    scores = [repr(row.score) for row in explain(found.ranking).rows]
    assert table["score"].tolist() == scores
    assert scores != [repr(row.score) for row in explain(ranked(store, embedder, LexicalScorer()).ranking).rows]
    assert found.degraded == ()
    assert "5 candidates recalled by the full vector" in said(test)
    assert "pairs scored by neural" in said(test)
    assert "scored by words" not in said(test)


def test_a_slider_reads_no_pair_again(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = counted_passes(monkeypatch)
    with application(address, **ASKED, digits="all") as test:
        test.switch_page("inspector.py").run()
        assert sorted(passes) == [1, 5]  # the question's vector, and one pass over five pairs
        before = test.dataframe[0].value["score"].tolist()
        test.query_params["keep"] = "0.9"
        test.run()
        assert not test.exception
        assert test.dataframe[0].value["score"].tolist() != before
        assert sorted(passes) == [1, 5]
        test.text_input("typed_question").set_value("null check").run()
    assert sorted(passes) == [1, 1, 5, 5]


def test_words_chosen_on_the_page_cost_no_pass(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    passes = counted_passes(monkeypatch)
    test = opened(address, **ASKED, scorer="lexical")
    assert passes == [1]
    assert "pairs scored by lexical" in said(test)


def test_a_scorer_folder_without_a_model_is_said(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, store: Store, embedder: OnnxEmbedder
) -> None:
    monkeypatch.setenv("RANKSCOPE_SCORER_FOLDER", str(tmp_path))
    test = opened(address, **ASKED, digits="all")
    assert "5 of 5 pairs were scored by words: the cross-encoder failed on them" in said(test)
    assert "pairs scored by words as said above" in said(test)
    words = ranked(store, embedder, LexicalScorer())
    assert test.dataframe[0].value["score"].tolist() == [repr(row.score) for row in explain(words.ranking).rows]


def test_an_embedder_folder_without_a_model_is_said(
    address: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "embedding.toml").write_text('pooling = "cls"')
    monkeypatch.setenv("RANKSCOPE_EMBEDDER_FOLDER", str(tmp_path))
    test = opened(address, org="acme", q=QUESTION)
    assert "found none" in said(test)
    assert "recalled by keyword only" in said(test)
    assert "candidates recalled by keywords alone" in said(test)


def test_vectors_of_another_length_are_said(address: str, owner: Owner) -> None:
    """The store was filled by another model: nothing of it can be compared with the question's vector."""
    plant(owner, "other")
    test = opened(address, org="other", q=QUESTION)
    assert "No stored vector has 12 dimensions: recalled by keyword only" in said(test)
    assert "4 candidates recalled by keywords alone" in said(test)
