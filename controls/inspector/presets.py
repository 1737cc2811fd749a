"""What the presets are called on the page: by what they do; links and commands have them by their names."""

from __future__ import annotations

OWN = "own"
LABELS = {
    OWN: "The organization's own",
    "LIVE": "Live without the boost",
    "INTENDED": "Live with the boost",
    "MEMSENSE": "Whole sessions, varied",
    "MEMINI": "Recent and important first",
    "AI_MEMORY": "Reread by cross-encoder",
    "FULL": "Everything",
}
# the documents that describe them
ORIGINS = {
    "LIVE": "000 and 001",
    "INTENDED": "000",
    "MEMSENSE": "Memsense, 002",
    "MEMINI": "Memini, 003",
    "AI_MEMORY": "AI memory, 004",
    "FULL": "all five",
}
