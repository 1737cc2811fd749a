import queue
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Self

from ranking.limits import within
from ranking.pair_scorer import Pair, PairScorer, PairScores

MAX_BATCH = 32
MAX_WAIT_MS = 5
MIN_IN_FLIGHT = 2
_LOOK_SECONDS = 0.05


def use_batched_path(*, neural: bool, in_flight: int) -> bool:
    """Whether joining pays: only a forward pass is worth sharing, and only with somebody (004)."""
    return neural and in_flight >= MIN_IN_FLIGHT


@dataclass(frozen=True)
class _Request:
    pairs: Sequence[Pair]
    answer: "Future[PairScores]" = field(default_factory=Future)


class BatchedReranker:
    """A scorer that joins concurrent callers: up to 32 requests, or what comes within 5 ms, in one call (004).

    5 ms is nothing beside a forward pass and enough for callers that started together. If the worker is gone, callers
    score for themselves, and requests it left behind are scored by whoever waits for them: nothing is lost.
    """

    def __init__(self, scorer: PairScorer, max_batch: int = MAX_BATCH, max_wait_ms: float = MAX_WAIT_MS) -> None:
        within("max_batch", max_batch, 1)
        within("max_wait_ms", max_wait_ms, 0)
        self.scorer = scorer
        self.max_batch = max_batch
        self.max_wait = max_wait_ms / 1000
        self.batches = 0
        self._in_flight = 0
        self._lock = threading.Lock()
        self._requests: queue.Queue[_Request | None] = queue.Queue()
        self._worker = threading.Thread(target=self._serve, name="batched-reranker", daemon=True)
        self._worker.start()

    @property
    def neural(self) -> bool:
        """As the scorer inside."""
        return self.scorer.neural

    def score(self, pairs: Sequence[Pair]) -> PairScores:
        """Scores of these pairs, from a call shared with others where that pays."""
        with self._counted() as in_flight:
            if not use_batched_path(neural=self.neural, in_flight=in_flight) or not self._worker.is_alive():
                return self.scorer.score(pairs)
            request = _Request(pairs)
            self._requests.put(request)
            return self._wait(request)

    def close(self) -> None:
        """Let the worker finish what it has and stop; later calls score directly."""
        self._requests.put(None)
        self._worker.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _counted(self) -> Iterator[int]:
        with self._lock:
            self._in_flight += 1
            count = self._in_flight
        try:
            yield count
        finally:
            with self._lock:
                self._in_flight -= 1

    def _wait(self, request: _Request) -> PairScores:
        # not result(timeout): the scorer's own TimeoutError would look like ours
        while not wait([request.answer], timeout=_LOOK_SECONDS).done:
            # asked in this order: a worker that is gone answers nothing more, begun or not
            if not self._worker.is_alive() and not request.answer.done():
                return self.scorer.score(request.pairs)
        return request.answer.result()

    def _serve(self) -> None:
        last = False
        while not last and (first := self._requests.get()) is not None:
            batch, last = self._gather(first)
            self._answer(batch)

    def _gather(self, first: _Request) -> tuple[list[_Request], bool]:
        batch = [first]
        deadline = time.monotonic() + self.max_wait
        while len(batch) < self.max_batch:
            try:
                request = self._requests.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                return batch, False
            if request is None:
                return batch, True
            batch.append(request)
        return batch, False

    def _answer(self, batch: Sequence[_Request]) -> None:
        self.batches += 1
        try:
            parts = self._parts(batch)
        except Exception as error:  # noqa: BLE001 - every caller gets the error that was theirs
            for request in batch:
                request.answer.set_exception(error)
            return
        for request, part in zip(batch, parts, strict=True):
            request.answer.set_result(part)

    def _parts(self, batch: Sequence[_Request]) -> list[PairScores]:
        """Each caller's scores out of one call for all."""
        stops = [0, *accumulate(len(request.pairs) for request in batch)]
        scores = self.scorer.score([pair for request in batch for pair in request.pairs])
        for found in (len(scores.scores), len(scores.fell_back)):
            # slices of too few would give some caller too few in silence
            if found != stops[-1]:
                raise ValueError(f"expected 1 score for each of {stops[-1]} pairs, found {found}")
        return [scores.part(start, stop) for start, stop in pairwise(stops)]
