"""Every page of the application by section: its script beside the shell, its name, and the question it answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One page: its script, its name, and the question it answers."""

    script: str
    title: str
    icon: str
    answers: str
    in_window: bool = True  # a page about one thing, or about the whole of a history, says so itself
    meanwhile: str = "Until then, look at another organization."  # what to do before anything was stored


SECTIONS = {
    "Fleet": [
        Entry(
            "overview.py",
            "Overview",
            ":material/monitoring:",
            "What each organization stores and retrieves, what feedback changed",
        ),
        Entry(
            "health.py",
            "Health",
            ":material/health_and_safety:",
            "Whether memory is in good order, what to do where it is not, and which memories to look at",
        ),
    ],
    "Ranking": [
        Entry(
            "inspector.py",
            "Inspector",
            ":material/troubleshoot:",
            "Why a memory ranks where it does, for one question and any pipeline",
        ),
        Entry(
            "observation.py",
            "Observation",
            ":material/article:",
            "Where one memory came from, who says the same or the opposite, and what became of it",
            in_window=False,
        ),
    ],
    "Agreement": [
        Entry(
            "corroboration.py",
            "Corroboration",
            ":material/groups:",
            "Which memories agents agree on, which only repeat themselves, and what agreement is worth",
        ),
    ],
    "Feedback": [
        Entry(
            "feedback_impact.py",
            "Feedback Impact",
            ":material/swap_vert:",
            "What feedback weighting did to rankings and to what agents were given",
        ),
        Entry(
            "what_if.py",
            "What-if",
            ":material/tune:",
            "What other settings would have done to the retrievals that were logged",
        ),
    ],
    "Drift": [
        Entry(
            "drift_alerts.py",
            "Drift Alerts",
            ":material/difference:",
            "Which memories contradict each other, how far they reached agents, and what was decided",
        ),
    ],
    "Steering": [
        Entry(
            "feature_flags.py",
            "Feature flags",
            ":material/flag:",
            "Which flags each organization has set, what a change would do, and what changes did",
            in_window=False,
            meanwhile="Flags stand below all the same; a change of one has nothing yet to be previewed on.",
        ),
    ],
}
