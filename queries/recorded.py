"""The SQL that a piece of work really asks, kept while it runs: for reports that show the questions behind them."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import event

from queries.transactions import SET_LOCAL

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from queries.engine import Store

# Not questions: what a snapshot is opened with names limits and whoever asks.
SETTING_UP = str(SET_LOCAL).split("(", maxsplit=1)[0]
LONGEST = 50  # values of a list that are kept


@dataclass
class Recorded:
    """One statement as the driver was given it, the parameters of its first time, and how often it was asked."""

    text: str
    parameters: dict[str, object]
    times: int = 1


@dataclass
class Recording:
    """The distinct statements of one piece of work, in the order of their first time."""

    statements: dict[str, Recorded] = field(default_factory=dict)

    def add(self, text: str, parameters: object) -> None:
        """Keep one statement; the same text asked again is only counted."""
        if text.startswith(SETTING_UP):
            return
        if text in self.statements:
            self.statements[text].times += 1
        else:
            self.statements[text] = Recorded(text, _plain(parameters))

    def go_on(self, earlier: Iterable[Recorded]) -> None:
        """Begin with what was asked elsewhere for the same piece of work."""
        for one in earlier:
            self.statements[one.text] = Recorded(one.text, dict(one.parameters), one.times)

    def asked(self) -> list[Recorded]:
        """What has been asked so far."""
        return list(self.statements.values())


# Other threads ask the same engine: each piece of work sees its own statements only.
_current: ContextVar[Recording | None] = ContextVar("recording", default=None)


@contextmanager
def recording(store: Store) -> Iterator[Recording]:
    """Everything that this thread asks the store for as long as this lasts."""
    if not event.contains(store.reader, "before_cursor_execute", _listen):
        event.listen(store.reader, "before_cursor_execute", _listen)
    kept = Recording()
    before = _current.set(kept)
    try:
        yield kept
    finally:
        _current.reset(before)


def _listen(_connection: Any, _cursor: Any, text: str, parameters: Any, *_more: Any) -> None:  # noqa: ANN401 - the driver's
    kept = _current.get()
    if kept is not None:
        kept.add(text, parameters)


def _plain(parameters: object) -> dict[str, object]:
    """Parameters as JSON could hold them; a long list is cut, and says so."""
    given: Mapping[str, object] = parameters if isinstance(parameters, dict) else {}
    return {name: _shortened(value) for name, value in given.items()}


def _shortened(value: object) -> object:
    if isinstance(value, list | tuple | set | frozenset):
        listed = sorted(value, key=str) if isinstance(value, set | frozenset) else list(value)
        more = [f"… and {len(listed) - LONGEST:,} more"] if len(listed) > LONGEST else []
        return [*map(_shortened, listed[:LONGEST]), *more]
    return value if isinstance(value, str | int | float | bool | None) else str(value)
