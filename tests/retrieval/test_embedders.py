from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from retrieval.choice import chosen_embedder
from retrieval.embedders import (
    BGE,
    E5,
    EmbedderError,
    EmbeddingModel,
    NoEmbedder,
    OnnxEmbedder,
    Pooling,
    WordLlamaEmbedder,
    pooled,
    unit_rows,
)
from retrieval.endpoint import EndpointEmbedder
from retrieval.onnx_models import BGE_SMALL, E5_SMALL, ModelError, OnnxModel
from settings import Settings
from tests import tiny_models
from tests.retrieval.models import counted_passes, installed

ROOT = Path(__file__).parents[2]
NOWHERE = Path("/nowhere/secrets.toml")
TINY = "tiny"
TEXTS = (
    "The auth token is rotated every 24 hours by a scheduled job.",
    "Bananas are yellow and rich in potassium.",
    "The connection pool of Postgres is exhausted: raise max_overflow.",
)
QUESTION = "how often do we rotate credentials"


@pytest.fixture(scope="module")
def words() -> WordLlamaEmbedder:
    return WordLlamaEmbedder()


@pytest.fixture(
    scope="module",
    params=[(TINY, BGE), (TINY, E5), (BGE_SMALL, BGE), (E5_SMALL, E5)],
    ids=["tiny as bge", "tiny as e5", "bge", "e5"],
)
def transformer(request: pytest.FixtureRequest, tiny_embedder: Path) -> OnnxEmbedder:
    """Each way of pooling and of putting a question, on the tiny model and, where it is installed, on a real one."""
    name, model = request.param
    return OnnxEmbedder(tiny_embedder if name == TINY else installed(name), model)


def width(transformer: OnnxEmbedder) -> int:
    return tiny_models.DIMENSIONS if transformer.name == TINY else 384


class TestWordLlama:
    def test_vectors_of_256_dimensions_and_length_1(self, words: WordLlamaEmbedder) -> None:
        vectors = words.embed(TEXTS)
        assert (vectors.dtype.name, vectors.shape, words.dimensions) == ("float32", (3, 256), 256)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)

    def test_the_text_that_answers_is_nearest(self, words: WordLlamaEmbedder) -> None:
        assert int((words.embed(TEXTS) @ words.embed_query(QUESTION)).argmax()) == 0

    def test_no_text_has_no_direction(self, words: WordLlamaEmbedder) -> None:
        assert not words.embed_query("").any()

    def test_no_texts_no_rows(self, words: WordLlamaEmbedder) -> None:
        assert words.embed([]).shape == (0, 256)

    @pytest.mark.parametrize("text", ["word " * 20_000, "x" * 100_000, "\0\0", "half \ud800 a pair", "مرحبا 👩‍👩‍👧‍👦"])
    def test_any_text_gets_a_vector_and_the_same_again(self, words: WordLlamaEmbedder, text: str) -> None:
        once, again = words.embed([text, text])
        assert np.isfinite(once).all()
        assert np.array_equal(once, again)

    def test_it_loads_where_nothing_can_be_downloaded(self) -> None:
        """Sockets are taken away before the package is imported; whatever would connect fails."""
        code = (
            "import socket\n"
            "def refuse(*_a, **_k): raise OSError('no network here')\n"
            "socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse\n"
            "from retrieval.embedders import WordLlamaEmbedder\n"
            "print(WordLlamaEmbedder().embed(['a word']).shape)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=ROOT, env={"HOME": "/nowhere"}, capture_output=True, text=True, check=True
        )
        assert done.stdout == "(1, 256)\n"


