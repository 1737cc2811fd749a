"""The process that does what takes long: ``python -m jobs.worker REGISTRY``, started and spoken to by the pool.

A line of JSON comes in per task, lines of JSON go out: ``began``, ``progress`` as it happens, then ``value`` or
``failed``. The first line in names the store, so that no password stands on a command line.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import os
import queue
import signal
import sys
import threading
import time
import traceback
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

import settings
from queries.confined import ConfinedStore
from queries.engine import make_engine
from queries.errors import StoreError
from queries.scope import OutOfReachError, Reach, Scope

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Engine

log = logging.getLogger("rankscope.worker")

IDLE = 300.0  # seconds without a task after which the process gives its memory back by ending
GRACE = 5.0  # the pool ends a task at its limit; where the pool cannot, the system does this much later
MEMORY = 3 << 30  # bytes of data a worker may hold; a million candidates with vectors take a third of it
GROWN = 1 << 30  # bytes after which a worker ends with its task, so that the next begins small
LARGEST_VALUE = 32 << 20
REPORT_EVERY = 0.1  # seconds between two reports of progress that are passed on
NICENESS = 10  # pages are served first

FAILED = "The computation failed. The log on the server names the reason."
OUT_OF_REACH = "This scope does not exist here, or you may not see it."
NO_MEMORY = "The computation needed more memory than it may take. Choose a smaller scope."
TOO_LARGE = "The result is larger than a page can take. Choose a smaller scope."


def scope_to_json(scope: Scope) -> dict[str, Any]:
    """A scope as it travels, the reach with it."""
    return {
        "reach": scope.reach.orgs,
        "since": scope.since.isoformat(),
        "until": scope.until.isoformat(),
        "org": scope.org,
        "project": scope.project,
    }


def scope_from_json(said: dict[str, Any]) -> Scope:
    """The scope that was sent; one that names an organization out of its own reach is refused as everywhere."""
    reach = Reach(None if said["reach"] is None else tuple(said["reach"]))
    since, until = datetime.fromisoformat(said["since"]), datetime.fromisoformat(said["until"])
    return Scope(reach, since, until, said["org"], said["project"])


class Worker:
    """Does one task after the other, with a store and models that are opened once."""

    def __init__(self, registry: str, engine: Engine, say: Callable[[dict[str, Any]], None]) -> None:
        self.tasks = importlib.import_module(registry).TASKS
        self.engine = engine
        self.say = say
        self.models: tuple[Any, Any] | None = None
        self._reported = 0.0

    def do(self, asked: dict[str, Any]) -> None:
        """Do one task and say what came of it: a value, or a sentence without anything that was read."""
        self._reported = 0.0
        task = self.tasks[asked["task"]]
        self.say({"began": asked["task"]})
        with _last_resort(task.limit + GRACE):
            try:
                scope = scope_from_json(asked["scope"])
                value = self._function(task.function)(self._memory(scope, task), scope, asked["params"], self._report)
                text = json.dumps(value, allow_nan=False, separators=(",", ":"))
            except StoreError as error:
                log.warning("task %s: store %s", asked["task"], error)
                self.say({"failed": error.sentence})
            except OutOfReachError:
                self.say({"failed": OUT_OF_REACH})
            except MemoryError:
                self.say({"failed": NO_MEMORY})
            except Exception as error:  # noqa: BLE001 - whatever it is, its text may quote a tenant's
                log.error("task %s failed: %s", asked["task"], where(error))  # noqa: TRY400 - same
                self.say({"failed": FAILED})
            else:
                self.say({"failed": TOO_LARGE} if len(text) > LARGEST_VALUE else {"value": text})

    @staticmethod
    def _function(path: str) -> Callable[..., Any]:
        module, name = path.split(":")
        function: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return function

    def _memory(self, scope: Scope, task: Any) -> Any:  # noqa: ANN401 - the types would cost every start an import
        if not getattr(task, "models", True):
            return SimpleNamespace(store=ConfinedStore(self.engine, scope.reach))
        from retrieval.choice import chosen_embedder, chosen_scorer  # noqa: PLC0415 - half a second, once per process
        from retrieval.retrieve import Memory  # noqa: PLC0415 - same

        if self.models is None:
            chosen = settings.current()
            self.models = chosen_embedder(chosen), chosen_scorer(chosen)
        return Memory(ConfinedStore(self.engine, scope.reach), *self.models)

    def _report(self, done: int, total: int, words: str = "") -> None:
        now = time.monotonic()
        if now - self._reported >= REPORT_EVERY or done == total:
            self._reported = now
            self.say({"progress": [int(done), int(total), str(words)]})


def where(error: BaseException) -> str:
    """The kind of an error and the place it came from, without its text."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"


@contextlib.contextmanager
def _last_resort(seconds: float) -> Iterator[None]:
    """Let the system end this process in so many seconds, even from inside compiled code."""
    if not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _listen(source: IO[str], heard: queue.SimpleQueue[str]) -> None:
    """Pass lines on; when there are no more, the application is gone and nobody waits for anything."""
    for line in source:
        heard.put(line)
    os._exit(0)


def _bounded() -> None:
    """Take less than pages do: a lower priority, one thread per library, and no more memory than is sensible."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICENESS)
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # noqa: PLC0415 - not on Windows

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def _has_grown() -> bool:
    """Whether the process holds much now; its peak would not do, a child inherits the application's."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError):
        return False  # not Linux: the idle limit gives the memory back
    return pages * os.sysconf("SC_PAGE_SIZE") > GROWN


def _own_output() -> IO[str]:
    """The pipe to the pool, out of reach of whatever a library prints: that goes where errors go."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    return out


def main(registry: str) -> int:
    """Do tasks until nobody asks any more."""
    out = _own_output()
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s %(message)s", level=logging.WARNING)
    logging.getLogger("psycopg").setLevel(logging.ERROR)  # as in the application
    sys.excepthook = lambda _kind, error, _tb: log.error("worker ended: %s", where(error))
    _bounded()

    def say(message: dict[str, Any]) -> None:
        out.write(json.dumps(message) + "\n")
        out.flush()

    heard: queue.SimpleQueue[str] = queue.SimpleQueue()
    threading.Thread(target=_listen, args=(sys.stdin, heard), daemon=True).start()
    address = json.loads(heard.get())["store"]
    worker = Worker(registry, make_engine(address, name="rankscope worker", pool=1, overflow=1), say)
    say({"ready": os.getpid()})
    while True:
        try:
            line = heard.get(timeout=IDLE)
        except queue.Empty:
            return 0
        worker.do(json.loads(line))
        if _has_grown():
            return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
