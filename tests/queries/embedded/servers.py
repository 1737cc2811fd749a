"""Servers of a test's own, and what runs around them."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import psutil
import psycopg

from queries import embedded, keeper
from queries.embedded import Lease

ROOT = os.geteuid() == 0


REPOSITORY = Path(embedded.__file__).parents[1]


COMMIT = """
import psycopg
with psycopg.connect(lease.url().replace("+psycopg", "")) as connection:
    connection.execute("create table kept as select generate_series(1, 1000)")
"""


CLIENT = """
import sys
from pathlib import Path
from queries import embedded

lease = embedded.start(Path(sys.argv[1]), durable=False)
print(lease.pid, flush=True)
sys.stdin.read()
lease.release()
"""


def start(folder: Path, limit: float = 30.0) -> Lease:
    return embedded.start(folder, limit=limit, durable=False)


def ask(lease: Lease, statement: str) -> list[tuple[object, ...]]:
    with closing(psycopg.connect(lease.url().replace("+psycopg", ""), autocommit=True)) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


# what takes a second by itself may take many beside others: a limit of patience, not of speed
PATIENCE = 5


def eventually(holds: Callable[[], object], seconds: float) -> bool:
    until = time.monotonic() + seconds * PATIENCE
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def answers(lease: Lease) -> bool:
    try:
        return ask(lease, "select 1") == [(1,)]
    except psycopg.OperationalError:
        return False


def processes(place: Path) -> list[psutil.Process]:
    """Return keepers, postmasters and backends that have to do with a place, by their arguments or working folder."""
    found = psutil.process_iter(["ppid", "cmdline", "cwd"])
    words = ((process, " ".join([*(process.info["cmdline"] or []), process.info["cwd"] or ""])) for process in found)
    return [process for process, said in words if str(place) in said]


def postmasters(place: Path) -> list[psutil.Process]:
    """Servers, without what they have just forked: a child has its parent's command line for a moment."""
    found = [process for process in processes(place) if (process.info["cmdline"] or [])[1:2] == ["-D"]]
    pids = {process.pid for process in found}
    return [process for process in found if process.info["ppid"] not in pids]


def postmaster_of(lease: Lease) -> psutil.Process:
    assert lease.pid
    return psutil.Process(lease.pid)


def keeper_of(lease: Lease) -> psutil.Process:
    return psutil.Process(keeper.State.read(lease.home / "keeper.lock").keeper)


@contextmanager
def client(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process with a lease; it gives that back when its input ends."""
    command = [sys.executable, "-c", CLIENT, str(folder)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=-1, stdout=-1, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> int:
    assert process.stdout
    return int(process.stdout.readline())
