"""A replay as one line of ``python -m jobs replay``: what a page shows, for whoever wants it without the page."""

from __future__ import annotations

import shlex
from datetime import timedelta
from typing import TYPE_CHECKING

from analysis.replay.settings import AS_LOGGED

if TYPE_CHECKING:
    from analysis.replay.settings import WhatIf
    from queries.scope import Scope

SWITCHED = {True: "on", False: "off"}
# a knob's field in the settings → its option
OPTIONS = {
    "weighting": "--weighting",
    "normalise": "--normalise",
    "boost": "--boost",
    "bits": "--bits",
    "count_by": "--count-by",
    "lam": "--lambda",
    "duplicate": "--duplicate",
    "budget": "--budget",
}


def command(settings: WhatIf, scope: Scope) -> str:
    """The line that replays the same days of the same organization under the same settings.

    Knobs that stand as logged are left out; what only pipelines and flags can say (``head``, ``chosen``,
    ``logged_boost_stays``) has no option.
    """
    # with "=", so that an id that begins with a dash is none of the command's own options
    parts = [f"--org={scope.org}", *([] if scope.project is None else [f"--project={scope.project}"])]
    parts += [f"--since={scope.since:%Y-%m-%d}", f"--until={scope.until - timedelta(days=1):%Y-%m-%d}"]
    said, silent = settings.to_json(), AS_LOGGED.to_json()
    for name, option in OPTIONS.items():
        if said[name] != silent[name]:
            parts.append(f"{option}={SWITCHED[said[name]] if name == 'weighting' else said[name]}")
    return shlex.join(["python", "-m", "jobs", "replay", *parts])
