"""Which characters the PDF's fonts have. The others are shown by their numbers: a box would say nothing."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

TABLE = Path(__file__).parent / "glyphs.txt"
FAMILIES = ("Libertinus Serif", "New Computer Modern", "DejaVu Sans Mono")
OPEN, CLOSE = "⟦", "⟧"  # in no other text of a PDF: a tenant's own are shown by their numbers, too
WORD = 20  # letters after which a word that does not end may be broken: so many of the widest fit beside each other
BREAK = "\u200b"


@cache
def families() -> tuple[frozenset[str], ...]:
    """The characters of each family that are there in regular and in bold."""
    told = dict(line.split(": ") for line in TABLE.read_text(encoding="ascii").splitlines() if line[0] != "#")
    return tuple(frozenset(_characters(told[family])) for family in FAMILIES)


def _characters(ranges: str) -> list[str]:
    bounds = [(int(first, 16), int(last or first, 16)) for first, _, last in (r.partition("-") for r in ranges.split())]
    return [chr(code) for first, last in bounds for code in range(first, last + 1)]


def printed(text: str) -> str:
    """The text with what no font can draw as ⟦U+4E2D U+6587⟧, and with places to break words that never end."""
    text = text.replace("\t", "    ")
    plain = text.isascii() and text.replace("\n", "").isprintable()
    return _breakable(text if plain else _numbered(text, lines=True))


def on_a_line(text: str) -> str:
    """The same for the middle of a line, where also line ends and tabs are shown by their numbers."""
    return _breakable(text if text.isascii() and text.isprintable() else _numbered(text, lines=False))


def _numbered(text: str, *, lines: bool) -> str:
    """A letter and its accents are drawn from one font or not at all."""
    shown: list[str] = []
    lacking: list[str] = []
    for cluster in _clusters(text):
        if (lines and cluster == "\n") or any(font.issuperset(cluster) for font in families()):
            _close(shown, lacking)
            shown.append(cluster)
        elif any(cluster[0] in font for font in families()):
            _close(shown, lacking)
            shown.append(cluster[0])
            lacking += cluster[1:]
        else:
            lacking += cluster
    _close(shown, lacking)
    return "".join(shown)


def _close(shown: list[str], lacking: list[str]) -> None:
    if lacking:
        shown.append(f"{OPEN}{' '.join(f'U+{ord(sign):04X}' for sign in lacking)}{CLOSE}")
        lacking.clear()


def _clusters(text: str) -> list[str]:
    found: list[str] = []
    for sign in text:
        if found and unicodedata.category(sign)[0] == "M" and found[-1] != "\n":
            found[-1] += sign
        else:
            found.append(sign)
    return found


def _breakable(text: str) -> str:
    return re.sub(rf"\S{{{WORD}}}(?=\S)", _broken, text)


def _broken(found: re.Match[str]) -> str:
    after = found.string[found.end()]
    return found.group() if unicodedata.category(after)[0] == "M" else found.group() + BREAK