class TestTransformers:
    def test_vectors_of_its_dimensions_and_length_1(self, transformer: OnnxEmbedder) -> None:
        vectors, size = transformer.embed(TEXTS), width(transformer)
        assert (vectors.dtype.name, vectors.shape, transformer.dimensions) == ("float32", (3, size), size)
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(3), abs=1e-6)

    def test_the_text_that_answers_is_nearest(self, transformer: OnnxEmbedder) -> None:
        assert int((transformer.embed(TEXTS) @ transformer.embed_query(QUESTION)).argmax()) == 0

    def test_a_question_is_put_as_the_model_was_taught(self, transformer: OnnxEmbedder) -> None:
        """The prefixes count: a question equals the same words stored with its prefix in front, and no others."""
        bare = OnnxEmbedder(transformer._network.folder, EmbeddingModel(transformer.model.pooling))
        asked, stored = transformer.embed_query(QUESTION), transformer.embed([QUESTION])[0]
        model = transformer.model
        by_hand = bare.embed([model.query_prefix + QUESTION, model.passage_prefix + QUESTION])
        # int8 weights round differently in batches of other shapes
        assert asked == pytest.approx(by_hand[0], abs=0.02)
        assert stored == pytest.approx(by_hand[1], abs=0.02)
        assert float(asked @ stored) < 0.999

    def test_a_text_does_not_depend_on_its_neighbours(self, transformer: OnnxEmbedder) -> None:
        """Padding to the longest of the batch must not leak into the mean."""
        alone = transformer.embed([TEXTS[0]])[0]
        beside = transformer.embed([TEXTS[0], " ".join(TEXTS * 5)])[0]
        assert float(alone @ beside) > 0.99

    def test_more_texts_than_a_batch_keep_their_order(self, transformer: OnnxEmbedder) -> None:
        texts = [f"entry {n}: {TEXTS[n % 3]}" for n in range(35)]
        many = transformer.embed(texts)
        for row in (0, 31, 32, 34):
            assert float(many[row] @ transformer.embed([texts[row]])[0]) > 0.99
        assert float(many[34] @ many[33]) < 0.9

    def test_blank_and_endless_texts(self, transformer: OnnxEmbedder) -> None:
        vectors = transformer.embed(["", " \n", "word " * 20_000, "half \ud800 a pair"])
        assert vectors.any(axis=1).tolist() == [False, False, True, True]
        assert not transformer.embed_query("").any()
        assert transformer.embed([]).shape == (0, width(transformer))

    def test_a_text_is_cut_to_its_tokens_and_no_earlier(self, transformer: OnnxEmbedder) -> None:
        network = OnnxModel(transformer._network.folder, 16)
        _, mask = network.run(["word " * 100, "two words"])
        assert mask.sum(axis=1).tolist() == [16, 4]


