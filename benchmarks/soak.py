"""LOAD-11: ten operators on all kinds of pages for twenty minutes, and what the application holds more at the end."""

import random
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import psutil
import psycopg
from streamlit.proto.Alert_pb2 import Alert
from websockets.exceptions import WebSocketException

from benchmarks._bars import held, over, under
from benchmarks.load import served
from controls.sections import SECTIONS
from tests.app_server import AppServer
from tests.crowd import ADDRESSES, Crowd
from tests.driver import Session

OPERATORS, THINK = 10, 5.0  # seconds between two reruns of one operator
VISIT = 12  # reruns after which an operator closes the page, and opens another
MINUTES, WARM_UP = 20.0, 5.0  # of the run, and of its beginning, which is not judged
QUICK_MINUTES, QUICK_WARM_UP = 1.0, 0.25
EVERY = 2.0  # seconds between two looks at the application
MIB = 2**20
SLOPE = "MiB a minute"
HELD = ("rss", "workers", "threads", "descriptors", "backends")
LIMITS = {SLOPE: 1.0, "threads": 0.0, "descriptors": 0.0, "backends": 0.0, "faults": 0.0}
PAGES = {entry.script.removesuffix(".py"): entry.title for entries in SECTIONS.values() for entry in entries}
BACKENDS = "select count(*) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"


@dataclass(frozen=True)
class Held:
    """What the application holds at one moment; ``workers`` is the memory of its worker processes."""

    at: float
    rss: float
    workers: float
    threads: float
    descriptors: float
    backends: float


def run(quick: bool) -> Mapping[str, object]:  # noqa: FBT001 - the contract of python -m benchmarks
    """The demo store; a rerun counts only if the page that was asked for is drawn without a fault."""
    minutes, warm_up = (QUICK_MINUTES, QUICK_WARM_UP) if quick else (MINUTES, WARM_UP)
    with served(quick=quick) as server:
        met, looks = soaked(server, minutes * 60)
    return report(met, looks, warm_up * 60, quick=quick)


def soaked(server: AppServer, seconds: float) -> tuple[Crowd, list[Held]]:
    """What the operators met in so many seconds, and what the application held meanwhile."""
    met = Crowd()
    with looking_at(server) as looks:
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=operator, args=(server.url, n, until, met)) for n in range(OPERATORS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return met, [look for look in looks if look.at < until]  # those who leave take with them what they held


def operator(url: str, number: int, until: float, met: Crowd) -> None:
    """One after the other, visits of some reruns, each of another page or another scope."""
    draw = random.Random(number)  # noqa: S311 - the same operators every time
    try:
        while time.monotonic() < until:
            query, _ = draw.choice(ADDRESSES)
            with Session(url, query=query, page=draw.choice(list(PAGES))) as session:
                for _ in range(VISIT):
                    met.seconds.append(session.run().seconds)
                    met.faults += faults(session)
                    session.frames.clear()
                    time.sleep(THINK * (0.5 + draw.random()))
                    if time.monotonic() >= until:
                        break
                    session.query, session.page = draw.choice(ADDRESSES)[0], draw.choice(list(PAGES))
        met.served += 1
    except (WebSocketException, OSError) as error:
        met.faults.append(f"operator {number}: {type(error).__name__} {error}")


def faults(session: Session) -> list[str]:
    """What is wrong with a page as it was drawn last: its own title is missing, or an error is shown."""
    alerts = [element.alert for element in session.elements if element.WhichOneof("type") == "alert"]
    found = [*session.bodies("exception"), *(alert.body for alert in alerts if alert.format == Alert.ERROR)]
    titles, wanted = session.bodies("heading"), PAGES[session.page]
    return found if wanted in titles else [*found, f"expected {wanted}, found {titles}"]


@contextmanager
def looking_at(server: AppServer) -> Iterator[list[Held]]:
    """A look at the application every few seconds, for as long as this lasts."""
    looks: list[Held] = []
    over_now = threading.Event()
    process = psutil.Process(server.process.pid)

    def look() -> None:
        with psycopg.connect(server.environment["DATABASE_URL"], autocommit=True) as store:
            while not over_now.wait(EVERY):
                row = store.execute(BACKENDS).fetchone()
                looks.append(held_by(process, 0 if row is None else int(row[0])))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield looks
    finally:
        over_now.set()
        thread.join()


def held_by(process: psutil.Process, backends: int) -> Held:
    """What a process holds at this moment, beside so many connections."""
    workers = 0.0
    for child in process.children(recursive=True):
        try:
            workers += child.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    rss, threads = process.memory_info().rss, process.num_threads()
    return Held(time.monotonic(), rss / MIB, workers / MIB, threads, process.num_fds(), backends)


def report(met: Crowd, looks: Sequence[Held], warm_up: float, *, quick: bool = False) -> Mapping[str, object]:
    """How memory grew by the minute after the warm-up, and the rest between its first fifth and its last.

    What is open varies with what is asked at the moment, and the least of a while does not: a leak raises that. A quick
    run is over before caches and pools are full: what it grew by is told, and only its faults are judged.
    """
    judged = [look for look in looks if look.at - looks[0].at >= warm_up]
    fifth = max(len(judged) // 5, 1)
    rows: list[dict[str, object]] = []
    grown: dict[str, float] = {SLOPE: slope(judged, "rss"), "faults": len(met.faults)}
    for name in HELD:
        first, last = (min(getattr(look, name) for look in part) for part in (judged[:fifth], judged[-fifth:]))
        most = max(getattr(look, name) for look in judged)
        rows.append({"what": name, "first fifth, least": first, "last fifth, least": last, "most": most})
        grown |= {name: last - first} if name in LIMITS else {}
    limits = {"faults": LIMITS["faults"]} if quick else LIMITS
    missed = [*over(grown, limits), *under({"served to the end": met.served}, {"served to the end": OPERATORS})]
    return {
        "minutes judged": (judged[-1].at - judged[0].at) / 60,
        "reruns": len(met.seconds),
        "p95 ms": met.p(95) * 1e3,
        "rows": rows,
        SLOPE: grown[SLOPE],
        "limit": LIMITS[SLOPE],
        "MiB a minute of the workers": slope(judged, "workers"),
        "faults": len(met.faults),
        "first faults": met.faults[:3],
        **held(missed),
    }


def slope(looks: Sequence[Held], name: str) -> float:
    """The straight line nearest to what was held, in its own unit a minute."""
    minutes = np.array([look.at for look in looks]) / 60
    return float(np.polyfit(minutes - minutes[0], [getattr(look, name) for look in looks], 1)[0])
