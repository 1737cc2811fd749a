"""What Health's address can say."""

from __future__ import annotations

from controls.address import not_understood, said
from controls.health import head
from controls.health.budget import ENDED
from controls.health.coverage import BY
from controls.health.top import KINDS


def ignored() -> list[str]:
    """What the address says about this page and cannot be, by the names of the controls."""
    known = {"part": ("Part", head.PARTS), "kind": ("Kind", KINDS), "by": ("Rows", BY), "ended": ("Share", ENDED)}
    return not_understood({name: (label, options.get(said(name) or "")) for name, (label, options) in known.items()})
