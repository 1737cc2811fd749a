"""The commands that do what a page shows: the pipeline's text, and beside it what no pipeline's text says."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import streamlit as st

from ranking.budget import TokenBudget
from ranking.cross_encoder import CrossEncoder
from ranking.pipeline_text import to_text
from retrieval.evidence import asks_for

if TYPE_CHECKING:
    from controls.inspector.pipeline import Chosen
    from controls.inspector.question import Asked
    from retrieval.pipelines import Pipeline


def rank(asked: Asked, chosen: Chosen) -> None:
    """The pipeline as text, the whole command that ranks as it is ranked here, and what only the command says."""
    with st.popover("Copy as code", icon=":material/content_copy:", width="stretch"):
        st.caption("The pipeline as text, every field written out.")
        st.code(to_text(chosen.stages), language=None, wrap_lines=True)
        st.caption("The command that gives this list.")
        st.code(rank_command(asked, chosen), language="bash", wrap_lines=True)
        left_out = ["who asks", *(["the moment"] if asked.at is not None else []), *_beside(chosen)]
        as_of = "" if asked.at is not None else " Ages are counted from when it runs."
        st.caption(f"The text does not say {_listed(left_out)}: only the command does.{as_of}")


def rank_command(asked: Asked, chosen: Chosen) -> str:
    """``python -m jobs rank`` with everything that this ranking depends on, as a shell reads it."""
    session = asked.session
    said = {
        "org": session.org_id,
        "project": session.project_id,
        "work-type": session.work_type,
        "query": asked.query,
        "at": None if asked.at is None else asked.at.isoformat(),
    }
    return _command("rank", said, chosen, chosen.stages)


def pins_command(org: str, chosen: Chosen) -> str:
    """``python -m jobs pins`` under the same; without a budget that nobody chose, each pin has its own work's."""
    kept = [stage for stage in chosen.stages if chosen.own_budget or not isinstance(stage, TokenBudget)]
    return _command("pins", {"org": org}, chosen, tuple(kept))


def _command(job: str, said: dict[str, str | None], chosen: Chosen, stages: Pipeline) -> str:
    words = ["python", "-m", "jobs", job]
    for name, value in (*said.items(), ("pipeline", to_text(stages)), *_beside(chosen).values()):
        if value is not None:
            # as one word where it could be taken for an option
            words += [f"--{name}={value}"] if value.startswith("-") else [f"--{name}", value]
    return shlex.join([*words, "--exactly"])


def _beside(chosen: Chosen) -> dict[str, tuple[str, str]]:
    """What a ranking depends on beside its stages, in words, and as a command says it."""
    bits = {} if chosen.bits is None else {"the SimHash bits": ("bits", str(chosen.bits))}
    scorer = {"who scores pairs": ("scorer", chosen.scorer)} if asks_for(chosen.stages, CrossEncoder) else {}
    return bits | scorer


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