class TestForwardPass:
    """The tiny model's answers against the same arithmetic in numpy, over the tokens its file names."""

    TEXT = "the auth token rotated"

    @staticmethod
    def rows(text: str) -> npt.NDArray[np.float32]:
        tokens = ["[CLS]", *text.split(), "[SEP]"]
        found: npt.NDArray[np.float32] = tiny_models.table()[[tiny_models.vocabulary().index(t) for t in tokens]]
        return found

    @pytest.mark.parametrize("pooling", Pooling)
    def test_each_pooling_as_in_numpy(self, tiny_embedder: Path, pooling: Pooling) -> None:
        """Every token is its own vector and the text's mean; the longer neighbour brings padding along."""
        rows = self.rows(self.TEXT)
        hidden = rows + rows.mean(axis=0)
        expected = hidden[0] if pooling is Pooling.CLS else hidden.mean(axis=0)
        longer = f"{self.TEXT} and the login cookie"
        found = OnnxEmbedder(tiny_embedder, EmbeddingModel(pooling)).embed([self.TEXT, longer])[0]
        assert found == pytest.approx(expected / np.linalg.norm(expected), abs=1e-6)

    def test_a_text_longer_than_its_tokens_is_its_beginning(self, tiny_embedder: Path) -> None:
        """Two of four tokens frame the text: its first two words are left, and the third makes a difference."""
        short = OnnxEmbedder(tiny_embedder, EmbeddingModel(Pooling.MEAN, tokens=4))
        cut, first_two, whole = (*short.embed([self.TEXT, "the auth"]), self.rows(self.TEXT).mean(axis=0))
        assert cut == pytest.approx(first_two, abs=1e-6)
        assert float(cut @ unit_rows(whole)) < 0.95

    def test_32_texts_are_one_pass(self, tiny_embedder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        passes = counted_passes(monkeypatch)
        OnnxEmbedder(tiny_embedder, E5).embed(["auth token"] * 70)
        assert passes == [32, 32, 6]

    def test_padding_is_as_long_as_the_batch_needs_and_no_longer(self, tiny_embedder: Path) -> None:
        """The file asks for 512 tokens each time."""
        _, is_text = OnnxModel(tiny_embedder, 256).run(["auth", "the auth token"])
        assert is_text.tolist() == [[True, True, True, False, False], [True] * 5]


class TestPooling:
    TOKENS = np.array([[[1.0, 0.0], [3.0, 2.0], [9.0, 9.0]]])
    IS_TEXT = np.array([[True, True, False]])

    def test_cls_is_the_first_token(self) -> None:
        assert pooled(self.TOKENS, self.IS_TEXT, Pooling.CLS).tolist() == [[1.0, 0.0]]

    def test_mean_leaves_out_the_padding(self) -> None:
        assert pooled(self.TOKENS, self.IS_TEXT, Pooling.MEAN).tolist() == [[(1 + 3) / 2, (0 + 2) / 2]]

    def test_a_zero_row_stays_zero(self) -> None:
        assert unit_rows([[3.0, 4.0], [0.0, 0.0]]).tolist() == [pytest.approx([0.6, 0.8]), [0.0, 0.0]]

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_what_is_no_number_is_no_vector(self, bad: float) -> None:
        with pytest.raises(EmbedderError, match="finite"):
            unit_rows([[1.0, bad]])


class TestAFolder:
    def test_its_own_file_says_how_it_pools(self, tmp_path: Path) -> None:
        (tmp_path / "embedding.toml").write_text('pooling = "mean"\nquery_prefix = "ask: "\ntokens = 64\n')
        assert EmbeddingModel.read(tmp_path) == EmbeddingModel(Pooling.MEAN, "ask: ", "", 64)

    @pytest.mark.parametrize(
        "text",
        [
            'pooling = "max"',
            "pooling = 3",
            "",
            "= =",
            'pooling = "cls"\nquery_prefix = 1',
            'pooling = "cls"\nother = 1',
        ],
    )
    def test_what_the_file_does_not_say_is_not_guessed(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "embedding.toml").write_text(text)
        with pytest.raises(ModelError, match="expected"):
            EmbeddingModel.read(tmp_path)

    def test_without_a_model_the_sentence_names_the_file(self, tmp_path: Path) -> None:
        with pytest.raises(EmbedderError, match=r"expected tokenizer\.json in .*, found none"):
            OnnxEmbedder(tmp_path, BGE).embed(["a"])

    @pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
    def test_a_broken_file_is_named(self, tmp_path: Path, tiny_embedder: Path, broken: str) -> None:
        for name in ("model.onnx", "tokenizer.json"):
            (tmp_path / name).symlink_to(tiny_embedder / name)
        (tmp_path / broken).unlink()
        (tmp_path / broken).write_text("not a model")
        with pytest.raises(EmbedderError, match=f"{broken} in .* cannot be loaded"):
            OnnxEmbedder(tmp_path, BGE).embed(["a"])


class TestChoice:
    @staticmethod
    def read(**settings: str) -> Settings:
        return Settings.read({f"RANKSCOPE_{name}": value for name, value in settings.items()}, NOWHERE)

    def test_word_vectors_unless_said_otherwise(self) -> None:
        assert isinstance(chosen_embedder(self.read()), WordLlamaEmbedder)

    def test_none_at_all(self) -> None:
        assert chosen_embedder(self.read(EMBEDDER="none")) is None

    def test_an_endpoint(self) -> None:
        found = chosen_embedder(self.read(EMBEDDER="openai", EMBEDDER_URL="http://h/v1", EMBEDDER_MODEL="m"))
        assert isinstance(found, EndpointEmbedder)
        assert (found.endpoint.address, found.name, found.endpoint.key) == ("http://h/v1/embeddings", "m", None)

    @pytest.mark.parametrize(("kind", "name", "model"), [("bge", BGE_SMALL, BGE), ("e5", E5_SMALL, E5)])
    def test_a_known_model_as_installed(self, kind: str, name: str, model: EmbeddingModel) -> None:
        folder = installed(name)
        found = chosen_embedder(self.read(EMBEDDER=kind))
        assert isinstance(found, OnnxEmbedder)
        assert (found.model, found._network.folder, found.name) == (model, folder, kind)

    def test_a_known_model_in_a_folder_of_its_own(self, tmp_path: Path) -> None:
        found = chosen_embedder(self.read(EMBEDDER="e5", EMBEDDER_FOLDER=str(tmp_path)))
        assert isinstance(found, OnnxEmbedder)
        assert (found.model, found._network.folder) == (E5, tmp_path)

    def test_a_folder_with_a_model_is_all_it_takes(self, tiny_embedder: Path) -> None:
        """Named by the settings, it finds what answers: nothing was installed for it."""
        found = chosen_embedder(self.read(EMBEDDER="onnx", EMBEDDER_FOLDER=str(tiny_embedder)))
        assert isinstance(found, OnnxEmbedder)
        assert (found.name, found.dimensions, found.model) == (TINY, 12, EmbeddingModel(Pooling.MEAN))
        assert int((found.embed(TEXTS) @ found.embed_query(QUESTION)).argmax()) == 0

    def test_a_model_without_a_vector_per_token_is_no_embedder(self, tiny_scorer: Path) -> None:
        with pytest.raises(EmbedderError, match="expected a vector per token from tiny-pairs, found an output of 2"):
            OnnxEmbedder(tiny_scorer, BGE).embed(["a"])

    def test_any_model_in_a_folder_that_describes_it(self, tmp_path: Path) -> None:
        settings = self.read(EMBEDDER="onnx", EMBEDDER_FOLDER=str(tmp_path))
        undescribed = chosen_embedder(settings)
        assert isinstance(undescribed, NoEmbedder)
        with pytest.raises(EmbedderError, match=r"expected embedding\.toml"):
            undescribed.embed_query("a")
        (tmp_path / "embedding.toml").write_text('pooling = "cls"')
        described = chosen_embedder(settings)
        assert isinstance(described, OnnxEmbedder)
        assert described.model == EmbeddingModel(Pooling.CLS)
