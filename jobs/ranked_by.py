"""What the commands that rank have in common: by which pipeline, as written or fitted, whose voices and scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from settings import SCORERS

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from datetime import datetime

    from queries.engine import Store
    from retrieval.retrieve import AgentSession, Retrieval
    from settings import Settings


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what they take."""
    pipeline = parser.add_mutually_exclusive_group()
    pipeline.add_argument("--preset", metavar="NAME", help="LIVE, INTENDED, MEMSENSE, MEMINI, AI_MEMORY or FULL")
    pipeline.add_argument("--pipeline", metavar="TEXT", help="a pipeline as text: Relevance~~Head~k~5")
    parser.add_argument(
        "--exactly",
        action="store_true",
        help="the preset or text as it is written, whatever the organization's flags and the work type would change",
    )
    parser.add_argument(
        "--bits",
        type=int,
        metavar="N",
        help="count who says the same anew, within N SimHash bits; without it, the last aggregation pass counts",
    )
    parser.add_argument("--scorer", choices=SCORERS, help="who reads pairs; without it, whom the settings name")


def answering(
    args: argparse.Namespace, settings: Settings, at: datetime | None = None
) -> Callable[[Store], Callable[[AgentSession, str], Retrieval]]:
    """What retrieves as these arguments say, once there is a store; ``ValueError`` where they say nothing sensible."""
    # not above: numpy and Arrow take a while that the other jobs need not wait for
    from analysis.voices import recollect_within  # noqa: PLC0415
    from ranking.near_pairs import check_threshold  # noqa: PLC0415
    from retrieval.choice import chosen_embedder, chosen_scorer  # noqa: PLC0415
    from retrieval.pipelines import named_pipeline  # noqa: PLC0415
    from retrieval.retrieve import Memory, rank_fitted, rank_recollection  # noqa: PLC0415

    stages = named_pipeline(args.preset, args.pipeline)
    if args.exactly and stages is None:
        raise ValueError("exactly: expected a preset or a pipeline with it, found none")
    bits = None if args.bits is None else check_threshold(args.bits)
    chosen = settings if args.scorer is None else replace(settings, scorer=args.scorer)

    def by_store(store: Store) -> Callable[[AgentSession, str], Retrieval]:
        memory = Memory(store, chosen_embedder(settings), chosen_scorer(chosen))

        def answer(session: AgentSession, query: str) -> Retrieval:
            found = recollect_within(memory, session, query, stages, bits=bits, at=at)
            return rank_recollection(memory, found, found.pipeline) if args.exactly else rank_fitted(memory, found)

        return answer

    return by_store
