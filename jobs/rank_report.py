"""A retrieval as a command prints it: for a person, or for a program."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from jobs.terminal import printable
from ranking import ScorerUsed, explain, to_text
from retrieval.ab import weighs
from retrieval.block import one_line

if TYPE_CHECKING:
    from ranking import RowExplanation
    from retrieval.retrieve import Retrieval

SHOWN = 100  # characters of an observation in the list; as JSON it is whole


def as_text(found: Retrieval, *, explained: bool) -> str:
    """How it was ranked, what was not as it should be, then a line per row, best first."""
    lines = [
        f"pipeline  {found.pipeline}, weighting {'on' if weighs(found.ranking) else 'off'}",
        f"recalled  {found.way}, {len(found.ranking.candidates)} candidates",
        f"block     {len(found.injected)} observations, {found.block.tokens} of {found.block.budget} tokens",
        *([f"scorer    {found.scorer_used}"] if found.scorer_used is not ScorerUsed.NONE else []),
        *(f"degraded  {printable(reason)}" for reason in found.degraded),
        "",
    ]
    for row in rows(found, explained=explained):
        place = "    -" if row["rank"] is None else f"{row['rank'] + 1:5d}"
        mark = "*" if row["injected"] else " "
        lines.append(f"{place} {mark} {row['score']:8.4f}  {row['id']}  {printable(one_line(row['content']))[:SHOWN]}")
        lines += [f"{'':12}{effect['stage']}: {effect['sentence']}" for effect in row.get("stages", ())]
    return "\n".join([*lines, "", "* in the block"] if len(found.ranking.candidates) else [*lines, "nothing was found"])


def as_json(found: Retrieval, *, explained: bool) -> str:
    """The same for a program, with the texts whole."""
    session, packed = found.session, found.block
    told = {
        "org": session.org_id,
        "project": session.project_id,
        "query": found.query,
        "at": found.at.isoformat(),
        "pipeline": found.pipeline,
        "stages": to_text(found.stages),
        "weighting": weighs(found.ranking),
        "recall": found.way,
        "scorer": found.scorer_used,
        "degraded": found.degraded,
        "block": {"text": packed.text, "tokens": packed.tokens, "budget": packed.budget},
        "rows": rows(found, explained=explained),
        "neighbours": [asdict(each) for each in found.neighbours],
    }
    return json.dumps(told, indent=2)


def rows(found: Retrieval, *, explained: bool) -> list[dict[str, Any]]:
    """The rows as ranked; with explanations also those that a stage dropped, and what each stage did to each."""
    ranked = found.ranking.ids()
    dropped = (
        [label for label in found.ranking.candidates.ids.tolist() if label not in set(ranked)] if explained else []
    )
    return [_row(found, row, explained=explained) for row in explain(found.ranking, ids=[*ranked, *dropped]).rows]


def _row(found: Retrieval, row: RowExplanation, *, explained: bool) -> dict[str, Any]:
    candidates = found.ranking.candidates
    position = candidates.position(row.id)
    columns = [name for name in ("relevance", "weight", "corroborating") if name in candidates]
    told = {
        "id": str(row.id),
        "rank": row.rank,
        "score": row.score,
        "injected": row.id in found.injected,
        **{name: float(candidates[name][position]) for name in columns},
        "title": candidates.texts("title")[position].as_py(),
        "content": candidates.texts("content")[position].as_py(),
    }
    if explained:
        told["stages"] = [
            {
                "stage": type(e.stage).__name__,
                "score": e.score,
                "delta": e.delta,
                "rank": e.rank,
                "sentence": e.sentence,
            }
            for e in row.effects
        ]
    return told
