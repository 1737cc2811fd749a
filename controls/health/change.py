"""What got worse since the window before: one sentence with where to look, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from analysis.health.advice import only_lost, todo
from analysis.health.change import SERVICES, worst_first
from analysis.replay.outcomes import LOOKED_BACK
from controls.flags.why import why_on
from controls.health import advice, whose
from controls.health.advice import Advice
from controls.health.answers import LONGER
from controls.health.steered import steered
from controls.health.weighting import is_on
from controls.health.words import SIGNS, change, dip, passage, shown, since
from controls.links import go
from controls.messages import counted, left_out, window_before
from retrieval.pipelines import WEIGHTING_OFF

if TYPE_CHECKING:
    from analysis.health.change import Compared
    from controls.health.answers import HealthAnswers
    from queries.scope import Scope

Way = tuple[str, str, dict[str, str]]
NO_MEASURES = ("steered", "longer")  # of flags, and of a window before that one
NAMED = 3  # measures in the sentence; more would be a table
# What sessions and the log are called together, where a window of them is missing; what is stored has its own names.
KINDS = {
    "accepted": "how sessions ended",
    "misled": "what misled them",
    "empty": "memory blocks",
    "tokens": "memory blocks",
    "coverage": "the log",
    "integrity": "the log",
    "lost": "the log",
}
# Measure: page, what its link says, and what the address says there.
WAYS: dict[str, Way] = {
    "accepted": ("feedback_impact.py", "How sessions ended", {"part": "outcomes"}),
    "misled": ("health.py", "What misled them", {"part": "top", "kind": "misleading"}),
    "empty": ("health.py", "What reaches agents", {"part": "coverage"}),
    "duplicates": ("corroboration.py", "Who says the same", {}),
    "never": ("health.py", "What was never retrieved", {"part": "top", "kind": "never"}),
    "stale": ("health.py", "What reaches agents", {"part": "coverage"}),
    "collapsed": ("health.py", "Lowest weights", {"part": "top", "kind": "lowest"}),
    "coverage": ("feedback_impact.py", "Which are logged incompletely", {"part": "left", "left": "incomplete"}),
    "integrity": ("feedback_impact.py", "Which are faulty in any way", {"part": "left"}),
    "lost": ("health.py", "Who writes the log", {"part": "runs"}),
}
BY_FLAG: Way = ("what_if.py", "Did the flag cause it?", {"show": "outcomes"})
# where sessions accepted are not worse, there is nothing yet to be the cause of
OF_FLAG: Way = ("what_if.py", "Did the flag change how sessions end?", {"show": "outcomes"})
OFF = "Weighting is off here: since when, and why"


def sentence(memory: HealthAnswers, scope: Scope) -> None:
    """What got noticeably worse, with ways to it; where nothing did, that, and what too few events leave open."""
    period = window_before(scope.days)
    if all(each.before is None for each in memory.compared):
        failed = [error for name, error in memory.earlier.failed.items() if name not in NO_MEASURES]
        if failed:
            left_out(f"Some of {period}" if memory.earlier.frames else period.capitalize(), failed[0])
        if memory.earlier.frames:
            other = "else " if failed else ""
            st.caption(f"Nothing {other}was stored or logged in {period}, so no change can be told.")
        _ways([*_steered(memory, scope), *_around_switch(memory, scope).values()])
        return
    worse, unsure = worst_first(memory.compared), [each for each in memory.compared if each.unsure][:NAMED]
    by_flag = _around_switch(memory, scope)
    # feedback that was switched off leaves Feedback Impact nothing to compare; What-if compares around the switch
    ways = _known(memory) | (by_flag or _unweighted(scope))
    steered = [*_steered(memory, scope), *by_flag.values()]
    back, open_ = _longer(memory, scope), _untold(memory.compared)
    if not worse:
        single = whose.got_worse(memory, scope)
        st.markdown(f"{_no_worse(memory.compared, unsure, period, single)}{_also(memory.compared, unsure)}{open_}")
        _unread(memory, period)
        _ways([*back, *steered, *_led(unsure, ways)])
        return
    st.markdown(f"{_worse(memory, worse, unsure, period)}{open_}")
    _unread(memory, period)
    # what is too few to tell in these days may be told in more
    _ways(
        [
            *steered,
            *(back if unsure else []),
            *_led(sorted([*worse[:NAMED], *unsure], key=lambda each: each.measure not in SERVICES), ways),
        ]
    )


def _unread(memory: HealthAnswers, period: str) -> None:
    """That what is known of now could not be read of before; what neither can be is told below the picture."""
    failed = [error for name, error in memory.earlier.failed.items() if name in memory.found.frames]
    if failed:
        left_out(f"Some of {period}", failed[0])


def _longer(memory: HealthAnswers, scope: Scope) -> list[Way]:
    """The way to a longer window, where the one before that has sessions to compare with."""
    longer, found = LONGER.get(scope.days), memory.earlier.frames.get("longer")
    if longer is None or found is None or not found["sessions"].any():
        return []
    return [("health.py", f"Compare the last {longer} days", {"window": f"{longer}d"})]


def _not_compared(compared: tuple[Compared, ...]) -> list[str]:
    """The measures that are known in one of the windows alone."""
    return [
        each.measure.name
        for each in compared
        if each.meaning == "nothing" and not (each.now is None and each.before is None)
    ]


def _no_worse(compared: tuple[Compared, ...], unsure: list[Compared], period: str, single: str | None) -> str:
    """That nothing got worse: good news only where sessions and the log are compared, as far as there are any.

    ``single`` is where organizations that got worse are listed: then it speaks of all of them together.
    """
    if unsure:
        sign, told = ":orange[≈]", f"Nothing is certain to have got worse than in {period}"
    elif any(name in KINDS for name in _not_compared(compared)):
        sign, told = ":gray[○]", f"What can be compared with {period} did not get noticeably worse"
    else:
        sign, told = ":gray[○]" if single else ":green[●]", f"Nothing got noticeably worse than in {period}"
    if single:
        told = f"{told[:1].lower()}{told[1:]}; worse in single ones is listed {single}"
        return f"{sign} Over all organizations together, {told}."
    return f"{sign} {told}."


def _untold(compared: tuple[Compared, ...]) -> str:
    """What cannot be compared, each kind once."""
    labels = {each.measure.name: each.measure.label.lower() for each in compared}
    kinds = dict.fromkeys(KINDS.get(name, labels[name]) for name in _not_compared(compared))
    return f" Not compared, because it is known of one of the two windows alone: {', '.join(kinds)}." if kinds else ""


def _worse(memory: HealthAnswers, worse: list[Compared], unsure: list[Compared], period: str) -> str:
    """What got worse; sessions come first, also where they are too few to tell."""
    in_order = {each.check.name for each in memory.checks if each.band == "good"}
    told = [f"{_bold(each)}{' (still in order)' if each.measure.name in in_order else ''}" for each in worse[:NAMED]]
    more = f", and {len(worse) - NAMED} more in the table" if len(worse) > NAMED else ""
    what = f"{', '.join(told)}{more}"
    sessions = [] if worse[0].measure in SERVICES else [each for each in unsure if each.measure in SERVICES]
    if not sessions:
        return f":red[▼] Worse than in {period}: {what}.{_also(memory.compared, unsure)}"
    first = (
        f":orange[≈] Against {period}: {', '.join(_bold(each) for each in sessions)}, too few to tell this from chance."
    )
    rest = [each for each in unsure if each not in sessions]
    others = tuple(each for each in memory.compared if each not in sessions)
    return f"{first} :red[▼] Worse: {what}.{_also(others, rest)}"


def _bold(each: Compared) -> str:
    return f"**{each.measure.label.lower()}** {passage(each)}"


def _known(memory: HealthAnswers) -> dict[str, Way]:
    """Where each measure leads; what fails two checks alike is listed once."""
    return WAYS | {"integrity": WAYS["coverage"]} if only_lost(memory.counts) else WAYS


def _unweighted(scope: Scope) -> dict[str, Way]:
    """Where one organization's weighting is off, Feedback Impact has nothing to compare: the flag leads on instead."""
    if scope.org is None or not _is_off(scope):
        return {}
    return {"accepted": ("feature_flags.py", OFF, why_on(scope, scope.org, WEIGHTING_OFF, now=True))}


