"""A statement with the words that show a conflict set apart, as text that no markup in it can escape from."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING

import plotly.graph_objects as go

from charts.look import literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    Span = tuple[int, int]
    Piece = tuple[str, bool]

COLUMNS = 50  # letters of a line, as many as fit half of a laptop's page
LONGEST = 1_200  # letters that are drawn, around the first words that show the conflict
LEAD = 300  # letters of them before those words
LINE = 21  # pixels
DARK_INK, LIGHT_INK = "#31333F", "#FAFAFA"
DARK_DISPUTED, LIGHT_DISPUTED = "#7B5EA7", "#B79CE0"  # the colour of disputes as text on a light and a dark page
HIDDEN = "·"  # what has no shape of its own, or would turn round the letters after it


def excerpt(text: str, spans: Sequence[Span]) -> tuple[int, int]:
    """Which part of a text is drawn: all of it, or what stands around the first evidence."""
    if len(text) <= LONGEST:
        return 0, len(text)
    first = min((start for start, _ in spans), default=0)
    begin = max(0, min(first - LEAD, len(text) - LONGEST))
    return begin, begin + LONGEST


def lines(text: str, spans: Sequence[Span]) -> list[list[Piece]]:
    """The drawn part wrapped at words, each line as pieces that are evidence or not."""
    begin, end = excerpt(text, spans)
    marked = [False] * (end - begin)
    for start, stop in spans:
        for at in range(max(start, begin), min(stop, end)):
            marked[at - begin] = True
    wrapped = [list(_pieces(text[begin + a : begin + b], marked[a:b])) for a, b in _breaks(text[begin:end])]
    if begin > 0 and wrapped:
        wrapped[0].insert(0, ("… ", False))
    if end < len(text) and wrapped:
        wrapped[-1].append((" …", False))
    return wrapped


def statement(text: str, spans: Sequence[Span], *, dark: bool = False) -> go.Figure:
    """The text in a fixed-width font, evidence bold, underlined and in the colour of disputes."""
    ink, marked = (LIGHT_INK, LIGHT_DISPUTED) if dark else (DARK_INK, DARK_DISPUTED)
    drawn = lines(text, spans)
    figure = go.Figure()
    for row, pieces in enumerate(drawn):
        figure.add_annotation(
            x=0, y=-row, xref="paper", yref="y", xanchor="left", yanchor="middle", showarrow=False, align="left",
            text="".join(_marked(piece, marked) if shows else literal(piece) for piece, shows in pieces) or " ",
            font={"family": "monospace", "size": 14, "color": ink},
        )  # fmt: skip
    rows = max(len(drawn), 1)
    figure.update_xaxes(visible=False, range=[0, 1], fixedrange=True)
    figure.update_yaxes(visible=False, range=[-rows + 0.4, 0.6], fixedrange=True)
    figure.update_layout(height=LINE * rows + 8, margin={"l": 4, "r": 0, "t": 4, "b": 4}, dragmode=False)
    return figure


def _marked(piece: str, colour: str) -> str:
    return f'<b><u><span style="color:{colour}">{literal(piece)}</span></u></b>'


def _pieces(text: str, marked: list[bool]) -> Iterator[Piece]:
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or marked[at] != marked[start]:
            yield "".join(map(_shown, text[start:at])), marked[start]
            start = at


def _shown(letter: str) -> str:
    return HIDDEN if unicodedata.category(letter) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") else letter


def _width(letter: str) -> int:
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def _breaks(text: str) -> Iterator[tuple[int, int]]:
    """Where lines begin and end: at the text's own breaks, else at the last space that fits, else in a long word."""
    begin = 0
    while begin < len(text):
        width, at, space = 0, begin, None
        while at < len(text) and text[at] != "\n" and width + _width(text[at]) <= COLUMNS:
            width += _width(text[at])
            space = at if text[at] == " " else space
            at += 1
        if at == len(text) or text[at] == "\n":
            yield begin, at
            begin = at + 1
        else:
            end = at if space is None or space == begin else space
            yield begin, end
            begin = end if space is None or space == begin else end + 1
