"""The process that runs the embedded server while anyone holds a lease, restarts it, and stops it after the last."""

import contextlib
import fcntl
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

from queries.postgres import Plan, Postgres, StartError

LINGER: Final = 3.0
PATIENCE: Final = 5  # launches that may fail in a row: what a killed server leaves behind needs a second to go
LOG_LIMIT: Final = 4 << 20
STATE_SIZE: Final = 8192


class State(NamedTuple):
    """What the keeper tells its clients; the phase is one of starting, ready, failed and stopping."""

    phase: str = "starting"
    keeper: int | None = None
    postmaster: int | None = None
    socket: str = ""
    durable: bool = True
    reason: str = ""
    at: float = 0.0  # of the system's monotonic clock, which all processes share

    def write(self, descriptor: int) -> None:
        """Overwrite the state in place, which works on a full disk too."""
        os.pwrite(descriptor, json.dumps(self._asdict()).encode().ljust(STATE_SIZE), 0)

    @classmethod
    def read(cls, file: Path) -> "State":
        """Return the state last written, or the first one while a write is under way."""
        with contextlib.suppress(FileNotFoundError, json.JSONDecodeError):
            return cls(**json.loads(file.read_bytes()))
        return cls()


def take(descriptor: int, how: int) -> bool:
    """Return whether the lock was to be had at once."""
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Keeper:
    """Keeps one Postgres running for as long as a client holds a lease on its home."""

    def __init__(self, plan: Plan, lock: int) -> None:
        self.plan = plan
        self.lock = lock
        self.lock_file = Path(plan.home) / "keeper.lock"
        self.leases = os.open(Path(plan.home) / "in-use.lock", os.O_RDWR | os.O_CREAT, 0o600)
        self.postgres = Postgres(plan)
        self.ready = False
        self.failures = 0
        self.launch_at = 0.0
        self.unused_since: float | None = None
        self.hurried = False
        self.bell = bell()
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self.hurry)

    def run(self) -> None:
        """Keep Postgres running until nobody needs it."""
        self.publish("starting")
        try:
            while not self.unneeded():
                self.attend()
                if select.select([self.bell], [], [], 0.25 if self.ready else 0.02)[0]:
                    os.read(self.bell, 512)
        finally:
            self.publish("stopping")
            self.postgres.end()

    def hurry(self, *_: object) -> None:
        """Stop without linger once the last lease is gone."""
        self.hurried = True

    def unneeded(self) -> bool:
        """Return whether to stop; the lease lock is then kept, so that newcomers wait for the next keeper."""
        if self.home_is_gone():
            return True
        if not take(self.leases, fcntl.LOCK_EX):
            self.unused_since = None
            return False
        self.unused_since = self.unused_since or time.monotonic()
        if self.hurried or time.monotonic() - self.unused_since >= LINGER:
            return True
        fcntl.flock(self.leases, fcntl.LOCK_UN)
        return False

    def home_is_gone(self) -> bool:
        """Return whether the home was deleted, and perhaps made anew: then another keeper may be at work there."""
        try:
            return not os.path.samestat(self.lock_file.stat(), os.fstat(self.lock))
        except FileNotFoundError:
            return True

    def attend(self) -> None:
        """Do what the server needs now: a funeral, a launch, a word that it is ready, a shorter log."""
        if self.postgres.has_ended():
            self.mourn()
        if not self.postgres.pid:
            if time.monotonic() >= self.launch_at:
                self.launch()
        elif not self.ready:
            if self.postgres.is_ready():
                self.ready, self.failures = True, 0
                self.publish("ready")
        else:
            with contextlib.suppress(FileNotFoundError):
                if self.postgres.log.stat().st_size > LOG_LIMIT:
                    os.truncate(self.postgres.log, 0)

    def launch(self) -> None:
        """Start Postgres, or tell the clients at once why that cannot be."""
        try:
            self.postgres.launch(self.lock)
        except (OSError, StartError) as error:
            self.fail(str(error), patience=0)
        else:
            self.publish("starting")

    def mourn(self) -> None:
        """Have a server that ended replaced: at once if it had been ready."""
        self.postgres.bury()
        if self.ready:
            self.ready = False
            self.publish("starting")
        else:
            self.fail(f"expected postgres to start, found {self.postgres.last_words() or 'no word in its log'}")

    def fail(self, reason: str, *, patience: int = PATIENCE) -> None:
        """Try again later, and once patience is used up tell the clients why."""
        self.failures += 1
        self.launch_at = time.monotonic() + min(5.0, 0.05 * 2**self.failures)
        self.publish("starting" if self.failures < patience else "failed", reason)

    def publish(self, phase: str, reason: str = "") -> None:
        """Write the state for the clients to read."""
        plan, now = self.plan, time.monotonic()
        State(phase, os.getpid(), self.postgres.pid, plan.socket, plan.durable, reason[:1000], now).write(self.lock)


def bell() -> int:
    """Return a descriptor that becomes readable when a signal with a handler arrives."""
    heard, rope = os.pipe()
    os.set_blocking(rope, False)
    signal.set_wakeup_fd(rope, warn_on_full_buffer=False)
    return heard


def main() -> None:
    """Leave the client that started this, so that it has no child to reap, and keep its Postgres."""
    plan, lock = Plan(**json.loads(sys.argv[1])), int(sys.argv[2])
    if os.fork():
        return
    os.chdir("/")
    os.umask(0o077)
    Keeper(plan, lock).run()


if __name__ == "__main__":
    main()
