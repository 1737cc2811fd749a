"""Why an observation is not there, as a test asks it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analysis.inspector.gates import State
from analysis.inspector.why_not import why_not
from retrieval.retrieve import AgentSession, retrieve
from tests.analysis.corroboration.angles import QUESTION, SESSION

if TYPE_CHECKING:
    from analysis.inspector.gates import Gate
    from analysis.inspector.why_not import WhyNot
    from ranking.ranking import Stage
    from retrieval.retrieve import Memory, Retrieval


def found(memory: Memory, *stages: Stage, session: AgentSession = SESSION) -> Retrieval:
    return retrieve(memory, session, QUESTION, stages or None)


def asked(memory: Memory, wanted: str, *stages: Stage) -> WhyNot:
    return why_not(memory, found(memory, *stages), wanted)


def gate(answer: WhyNot, name: str) -> Gate:
    return next(each for each in answer.gates if each.name == name)


def lost(answer: WhyNot) -> list[str]:
    return [each.name for each in answer.gates if each.state is State.LOST]
