import re
from typing import NamedTuple

# the order matters: what is longest and most particular comes first; taking the space before a token along saves a try
_PATTERN = re.compile(
    r"""
    [ ]?(?:
    (?P<plain>[A-Za-z]++(?=[ ,;!?)]|\.?$|\.\s))
  | (?P<named>[A-Za-z]++-[A-Za-z]*+\d[A-Za-z\d]*+(?=[ ,;!?)]|\.?$|\.\s))
  | (?P<digits>\d++(?=[ ][b-oq-zB-OQ-Z]|\.?$))
  | (?P<quoted>"[^"\n]{1,80}"|“[^”\n]{1,80}”|`[^`\n]{1,80}`|«[^»\n]{1,80}»|(?<![\w'])'[^'\n]{2,80}'(?!\w))
  | (?P<address>https?://[^\s<>"'`]*[\w/]|[\w.+-]+@[\w-]+\.[\w.]+|--[a-z][\w-]*|[A-Z]:\\[\w.\\-]+|
        (?:[\w.~-]*/){2,}(?:[\w.*-]*[\w*])?|/[\w.-]*\w|[^\W\d]\w*/[^\W\d]\w*|
        [\w-]+(?:\.\w+)*\.
            (?:py|js|ts|tsx|go|rs|java|rb|toml|json|ya?ml|md|txt|sql|sh|cfg|ini|env|lock|html|css|csv|xml)\b|
        [A-Za-z]+(?:-[A-Za-z]+)*-[A-Za-z]*\d[A-Za-z\d]*(?![\w.-]*\d)|[A-Za-z]+(?:_[A-Za-z0-9]+)+)
  | (?P<share>\d+/\d+(?=\s?(?:cups?|tsp|tbsp|teaspoons?|tablespoons?|inch|inches|pounds?|lbs?|oz|of|the)\b))
  | (?P<date>\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}(?:/\d{2,4})?)(?![\w/])
  | (?P<aside>\#\d[\d.]*|\d[\d,.]*\s?[-–]\s?\d[\d,.]*(?=[^\w-]|[a-zA-Z%])(?!\w*-\d))
  | (?P<clock>(?:\d{1,2}:\d\d(?::\d\d)?(?:\s?(?i:[ap]m\b|[ap]\.m\.))?)|\d{1,2}\s?(?i:[ap]\.m\.|[ap]m\b))
  | (?P<version>[vV]\d+(?:\.\d+)*\b|\d+(?:\.\d+){2,}(?:-?[a-z]+\d*)?)
  | (?P<number>(?:[$€£]\s?)?\d(?:[\d,]*\d)?(?:\.\d+)?(?:[eE]-?\d+)?\+?)
        (?P<unit>[ ]{0,3}%|
            (?:[kKmM]|[µu]s|ms|s|h|[kKMGT]i?[bB]|min|hrs?|mins?|secs?|x|th|st|nd|rd|rps|qps|d|
            px|em|rem|pt|dpi|fps|[kKMG]?bps|[kKMG]?[hH]z|rpm|mAh|mA|V|W|mm|cm|kg|mg|g|ft|lbs?|oz|ml)\b)?
        (?!\w|\.\d)
  | (?P<short>\b(?:e\.g\.|i\.e\.|vs\.|etc\.|approx\.|a\.k\.a\.))
  | (?P<word>\d+\.\d+[A-Za-z]+\b|[^\W_]+(?:['\u2019][^\W\d_]+)*|n['\u2019]t\b|~)
  | (?P<stop>[.!?;\n]|—|–|\s-\s|\s--\s)
  | (?P<comma>[,:()])
    )
    """,
    re.VERBOSE,
)
# patterns that read what another reads too
_KINDS = {"share": "aside"}


class Token(NamedTuple):
    """A piece of a text, as written and where; ``kind`` is the name of the pattern that read it."""

    kind: str
    text: str
    start: int
    end: int
    lower: str
    unit: str = ""
    tied: bool = False


# the numbers of the patterns that most tokens are read by: words, and identifiers and numbers that nothing is tied to
_SIMPLE = {
    _PATTERN.groupindex[name]: kind for name, kind in (("plain", "word"), ("named", "address"), ("digits", "number"))
}


def read(text: str) -> list[Token]:
    """The tokens of a text, in order; whatever is none of them separates."""
    tokens: list[Token] = []
    # the short way round a named tuple's own maker takes half the time
    new, append = tuple.__new__, tokens.append
    for match in _PATTERN.finditer(text):
        group = match.lastindex or 0
        if group in _SIMPLE:
            start, end = match.span(group)
            simple, whole = _SIMPLE[group], text[start:end]
            append(new(Token, (simple, whole, start, end, whole.lower(), "", start > 0 and text[start - 1] == "-")))
            continue
        kind, unit = match.lastgroup or "", ""
        if kind == "unit":
            kind, unit = "number", match["unit"].strip()
        start, end = match.start(kind), match.end()
        whole = text[start:end]
        lower = whole.lower()
        if not whole.isascii():
            lower = lower.replace("\u2019", "'")
        tied = start > 0 and text[start - 1] == "-"
        append(new(Token, (_KINDS.get(kind, kind), whole, start, end, lower, unit, tied)))
    return tokens
