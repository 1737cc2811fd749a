"""What the store is asked while something runs, and how long each answer takes to arrive."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Engine, event

STORE = logging.getLogger("rankscope.store")
FIELDS = 4  # of the line that a question leaves: name, milliseconds, rows, state


@dataclass
class Asked:
    """Milliseconds from sending a statement to its last row, by the name of its question; ``failed`` are the others."""

    spent: list[tuple[str, float]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def forget(self) -> None:
        """Begin anew."""
        self.spent.clear()
        self.failed.clear()

    @property
    def ms(self) -> float:
        """Of all together."""
        return sum(ms for _, ms in self.spent)

    @property
    def slowest(self) -> tuple[str, float]:
        """The dearest of them."""
        return max(self.spent, key=lambda one: one[1])


class _Names(logging.Handler):
    """A question leaves one line once it is answered: its name is that of the statement before it."""

    def __init__(self, asked: Asked) -> None:
        super().__init__(logging.INFO)
        self.asked = asked

    def emit(self, record: logging.LogRecord) -> None:
        if not isinstance(record.args, tuple) or len(record.args) != FIELDS:
            return
        name, _, _, state = record.args
        if state == "ok":
            self.asked.spent[-1] = (str(name), self.asked.spent[-1][1])
        else:
            self.asked.failed.append(f"{name} {state}")


@contextmanager
def listening() -> Iterator[Asked]:
    """Everything that this process asks, on whatever engine, one statement after the other."""
    asked, begun = Asked(), [0.0]

    def before(*_: Any) -> None:  # noqa: ANN401 - the driver's
        begun[0] = time.perf_counter()

    def after(*_: Any) -> None:  # noqa: ANN401 - same
        asked.spent.append(("", (time.perf_counter() - begun[0]) * 1e3))

    names, level = _Names(asked), STORE.level
    event.listen(Engine, "before_cursor_execute", before)
    event.listen(Engine, "after_cursor_execute", after)
    STORE.addHandler(names)
    STORE.setLevel(logging.INFO)
    try:
        yield asked
    finally:
        STORE.setLevel(level)
        STORE.removeHandler(names)
        event.remove(Engine, "after_cursor_execute", after)
        event.remove(Engine, "before_cursor_execute", before)
