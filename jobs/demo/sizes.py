"""How much of everything a demo store holds."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Size:
    """Totals over all lively organizations, and what is planted in each of their projects."""

    name: str
    observations: int
    sessions: int
    families: int
    contradictions: int  # of each of the four kinds
    traps: int
    copies: int = 0  # organizations beside the named ones, of the same grammar and another seed


SMALL = Size("small", observations=800, sessions=240, families=4, contradictions=1, traps=3)
DEFAULT = Size("default", observations=12_000, sessions=3_000, families=10, contradictions=3, traps=8)
LARGE = Size("large", observations=1_000_000, sessions=265_000, families=10, contradictions=3, traps=8, copies=44)

SIZES = {size.name: size for size in (SMALL, DEFAULT, LARGE)}


def of_named(size: Size) -> Size:
    """What the named organizations hold: beside copies they are as large as they are without."""
    return DEFAULT if size.copies else size


def of_copies(size: Size) -> Size:
    """What is left for the copies."""
    named = of_named(size)
    return replace(size, observations=size.observations - named.observations, sessions=size.sessions - named.sessions)
