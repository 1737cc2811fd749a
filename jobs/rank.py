"""``python -m jobs rank``: one retrieval looked at from outside. Nothing is logged or remembered."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from jobs import ranked_by
from jobs.target import opened, refuse_unknown

if TYPE_CHECKING:
    import argparse

    from settings import Settings


class RankError(Exception):
    """A ranking that could not be made, in one sentence."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument("--org", required=True, metavar="ORG", help="an organization's id")
    parser.add_argument("--query", required=True, metavar="TEXT", help="what an agent would ask its memory")
    parser.add_argument("--project", metavar="PROJECT", help="one of its projects; without it, all of them")
    parser.add_argument("--work-type", metavar="TYPE", help="bug_fix, feature, refactor, chore: sets the budget")
    parser.add_argument("--at", type=_moment, metavar="TIME", help="ages as of this moment, UTC; without it, now")
    ranked_by.arguments(parser)
    parser.add_argument("--explain", action="store_true", help="what each stage did to each row, also to those dropped")
    parser.add_argument("--json", action="store_true", help="print the whole ranking as JSON")


def main(args: argparse.Namespace, settings: Settings) -> int:
    """Print the ranking of one question; 1 if the store could not be asked."""
    # not above: numpy and Arrow take a while that the other jobs, which start with every `make run`, need not wait for
    from jobs.rank_report import as_json, as_text  # noqa: PLC0415
    from retrieval.retrieve import AgentSession  # noqa: PLC0415

    try:
        answering = ranked_by.answering(args, settings, args.at)
    except ValueError as error:
        raise RankError(str(error)) from error
    session = AgentSession(args.org, project_id=args.project, work_type=args.work_type)
    with opened(settings) as store:
        refuse_unknown(store, args.org, args.project)
        found = answering(store)(session, args.query)
    if found.failed is not None:
        raise RankError(found.failed)
    print(as_json(found, explained=args.explain) if args.json else as_text(found, explained=args.explain))
    return 0


def _moment(text: str) -> datetime:
    """A moment; one without a zone is taken for UTC."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
