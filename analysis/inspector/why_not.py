"""Why an observation is not in a memory block: the gate that lost it, and what it would have needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from uuid import UUID

from analysis.inspector.gates import Gate, Loss, State, Verdict, recall_gates, route_gate
from analysis.inspector.inspection import called
from analysis.inspector.stage_gates import stage_gates, unreached
from queries.matching import MOST, Matching, Named
from retrieval.lookup import question_of
from retrieval.recall import recall_places, way_for
from retrieval.retrieve import question_vector

if TYPE_CHECKING:
    from queries.matching import Match
    from queries.recall.exact_places import ExactPlaces
    from retrieval.retrieve import Memory, Retrieval

OUT_OF_SCOPE = (
    "Not in this scope: no observation of this organization has this id. It does not exist, or it belongs to another "
    "organization."
)
OTHER_PROJECT = (
    "Lost before recall: it is not in the project that this retrieval asked, but elsewhere in this organization."
)
NO_MATCH = "No observation of this organization holds this text."


@dataclass(frozen=True)
class WhyNot:
    """What became of one observation in one retrieval: a sentence, and every gate with its numbers.

    ``id`` and ``content`` are None where the organization holds no such observation; ``matches`` are what a text found;
    ``elsewhere`` is the observation where it is in another project than the one that was asked.
    """

    verdict: Verdict
    sentence: str
    gates: tuple[Gate, ...] = ()
    id: str | None = None
    content: str | None = None
    matches: tuple[Match, ...] = ()
    elsewhere: Match | None = None
    title: str = ""


def why_not(memory: Memory, found: Retrieval, wanted: str) -> WhyNot:
    """The gate that lost an observation, named by its id, its title or some of its text.

    Several matches are to choose from; one that alone is called so, or alone in this ranking, is answered for at once.
    """
    if found.failed is not None or found.recalled is None:
        return WhyNot(Verdict.UNANSWERED, "Nothing was ranked: the memory could not be looked up.")
    label = as_id(wanted)
    if label is not None:
        return _judged(memory, found, label)
    named = called(found, wanted)
    searched = matching(memory, found, wanted, named=named)
    matches = searched or matching(memory, found, wanted, anywhere=True)
    if not matches:
        return WhyNot(Verdict.SCOPE, NO_MATCH)
    meant = [match for match in matches if match.id in named] or [match for match in matches if match.called]
    if len(matches) > 1 and len(meant) != 1:
        more = len(matches) > MOST
        held = f"The best {MOST} of more observations that hold" if more else f"{len(matches)} observations hold"
        where = "" if searched else ", all in other projects than the one that was asked"
        words = f"{held} this text{where}: choose the one you miss."
        return WhyNot(Verdict.CHOOSE, words, matches=matches[:MOST])
    return replace(_judged(memory, found, UUID((meant or matches)[0].id)), matches=matches[:MOST])


def matching(
    memory: Memory, found: Retrieval, text: str, *, anywhere: bool = False, named: tuple[str, ...] = ()
) -> tuple[Match, ...]:
    """Up to ten observations of the project that was asked, or of its organization, that hold a text."""
    session = found.session
    if anywhere and session.project_id is None:
        return ()  # that was asked
    project = None if anywhere else session.project_id
    near = frozenset(map(str, found.ranking.candidates.ids.tolist()))
    return Matching(session.org_id, project, text, named, near).ask(memory.store, session.reach)


def as_id(wanted: str) -> UUID | None:
    """The observation's id, if that is what was written."""
    try:
        return UUID(wanted.strip())
    except ValueError:
        return None


def _judged(memory: Memory, found: Retrieval, label: UUID) -> WhyNot:
    seen, session = _standing(memory, found, label), found.session
    named = Named(session.org_id, label).ask(memory.store, session.reach)
    title = "" if named is None else named.title
    if seen is None:
        lost = (Gate("scope", State.LOST), *_rest("active", found))
        if named is None:
            return WhyNot(Verdict.SCOPE, OUT_OF_SCOPE, lost)
        return WhyNot(Verdict.SCOPE, OTHER_PROJECT, lost, named.id, named.content, elsewhere=named, title=title)
    gates = [Gate("scope", State.PASSED, "in this organization and project")]
    if seen.status != "active":
        gates += [Gate("active", State.LOST, "its status is not active"), *_rest(None, found)]
        words = "Lost before recall: it is stored but not active, and only active observations are recalled."
        return WhyNot(Verdict.INACTIVE, words, tuple(gates), seen.id, seen.content, title=title)
    gates.append(Gate("active", State.PASSED))
    ranking = found.ranking
    recalled = seen.id in set(ranking.candidates.ids.tolist())
    of_recall, loss = recall_gates(seen, recalled=recalled)
    gates += of_recall
    if loss is None:
        of_stages, loss = stage_gates(ranking, seen.id, found.block.budget)
        gates += of_stages
    else:
        gates += [*unreached(ranking), *_block(found)]
    verdict = loss or _there(found, seen.id)
    return WhyNot(verdict.verdict, verdict.sentence, tuple(gates), seen.id, seen.content, title=title)


def _standing(memory: Memory, found: Retrieval, label: UUID) -> ExactPlaces | None:
    """Where it stands for the question as it was asked: the same text, embedder, pipeline and legs."""
    vector, _ = question_vector(memory.embedder, found.query)
    question = question_of(found.session, found.stages, text=found.query, vector=vector, at=found.at)
    way, legs = way_for(found.stages), found.ranking.candidates.legs
    return recall_places(memory.store, found.session.reach, question, way, legs=legs, wanted=label)


def _there(found: Retrieval, label: str) -> Loss:
    rank = found.ranking.ids().index(label)
    return Loss(Verdict.THERE, f"It is there, at rank {rank + 1} of the {len(found.injected)} in the block.")


def _rest(first: str | None, found: Retrieval) -> list[Gate]:
    """Gates that were never reached because it was lost before recall."""
    legs = [route_gate(leg) for leg in found.ranking.candidates.legs]
    names = [*([first] if first else []), *legs]
    return [*(Gate(name, State.NOT_REACHED) for name in names), *unreached(found.ranking), *_block(found)]


def _block(found: Retrieval) -> list[Gate]:
    packed_by_stage = any(type(stage).__name__ == "TokenBudget" for stage in found.stages)
    return [] if packed_by_stage else [Gate("block", State.NOT_REACHED)]
