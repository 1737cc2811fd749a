import queue
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from ranking import BatchedReranker, FallbackScorer, LexicalScorer, Pair, PairScores, ScorerUsed, use_batched_path
from ranking.pair_scorer import _SequenceCap, max_sequence


class Model:
    """A stand-in for a neural scorer: a pair scores the length of its content, and a call takes a while."""

    neural = True

    def __init__(self, delay: float = 0.0) -> None:
        self.delay = delay
        self.calls: list[int] = []

    def score(self, pairs: Sequence[Pair]) -> PairScores:
        self.calls.append(len(pairs))
        time.sleep(self.delay)
        if any(pair.content == "boom" for pair in pairs):
            raise RuntimeError("out of memory")
        scores = np.array([np.nan if pair.content == "bad" else len(pair.content) / 10 for pair in pairs])
        return PairScores(scores, np.zeros(len(pairs), dtype=np.bool_), ScorerUsed.NEURAL)


class Broken(Model):
    """A model that, on the thread that joins callers, raises or returns what it was given."""

    def __init__(self, outcome: object) -> None:
        super().__init__()
        self.outcome = outcome

    def score(self, pairs: Sequence[Pair]) -> PairScores:
        if threading.current_thread().name != "batched-reranker":
            return super().score(pairs)
        if isinstance(self.outcome, BaseException):
            raise self.outcome
        return self.outcome  # type: ignore[return-value]


def asked_together(model: Model) -> list[object]:
    """What four callers of one joined call get, their scores or the text of their error; nobody waits for ever."""
    joined = BatchedReranker(model, max_batch=4, max_wait_ms=2_000)
    joined._in_flight = 1  # so that the first of them joins too
    answers: queue.Queue[object] = queue.Queue()

    def ask() -> None:
        try:
            answers.put(joined.score(pairs("xx")).scores.tolist())
        except Exception as error:  # noqa: BLE001 - whatever reaches the caller
            answers.put(str(error))

    for _ in range(4):
        threading.Thread(target=ask, daemon=True).start()
    found = [answers.get(timeout=5) for _ in range(4)]
    joined.close()
    return found


def pairs(*contents: str) -> list[Pair]:
    return [Pair("alpha", "alpha", content) for content in contents]


class TestFallback:
    def test_a_model_that_works_is_named(self) -> None:
        found = FallbackScorer(Model()).score(pairs("a", "bb"))
        assert found.scores.tolist() == [0.1, 0.2]
        assert found.scorer_used is ScorerUsed.NEURAL

    def test_a_pair_that_fails_is_scored_lexically_and_the_result_says_so(self) -> None:
        found = FallbackScorer(Model()).score(pairs("a", "bad"))
        assert found.scores.tolist() == [0.1, LexicalScorer().score(pairs("bad")).scores[0]]
        assert found.fell_back.tolist() == [False, True]
        assert found.scorer_used is ScorerUsed.DEGRADED_LEXICAL
        assert found.part(0, 1).scorer_used is ScorerUsed.NEURAL

    @pytest.mark.parametrize("model", [None, Model()])
    def test_a_model_that_is_missing_or_breaks_is_replaced_never_silently(self, model: Model | None) -> None:
        asked = pairs("boom", "a")
        found = FallbackScorer(model).score(asked)
        assert found.scores.tolist() == LexicalScorer().score(asked).scores.tolist()
        assert found.scorer_used is ScorerUsed.DEGRADED_LEXICAL
        assert FallbackScorer(model).neural is (model is not None)

    def test_nothing_to_score(self) -> None:
        assert FallbackScorer(None).score([]).scorer_used is ScorerUsed.NONE


