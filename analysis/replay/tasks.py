"""Replays and maps as they travel between the worker and a page, and the tasks that make them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from analysis.replay.fragile import Fragile, Fragility
from analysis.replay.pool import Coverage
from analysis.replay.propensity import Reweighted, reweighted
from analysis.replay.replaying import BlockFlip, Changed, Mover, Replay, Replayer
from analysis.replay.sensitivity import Cell, SensitivityMap, sensitivity_map
from analysis.replay.settings import WhatIf
from queries.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from queries.scope import Scope
    from retrieval.retrieve import Memory

    Report = Callable[[int, int, str], None]


def replay_in_worker(memory: Memory, scope: Scope, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``replay``: ``what_if`` says the settings; ``as_of`` is when the log was read.

    ``reweighted`` is what outcomes say about the settings beyond that.
    """
    as_of = datetime.now(UTC).isoformat(timespec="seconds")
    settings = WhatIf.from_json(params["what_if"])
    report(0, 3, "reading the log")
    replayer = Replayer(memory.store, scope)
    report(1, 3, "replaying the retrievals")
    found = replayer.replay(settings)
    report(2, 3, "reweighting the outcomes")
    try:
        beyond = reweighted(memory.store, scope, settings)
    except StoreError as error:
        beyond = Reweighted(None, error.sentence)  # what is replayed stands all the same
    return {"replay": found.to_json(), "reweighted": beyond.to_json(), "as_of": as_of}


def map_in_worker(memory: Memory, scope: Scope, params: Mapping[str, Any], report: Report) -> dict[str, Any]:
    """The worker's task ``sensitivity``: the map around the settings of ``what_if``."""
    return sensitivity_map(memory.store, scope, WhatIf.from_json(params["what_if"]), report).to_json()


def replay_from_json(said: dict[str, Any]) -> Replay:
    """What ``Replay.to_json`` wrote."""
    listed = {"worst": Changed, "flips": BlockFlip, "movers": Mover}
    fragile = said["fragile"]
    return Replay(
        **{
            **said,
            **{name: tuple(kind(**each) for each in said[name]) for name, kind in listed.items()},
            "what_if": WhatIf.from_json(said["what_if"]),
            "coverage": _coverage(said["coverage"]),
            "fragile": fragile
            and Fragility(**{**fragile, "nearest": tuple(Fragile(**each) for each in fragile["nearest"])}),
        }
    )


def map_from_json(said: dict[str, Any]) -> SensitivityMap:
    """What ``SensitivityMap.to_json`` wrote."""
    return SensitivityMap(
        lambdas=tuple(said["lambdas"]),
        boosts=tuple(said["boosts"]),
        cells=tuple(Cell(**each) for each in said["cells"]),
        coverage=_coverage(said["coverage"]),
    )


def _coverage(said: dict[str, Any]) -> Coverage:
    return Coverage(said["logged"], said["replayed"], tuple((name, count) for name, count in said["reasons"]))
