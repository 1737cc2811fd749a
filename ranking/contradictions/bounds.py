from ranking.contradictions.lexicon import APPROXIMATE, BOUNDS
from ranking.contradictions.reading import Token

_THAN = {"more": "least", "greater": "least", "longer": "least", "less": "most", "fewer": "most"}
_OR = frozenset({"or", "and"})
_OR_MORE = {
    **dict.fromkeys(
        ("newer", "later", "higher", "above", "more", "greater", "longer", "up", "over", "upwards"), "least"
    ),
    **dict.fromkeys(("older", "earlier", "lower", "below", "less", "fewer", "under", "shorter"), "most"),
}
# places from "between" to the second number
_BETWEEN = 4
_BOUNDING = frozenset({"to", "than", *BOUNDS, *APPROXIMATE})


def bound_of(tokens: list[Token], at: int, stop: int) -> str:
    """Whether a number is the least, the most, about or an end of what is meant, from the words beside it."""
    if tokens[at].text[-1] == "+":
        return "least"
    either, more, *_ = (*(token.lower for token in tokens[stop : stop + 2]), "", "")
    if either in _OR and more in _OR_MORE:
        return _OR_MORE[more]
    if (behind := _from_behind([token.lower for token in tokens[stop : stop + 3]])) is not None:
        return behind
    if any(token.lower == "between" for token in tokens[max(at - _BETWEEN, 0) : at]):
        return "range"
    return _from_before([token.lower for token in tokens[max(at - 2, 0) : at]])


def _from_behind(words: list[str]) -> str | None:
    """The bound that "20 connections max", "20 max" and "20 connections at least" say, and nothing else does."""
    for place in (0, 1):
        if words[place : place + 1] in (["max"], ["maximum"]):
            return "most"
        if words[place : place + 1] == ["at"] and words[place + 1 : place + 2] in (["most"], ["least"]):
            return words[place + 1]
    return None


def _from_before(words: list[str]) -> str:
    if _BOUNDING.isdisjoint(words):
        return ""
    if words == ["up", "to"]:
        return "most"
    if words[1:] == ["than"] and words[0] in _THAN:
        return _THAN[words[0]]
    bounds = [BOUNDS[word] for word in words if word in BOUNDS]
    return bounds[0] if bounds else "" if APPROXIMATE.isdisjoint(words) else "about"
