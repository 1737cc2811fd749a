"""A real server on the loopback address, as good or as bad as an endpoint can be."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from retrieval.embedders import EmbedderError
from retrieval.endpoint import Endpoint, EndpointEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KEY = "canary-key"


class Server:
    """Answers what ``answer`` makes of a request; keeps what it was sent."""

    def __init__(self) -> None:
        self.answer: Callable[[dict[str, Any]], object] = good
        self.status = 200
        self.silent = threading.Event()
        self.asked: list[tuple[str, str | None, dict[str, Any]]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                outer.asked.append((self.path, self.headers["authorization"], body))
                if outer.status == 0:
                    outer.silent.wait(30)
                    return
                answer = outer.answer(body)
                sent = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(outer.status)
                self.send_header("location", "http://127.0.0.1:9/elsewhere")
                self.send_header("content-length", str(len(sent)))
                self.end_headers()
                self.wfile.write(sent)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()

    def stop(self) -> None:
        self.silent.set()
        self.http.shutdown()
        self.http.server_close()
        self.thread.join()


def vector(text: str) -> list[float]:
    """A direction that only this text has."""
    return [float(len(text)), float(text.count("a")), 1.0]


def good(body: dict[str, Any]) -> dict[str, object]:
    """The vectors, out of order as the protocol allows."""
    listed = [{"object": "embedding", "index": n, "embedding": vector(t)} for n, t in enumerate(body["input"])]
    return {"object": "list", "data": listed[::-1], "model": body["model"]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    # a proxy of whoever runs the tests would be asked for the loopback address too
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    started = Server()
    yield started
    started.stop()


@pytest.fixture
def embedder(server: Server) -> Iterator[EndpointEmbedder]:
    with EndpointEmbedder(Endpoint(server.url, "some-model", KEY, connect=1.0, answer=1.0)) as made:
        yield made


class TestAGoodEndpoint:
    def test_each_text_gets_its_own_vector(self, embedder: EndpointEmbedder, server: Server) -> None:
        texts = ["banana", "tree", "a"]
        expected = np.array([vector(text) for text in texts])
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        assert embedder.embed(texts) == pytest.approx(expected, abs=1e-6)
        assert embedder.dimensions == 3
        sent = {"model": "some-model", "input": texts, "encoding_format": "float"}
        assert server.asked == [("/v1/embeddings", f"Bearer {KEY}", sent)]

    def test_many_texts_go_in_several_requests(self, embedder: EndpointEmbedder, server: Server) -> None:
        texts = ["x" * (n + 1) for n in range(150)]
        vectors = embedder.embed(texts)
        assert [len(body["input"]) for _, _, body in server.asked] == [64, 64, 22]
        assert vectors[149] == pytest.approx(np.array([150, 0, 1]) / np.linalg.norm([150, 0, 1]), abs=1e-6)

    def test_a_text_without_words_is_not_sent(self, embedder: EndpointEmbedder, server: Server) -> None:
        vectors = embedder.embed(["", "tree", " \n"])
        assert server.asked[0][2]["input"] == ["tree"]
        assert vectors.any(axis=1).tolist() == [False, True, False]

    def test_nothing_is_asked_for_nothing(self, embedder: EndpointEmbedder, server: Server) -> None:
        assert embedder.embed([]).shape == (0, 0)
        assert not embedder.embed_query("").any()
        assert server.asked == []

    def test_an_endless_text_is_cut_and_half_a_character_replaced(
        self, embedder: EndpointEmbedder, server: Server
    ) -> None:
        embedder.embed(["a" * 100_000, "half \ud800"])
        assert [len(text) for text in server.asked[0][2]["input"]] == [8_000, 6]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (b"<html>", "something other than vectors"),
        (b"", "something other than vectors"),
        (b"[" * 100_000, "something other than vectors"),
        ({"error": {"message": "canary"}}, "something other than vectors"),
        ({"data": [{"index": 0, "embedding": "base64"}]}, "something other than vectors"),
        ({"data": [{"index": 0, "embedding": None}]}, "something other than vectors"),
        ({"data": []}, "expected 1 vectors of one length from the embeddings endpoint, found 0"),
        ({"data": [{"index": 1, "embedding": [1.0]}]}, "expected 1 vectors"),
        ({"data": [{"index": 0, "embedding": []}]}, "expected 1 vectors"),
        ({"data": [{"index": n, "embedding": [1.0]} for n in range(2)]}, "expected 1 vectors"),
        (b'{"data": [{"index": 0, "embedding": [NaN]}]}', "finite"),
        (b'{"data": [{"index": 0, "embedding": [1e999]}]}', "finite"),
    ],
)
def test_an_answer_that_is_no_vectors_is_one_sentence(
    embedder: EndpointEmbedder, server: Server, answer: object, reason: str
) -> None:
    server.answer = lambda _body: answer
    with pytest.raises(EmbedderError, match=reason) as refused:
        embedder.embed_query("a question")
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("status", [301, 400, 401, 404, 429, 500, 503])
def test_a_refusal_is_told_by_its_status(embedder: EndpointEmbedder, server: Server, status: int) -> None:
    server.status = status
    with pytest.raises(EmbedderError, match=f"^the embeddings endpoint answered {status}$"):
        embedder.embed_query("a question")


def test_a_model_that_changes_its_dimensions_is_refused(embedder: EndpointEmbedder, server: Server) -> None:
    embedder.embed_query("a question")
    server.answer = lambda _body: {"data": [{"index": 0, "embedding": [1.0] * 4}]}
    with pytest.raises(EmbedderError, match=r"expected vectors of 3 dimensions as before .*, found 4"):
        embedder.embed_query("a question")


def test_a_silent_endpoint_is_given_up(server: Server) -> None:
    server.status = 0
    with (
        EndpointEmbedder(Endpoint(server.url, "m", answer=0.2)) as embedder,
        pytest.raises(EmbedderError, match=r"did not answer within 0\.2 s"),
    ):
        embedder.embed_query("a question")


def test_a_trickle_is_given_up(server: Server) -> None:
    """Every byte comes in time; the answer as a whole never would."""
    begun = threading.Event()

    def trickle() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n")
            begun.set()
            try:
                while not server.silent.wait(0.02):
                    connection.sendall(b" ")
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=trickle, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        with (
            EndpointEmbedder(Endpoint(url, "m", connect=0.1, answer=0.2)) as embedder,
            pytest.raises(EmbedderError, match=r"did not answer within 0\.2 s"),
        ):
            embedder.embed_query("a question")
        assert begun.is_set()
        server.silent.set()
        thread.join()


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "not an address", "ftp://127.0.0.1/v1", "http://[::1", ""])
def test_an_address_where_nobody_is_does_not_show(url: str) -> None:
    with (
        EndpointEmbedder(Endpoint(url, "m", KEY)) as embedder,
        pytest.raises(EmbedderError, match="cannot be reached") as refused,
    ):
        embedder.embed_query("a question")
    assert not {url, KEY} & set(str(refused.value).split())


def test_the_key_does_not_show() -> None:
    assert KEY not in repr(Endpoint("http://h", "m", KEY))
