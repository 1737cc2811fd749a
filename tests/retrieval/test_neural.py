from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ranking import AI_MEMORY, Candidates, LexicalScorer, Pair, ScorerUsed, rank, with_pair_scores
from retrieval.evidence import with_scored_pairs
from retrieval.neural import NeuralScorer, pair_scorer
from retrieval.onnx_models import BGE_SMALL, MINILM, ModelError
from tests.retrieval.models import installed

if TYPE_CHECKING:
    from pathlib import Path

QUESTION = "how often is the auth token rotated"
ANSWER = "The auth token is rotated every 24 hours by a scheduled job."
ASIDE = "The auth team has lunch at noon."
FAR = "Bananas are yellow and rich in potassium."


@pytest.fixture(scope="module")
def scorer() -> NeuralScorer:
    return NeuralScorer(installed(MINILM))


def pairs(*texts: str, title: str = "") -> list[Pair]:
    return [Pair(QUESTION, title, text) for text in texts]


class TestTheRealModel:
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

    def test_with_the_model_nothing_is_degraded(self) -> None:
        installed(MINILM)
        scored, used, why = with_scored_pairs(self.CANDIDATES, self.STAGES, pair_scorer())
        assert (used, why) == (ScorerUsed.NEURAL, [])
        assert rank(scored, self.STAGES).ids() == ["answer", "far"]

    def test_words_score_what_a_missing_model_cannot(self, tmp_path: Path) -> None:
        scored, used, why = with_scored_pairs(self.CANDIDATES, self.STAGES, pair_scorer(tmp_path))
        lexical, _ = with_pair_scores(self.CANDIDATES, self.STAGES, LexicalScorer())
        assert used is ScorerUsed.DEGRADED_LEXICAL
        assert why == ["2 of 2 pairs were scored by words: the cross-encoder failed on them"]
        assert scored["pair_score"].tolist() == lexical["pair_score"].tolist()

    def test_a_model_that_is_no_cross_encoder_fails_visibly(self) -> None:
        wrong = pair_scorer(installed(BGE_SMALL))
        _, used, why = with_scored_pairs(self.CANDIDATES, self.STAGES, wrong)
        assert (used, len(why)) == (ScorerUsed.DEGRADED_LEXICAL, 1)
        with pytest.raises(ModelError, match="expected one score per pair"):
            NeuralScorer(installed(BGE_SMALL)).score(pairs(ANSWER))

    def test_words_by_choice_are_no_degradation(self) -> None:
        _, used, why = with_scored_pairs(self.CANDIDATES, self.STAGES, pair_scorer(lexical=True))
        assert (used, why) == (ScorerUsed.LEXICAL, [])

    def test_a_pipeline_without_a_cross_encoder_asks_nobody(self) -> None:
        same, used, why = with_scored_pairs(self.CANDIDATES, self.STAGES[:1], pair_scorer())
        assert same is self.CANDIDATES
        assert (used, why) == (ScorerUsed.NONE, [])
