"""How many disputes pairs of observations come to: those that share an observation are one.

Ids alone are held, and no more of them than observations were read: a search reads 10 000 of an organization.
"""

from __future__ import annotations


class Disputes:
    """Connected groups, counted while pairs pass by."""

    def __init__(self) -> None:
        self.count = 0
        self.above: dict[tuple[str, str], tuple[str, str]] = {}

    def add(self, org: str, one: str, other: str) -> None:
        """Count one more pair."""
        first, second = self._top((org, one)), self._top((org, other))
        if first != second:
            self.above[second] = first
            self.count -= 1

    def same(self, org: str, one: str, other: str) -> bool:
        """Whether two observations that were counted are of one dispute."""
        return self._top((org, one)) == self._top((org, other))

    def _top(self, of: tuple[str, str]) -> tuple[str, str]:
        """The observation that stands for the group; the way there is halved for the next one."""
        if of not in self.above:
            self.above[of] = of
            self.count += 1
        while (above := self.above[of]) != of:
            self.above[of] = of = self.above[above]
        return of
