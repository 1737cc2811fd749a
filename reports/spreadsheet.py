"""Text as a spreadsheet may be given it: the one escape for every file that could be opened in one."""

from __future__ import annotations

import re

FORMULA = ("=", "+", "-", "@", "|", "%")
LEADING = re.compile("[\\s\ufeff\u200b-\u200f\u202a-\u202e\u2066-\u2069\x00-\x1f\"']*")


def harmless(text: str) -> str:
    """Text that no spreadsheet takes for a formula, also not behind blanks, quotes or invisible characters."""
    if text[:1].isalnum():
        return text
    before = LEADING.match(text)
    hidden = before.group() if before else ""
    runs = text[len(hidden) :].startswith(FORMULA) or any(sign in hidden for sign in "\t\r\n")
    return f"'{text}" if runs else text


def restored(cell: str) -> str:
    """What a harmless text was before: a quotation mark is ours exactly where one had to be added."""
    return cell[1:] if cell.startswith("'") and harmless(cell[1:]) == cell else cell
