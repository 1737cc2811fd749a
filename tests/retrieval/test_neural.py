from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ranking import AI_MEMORY, Candidates, LexicalScorer, Pair, ScorerUsed, rank, with_pair_scores
from retrieval.choice import chosen_scorer
from retrieval.evidence import with_scored_pairs
from retrieval.neural import NeuralScorer, pair_scorer
from retrieval.onnx_models import MINILM, ModelError
from settings import Settings
from tests import tiny_models
from tests.retrieval.models import counted_passes, installed

if TYPE_CHECKING:
    import numpy.typing as npt

QUESTION = "how often is the auth token rotated"
ANSWER = "The auth token is rotated every 24 hours by a scheduled job."
ASIDE = "The auth team has lunch at noon."
FAR = "Bananas are yellow and rich in potassium."


@pytest.fixture(scope="module", params=["tiny", MINILM])
def folder(request: pytest.FixtureRequest, tiny_scorer: Path) -> Path:
    """The tiny cross-encoder and, where it is installed, the real one."""
    return tiny_scorer if request.param == "tiny" else installed(request.param)


@pytest.fixture(scope="module")
def scorer(folder: Path) -> NeuralScorer:
    return NeuralScorer(folder)


def pairs(*texts: str, title: str = "") -> list[Pair]:
    return [Pair(QUESTION, title, text) for text in texts]


class TestAModel:
    def test_it_tells_an_answer_from_an_aside(self, scorer: NeuralScorer) -> None:
        found = scorer.score(pairs(FAR, ANSWER, ASIDE))
        assert found.scorer_used is ScorerUsed.NEURAL
        assert found.scores.argsort().tolist() == [0, 2, 1]
        assert found.scores[1] > 0.9
        assert found.scores[0] < 0.01
        assert ((found.scores >= 0) & (found.scores <= 1)).all()

    def test_a_pair_scores_alike_in_any_batch(self, scorer: NeuralScorer) -> None:
        """Forty pairs take two passes, sorted by length inside: each score must come back to its own pair."""
        many = pairs(*(f"{ANSWER} {FAR * (n % 5)}" if n % 3 else FAR for n in range(40)))
        alone = [float(scorer.score([pair]).scores[0]) for pair in many[:6]]
        assert scorer.score(many).scores[:6] == pytest.approx(alone, abs=0.05)

    def test_no_pairs(self, scorer: NeuralScorer) -> None:
        assert scorer.score([]).scores.size == 0

    def test_a_title_is_read(self, scorer: NeuralScorer) -> None:
        titled = scorer.score([Pair(QUESTION, ANSWER, FAR)]).scores[0]
        assert titled > scorer.score([Pair(QUESTION, "", FAR)]).scores[0] + 0.5

    @pytest.mark.parametrize("endless", ["token " * 20_000, "x" * 100_000])
    def test_endless_texts_are_cut(self, scorer: NeuralScorer, endless: str) -> None:
        found = scorer.score([Pair(endless, "", ANSWER), Pair(QUESTION, "", endless), Pair("", "", "half \ud800")])
        assert np.isfinite(found.scores).all()
        assert scorer._network.tokens == 192

    def test_a_long_question_leaves_room_for_the_text(self, scorer: NeuralScorer) -> None:
        endless = f"{QUESTION} " * 200
        near, far = scorer.score([Pair(endless, "", ANSWER), Pair(endless, "", FAR)]).scores
        assert near > far


