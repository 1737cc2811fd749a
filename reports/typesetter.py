"""JSON in, PDF out: a program of its own (``python typesetter.py``), so that its memory ends with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import typst

TEMPLATE = Path(__file__).parent / "report.typ"


def document(given: str, standard: Literal["a-2u"] | None) -> bytes:
    """The document: no system font, no clock, no network, the same bytes for the same data."""
    return typst.compile(
        str(TEMPLATE),
        format="pdf",
        sys_inputs={"data": given},
        ignore_system_fonts=True,
        timestamp=0,
        pdf_standards=standard,
    )


def main() -> None:
    """Set what stands on the standard input: archivable (PDF/A-2u), or plain if a letter turns out to be missing."""
    given = sys.stdin.buffer.read().decode("utf-8")
    try:
        made = document(given, "a-2u")
    except typst.TypstError:
        made = document(given, None)
    sys.stdout.buffer.write(made)


if __name__ == "__main__":
    main()
