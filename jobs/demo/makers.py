"""Processes that make a large demo's organizations, started and read by the load.

Each makes every other organization and writes it to its output as it will be copied, so that two cores compute while
the store writes. Who reads takes the organizations in their order: the store is the same to the last byte.
"""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from sqlalchemy import Table

    from jobs.demo.sizes import Size

ROOT = Path(__file__).resolve().parents[2]
MAKERS = 2
# The cores are taken: by the other process, and by the server.
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"), "1")
SAID, MADE, ROWS, END = b"s", b"m", b"r", b"e"
_FRAME = struct.Struct(">cI")


class MakerError(Exception):
    """A process ended before it had made what it was asked for."""


@contextmanager
def making(
    now: datetime, size: Size, seed: str, total: int, say: Callable[[str], None]
) -> Iterator[Iterator[Callable[[Table], Iterator[bytes]]]]:
    """Every organization in its order, as what gives the rows of a table; tables are asked for in their order."""
    with ExitStack() as stack:
        makers = [stack.enter_context(_Maker(now, size, seed, place)) for place in range(MAKERS)]
        yield (makers[number % MAKERS].organization(say) for number in range(total))


class _Maker:
    """The reader's end of one process, which ends with it."""

    def __init__(self, now: datetime, size: Size, seed: str, place: int) -> None:
        asked = json.dumps({"now": now.isoformat(), "size": asdict(size), "seed": seed, "place": place})
        self.process = subprocess.Popen(  # noqa: S603 - our own module and arguments, no shell
            [sys.executable, "-m", "jobs.demo.maker", asked],
            cwd=ROOT,
            env=os.environ | ONE_THREAD,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            start_new_session=True,  # an interrupt is the reader's to handle
        )

    def organization(self, say: Callable[[str], None]) -> Callable[[Table], Iterator[bytes]]:
        """Wait until the next one is made, and return what gives its rows."""
        while (frame := self._frame())[0] != MADE:
            say(frame[1].decode())
        return self._rows

    def _rows(self, _table: Table) -> Iterator[bytes]:
        while (frame := self._frame())[0] != END:
            yield frame[1]

    def _frame(self) -> tuple[bytes, bytes]:
        if self.process.stdout is None:
            raise MakerError("expected a process with an output, found none")
        head = self.process.stdout.read(_FRAME.size)
        kind, length = _FRAME.unpack(head) if len(head) == _FRAME.size else (b"", 0)
        body = self.process.stdout.read(length)
        if not kind or len(body) < length:
            raise MakerError(f"expected the next organization, found its process ended ({self.process.wait()})")
        return kind, body

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


def write(out: IO[bytes], kind: bytes, body: bytes = b"") -> None:
    """Write one frame, to be read at once."""
    out.write(_FRAME.pack(kind, len(body)))
    out.write(body)
    out.flush()