class TestForwardPass:
    """The tiny cross-encoder against the same arithmetic in numpy."""

    @staticmethod
    def total(text: str) -> npt.NDArray[np.float32]:
        numbers = [tiny_models.vocabulary().index(word) for word in text.split()]
        found: npt.NDArray[np.float32] = tiny_models.table()[numbers].sum(axis=0)
        return found

    def test_scores_are_the_sigmoid_of_its_logits(self, tiny_scorer: Path) -> None:
        first, second = "how often", "the auth token rotated every 24 hours"
        a, b = self.total(first), self.total(second)
        cosine = float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
        logit = tiny_models.STEEP * (cosine - tiny_models.MIDDLE)
        pairs = [
            Pair(first, "", second),
            Pair(first, "the auth token", "rotated every 24 hours"),
            Pair("a", "", ANSWER),
        ]
        plain, titled, _ = NeuralScorer(tiny_scorer).score(pairs).scores
        assert plain == pytest.approx(1 / (1 + np.exp(-logit)), abs=1e-6)
        assert titled == plain

    def test_32_pairs_are_one_pass(self, tiny_scorer: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        passes = counted_passes(monkeypatch)
        NeuralScorer(tiny_scorer).score(pairs(*[ANSWER] * 65))
        assert passes == [32, 32, 1]

    def test_what_stands_beyond_its_tokens_counts_nothing(self, tiny_scorer: Path) -> None:
        """Eight tokens, three of them frame: of the longer side the end is cut until all fit."""
        asked, filled = "auth token", "auth rotated rotated "
        cut = NeuralScorer(tiny_scorer, tokens=8)
        with_end, without = cut.score([Pair(asked, "", filled + "bananas " * 9), Pair(asked, "", filled)]).scores
        assert with_end == pytest.approx(without, abs=1e-6)
        whole = NeuralScorer(tiny_scorer).score([Pair(asked, "", filled + "bananas " * 9)]).scores[0]
        assert whole < without / 2

    def test_the_settings_name_its_folder(self, tiny_scorer: Path) -> None:
        named = {"RANKSCOPE_SCORER": "neural", "RANKSCOPE_SCORER_FOLDER": str(tiny_scorer)}
        found = chosen_scorer(Settings.read(named, Path("/nowhere/secrets.toml")))
        assert found.neural
        assert found.score(pairs(ANSWER)).scorer_used is ScorerUsed.NEURAL
        lexical = chosen_scorer(Settings.read(named | {"RANKSCOPE_SCORER": "lexical"}, Path("/nowhere/secrets.toml")))
        assert not lexical.neural


class TestStandingIn:
    STAGES = AI_MEMORY
    CANDIDATES = Candidates(
        ["far", "answer"],
        query=QUESTION,
        relevance=[0.5, 0.5],
        title=["", ""],
        content=[FAR, ANSWER],
        is_reflection=[False, False],
        reflection_depth=[0, 0],
        shown_before=[False, False],
    )

    def test_with_a_model_nothing_is_degraded(self, folder: Path) -> None:
        scored, used, why = with_scored_pairs(self.CANDIDATES, self.STAGES, pair_scorer(folder))
        assert (used, why) == (ScorerUsed.NEURAL, [])
        assert rank(scored, self.STAGES).ids() == ["answer", "far"]

    def test_words_score_what_a_missing_model_cannot(self, tmp_path: Path) -> None:
        scored, used, why = with_scored_pairs(self.CANDIDATES, self.STAGES, pair_scorer(tmp_path))
        lexical, _ = with_pair_scores(self.CANDIDATES, self.STAGES, LexicalScorer())
        assert used is ScorerUsed.DEGRADED_LEXICAL
        assert why == ["2 of 2 pairs were scored by words: the cross-encoder failed on them"]
        assert scored["pair_score"].tolist() == lexical["pair_score"].tolist()

    def test_the_installed_model_is_found_without_a_folder(self) -> None:
        installed(MINILM)
        assert with_scored_pairs(self.CANDIDATES, self.STAGES, pair_scorer())[1] is ScorerUsed.NEURAL

    def test_a_model_that_is_no_cross_encoder_fails_visibly(self, tiny_embedder: Path) -> None:
        wrong = pair_scorer(tiny_embedder)
        _, used, why = with_scored_pairs(self.CANDIDATES, self.STAGES, wrong)
        assert (used, len(why)) == (ScorerUsed.DEGRADED_LEXICAL, 1)
        with pytest.raises(ModelError, match="expected one score per pair"):
            NeuralScorer(tiny_embedder).score(pairs(ANSWER))

    def test_words_by_choice_are_no_degradation(self) -> None:
        _, used, why = with_scored_pairs(self.CANDIDATES, self.STAGES, pair_scorer(lexical=True))
        assert (used, why) == (ScorerUsed.LEXICAL, [])

    def test_a_pipeline_without_a_cross_encoder_asks_nobody(self) -> None:
        same, used, why = with_scored_pairs(self.CANDIDATES, self.STAGES[:1], pair_scorer())
        assert same is self.CANDIDATES
        assert (used, why) == (ScorerUsed.NONE, [])
