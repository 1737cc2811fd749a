"""Text as a spreadsheet may be given it: the one escape for every file that could be opened in one."""

from __future__ import annotations

import csv
import io
import re
from typing import TYPE_CHECKING

from reports.texts import UNSEEN

if TYPE_CHECKING:
    from collections.abc import Iterable

BOM = b"\xef\xbb\xbf"  # by which a spreadsheet knows UTF-8

# the wide forms are what an input method for Chinese or Japanese writes; spreadsheets there take them for the narrow
FORMULA = ("=", "+", "-", "@", "|", "%", "\uff1d", "\uff0b", "\uff0d", "\uff20")
# blanks, controls, quotes, what cannot be seen, and fillers, which count as letters and show as nothing
LEADING = re.compile(f"(?:{UNSEEN.pattern}|[\\s\x00-\x1f\x7f-\x9f\u115f\u1160\u3164\uffa0\"'])*")


def harmless(text: str) -> str:
    """Text that no spreadsheet takes for a formula, also not behind blanks, quotes or invisible characters."""
    if text[:1].isascii() and text[:1].isalnum():
        return text
    before = LEADING.match(text)
    hidden = before.group() if before else ""
    runs = text[len(hidden) :].startswith(FORMULA) or any(sign in hidden for sign in "\t\r\n")
    return f"'{text}" if runs else text


def csv_line(cells: Iterable[object]) -> str:
    """One row of a file of comma-separated values: every field quoted, none that a spreadsheet would run."""
    line = io.StringIO()
    plain = ("" if cell is None else harmless(cell) if isinstance(cell, str) else cell for cell in cells)
    csv.writer(line, quoting=csv.QUOTE_ALL, lineterminator="\r\n").writerow(plain)
    return line.getvalue()


def restored(cell: str) -> str:
    """What a harmless text was before: a quotation mark is ours exactly where one had to be added."""
    return cell[1:] if cell.startswith("'") and harmless(cell[1:]) == cell else cell
