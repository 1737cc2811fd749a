"""Many operators at once, each in a session of their own: how long they wait, and what goes wrong."""

from __future__ import annotations

import random
import threading
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import psutil
from websockets.exceptions import WebSocketException

from jobs.demo.texts import organizations
from tests.driver import Session

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.app_server import AppServer

FIGURES = 5  # of Overview
TODAY = datetime.now(UTC).date()
# in a week that has just begun a small demo may have no retrieval of an organization
WINDOWS = ("window=30d", f"window=custom&from={TODAY - timedelta(59)}&to={TODAY}", "window=90d")
# a query, and the words by which the page shows that it was understood
ADDRESSES = [
    (f"org={org.id}&{window}", org.name)
    for org, window in product([org for org in organizations() if org.share], WINDOWS)
]


def unasked() -> list[tuple[str, str]]:
    """Addresses as above, each of a window of a week or more that nobody chooses twice, so that none is kept."""
    today = datetime.now(UTC).date()
    days = [(today - timedelta(first), today - timedelta(last)) for first in range(20, 89) for last in range(first - 7)]
    named = [org for org in organizations() if org.share]
    return [(f"org={org.id}&window=custom&from={a}&to={b}", org.name) for (a, b), org in product(days, named)]


@dataclass
class Crowd:
    """What visitors met: seconds of every rerun, whatever went wrong in words, and who was served to the end."""

    seconds: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    served: int = 0
    lasted: float = 0.0

    def p(self, share: int) -> float:
        """A percentile of the reruns, in seconds; no number where none came to its end."""
        return float(np.percentile(self.seconds, share)) if self.seconds else float("nan")


def visit_together(
    url: str,
    visitors: int,
    *,
    seconds: float,
    think: float,
    fresh: bool = False,
    check: Callable[[Session, str], list[str]] | None = None,
) -> Crowd:
    """Let so many open Overview, and then each choose another scope again and again, ``think`` seconds apart.

    How long they think varies by half, as people do; else all would ask at once for ever. A rerun counts only if the
    page shows what it was asked for; ``check`` says what is wrong with a page other than Overview. ``fresh``: of what
    they choose no answer is kept, where it is one of a few windows else.
    """
    met = Crowd()
    never = unasked() if fresh else []
    opened = threading.Barrier(visitors + 1)
    begun = threading.Event()
    until = 0.0

    def visitor(number: int) -> None:
        pause = random.Random(number)  # noqa: S311 - the same crowd every time
        own = iter(never[number::visitors])
        try:
            with Session(url, query=ADDRESSES[number % len(ADDRESSES)][0]) as session:
                session.run()
                opened.wait()
                begun.wait()
                time.sleep(think * pause.random())
                while time.monotonic() < until:
                    session.query, words = next(own) if fresh else pause.choice(ADDRESSES)
                    met.seconds.append(session.run().seconds)
                    met.faults += (check or faults)(session, words)
                    session.frames.clear()
                    time.sleep(think * (0.5 + pause.random()))
            met.served += 1
        except (WebSocketException, OSError, threading.BrokenBarrierError) as error:
            opened.abort()
            met.faults.append(f"visitor {number}: {type(error).__name__} {error}")

    threads = [threading.Thread(target=visitor, args=(number,)) for number in range(visitors)]
    for thread in threads:
        thread.start()
    try:
        opened.wait()
    except threading.BrokenBarrierError:
        met.faults.append("not everyone could open the page")
    started = time.monotonic()
    until = started + seconds
    begun.set()
    for thread in threads:
        thread.join()
    met.lasted = time.monotonic() - started
    return met


def faults(session: Session, words: str) -> list[str]:
    """What is wrong with Overview as it was drawn last, for a scope whose sentence holds these words."""
    found = [*session.bodies("exception"), *session.bodies("alert")]
    if not any(words in text for text in session.bodies("text")):
        found.append(f"expected {words}, found {session.bodies('text')}")
    figures = sum(element.WhichOneof("type") == "metric" for element in session.elements)
    return found if figures == FIGURES else [*found, f"expected {FIGURES} figures, found {figures}"]


def computing(server: AppServer) -> float:
    """Seconds that the application itself has computed so far, without its workers and the database."""
    spent = psutil.Process(server.process.pid).cpu_times()
    return float(spent.user + spent.system)


def memory(server: AppServer) -> int:
    """Bytes that the application holds at this moment."""
    return int(psutil.Process(server.process.pid).memory_info().rss)


@contextmanager
def held_open(server: AppServer, visits: int) -> Iterator[None]:
    """So many visits at the same time, each with its page drawn as it was asked for, and then idle."""
    with ExitStack() as kept:
        for number in range(visits):
            query, words = ADDRESSES[number % len(ADDRESSES)]
            session = kept.enter_context(Session(server.url, query=query)).run()
            if found := faults(session, words):
                raise AssertionError(found)
            session.frames.clear()
        yield


def open_and_close(server: AppServer, visits: int) -> None:
    """So many visits one after the other, each closed once its page is drawn."""
    for number in range(visits):
        with Session(server.url, query=ADDRESSES[number % len(ADDRESSES)][0]) as session:
            session.run()
