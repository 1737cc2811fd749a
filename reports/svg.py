"""Pictures as SVG drawn by hand: no script, no font, no colour of their own; the page's style gives them those."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reports.pictures import Picture

NARROW, WIDE = 460, 960
ROW, LABEL, VALUE = 26, 118, 56
TALL = 130
ROOM = 20  # above the highest column, for its value
BELOW = 38  # for labels and unit


def drawn(picture: Picture) -> str:
    """A picture under its finding."""
    width = WIDE if picture.wide else NARROW
    shape = ' class="wide"' if picture.wide else ""
    drawing = _columns(picture, width) if picture.upright else _rows(picture, width)
    return f"<figure{shape}><figcaption>{escape(picture.title)}</figcaption>{drawing}</figure>"


def _rows(picture: Picture, width: int) -> str:
    """Horizontal bars, label before and value after; the highest value of their scale fills the width."""
    room = width - LABEL - VALUE
    parts = []
    for at, bar in enumerate(picture.bars):
        y = at * ROW
        place = f'x="{LABEL}" y="{y + 5}" height="{ROW - 10}" rx="2"'
        parts.append(
            f'<text x="{LABEL - 10}" y="{y + 17}" text-anchor="end">{escape(bar.label)}</text>'
            f'<rect class="track" {place} width="{room}"/>'
            f'<rect class="bar {bar.shade}" {place} width="{room * bar.value / picture.full:.1f}"/>'
            + (
                f'<text x="{LABEL + 10}" y="{y + 17}">{escape(bar.instead)}</text>'
                if bar.instead
                else f'<text class="value" x="{LABEL + room + 8}" y="{y + 17}">{escape(picture.shown(bar))}</text>'
            )
        )
    return _svg(width, max(len(picture.bars), 1) * ROW, parts)


def _columns(picture: Picture, width: int) -> str:
    """Columns over a base line."""
    bars, base = picture.bars, TALL + ROOM
    step = width / max(len(bars), 1)
    parts = [f'<line class="axis" x1="0" x2="{width}" y1="{base}" y2="{base}"/>']
    for at, bar in enumerate(bars):
        tall, middle = TALL * bar.value / picture.full, (at + 0.5) * step
        parts.append(
            f'<rect class="bar {bar.shade}" x="{(at + 0.12) * step:.1f}" y="{base - tall:.1f}" '
            f'width="{step * 0.76:.1f}" height="{tall:.1f}" rx="1.5"/>'
        )
        if value := picture.shown(bar):
            anchor, x = _anchor(at, len(bars), middle, width)
            place = f'x="{x:.1f}" y="{base - tall - 5:.1f}" text-anchor="{anchor}"'
            parts.append(f'<text class="value" {place}>{escape(value)}</text>')
        if at % picture.every == 0:
            anchor, x = ("middle", middle) if picture.every == 1 else ("start", (at + 0.12) * step)
            parts.append(f'<text x="{x:.1f}" y="{base + 16}" text-anchor="{anchor}">{escape(bar.label)}</text>')
    parts.append(f'<text x="{width}" y="{base + 33}" text-anchor="end">{escape(picture.unit)}</text>')
    return _svg(width, base + BELOW, parts)


def _anchor(at: int, count: int, middle: float, width: int) -> tuple[str, float]:
    """Beside the edges a value would be cut."""
    if count > 1 and at in (0, count - 1):
        return ("start", 0.0) if at == 0 else ("end", float(width))
    return "middle", middle


def _svg(width: int, height: int, parts: Sequence[str]) -> str:
    return f'<svg viewBox="0 0 {width} {height}" aria-hidden="true">{"".join(parts)}</svg>'
