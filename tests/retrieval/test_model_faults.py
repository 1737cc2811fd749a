"""Whatever an embedder or a scorer does wrong, the agent gets a result by keyword that says so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ranking import PRESETS, LexicalScorer
from retrieval.embedders import EmbedderError, NoEmbedder
from retrieval.endpoint import Endpoint, EndpointEmbedder
from retrieval.memory import Memory
from retrieval.retrieve import retrieve
from tests.queries.test_corroborating import add_run
from tests.retrieval.planted import EMBEDDER, QUESTION, SESSION, plant

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import psycopg

    from ranking.pair_scorer import Pair, PairScores
    from retrieval.embedders import Vectors

    Owner = psycopg.Connection[Any]


@dataclass
class Doing:
    """The usual embedder, which first does something: what happens then, happens in mid-retrieval."""

    something: Callable[[], object]
    name: str = "doing something"
    dimensions: int = 256

    def embed(self, texts: Sequence[str]) -> Vectors:
        return EMBEDDER.embed(texts)

    def embed_query(self, text: str) -> Vectors:
        self.something()
        return EMBEDDER.embed_query(text)


class Shaped:
    """An embedder whose vectors have another length than those of the store."""

    name = "other"

    def __init__(self, vector: Vectors) -> None:
        self.vector = vector
        self.dimensions = vector.size

    def embed(self, texts: Sequence[str]) -> Vectors:
        return np.tile(self.vector, (len(texts), 1))

    def embed_query(self, text: str) -> Vectors:  # noqa: ARG002 - as the protocol has it
        return self.vector


class Reshaping:
    """An embedder that gives its vector in another shape than asked for."""

    name, dimensions = "shaped", 256

    def __init__(self, shape: Callable[[Any], Any]) -> None:
        self.shape = shape

    def embed(self, texts: Sequence[str]) -> Any:  # noqa: ANN401 - whatever it likes
        return EMBEDDER.embed(texts)

    def embed_query(self, text: str) -> Any:  # noqa: ANN401 - same
        return self.shape(EMBEDDER.embed_query(text))


class Broken:
    """A scorer that always raises."""

    neural = True

    def score(self, pairs: Sequence[Pair]) -> PairScores:
        raise RuntimeError(f"{len(pairs)} pairs are too many")


class TestTheEmbedder:
    def keyword_only(self, bare: Memory, owner: Owner, embedder: Any) -> tuple[str, ...]:  # noqa: ANN401 - any embedder
        plant(owner)
        found = retrieve(Memory(bare.store, embedder), SESSION, QUESTION)
        assert "null pointer" in found.text.splitlines()[0]
        assert "Bananas" not in found.text
        return found.degraded

    def test_none(self, bare: Memory, owner: Owner) -> None:
        assert self.keyword_only(bare, owner, None) == ("no embedder is configured: recalled by keyword only",)

    def test_one_that_is_not_installed(self, bare: Memory, owner: Owner) -> None:
        missing = NoEmbedder("bge", "bge is not installed: run `make models`")
        assert self.keyword_only(bare, owner, missing) == (
            "bge is not installed: run `make models`: recalled by keyword only",
        )

    def test_one_that_is_away(self, bare: Memory, owner: Owner) -> None:
        with EndpointEmbedder(Endpoint("http://127.0.0.1:1/v1", "m", "canary")) as away:
            (reason,) = self.keyword_only(bare, owner, away)
        assert reason == "the embeddings endpoint cannot be reached (ConnectError): recalled by keyword only"

    @pytest.mark.parametrize("error", [EmbedderError("it is late"), RuntimeError("canary"), MemoryError()])
    def test_one_that_raises(self, bare: Memory, owner: Owner, error: Exception) -> None:
        def fail() -> None:
            raise error

        (reason,) = self.keyword_only(bare, owner, Doing(fail))
        expected = "it is late" if isinstance(error, EmbedderError) else "the embedder failed"
        assert reason == f"{expected}: recalled by keyword only"

    def test_one_that_knows_none_of_the_words(self, bare: Memory, owner: Owner) -> None:
        (reason,) = self.keyword_only(bare, owner, Shaped(np.zeros(256, np.float32)))
        assert reason == "the question has no words that other knows: recalled by keyword only"

    @pytest.mark.parametrize("dimensions", [1, 255, 384, 2_000])
    def test_one_of_other_dimensions_than_the_store(self, bare: Memory, owner: Owner, dimensions: int) -> None:
        (reason,) = self.keyword_only(bare, owner, Shaped(np.ones(dimensions, np.float32)))
        assert reason == f"no stored vector has {dimensions} dimensions: recalled by keyword only"

    @pytest.mark.parametrize("name", PRESETS)
    def test_of_other_dimensions_it_is_told_also_where_the_words_find_nothing(
        self, bare: Memory, owner: Owner, name: str
    ) -> None:
        plant(owner)
        other = Memory(bare.store, Shaped(np.ones(384, np.float32)), LexicalScorer())
        found = retrieve(other, SESSION, "zebra quilting", PRESETS[name])
        assert found.ranking.ids() == []
        assert found.degraded == ("no stored vector has 384 dimensions: recalled by keyword only",)
        assert found.way.endswith(" by keyword")

    def test_without_any_vector_in_the_store_it_is_told_too(self, bare: Memory, owner: Owner) -> None:
        plant(owner)
        owner.execute("delete from observation_embeddings")
        for question in ("zebra quilting", QUESTION):
            found = retrieve(bare, SESSION, question)
            assert found.degraded == ("no stored vector has 256 dimensions: recalled by keyword only",)
            assert found.way == "plain by keyword"

    @pytest.mark.parametrize("name", PRESETS)
    @pytest.mark.parametrize("dimensions", [0, 384])
    def test_every_preset_goes_by_keyword_and_says_so(
        self, bare: Memory, owner: Owner, name: str, dimensions: int
    ) -> None:
        planted = plant(owner)
        add_run(owner, "acme", "api")
        embedder = Shaped(np.ones(dimensions, np.float32)) if dimensions else None
        found = retrieve(Memory(bare.store, embedder, LexicalScorer()), SESSION, QUESTION, PRESETS[name])
        assert [why for why in found.degraded if why.endswith("recalled by keyword only")] == list(found.degraded)
        assert len(found.degraded) == 1
        assert found.injected[0] in {str(id_) for id_ in planted.ids[:3]}

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_one_whose_vectors_are_no_numbers(self, bare: Memory, owner: Owner, bad: float) -> None:
        (reason,) = self.keyword_only(bare, owner, Shaped(np.full(256, bad, np.float32)))
        assert reason == "the question got a vector from other that is not finite: recalled by keyword only"

    def test_vectors_of_other_dimensions_in_the_store_are_passed_over(self, bare: Memory, owner: Owner) -> None:
        planted = plant(owner)
        owner.execute(
            "update observation_embeddings set embedding = '[1,2,3]' where observation_id = %s", planted.ids[:1]
        )
        found = retrieve(bare, SESSION, QUESTION)
        assert set(found.injected) == set(map(str, planted.ids[1:]))


class TestModelsOfOthers:
    def test_a_list_will_do_and_a_matrix_is_told(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        listed = retrieve(Memory(memory.store, Reshaping(lambda vector: vector.tolist())), SESSION, QUESTION)
        assert (listed.degraded, listed.injected[0]) == ((), retrieve(memory, SESSION, QUESTION).injected[0])
        matrix = retrieve(Memory(memory.store, Reshaping(lambda vector: vector[None, :])), SESSION, QUESTION)
        assert matrix.injected
        assert "expected one vector, found shape (1, 256)" in matrix.degraded[0]

    def test_a_scorer_that_raises_is_replaced_and_told(self, memory: Memory, owner: Owner) -> None:
        plant(owner)
        found = retrieve(Memory(memory.store, EMBEDDER, Broken()), SESSION, QUESTION, PRESETS["FULL"])
        assert found.injected
        assert any("were scored by words: the cross-encoder failed on them" in each for each in found.degraded)
