"""A loopback proxy in front of Postgres that can lose a connection at a chosen word."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self


class Proxy:
    """Passes bytes on between TCP clients and a server's socket file, until a client says ``word``.

    ``how`` is what becomes of that message: "forward" it and cut both sides a moment later, "drop" it and cut,
    or cut the client at once and forward it "late". Only the first such message after ``arm()`` is treated so.
    """

    def __init__(self, server: str, word: bytes, how: str, *, close_after: bool = False, port: int = 0) -> None:
        self.server, self.word, self.how, self.close_after = server, word, how, close_after
        self.armed = False
        self.cuts = 0
        self._deaf: set[socket.socket] = set()  # clients that hear nothing any more
        self._listener = socket.create_server(("127.0.0.1", port))
        self.port = int(self._listener.getsockname()[1])
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._close()
        for thread in self._threads:
            thread.join(5)

    def arm(self) -> None:
        """From now on listen for the word: what a client says as it connects does not count."""
        self.armed = True

    def _close(self) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            server = socket.socket(socket.AF_UNIX)
            server.connect(self.server)
            for source, target, speaks in ((client, server, True), (server, client, False)):
                thread = threading.Thread(target=self._pass_on, args=(source, target), kwargs={"speaks": speaks})
                self._threads.append(thread)
                thread.start()

    def _pass_on(self, source: socket.socket, target: socket.socket, *, speaks: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if speaks and self.armed and self.word in data:
                    self.armed = False
                    self._lose(data, source, target)
                    break
                if target not in self._deaf:
                    target.sendall(data)
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _lose(self, data: bytes, client: socket.socket, server: socket.socket) -> None:
        self.cuts += 1
        if self.close_after:
            self._close()
        if self.how == "late":
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
            time.sleep(0.7)
        self._deaf.add(client)  # an answer could be quicker than the cut
        if self.how != "drop":
            server.sendall(data)
        if self.how == "forward":
            # cut at once, so that the answer is lost
            with suppress(OSError):
                client.shutdown(socket.SHUT_RDWR)
        time.sleep(0.3)
