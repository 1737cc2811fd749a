"""Feedback Impact as a test reads it, and the log behind it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import uuid5

from tests import sample
from tests.impact_log import Retrieval, believable, damaged, plant, seeded

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

PAGE = "feedback_impact.py"


def swapped(name: str, one: int, other: int, **more: Any) -> Retrieval:  # noqa: ANN401 - Retrieval's own
    """Eight candidates and a block of four, in which feedback swapped two places."""
    made = believable(seeded(1), name, 8, block=4, **more)
    after = list(range(8))
    after[one], after[other] = after[other], after[one]
    for place, row in enumerate(made.rows):
        row.before, row.after, row.injected = place, after[place], after[place] < 4
        row.relevance, row.boost, row.weight = 0.9 - place / 20, None, 1.0
        row.weighted = row.relevance
        row.observation = uuid5(sample.NAMESPACE, f"swapped/{place}")
    return made


def torn(name: str) -> Retrieval:
    """One that lost a row which feedback had moved, so that its changes no longer sum to zero."""
    made = swapped(name, 2, 5)
    del made.rows[2]
    return made


def plant_swapped(owner: Owner) -> None:
    """Five comparable retrievals: one moved across the cut, one within the top; and one of each fault."""
    sample.add_organization(owner, "org_a", "Acme")
    sample.add_organization(owner, "org_b", "Birch")
    for number, outcome in enumerate(("accepted", "rework", None)):
        owner.execute(
            """insert into sessions (org_id, id, project_id, agent_id, work_type, outcome, created_at)
               values ('org_a', %s, 'api', %s, 'chore', %s, now())""",
            (f"s{number}", f"agent-{number}", outcome),
        )
    draw = seeded(2)
    plant(
        owner,
        [
            swapped("cut", 3, 4, session="s0", query="how do we deploy"),
            swapped("top", 0, 1, session="s1", query="100% _sure_"),
            *(swapped(f"same{n}", 7, 7, session="s2") for n in range(3)),
            torn("hole"),
            damaged(draw, swapped("twice", 0, 0), "twice"),
            damaged(draw, swapped("number", 0, 0), "number"),
            swapped("off", 0, 0, weighting=False),
            swapped("before", 0, 4, days_ago=40),
        ],
    )


def said(test: AppTest) -> str:
    elements = (*test.markdown, *test.caption, *test.subheader, *test.text, *test.warning, *test.info)
    return "\n".join(element.value for element in elements)


def titles(test: AppTest) -> list[str]:
    return [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in test.get("plotly_chart")]
