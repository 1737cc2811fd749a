"""JSON in, PDF out: a program of its own (``python typesetter.py``), so that its memory ends with it."""

from __future__ import annotations

import sys
from pathlib import Path

import typst

TEMPLATE = Path(__file__).parent / "report.typ"


def document(given: str, **standard: str) -> bytes:
    """The document: no system font, no clock, no network, the same bytes for the same data."""
    made = typst.compile(
        str(TEMPLATE), format="pdf", sys_inputs={"data": given}, ignore_system_fonts=True, timestamp=0, **standard
    )
    if not isinstance(made, bytes):
        raise TypeError(f"expected one document, found {type(made).__name__}")
    return made


def main() -> None:
    """Set what stands on the standard input: archivable (PDF/A-2u), or plain if a letter turns out to be missing."""
    given = sys.stdin.buffer.read().decode("utf-8")
    try:
        made = document(given, pdf_standards="a-2u")
    except typst.TypstError:
        made = document(given)
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    main()
