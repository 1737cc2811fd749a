"""What every tooltip says, worded once: a term means the same on every page."""

from __future__ import annotations

FIND = (
    "An id or part of a name: organizations and projects by either, observations, retrievals and alerts by their id. "
    "Looked for in everything you may see."
)
SAVED_VIEW = "Keeps this page with its scope, filters and what is open, for you alone. Its link can be handed on."
