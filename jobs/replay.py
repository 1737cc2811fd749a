"""``python -m jobs replay``: the What-if page's figures for one organization, without the page."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from jobs.days import DAYS, day, window
from jobs.target import opened, refuse_unknown
from queries.scope import Reach, Scope

if TYPE_CHECKING:
    from collections.abc import Callable

    from analysis.replay.replaying import Replay
    from analysis.replay.settings import WhatIf
    from settings import Settings

LOGGED, OFF = "logged", "off"
WEIGHTING = {LOGGED: None, "on": True, OFF: False}


class ReplayError(Exception):
    """A replay that could not be made, in one sentence."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--org", required=True, metavar="ORG", help="an organization's id")
    parser.add_argument("--project", metavar="PROJECT", help="one of its projects; without it, all of them")
    pipeline = parser.add_mutually_exclusive_group()
    pipeline.add_argument("--preset", metavar="NAME", help="LIVE or INTENDED; budgets stay as logged")
    pipeline.add_argument(
        "--pipeline",
        metavar="TEXT",
        help="a pipeline as text: a stage that is not in it is off; without one, as logged",
    )
    _knobs(parser.add_argument_group("knobs", "as on the What-if page; each goes before what the pipeline says"))
    parser.add_argument("--since", type=day, metavar="DAY", help=f"first day, UTC; {DAYS} days up to the last")
    parser.add_argument("--until", type=day, metavar="DAY", help="last day, UTC; today")
    parser.add_argument("--json", action="store_true", help="print every figure and id as JSON")


def _knobs(group: argparse._ArgumentGroup) -> None:
    """One option per knob; one that is not given leaves no trace in what was parsed."""

    def add(option: str, **more: Any) -> None:  # noqa: ANN401 - argparse's own
        group.add_argument(option, default=argparse.SUPPRESS, **more)

    add("--weighting", choices=tuple(WEIGHTING), help="feedback weighting")
    add("--normalise", choices=("none", "minmax"), help="relevance before weighting (none)")
    add("--boost", type=_number_or(LOGGED, float), metavar="SCALE|logged", help="scale of the corroboration boost")
    add("--bits", type=int, help="SimHash bits within which texts say the same (3)")
    add("--count-by", choices=("members", "agents"), help="what a boost counts (members)")
    add("--lambda", dest="lam", type=_number_or(OFF, float), metavar="LAMBDA|off", help="score against difference")
    add("--duplicate", type=float, metavar="COSINE", help="from which cosine on one is a duplicate (0.94)")
    add("--budget", type=_number_or(LOGGED, int), metavar="TOKENS|logged", help="token budget of a memory block")


def main(args: argparse.Namespace, settings: Settings) -> int:
    """Print what would have changed; 1 if it cannot be said."""
    # not above: numpy and Arrow take a while that the other jobs need not wait for
    from analysis.replay.replaying import replay  # noqa: PLC0415

    what_if = chosen(args)
    with opened(settings) as store:
        refuse_unknown(store, args.org, args.project)
        found = replay(store, scope_of(args), what_if)
    print(json.dumps(found.to_json(), indent=1) if args.json else as_text(found))
    return 0


def chosen(args: argparse.Namespace) -> WhatIf:
    """The settings that the command line amounts to: its pipeline's, with each knob that it names turned."""
    from analysis.replay.command import OPTIONS  # noqa: PLC0415 - as above
    from analysis.replay.settings import WhatIf, what_if  # noqa: PLC0415
    from ranking.pipeline_text import PipelineError  # noqa: PLC0415
    from retrieval.pipelines import named_pipeline  # noqa: PLC0415

    turned = {name: getattr(args, name) for name in OPTIONS if hasattr(args, name)}
    if "weighting" in turned:
        turned["weighting"] = WEIGHTING[args.weighting]
    try:
        return WhatIf.from_json(what_if(named_pipeline(args.preset, args.pipeline)).to_json() | turned)
    except (PipelineError, ValueError) as error:
        raise ReplayError(str(error)) from error


def as_text(found: Replay) -> str:
    """The figures in lines, as the page names them."""
    from analysis.replay.pool import REASONS  # noqa: PLC0415 - as above

    covered, count = found.coverage, found.coverage.replayed
    lines = [f"{count:,} of {covered.logged:,} logged retrievals replayed"]
    lines += [f"  {number:,}: {REASONS[name]}" for name, number in covered.reasons]
    figures: dict[str, Any] = {
        "order changed": f"{found.changed:,}",
        "top 5 changed": f"{found.top_changed:,}",
        "mean RBO": _digits(found.rbo),
        "mean τ-b": _digits(found.tau),
        "entered blocks": f"{found.entered:,}",
        "left blocks": f"{found.left:,}",
        "blocks changed": f"{found.flipped:,}",
    }
    if found.fragile is not None:
        figures[f"within {found.fragile.epsilon:g} of a flip"] = f"{found.fragile.fragile:,}"
    lines += [f"{name}: {value}" for name, value in figures.items()]
    lines += [f"worst: {each.retrieval} RBO {each.rbo:.3f}" for each in found.worst[:5]]
    return "\n".join(lines)


def scope_of(args: argparse.Namespace) -> Scope:
    """The days and the organization that the command line names."""
    first, last = window(args.since, args.until)
    return Scope.of_days(Reach.of(frozenset({args.org})), first, last, args.org, args.project)


def _number_or(word: str, kind: Callable[[str], float]) -> Callable[[str], float | None]:
    def number(text: str) -> float | None:
        return None if text == word else kind(text)

    return number


def _digits(value: float | None) -> str:
    return "—" if value is None else f"{value:.3g}"
