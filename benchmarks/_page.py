"""A page that is opened and moved: until its figures stand, and one line of the table of such times."""

import time

from streamlit.testing.v1 import AppTest

from benchmarks._bars import held, over
from benchmarks._timing import Spent


def until_figures(page: AppTest) -> float:
    """Seconds until a page shows figures, run again as a browser would."""
    started = time.perf_counter()
    page.run()
    while not page.metric:
        page.run()
    return time.perf_counter() - started


def row(what: str, spent: Spent | float, limit: float | None = None) -> dict[str, object]:
    """One line of the table."""
    seconds, own = spent if isinstance(spent, Spent) else (spent, None)
    told: dict[str, object] = {"what": what, "seconds": seconds, "own": own, "limit": limit}
    return told if limit is None else told | held(over({"seconds": seconds}, {"seconds": limit}))