def _around_switch(memory: HealthAnswers, scope: Scope) -> dict[str, Way]:
    """What-if instead of Feedback Impact, where one organization's flag was turned in the days that it looks back on.

    Also where sessions did not get worse, are too few or have no window before: it compares around the switch.
    """
    found, looked_back = steered(memory, scope), min(scope.since, scope.until - LOOKED_BACK)
    if scope.org is None or found is None or all(each.at <= looked_back for each in found.named):
        return {}
    fell = any(each.measure.name == "accepted" for each in worst_first(memory.compared))
    return {"accepted": BY_FLAG if fell else OF_FLAG}


def _is_off(scope: Scope) -> bool:
    return scope.org is not None and not is_on(scope, [scope.org]).get(scope.org, True)


def _led(told: list[Compared], ways: dict[str, Way]) -> list[Way]:
    """Where what was told leads."""
    return [ways[each.measure.name] for each in told]


def _ways(ways: list[Way]) -> None:
    """Links to where to look, each once; a flag that was turned in either window is first: often that is the reason."""
    if not ways:
        return
    with st.container(horizontal=True, gap="small"):
        for place, (page, label, said) in enumerate({way[:2]: way for way in ways}.values()):
            st.button(
                label, key=f"way_{place}", type="tertiary", icon=":material/arrow_forward:", on_click=go, args=(page,),
                kwargs=said,
            )  # fmt: skip


