"""What jobs print where a person reads it: names and texts are tenants', and a terminal obeys control characters."""

from __future__ import annotations


def printable(text: str) -> str:
    """Text for a terminal: controls, also those that reverse the reading direction, appear as escapes."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
