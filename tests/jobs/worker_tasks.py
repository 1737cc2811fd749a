"""Tasks that behave badly in every way a worker has to survive."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import text

from jobs.tasks import Task
from queries.scope import EVERYTHING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from queries.scope import Scope
    from retrieval.retrieve import Memory

    Params = Mapping[str, Any]
    Report = Callable[[int, int, str], None]

SECRET = "CANARY-tenant-text"  # noqa: S105 - stands for what a tenant wrote
HERE = "tests.jobs.worker_tasks"


def echo(_memory: Memory, scope: Scope, params: Params, _report: Report) -> Any:  # noqa: ANN401 - JSON
    return {"params": dict(params), "org": scope.org, "reach": scope.reach.orgs, "pid": os.getpid()}


def steps(_memory: Memory, _scope: Scope, params: Params, report: Report) -> int:
    for step in range(params["steps"]):
        report(step, params["steps"], f"step {step + 1}")
        time.sleep(params["seconds"])
    return int(params["steps"])


def until_released(_memory: Memory, _scope: Scope, params: Params, report: Report) -> str:
    """Counts its starts in a file, then waits for another file, so that a test says when it ends."""
    folder = Path(params["folder"])
    with (folder / "starts").open("a") as starts:
        starts.write(f"{os.getpid()}\n")
    report(1, 4, "waiting")
    while not (folder / "go").exists():
        time.sleep(0.01)
    return "released"


def count(memory: Memory, scope: Scope, params: Params, _report: Report) -> int:
    reach = EVERYTHING if params.get("everything") else scope.reach
    with memory.store.reading(reach) as connection:
        return int(connection.execute(text("select count(*) from observations")).scalar_one())


def database_sleep(memory: Memory, scope: Scope, _params: Params, report: Report) -> None:
    report(0, 1, "asleep")
    with memory.store.reading(scope.reach, 60.0, name="worker asleep") as connection:
        connection.execute(text("select pg_sleep(60)"))


def raises(_memory: Memory, _scope: Scope, _params: Params, _report: Report) -> None:
    raise ValueError(SECRET)


def crashes(_memory: Memory, _scope: Scope, _params: Params, _report: Report) -> None:
    ctypes.string_at(0)


def killed(_memory: Memory, _scope: Scope, _params: Params, _report: Report) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def prints(_memory: Memory, _scope: Scope, _params: Params, _report: Report) -> str:
    sys.stdout.write('{"value": "forged"}\n')
    sys.stdout.flush()
    return "real"


def not_finite(_memory: Memory, _scope: Scope, _params: Params, _report: Report) -> float:
    return float("nan")


def too_large(_memory: Memory, _scope: Scope, _params: Params, _report: Report) -> str:
    return "x" * (33 << 20)


def hungry(_memory: Memory, _scope: Scope, _params: Params, _report: Report) -> int:
    return len(bytearray(4 << 30))


def deaf(_memory: Memory, _scope: Scope, _params: Params, _report: Report) -> None:
    """Ends by itself never, not even for a polite signal."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


TASKS = {
    function.__name__: Task(f"{HERE}:{function.__name__}", limit)
    for function, limit in (
        (echo, 30.0), (steps, 30.0), (until_released, 30.0), (count, 30.0), (database_sleep, 30.0), (raises, 30.0),
        (crashes, 30.0), (killed, 30.0), (prints, 30.0), (not_finite, 30.0), (too_large, 30.0), (hungry, 30.0),
        (deaf, 1.0),
    )
}  # fmt: skip
