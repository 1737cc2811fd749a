"""Contradictions in a store, one pair per text, none of which meets another."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests import sample
from tests.memories import add_memory

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

TODAY = datetime.now(UTC)


def plant(owner: psycopg.Connection[Any], org: str, texts: Sequence[str], *, first: int = 1, name: str = "") -> None:
    """An organization whose statements about each text contradict each other; 40 days lie between two pairs."""
    sample.add_organization(owner, org, name or f"{org} <b>")
    for number, text in enumerate(texts):
        for side, word in enumerate(("enabled", "disabled")):
            written = TODAY - timedelta(days=40 * number + 2 - side)
            content = f"{text}\nThe sync{number} job{number} of queue{number} is {word} in region{number}."
            add_memory(owner, org, first + 2 * number + side, content, created_at=written, agent_id=f"agent-{side}")
