"""Loopback proxies in front of Postgres: one loses a connection at a chosen word, one is a bad line."""

from __future__ import annotations

import random
import socket
import struct
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

HARD = struct.pack("ii", 1, 0)  # closes with a reset


class Line:
    """Passes bytes on between TCP clients and a server's socket file."""

    def __init__(self, server: str, *, port: int = 0) -> None:
        self.server = server
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
                thread = threading.Thread(
                    target=self._pass_on, args=(source, target), kwargs={"speaks": speaks}, daemon=True
                )
                self._threads.append(thread)
                thread.start()

    def _pass_on(self, source: socket.socket, target: socket.socket, *, speaks: bool) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                if not self._passed(data, source, target, speaks=speaks):
                    break
        for end in (source, target):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _passed(self, data: bytes, source: socket.socket, target: socket.socket, *, speaks: bool) -> bool:
        """Pass one piece on, which a client ``speaks`` or the server answers; false: both sides are cut."""
        del source, speaks
        target.sendall(data)
        return True


class Proxy(Line):
    """A line until a client says ``word``.

    ``how`` is what becomes of that message: "forward" it and cut both sides a moment later, "drop" it and cut,
    or cut the client at once and forward it "late". Only the first such message after ``arm()`` is treated so.
    """

    def __init__(self, server: str, word: bytes, how: str, *, close_after: bool = False, port: int = 0) -> None:
        self.word, self.how, self.close_after = word, how, close_after
        self.armed = False
        self.cuts = 0
        self._deaf: set[socket.socket] = set()  # clients that hear nothing any more
        super().__init__(server, port=port)

    def arm(self) -> None:
        """From now on listen for the word: what a client says as it connects does not count."""
        self.armed = True

    def _passed(self, data: bytes, source: socket.socket, target: socket.socket, *, speaks: bool) -> bool:
        if speaks and self.armed and self.word in data:
            self.armed = False
            self._lose(data, source, target)
            return False
        if target not in self._deaf:
            target.sendall(data)
        return True

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


class BadLine(Line):
    """A line that is "fair" until its ``weather`` is changed, for those that are connected already, too.

    "slow": every answer is 0.2 s late. "resets": one piece in thirty ends its connection with a reset. "half-open":
    nothing comes through any more, and nobody is told. "trickle": answers come at a byte a second.
    """

    def __init__(self, server: str) -> None:
        self.weather = "fair"
        self.harmed = 0  # pieces that did not come through as they were sent
        self._dice = random.Random(5)  # noqa: S311 - the same faults every time, as far as threads allow
        super().__init__(server)

    def _passed(self, data: bytes, source: socket.socket, target: socket.socket, *, speaks: bool) -> bool:
        weather = self.weather
        reset = weather == "resets" and self._dice.random() < 1 / 30
        if weather == "half-open" or reset or (weather in ("slow", "trickle") and not speaks):
            self.harmed += 1
        if reset:
            client = source if speaks else target
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, HARD)
            with suppress(OSError):
                client.shutdown(socket.SHUT_RD)  # the other thread waits in it, and would keep it open
            client.close()
            return False
        if weather == "half-open":
            return True
        if weather == "slow" and not speaks:
            time.sleep(0.2)
        if weather == "trickle" and not speaks:
            for place in range(len(data)):
                if self.weather != "trickle":
                    target.sendall(data[place:])
                    break
                target.sendall(data[place : place + 1])
                time.sleep(1)
            return True
        target.sendall(data)
        return True