def _steered(memory: HealthAnswers, scope: Scope) -> list[Way]:
    """The changes of flags that held longest in either window, each with the days it held."""
    found = steered(memory, scope)
    if found is None:
        return []
    ways: list[Way] = [
        ("feature_flags.py", f"{each.while_}: {each.effect}", {"change": str(each.id)}) for each in found.named
    ]
    if found.count > len(ways):
        told = f"{'All ' if ways else ''}{counted(found.count, 'change')} of flags in these days"
        ways.append(("feature_flags.py", told, found.shared))
    return ways


def _also(compared: tuple[Compared, ...], unsure: list[Compared]) -> str:
    """What looks worse and may be chance; and what sessions did also where that is no news: one was asked about it."""
    told = ", ".join(f"{each.measure.label.lower()} {passage(each)}" for each in unsure)
    open_ = f" {told[:1].upper()}{told[1:]}: too few to tell this from chance." if unsure else ""
    accepted = next((each for each in compared if each.measure.name == "accepted"), None)
    if accepted is None or accepted.meaning not in ("same", "better", "chance") or accepted in unsure:
        return open_
    chance = ", which may be chance" if accepted.meaning == "chance" else ""
    better = "Better: sessions" if accepted.improved else "Sessions"
    against = "" if (found := dip(accepted)) is None else f", {found}"
    return f" {better} accepted {passage(accepted)}{chance}{against}.{open_}"


def to_do(memory: HealthAnswers, scope: Scope) -> None:
    """What to do about whatever needs a hand or got worse, in whole sentences; the table has room for a few words."""
    bands = {each.check.name: each.band for each in memory.checks}
    by_band = {
        name: [each for each in memory.compared if bands.get(each.measure.name) == name] for name in ("red", "watch")
    }
    wanted = [*by_band["red"], *by_band["watch"]]
    wanted += [each for each in worst_first(memory.compared) if each not in wanted]
    weighted = not any(each.measure.name == "accepted" for each in wanted) or not _is_off(scope)
    told = []
    for each in wanted:
        band = bands.get(each.measure.name)
        beside = [change(each), *([] if band is None else [SIGNS[band]]), *_counted_since(each, memory, scope)]
        what = f"{each.measure.label} {shown(each.measure, each.now)}"
        told.append(Advice(what, ", ".join(beside), todo(each.measure, memory.counts, weighted=weighted)))
    advice.to_do(told)
    if told:
        st.caption("Memories are written, corrected, archived and embedded by the platform: Rankscope only reads them.")


def _counted_since(each: Compared, memory: HealthAnswers, scope: Scope) -> list[str]:
    """What a writer lost it has counted since it started, for the whole organization, whatever the scope is."""
    if each.measure.name != "drops":
        return []
    whole = ["all projects of the organization"] if scope.project else []
    return [since(memory.found.frames["writers"]), *whole]
