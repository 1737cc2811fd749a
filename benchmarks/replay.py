"""Replay of a demo store's largest organization: one settings from the store on, and a 5 × 5 sensitivity map."""

import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from analysis.replay.flags import flag_flip
from analysis.replay.replaying import Replayer, replay
from analysis.replay.sensitivity import sensitivity_map
from analysis.replay.settings import AS_LOGGED, WhatIf
from benchmarks._bars import held, over
from jobs.demo.load import fill
from jobs.demo.sizes import DEFAULT, SMALL, Size
from queries import embedded
from queries.engine import Store, make_engine
from queries.migrate import migrate
from queries.owner import owning
from queries.scope import Reach, Scope

LARGEST = "org_tidewater"
SETTINGS = {
    "as logged": AS_LOGGED,
    "weighting off": WhatIf(weighting=False),
    "boost 0.2 recounted": WhatIf(boost=0.2),
    "boost 0.2 within 10 bits": WhatIf(boost=0.2, bits=10),
    "λ 0.78": WhatIf(lam=0.78),
}
AT_MOST, MAP_AT_MOST = 3.0, 20.0  # seconds


@contextmanager
def demo(size: Size, now: datetime) -> Iterator[Store]:
    """A demo store of its own, removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="rankscope-replay-"))
    folder.chmod(0o711)
    try:
        with embedded.start(folder) as lease:
            with owning(lease.url()) as engine:
                migrate(engine, create_store=True)
                with engine.begin() as connection:
                    fill(connection, now, size)
            store = Store(make_engine(lease.url("dash_read"), name="benchmark"))
            yield store
            store.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(quick: bool) -> dict[str, object]:  # noqa: FBT001 - the benchmarks' own argument
    """Seconds from asking to figures, the store read anew each time; the best of three."""
    now = datetime.now(UTC)
    scope = Scope(Reach((LARGEST,)), now - timedelta(days=100), now, LARGEST)
    rows: list[dict[str, object]] = []
    with demo(SMALL if quick else DEFAULT, now) as store:
        covered = Replayer(store, scope).replay(AS_LOGGED)
        for name, settings in SETTINGS.items():
            rows.append({"what": name, "seconds": _best(lambda chosen=settings: replay(store, scope, chosen))})
        flag = "corroboration_boost_enabled"
        window = (scope.since, scope.until)
        rows.append(
            {"what": "flag preview", "seconds": _best(lambda: flag_flip(store, scope.reach, LARGEST, flag, *window))}
        )
        mapped = _best(lambda: sensitivity_map(store, scope, AS_LOGGED), times=1)
        rows.append({"what": "5 x 5 map", "seconds": mapped})
    slowest = max(float(str(row["seconds"])) for row in rows[:-1])
    return {
        "retrievals": covered.coverage.replayed,
        "as_logged_changed": covered.changed,
        "slowest_replay": slowest,
        "allowed": AT_MOST,
        "map": mapped,
        "map_allowed": MAP_AT_MOST,
        **held(over({"slowest replay": slowest, "map": mapped}, {"slowest replay": AT_MOST, "map": MAP_AT_MOST})),
        "rows": rows,
    }


def _best(work: object, times: int = 3) -> float:
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        work()  # type: ignore[operator]
        spent.append(time.perf_counter() - started)
    return min(spent)
