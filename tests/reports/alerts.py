"""Alerts made for tests: every field told apart, and as many as a test wants."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from analysis.drift.alerts import Alert, AlertFilter, Found, Opposed, Side, Triage
from ranking import Evidence
from ranking.contradictions import Kind
from reports.about import About

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NOW = datetime(2026, 3, 29, 12, 34, 56, 789, tzinfo=UTC)
OLDER = "Deploys always run from the release branch."
NEWER = "Deploys never run from the release branch."
STATES = ("new", "acknowledged", "investigating", "resolved", "false positive", "snoozed")


def alert(number: int = 1, older: str = OLDER, newer: str = NEWER, **fields: Any) -> Alert:  # noqa: ANN401 - Alert's own
    """An alert about two texts, their evidence the words always and never."""
    rests = tuple(
        Evidence(side, word, text.index(word), text.index(word) + len(word))  # type: ignore[arg-type]
        for side, text, word in (("older", older, "always"), ("newer", newer, "never"))
        if word in text
    )
    made = Alert(
        org_id="org_a",
        project_id="api",
        fingerprint=hashlib.sha256(f"{number}".encode()).hexdigest()[:32],
        kind=tuple(Kind)[number % 4],
        rule="always against never",
        overlap=0.75,
        severity=max(99.0 - number % 100, 0.5),
        parts=(("recency", 0.9), ("domain", 0.4), ("frequency", 0.5), ("gap", 0.125)),
        evidence=rests,
        older=side(f"older {number}", older, number + 3),
        newer=side(f"newer {number}", newer, number % 120),
        both_injected=number % 3,
        harm=max(80.0 - number / 10, 0.25),
        triage=Triage(STATES[number % 6]),  # type: ignore[arg-type]
    )
    return replace(made, **fields)


def side(name: str, content: str, days: int) -> Side:
    """A statement written so many days ago."""
    digest = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
    label = hashlib.sha256(name.encode()).hexdigest()
    uuid = f"{label[:8]}-{label[8:12]}-4{label[13:16]}-8{label[17:20]}-{label[20:32]}"
    written = NOW - timedelta(days=days)
    return Side(uuid, content, digest, f"agent {days % 5}", f"session {days}", written, 0.85, 3, 2, days % 7)


def alerts(count: int) -> Iterator[Alert]:
    """So many alerts, none held."""
    return (alert(number) for number in range(1, count + 1))


def hostile(texts: Sequence[str]) -> list[Alert]:
    """One alert per text, which stands wherever a tenant can write."""
    return [
        alert(
            number,
            older=f"{text} always",
            newer=f"never {text}",
            org_id=text,
            project_id=text,
            rule=text,
            triage=Triage("resolved", "both", text, text, None, 3, text, NOW),
        )
        for number, text in enumerate(texts, 1)
    ]


def about(**fields: Any) -> About:  # noqa: ANN401 - About's own
    """What the reports of these tests are about."""
    given: dict[str, Any] = {
        "filter": AlertFilter(0.5),
        "found": Found(
            (),
            9_876,
            12_345,
            678,
            "0123456789abcdef",
            NOW,
            procedure="d 7",
            opposed=Opposed("feed00c0ffee1234", 7, defaults=False),
        ),
        "org_id": "org_a",
        "org_name": "Alder & Sons",
        "project_id": None,
        "permalink": "/drift_alerts?org=org_a",
        "rankscope": "12.3.4",
    }
    return About(**given | fields)
