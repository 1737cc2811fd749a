"""One look for every chart: colours that carry meaning, a title that says the finding, no decoration."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import plotly.graph_objects as go

TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]|⟦(?=U\\+)")  # as in queries.scope
QUIET = {"displayModeBar": False}  # how every chart is drawn: without buttons over it
UP = "#1B7F79"
DOWN = "#C8553D"
DISPUTED = "#9070C2"
DEGRADED = "#B7860B"
NEUTRAL = "#7B909A"  # like the four above at least 3 : 1 against both themes' backgrounds
# Plotly's own are American: the day stands first here, and hours and months keep theirs.
DAYS = [{"dtickrange": [86_400_000, "M1"], "value": "%-d %b\n%Y"}]
# Plotly breaks no title and cuts what is beyond the picture, which is 544 pixels wide in a window of 900. In so many
# letters the widest titles of Health measured 522, in bold: the rest is for a scroll bar.
LONGEST_LINE = 76
TIED = "\N{NO-BREAK SPACE}"
FEW = 4  # up to which Plotly would put halves between whole numbers
LINE = 20  # pixels from one line of a title to the next
FAINT = "rgba(143, 163, 173, 0.35)"  # for what does not count, and for what lies behind


def finish(figure: go.Figure, title: str, height: int = 260) -> go.Figure:
    """The figure with its finding as title and the margins, legend and grid that all charts share."""
    figure.update_layout(
        overwrite=True,  # merged key by key, this alone takes longer than the rest of a page's chart
        title={"text": title, "font": {"size": 15}, "x": 0, "xanchor": "left", "y": 0.98, "yanchor": "top"},
        height=height,
        margin={"l": 8, "r": 8, "t": 56, "b": 8},
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom", "traceorder": "normal"},
        hovermode="x",
        dragmode=False,
    )
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(rangemode="tozero")
    return figure


def finish_wrapped(figure: go.Figure, title: str, height: int) -> go.Figure:
    """As ``finish``, its title broken where a narrow window would cut it off; each line more has its room.

    A number stays beside what it counts: a day before its month, and a share before its sign.
    """
    tied = re.sub(r"(?<=\d) ", TIED, title)
    lines = [line.replace(TIED, " ") for line in wrap(tied, LONGEST_LINE, break_on_hyphens=False)]
    more = LINE * (len(lines) - 1)
    finish(figure, "<br>".join(lines), height + more)
    figure.layout.margin.t += more
    # the theme holds the title by the middle of its first line and cuts what is above the edge
    figure.layout.title.y -= more / (2 * (height + more))
    return figure


def count_axis(most: float, ticks: int | None = None) -> dict[str, object]:
    """An axis of counts up to ``most``, with about so many ticks: one at each of few, where halves would round alike.

    Plotly has at most ten steps on an axis, which is a twentieth longer than its bars: from 5 on steps are whole.
    """
    return {"tickformat": ",d", **({"nticks": ticks} if most > FEW else {"tick0": 0, "dtick": 1})}


def literal(text: str) -> str:
    """Tenant text as plotly shows it letter by letter: it would read some tags and entities as markup.

    What would turn the letters unseen stands there by its number, as on the rest of a page.
    """
    text = TURNING.sub(lambda found: f"⟦U+{ord(found[0]):04X}⟧", text)
    return text.replace("&", "&amp;").replace("<", "&lt;")


def counted(count: int, noun: str) -> str:
    """A count with its noun, in the plural where it needs one."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def short(text: str, longest: int) -> str:
    """The beginning of a text, with an ellipsis as the last of its characters where something is left out."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