class TestBatchedReranker:
    def test_concurrent_callers_share_a_call_and_get_their_own_scores(self) -> None:
        model = Model(delay=0.02)
        texts = [["x" * size] * (size % 3 + 1) for size in range(12)]
        start = threading.Barrier(len(texts))

        def ask(contents: list[str]) -> list[float]:
            start.wait()
            scores: list[float] = joined.score(pairs(*contents)).scores.tolist()
            return scores

        with BatchedReranker(model) as joined, ThreadPoolExecutor(len(texts)) as callers:
            answers = list(callers.map(ask, texts))
        assert answers == [[len(text) / 10 for text in contents] for contents in texts]
        assert len(model.calls) < len(texts)
        assert sum(model.calls) == sum(map(len, texts))

    def test_a_lone_caller_and_a_lexical_scorer_go_straight(self) -> None:
        with BatchedReranker(Model()) as joined:
            assert joined.score(pairs("a")).scores.tolist() == [0.1]
            assert joined.batches == 0
        assert not use_batched_path(neural=False, in_flight=8)
        assert not use_batched_path(neural=True, in_flight=1)
        assert use_batched_path(neural=True, in_flight=2)

    def test_an_error_reaches_the_caller(self) -> None:
        with BatchedReranker(Model()) as joined, pytest.raises(RuntimeError, match="out of memory"):
            joined.score(pairs("boom"))

    def test_an_error_in_a_shared_call_reaches_every_caller(self) -> None:
        joined = BatchedReranker(Model(delay=0.01))
        start = threading.Barrier(4)

        def ask() -> str:
            start.wait()
            try:
                joined.score(pairs("boom"))
            except RuntimeError as error:
                return str(error)
            return "no error"

        with ThreadPoolExecutor(4) as callers:
            assert [found.result() for found in [callers.submit(ask) for _ in range(4)]] == ["out of memory"] * 4
        joined.close()

    def test_when_the_worker_is_gone_callers_score_for_themselves(self) -> None:
        joined = BatchedReranker(Model(delay=0.01))
        joined.close()
        with ThreadPoolExecutor(6) as callers:
            answers = list(callers.map(lambda size: joined.score(pairs("x" * size)).scores.tolist(), range(6)))
        assert answers == [[size / 10] for size in range(6)]

    def test_a_request_the_worker_left_behind_is_not_lost(self) -> None:
        joined = BatchedReranker(Model(delay=0.01))
        joined.close()
        from ranking.batched import _Request  # noqa: PLC0415 - only this test looks inside

        assert joined._wait(_Request(pairs("xx"))).scores.tolist() == [0.2]

    def test_a_timeout_of_the_scorer_reaches_every_caller(self) -> None:
        assert asked_together(Broken(TimeoutError("model took too long"))) == ["model took too long"] * 4

    def test_an_answer_that_is_no_scores_reaches_every_caller(self) -> None:
        found = asked_together(Broken(None))
        assert all("has no attribute" in str(answer) for answer in found)

    def test_too_few_scores_are_nobodys(self) -> None:
        nothing = PairScores(np.empty(0), np.empty(0, dtype=np.bool_), ScorerUsed.NEURAL)
        assert asked_together(Broken(nothing)) == ["expected 1 score for each of 4 pairs, found 0"] * 4

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # dying is the point
    def test_requests_of_a_worker_that_died_over_them_are_scored_by_their_callers(self) -> None:
        assert asked_together(Broken(SystemExit())) == [[0.2]] * 4

    @pytest.mark.parametrize(("batch", "wait"), [(0, 5), (1, -1)])
    def test_bad_settings_raise(self, batch: int, wait: int) -> None:
        with pytest.raises(ValueError, match="expected"):
            BatchedReranker(Model(), batch, wait)


class TestSequenceCap:
    def test_the_first_setting_wins_and_512_is_the_ceiling(self) -> None:
        cap = _SequenceCap()
        assert cap.get() == 256
        assert cap.set(10_000) == 512
        assert cap.set(128) == 512
        with pytest.raises(ValueError, match="tokens: expected 1 or more, found 0"):
            _SequenceCap().set(0)

    def test_the_process_default(self) -> None:
        assert max_sequence() == 256
