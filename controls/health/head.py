"""Health's head: which part is shown, how far the log is to be trusted, five figures, and the checks as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from analysis.health.checks import finding
from controls import glossary, messages
from controls.figures import WIDE, Figure, in_a_row
from controls.health.words import COLOURS, SIGNS, change, colour, dip, estimated, limits
from controls.knobs import Knob
from controls.messages import counted, digits, unknown_outcomes
from controls.trust import Trust, points
from queries.drawn import WHOLE

if TYPE_CHECKING:
    from analysis.health.change import Compared
    from analysis.health.checks import Judged
    from analysis.health.counts import Shares
    from controls.health.answers import HealthAnswers
    from queries.scope import Scope
    from queries.shape import LogShape

PARTS = {
    "memory": "Memory",
    "top": "Top observations",
    "budget": "Context budget",
    "coverage": "Coverage",
    "runs": "Runs and writers",
    "system": "System",
}
PART = Knob("part", "Part", tuple(PARTS), next(iter(PARTS)))
HEAD = {
    "accepted": "Accepted",
    "never": "Never retrieved",
    "collapsed": "Collapsed weights",
    "coverage": "Log coverage",
    "aggregation": "Aggregation age",
}


def chosen_part() -> str:
    """Which part of the page is shown."""
    return PART.value


def choose_part() -> None:
    """The control that switches the part."""
    PART.choose(PARTS)


def choose(name: str, label: str, options: dict[str, str]) -> str:
    """A choice inside a part, kept in the address; the first is the default."""
    return Knob(name, label, tuple(options), next(iter(options))).choose(options)


def trust_of(memory: HealthAnswers, shape: LogShape, scope: Scope) -> Trust:
    """What the log's own counts say, and which figures this store cannot give."""
    log = memory.found.frames.get("log")
    newest = pd.NaT if log is None or log.empty else log["newest"].max()
    degraded = [] if shape.retrieval_id else ["this store logs no retrieval id: lost retrievals cannot be counted"]
    if memory.found.failed:
        degraded.append(f"{counted(len(memory.found.failed), 'question')} could not be answered")
    degraded += unknown_outcomes(memory.counts.get("unknown_outcome", 0))
    counts = {name: int(memory.counts.get(name, 0)) for name in ("truncated", "repeated", "unusable")}
    rows, retrievals = (None if log is None else int(memory.counts.get(name, 0)) for name in ("log_rows", "retrievals"))
    return Trust(
        as_of=memory.found.as_of,
        newest=None if pd.isna(newest) else newest.to_pydatetime(),
        rows=rows,
        retrievals=retrievals,
        complete=int(memory.counts["complete"]) if "complete" in memory.counts else None,
        degraded=tuple(degraded),
        more=_stored(shape, scope),
        share=shape.share(scope),
        drawn=memory.counts.get("drawn", 0.0),
        **counts,
    )


def _stored(shape: LogShape, scope: Scope) -> tuple[str, ...]:
    """That the checks of what is stored rest on a part of it, and how good a share is; neighbours may be alike."""
    share = shape.stored_share(scope)
    if share >= WHOLE:
        return ()
    good = points(share * shape.pages)
    return (f"≈ what is stored: drawn from {digits(100 * share)} % of the observations, good to {good}",)


def unanswered(memory: HealthAnswers) -> None:
    """One line for each figure that the store could not give, with what would mend it."""
    for name, error in memory.found.failed.items():
        messages.left_out(name.capitalize(), error)


def figures(memory: HealthAnswers) -> None:
    """The five that most often need a hand, each with its change; a sign before the value where it is not in order."""
    judged = {each.check.name: each for each in memory.checks}
    shown = [each for each in memory.compared if each.measure.name in HEAD]
    in_a_row((_figure(each, judged.get(each.measure.name), memory.shares) for each in shown), WIDE)


def _figure(each: Compared, own: Judged | None, shares: Shares) -> Figure:
    sign = f"{SIGNS[own.band][0]} " if own is not None and own.band in ("watch", "red") else ""
    bands = None if own is None else limits(own.check).capitalize()
    return Figure(
        HEAD[each.measure.name],
        f"{sign}{estimated(each.measure, each.now, shares)}",
        None if each.now is None else change(each),
        glossary.with_dip(
            glossary.check(each.measure.formula, bands, each.measure.todo, is_of_log=each.measure.name == "coverage"),
            dip(each),
        ),
        colour=colour(each),
    )


def rows(memory: HealthAnswers) -> pd.DataFrame:
    """The checks as the chart takes them."""
    past = {each.measure.name: each for each in memory.compared}
    before = [
        past[each.check.name].before if past[each.check.name].meaning in COLOURS else None for each in memory.checks
    ]
    return pd.DataFrame(
        {
            "label": [each.check.label for each in memory.checks],
            "place": [None if each.value is None else each.check.place(each.value) for each in memory.checks],
            "band": [each.band for each in memory.checks],
            "shown": [estimated(each.check, each.value, memory.shares) for each in memory.checks],
            "limits": [limits(each.check) for each in memory.checks],
            "was": [
                None if value is None else each.check.place(value)
                for each, value in zip(memory.checks, before, strict=True)
            ],
            "change": [change(past[each.check.name]) for each in memory.checks],
            "sense": [colour(past[each.check.name]) for each in memory.checks],
        }
    ).astype({"place": "float64", "was": "float64"})


def title(memory: HealthAnswers) -> str:
    """What the checks say together."""
    return finding(memory.checks, memory.by_org.values())
