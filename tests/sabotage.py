"""What it is to take a guard away."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Sabotage:
    """A guard, how to take it away, and the tests that should notice."""

    guard: str
    file: str
    found: str
    instead: str
    tests: tuple[str, ...]
