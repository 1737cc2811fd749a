"""What the terms beside an alert mean: a report is read by people who never saw the page's tooltips."""

from __future__ import annotations

from analysis.drift.meanings import CLAIM_OVERLAP, SAID_BY, SEVERITY_PARTS, WEIGHT

# on top, where severity and harm first stand; two lines at most: what is counted fills the first page
MEASURES = (
    "severity, 0 to 100: how recent, sensitive and often said the claims are; harm, 0 to 100: from a "
    "quarter of the severity, where no agent is known to have been given either claim, up to all of it, where they "
    "were given often and many sessions had both"
)
LEGEND = (
    ("shared words", f"{CLAIM_OVERLAP} 1: all of them."),
    ("recency, frequency", "From 0 to 1: how new the newer statement is, and how many observations say either."),
    ("domain", SEVERITY_PARTS["domain"]),
    ("confidence gap", SEVERITY_PARTS["gap"]),
    ("weight", WEIGHT),
    ("said by", SAID_BY),
)
