"""What the worker can be asked for: a name, the function behind it, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass

LIMIT = 30.0  # seconds (C5: an explicit "run")
MANY = 120.0  # the same for up to 25 organizations


@dataclass(frozen=True)
class Task:
    """``module:function`` of ``analysis/``, called with (memory, scope, params, report); its value goes through JSON.

    ``memory.store`` only reads, and only what the caller may see. ``report`` takes steps done, steps in all, and words.
    A task that needs no ``models`` is given a memory with nothing but the store, and does not wait for them to load.
    """

    function: str
    limit: float = LIMIT
    models: bool = True


TASKS: dict[str, Task] = {
    "compare": Task("analysis.inspector.compared:compare_in_worker"),
    "drift": Task("analysis.drift.tasks:search_in_worker", models=False),
    "drift_whole": Task("analysis.drift.tasks:whole_in_worker", models=False),
    "replay": Task("analysis.replay.tasks:replay_in_worker"),
    "sensitivity": Task("analysis.replay.tasks:map_in_worker"),
    "flag_flips": Task("analysis.replay.flags:flips_in_worker", MANY, models=False),
    "corroboration": Task("analysis.corroboration.agreement:agree_in_worker", models=False),
    "corroboration_disputes": Task("analysis.corroboration.agreement:disputes_in_worker", models=False),
    "corroboration_log": Task("analysis.corroboration.log:log_in_worker", models=False),
    "corroboration_vectors": Task("analysis.corroboration.vectors:vectors_in_worker", models=False),
    "corroboration_widths": Task("analysis.corroboration.vectors:widths_in_worker", models=False),
    "corroboration_map": Task("analysis.corroboration.vectors:map_in_worker", models=False),
    "corroboration_shadow": Task("analysis.corroboration.shadow:shadow_in_worker", models=False),
    "corroboration_effect": Task("analysis.corroboration.shadow:effect_in_worker", models=False),
}
