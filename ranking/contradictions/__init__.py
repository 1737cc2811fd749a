"""Which observations contradict each other, why, and how much that matters: no model, only words that can be shown."""

from ranking.contradictions.classifying import Verdict, classify, contradicts
from ranking.contradictions.conflicts import Kind
from ranking.contradictions.detecting import detect_contradictions
from ranking.contradictions.findings import Contradiction, Evidence
from ranking.contradictions.opposition import DEFAULT_PAIRS
from ranking.contradictions.severity import Severity

__all__ = [
    "DEFAULT_PAIRS",
    "Contradiction",
    "Evidence",
    "Kind",
    "Severity",
    "Verdict",
    "classify",
    "contradicts",
    "detect_contradictions",
]
