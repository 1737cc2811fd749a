"""Vectors from any endpoint that speaks OpenAI's embeddings protocol: a live store's were made by its own model."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from retrieval.embedders import EmbedderError, Vectors, unit_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import httpx

CONNECT, ANSWER = 2.0, 5.0  # seconds; an agent waits for its memory, and the keyword leg answers without a vector
BATCH = 64
LONGEST_TEXT = 8_000  # characters: endpoints refuse what their model would cut off
LARGEST_ANSWER = 64 * 1024 * 1024


@dataclass(frozen=True)
class Endpoint:
    """Where to ask, for which model, with which key, and how long to wait; the key does not show in its repr."""

    url: str
    model: str
    key: str | None = field(default=None, repr=False)
    connect: float = CONNECT
    answer: float = ANSWER

    @property
    def address(self) -> str:
        """The address to post to; ``…/v1`` and ``…/v1/embeddings`` name the same."""
        plain = self.url.rstrip("/")
        return plain if plain.endswith("/embeddings") else f"{plain}/embeddings"


class EndpointEmbedder:
    """An embedder somewhere else; whatever goes wrong there is one sentence, without address, key or text."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.name = endpoint.model
        self.dimensions: int | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """The endpoint's vectors, at most 64 texts a request; a text without words is not sent."""
        spoken = [row for row, text in enumerate(texts) if text.strip()]
        batches = [spoken[start : start + BATCH] for start in range(0, len(spoken), BATCH)]
        answers = [self._ask([texts[row] for row in rows]) for rows in batches]
        vectors = np.zeros((len(texts), self.dimensions or 0), dtype=np.float32)
        for rows, answer in zip(batches, answers, strict=True):
            vectors[rows] = answer
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """As any other text: the protocol knows no difference."""
        row: Vectors = self.embed([text])[0]
        return row

    def close(self) -> None:
        """Let go of the connection, if there is one."""
        if "_client" in self.__dict__:
            self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def _client(self) -> httpx.Client:
        import httpx  # noqa: PLC0415 - a page that embeds nothing must not wait for it

        limits = httpx.Timeout(self.endpoint.answer, connect=self.endpoint.connect)
        headers = {} if self.endpoint.key is None else {"authorization": f"Bearer {self.endpoint.key}"}
        return httpx.Client(timeout=limits, headers=headers, follow_redirects=False)

    def _ask(self, texts: Sequence[str]) -> Vectors:
        import httpx  # noqa: PLC0415 - same

        sent = [text[:LONGEST_TEXT].encode(errors="replace").decode() for text in texts]
        try:
            body = self._answer({"model": self.endpoint.model, "input": sent, "encoding_format": "float"})
        except httpx.TimeoutException:
            raise EmbedderError(_late(self.endpoint.answer)) from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            # not "from": the error may quote the address, and an address a key
            raise EmbedderError(f"the embeddings endpoint cannot be reached ({type(error).__name__})") from None
        vectors = unit_rows(_vectors(body, len(texts)))
        if self.dimensions not in (None, vectors.shape[1]):
            raise EmbedderError(
                f"expected vectors of {self.dimensions} dimensions as before from the embeddings endpoint, "
                f"found {vectors.shape[1]}"
            )
        self.dimensions = int(vectors.shape[1])
        return vectors

    def _answer(self, question: dict[str, object]) -> bytes:
        """The body of the answer; read in parts, because a trickle of bytes would never be late by itself."""
        until = time.monotonic() + self.endpoint.connect + self.endpoint.answer
        received = bytearray()
        with self._client.stream("POST", self.endpoint.address, json=question) as response:
            if response.status_code != 200:  # noqa: PLR2004 - the one status that carries vectors
                raise EmbedderError(f"the embeddings endpoint answered {response.status_code}")
            for part in response.iter_bytes():
                received += part
                if time.monotonic() > until:
                    raise EmbedderError(_late(self.endpoint.answer))
                if len(received) > LARGEST_ANSWER:
                    raise EmbedderError("the embeddings endpoint answered with more than any vectors take")
        return bytes(received)


def _late(seconds: float) -> str:
    return f"the embeddings endpoint did not answer within {seconds:g} s"


def _vectors(body: bytes, count: int) -> list[list[float]]:
    """The vectors of an answer in the order of their texts; the protocol numbers them and promises no order."""
    try:
        listed = json.loads(body)["data"]
        rows = {int(entry["index"]): [float(number) for number in entry["embedding"]] for entry in listed}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise EmbedderError("the embeddings endpoint answered something other than vectors") from None
    widths = {len(row) for row in rows.values()}
    if sorted(rows) != list(range(count)) or len(widths) != 1 or widths == {0}:
        raise EmbedderError(f"expected {count} vectors of one length from the embeddings endpoint, found {len(rows)}")
    return [rows[place] for place in range(count)]
