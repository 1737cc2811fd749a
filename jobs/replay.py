"""``python -m jobs replay``: the What-if page's figures for one organization, without the page."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from jobs.doctor import NOT_MADE_YET
from jobs.grant import printable
from jobs.target import opened
from queries.engine import LIST
from queries.principals import unknown_organizations
from queries.scope import Reach, Scope, is_storable

if TYPE_CHECKING:
    import argparse

    from analysis.replay import Replay
    from queries.engine import Store
    from settings import Settings

DAYS = 30  # as the pages' own window


class ReplayError(Exception):
    """A replay that could not be made, in one sentence."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--org", required=True, metavar="ORG", help="an organization's id")
    parser.add_argument("--project", metavar="PROJECT", help="one of its projects; without it, all of them")
    pipeline = parser.add_mutually_exclusive_group()
    pipeline.add_argument("--preset", metavar="NAME", help="LIVE or INTENDED; budgets stay as logged")
    pipeline.add_argument("--pipeline", metavar="TEXT", help="a pipeline as text; without one, everything as logged")
    parser.add_argument("--bits", type=int, default=3, help="SimHash bits within which texts say the same (3)")
    parser.add_argument("--count-by", choices=("members", "agents"), default="members", help="what a boost counts")
    parser.add_argument("--since", type=_day, metavar="DAY", help=f"first day, UTC; {DAYS} days up to the last")
    parser.add_argument("--until", type=_day, metavar="DAY", help="last day, UTC; today")
    parser.add_argument("--json", action="store_true", help="print every figure and id as JSON")


def main(args: argparse.Namespace, settings: Settings) -> int:
    """Print what would have changed; 1 if it cannot be said."""
    # not above: numpy and Arrow take a while that the other jobs need not wait for
    from analysis.replay import replay  # noqa: PLC0415
    from analysis.replay_settings import what_if  # noqa: PLC0415
    from ranking.clusters import CountBy  # noqa: PLC0415
    from ranking.pipeline_text import PipelineError  # noqa: PLC0415
    from retrieval.pipelines import named_pipeline  # noqa: PLC0415

    try:
        chosen = what_if(named_pipeline(args.preset, args.pipeline), args.bits, CountBy(args.count_by))
    except (PipelineError, ValueError) as error:
        raise ReplayError(str(error)) from error
    if settings.database_url is None and not settings.data_folder.exists():
        raise ReplayError(NOT_MADE_YET.sentence)
    with opened(settings) as store:
        _refuse_unknown(store, args.org)
        found = replay(store, _scope(args), chosen)
    print(json.dumps(found.to_json(), indent=1) if args.json else as_text(found))
    return 0


def as_text(found: Replay) -> str:
    """The figures in lines, as the page names them."""
    from analysis.replay_pool import REASONS  # noqa: PLC0415 - as above

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


def _scope(args: argparse.Namespace) -> Scope:
    last = args.until or datetime.now(UTC).date()
    first = args.since or last - timedelta(days=DAYS - 1)
    if first > last:
        raise ReplayError(f"expected a first day that is not after the last, found {first} and {last}")
    return Scope.of_days(Reach.of(frozenset({args.org})), first, last, args.org, args.project)


def _refuse_unknown(store: Store, org: str) -> None:
    with store.reading(Reach.of(frozenset({org})), LIST, name="replay") as connection:
        if not is_storable(org) or unknown_organizations(connection, (org,)):
            raise ReplayError(f"no such organization: {printable(org)}")


def _day(text: str) -> date:
    return date.fromisoformat(text)


def _digits(value: float | None) -> str:
    return "—" if value is None else f"{value:.3g}"
