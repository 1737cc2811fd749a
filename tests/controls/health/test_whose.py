"""Which of many organizations comes first below Health's sentence, and what is said of it."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

from analysis.health.change import SERVICES, Compared
from analysis.health.checks import CHECKS, Judged
from controls.health.whose import Standing, got_worse

SERVED = {measure.name: measure for measure in SERVICES}
CHECKED = {check.name: check for check in CHECKS}


def worse(name: str, before: float, now: float) -> Compared:
    return Compared(SERVED.get(name) or CHECKED[name], now, before, "worse")


def standing(name: str, *got_worse: Compared, act: tuple[str, ...] = (), watch: tuple[str, ...] = ()) -> Standing:
    red = [Judged(CHECKED[each], 0.5, 1, 2, "red") for each in act]
    return Standing(
        name,
        name,
        list(got_worse),
        {"red": red, "watch": [Judged(CHECKED[each], 0.5, 1, 2, "watch") for each in watch]},
    )


def test_sessions_that_got_worse_come_first_most_first_then_most_to_act_on_most_to_watch_and_most_worse() -> None:
    in_order = [
        standing("fell most", worse("accepted", 0.9, 0.5)),
        standing("fell less", worse("accepted", 0.9, 0.8), act=("stale",)),
        standing("misled", worse("misled", 0.1, 0.9)),
        standing("act on two", act=("stale", "never")),
        standing("act", act=("stale",), watch=("never",)),
        standing("act, and worse", worse("stale", 0.1, 0.9), act=("stale",)),
        standing("watch two", watch=("never", "stale")),
        standing("worse and watch", worse("stale", 0.1, 0.2), watch=("never",)),
        standing("watch", watch=("never",)),
        standing("worse alone", worse("stale", 0.1, 0.2)),
        standing("nothing"),
    ]
    assert all(one.urgency < other.urgency for one, other in pairwise(in_order))
    assert [each.needs_a_hand for each in in_order] == [True] * 10 + [False]


def test_three_of_what_it_is_are_named_and_the_rest_counted() -> None:
    three = ("duplicates", "never", "stale")
    assert standing("a", act=three).told == ("a ✕ to act on: exact duplicates 50 %, never retrieved 50 %, stale 50 %")
    assert standing("a", act=(*three, "collapsed")).told.endswith("stale 50 % and 1 more")
    assert standing("a", worse("accepted", 0.9, 0.5), watch=("stale",)).told == (
        "a ▼ worse: sessions accepted 90 % → 50 % · ◆ to watch: stale 50 %"
    )


def test_where_those_that_got_worse_are_listed() -> None:
    """Lines name three of five, or all of four; what got worse and is in order stands behind what needs a hand."""

    def listed(*found: Standing, org: str | None = None) -> str | None:
        memory = SimpleNamespace(
            by_org={each.org: tuple(judged for some in each.banded.values() for judged in some) for each in found},
            compared_by_org={each.org: tuple(each.worse) for each in found},
            names={},
        )
        return got_worse(cast("Any", memory), cast("Any", SimpleNamespace(org=org)))

    got = standing("z", worse("stale", 0.1, 0.2))
    red = [standing(f"o{number}", act=("stale",)) for number in range(4)]
    assert listed(got, *red) == "in the table under Memory"
    assert listed(got, *red[:3]) == listed(got, red[0]) == "below"
    assert listed(got, *red, org="z") is None
    assert listed(*red) is None
    assert listed(got) is None  # the sentence itself says it
