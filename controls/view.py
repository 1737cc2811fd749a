"""What the shell found out before it runs a page: who asks, and for which scope."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controls.access import Principal
    from queries.scope import Scope


@dataclass(frozen=True)
class View:
    """The principal and the scope a page is drawn for."""

    principal: Principal
    scope: Scope


_view: ContextVar[View | None] = ContextVar("view", default=None)


@contextmanager
def shown_to(principal: Principal, scope: Scope) -> Iterator[None]:
    """Let the page inside find its principal and scope, and nothing that runs later."""
    token = _view.set(View(principal, scope))
    try:
        yield
    finally:
        _view.reset(token)


def view() -> View:
    """The principal and scope of this run; an error if the page runs without the shell, and so without access check."""
    found = _view.get()
    if found is None:
        raise RuntimeError("a page runs inside pages/shell.py; found no principal and no scope")
    return found
