"""The search behind Drift Alerts: by the worker, once for its data; until it is over, what the last passes found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from analysis.drift.from_passes import search_of_passes
from analysis.drift.tasks import from_text
from controls import working
from controls.loading import load, own_columns, store
from queries.aggregation_input import OppositionPairs
from queries.drift.kept import kept
from queries.drift.observed import InputVersion
from queries.drift.opposing import digest
from queries.engine import LIST
from queries.errors import StoreError
from queries.moments import BEGIN, END
from queries.scope import Reach, Scope
from ranking.contradictions.classifying import THRESHOLD

if TYPE_CHECKING:
    from analysis.drift.search import Searched
    from queries.drift.opposing import Pairs

WORDS, WHOLE_WORDS = "Comparing statements", "Searching every alert at this threshold"


@dataclass(frozen=True)
class Asked:
    """What a search is asked for: a scope whatever the window, and what tells its data from others."""

    scope: Scope
    version: str
    pairs: str

    @property
    def params(self) -> dict[str, str]:
        """As the worker is told."""
        return {"version": self.version, "pairs": self.pairs}


def asked(scope: Scope) -> Asked:
    """The question for a scope as it is now: what contradicts stands in memory whatever the window."""
    org = scope.org or ""
    whole, paired = Scope(Reach((org,)), BEGIN, END, org, scope.project), kept(own_columns()).pairs
    pairs: Pairs = ()
    if paired:
        # not from a cache: whoever changed them waits for what follows
        pairs = store().once(whole.reach, LIST, OppositionPairs(org).ask, name="opposition pairs")
    seen = load(InputVersion(whole, paired)).frames[0].iloc[0]
    return Asked(whole, str(seen["version"]), digest(pairs))


def search(scope: Scope, threshold: float) -> Searched | None:
    """The search of a scope at every threshold; None while it is made or has failed, which is then drawn here.

    At the documented threshold the aggregation job may have found the same already: then that is shown meanwhile.
    """
    question = asked(scope)
    text = working.ready("drift", question.params, question.scope, version=question.version)
    if text is None and threshold == THRESHOLD and (standing := _standing(question.scope)) is not None:
        return standing
    return follow(question) if text is None else from_text(text)


def follow(question: Asked) -> Searched | None:
    """The same search, waited for here with its progress and a way to stop it."""
    text = working.wait("drift", question.params, question.scope, words=WORDS, version=question.version, as_text=True)
    return None if text is None else from_text(text)


def whole(question: Asked, threshold: float) -> Searched | None:
    """Every alert at one threshold, waited for here; None until it is there."""
    params = {**question.params, "threshold": threshold}
    text = working.wait(
        "drift_whole", params, question.scope, words=WHOLE_WORDS, version=question.version, as_text=True
    )
    return None if text is None else from_text(text)


def search_now(scope: Scope, threshold: float) -> Searched:
    """Every alert at one threshold in the data as they are at this moment, for a click; by the worker all the same."""
    org = scope.org or ""
    everything, paired = Scope(Reach((org,)), BEGIN, END, org, scope.project), kept(own_columns()).pairs
    with store().reading(everything.reach, LIST, name="drift version") as snapshot:
        seen = InputVersion(everything, paired).ask(snapshot)
        pairs = OppositionPairs(org).ask(snapshot) if paired else ()
    params = {"version": seen.version, "pairs": digest(pairs), "threshold": threshold}
    return from_text(working.fetch("drift_whole", params, everything, seen.version))


def _standing(scope: Scope) -> Searched | None:
    try:
        return search_of_passes(store(), scope)
    except StoreError:  # the search itself is under way
        return None
