from collections.abc import Callable
from typing import NamedTuple

from ranking.contradictions.bounds import bound_of
from ranking.contradictions.measures import FREQUENCIES, MONTHS, NUMBERS, SCALES, UNITS, WEEKDAYS
from ranking.contradictions.reading import Token

_DAY = 86_400.0
_MONTH = 30 * _DAY
_NOON = 12
_HALF_DAY = 60 * _NOON
_TIMES = frozenset({"time", "times"})
_EVERY = frozenset({"every", "each", "per", "a", "an"})
_WORKING = frozenset({"business", "working", "calendar", "full", "whole", "more", "consecutive"})
_PARTS_OF_DAY = frozenset({"night", "morning", "evening"})
_TEN = 10
_MAY = 5
_MONTH_AND_DAY = 2
_TENS = frozenset(range(20, 100, 10))
_ORDINALS = frozenset({"th", "st", "nd", "rd"})
_CURRENCIES = {"$": "money", "€": "euro", "£": "pound"}
_LETTERS = {"k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6}
# counts only before a unit, where it is not a pronoun or a share; "one" before most nouns too
_SELDOM_COUNTS = frozenset({"one", "half", "once", "twice"})
ONE_AS_PRONOUN = frozenset({"", "of", "s", "is", "was", "or", "and", "to", "day", "that", "can", "thing"})
_COUNTS_AFTER_A = frozenset({"dozen", "hundred", "thousand", "million", "once"})
_ONE, _HALVED = frozenset({"a", "an"}), frozenset({*UNITS, *SCALES})
_AFTER_TWICE = frozenset({"", ",", "now", "already", "so", "since", "before", "and", "but"})

# words that are a value by themselves: its kind and normal form
_NAMED: dict[str, tuple[str, object]] = {
    **{f"{day}s": ("weekday", number) for day, number in WEEKDAYS.items()},
    **{day: ("weekday", number) for day, number in WEEKDAYS.items()},
    **{word: ("frequency", period) for word, period in FREQUENCIES.items()},
    "noon": ("clock", (_HALF_DAY, True)),
    "midday": ("clock", (_HALF_DAY, True)),
    "midnight": ("clock", (0, True)),
}
# words that may belong to the number before them
_BELONGS = frozenset({*UNITS, *MONTHS, *SCALES, *_WORKING, *_TIMES, "and", "of"})
_OFTEN = {"every": 1.0, "each": 1.0, "once": 1.0, "twice": 2.0}
VALUE_STARTS = frozenset({*_NAMED, *MONTHS, *NUMBERS, *_OFTEN})
# words that a value may take along, wherever they stand in it
TAKEN_ALONG = VALUE_STARTS | _BELONGS | _PARTS_OF_DAY | _EVERY


class Value(NamedTuple):
    """Something a slot can hold: its dimension, its normal form, where it stands, and what bounds it."""

    kind: str
    norm: object
    start: int
    end: int
    bound: str = ""

    @property
    def key(self) -> tuple[str, object, str]:
        return (self.kind, self.norm, self.bound)


class Found(NamedTuple):
    """A value and the number of tokens it took."""

    value: Value
    taken: int


def number_of(token: Token) -> float | None:
    """The number a token stands for, in digits or in words."""
    if token.kind == "number":
        digits = token.text.removesuffix(token.unit).strip(" $€£+").replace(",", "")
        return float(digits) * _LETTERS.get(token.unit, 1.0)
    return NUMBERS.get(token.lower) if token.kind == "word" else None


def clock_of(text: str) -> tuple[int, bool]:
    """Minutes since midnight, and whether the half of the day was said."""
    lower = text.lower().replace(".", "").replace(" ", "")
    half = lower[-2:] if lower.endswith(("am", "pm")) else ""
    hour, _, rest = lower.removesuffix(half).partition(":")
    at = int(hour)
    if half:
        at = at % _NOON + (_NOON if half == "pm" else 0)
    return at * 60 + int(rest[:2] or 0), bool(half) or at > _NOON or hour.startswith("0")


def same_clock(one: object, other: object) -> bool:
    """Whether two times of day agree; without am or pm, either half of the day will do."""
    if not isinstance(one, tuple) or not isinstance(other, tuple):
        return one == other
    (left, left_said), (right, right_said) = one, other
    return bool(left == right or (not (left_said and right_said) and left % _HALF_DAY == right % _HALF_DAY))


def _lower(tokens: list[Token], at: int) -> str:
    return tokens[at].lower if 0 <= at < len(tokens) else ""


def value_at(tokens: list[Token], at: int) -> Found | None:
    """The value that begins with this token, if one does."""
    token = tokens[at]
    if token.kind == "word":
        if token.lower not in VALUE_STARTS:
            return None
        found = _named(tokens, at)
        if found is not None:
            return found
    elif token.kind in _WRITTEN:
        kind, normal = _WRITTEN[token.kind]
        norm = normal(token)
        return None if norm is None else Found(Value(kind, norm, token.start, token.end), 1)
    number = number_of(token)
    return None if number is None else _counted(tokens, at, number)


def tells_which(token: Token) -> bool:
    """Whether a number is written as those are that say which: "5th Avenue", "migration 0012"."""
    return token.unit in _ORDINALS or (token.text[0] == "0" and token.text[1:].isdigit())


def _day_of(text: str) -> object:
    """The month's place and the day, as a date in words gives them; the text itself where its order is a guess."""
    year, *rest = text.split("-")
    if len(rest) != _MONTH_AND_DAY or len(year) != len("2026"):
        return text
    month, day = map(int, rest)
    # May has no place among the months
    return (None if month == _MAY else month - 1 - (month > _MAY), float(day))


def _quoted(token: Token) -> str | None:
    return " ".join(token.text[1:-1].lower().split()).strip(" .,!?") or None


# kinds of token that are a value by themselves: the value's kind and normal form
_WRITTEN: dict[str, tuple[str, Callable[[Token], object]]] = {
    "quoted": ("quoted", _quoted),
    "address": ("address", lambda token: token.lower.rstrip("./")),
    "clock": ("clock", lambda token: clock_of(token.text)),
    "date": ("date", lambda token: _day_of(token.text)),
    "version": ("number", lambda token: token.lower.lstrip("v")),
}


def _named(tokens: list[Token], at: int) -> Found | None:
    token, word = tokens[at], tokens[at].lower
    if word in _NAMED:
        kind, norm = _NAMED[word]
        return Found(Value(kind, norm, token.start, token.end), 1)
    if word in MONTHS:
        dated = at + 1 < len(tokens) and tokens[at + 1].kind == "number"
        day, last = (number_of(tokens[at + 1]), at + 1) if dated else (None, at)
        return Found(Value("date", (MONTHS[word], day), token.start, tokens[last].end), last + 1 - at)
    return _frequency(tokens, at) if word in _OFTEN else None


def _frequency(tokens: list[Token], at: int) -> Found | None:
    """How often: "every 5 minutes", "twice a day", as the seconds between two times."""
    word, step = tokens[at].lower, at + 1
    if word in {"once", "twice"}:
        if _lower(tokens, step) not in _EVERY:
            return None
        step += 1
    number = number_of(tokens[step]) if step < len(tokens) else None
    unit = "" if number is None else tokens[step].unit.lower()
    if UNITS.get(unit, ("", 0.0))[0] == "duration":
        period: float | None = UNITS[unit][1]
    else:
        step += number is not None
        period = _period(_lower(tokens, step))
    if period is None:
        return None
    count = 1.0 if number is None else number
    return Found(Value("frequency", period * count / _OFTEN[word], tokens[at].start, tokens[step].end), step + 1 - at)


def _period(unit: str) -> float | None:
    dimension, size = UNITS.get(unit, ("", 0.0))
    if unit in _PARTS_OF_DAY:
        return _DAY
    if dimension == "duration":
        return size
    return size * _MONTH if dimension == "months" else None


class _Count(NamedTuple):
    """A number with its scale: where it begins, what it comes to, and the place after it."""

    tokens: list[Token]
    at: int
    number: float
    step: int

    @property
    def token(self) -> Token:
        return self.tokens[self.at]

    def word(self, step: int) -> str:
        return _lower(self.tokens, step)

    def found(self, kind: str, norm: object, stop: int, *, bounded: bool = True) -> Found:
        bound = bound_of(self.tokens, self.at, stop) if bounded else ""
        return Found(Value(kind, norm, self.token.start, self.tokens[stop - 1].end, bound), stop - self.at)


def _counted(tokens: list[Token], at: int, number: float) -> Found | None:
    """A number with the unit, the scale or the month that belongs to it."""
    token, step = tokens[at], at + 1
    bare = not token.unit and token.text[0] not in _CURRENCIES
    if bare and token.kind == "number" and _lower(tokens, step) not in _BELONGS:
        return Found(Value("number", _normal(number, token), token.start, token.end, bound_of(tokens, at, step)), 1)
    if token.lower == "half" and _lower(tokens, step) in _ONE and _lower(tokens, step + 1) in _HALVED:
        # "half an hour", "half a million"
        step += 1
    elif _counts_nothing(tokens, at):
        return None
    if tokens[at].kind == "word" and number in _TENS and 0 < (ones := NUMBERS.get(_lower(tokens, step), 0)) < _TEN:
        number, step = number + ones, step + 1
    following = _lower(tokens, step)
    if bare and following not in _BELONGS:
        return _Count(tokens, at, number, step).found("number", _normal(number, tokens[at]), step)
    if following == "and" and [_lower(tokens, step + place) for place in (1, 2)] == ["a", "half"]:
        number, step = number + 0.5, step + 3
    while (scale := SCALES.get(_lower(tokens, step))) is not None:
        number, step = number * scale, step + 1
    count = _Count(tokens, at, number, step)
    # "5 business days": the unit is a word further
    further = count.word(step) in _WORKING and count.word(step + 1) in UNITS
    unit_at = step + further
    return (
        _dated(count)
        or _priced(count)
        or _measured(count, unit_at)
        or _repeated(count, unit_at)
        or count.found("number", _normal(number, count.token), unit_at)
    )


def _counts_nothing(tokens: list[Token], at: int) -> bool:
    word, following = tokens[at].lower, _lower(tokens, at + 1)
    if word == "twice":
        # "I've met her twice", and not "twice as fast"
        return following not in _AFTER_TWICE
    if word in _SELDOM_COUNTS and following not in UNITS and (word != "one" or following in ONE_AS_PRONOUN):
        return True
    return word in _COUNTS_AFTER_A and _lower(tokens, at - 1) != "a"


def _dated(count: _Count) -> Found | None:
    """The number as a day: "3rd of March"."""
    if count.token.unit and count.token.unit not in _ORDINALS:
        return None
    month_at = count.step + (count.word(count.step) == "of")
    month = MONTHS.get(count.word(month_at))
    return None if month is None else count.found("date", (month, count.number), month_at + 1, bounded=False)


def _priced(count: _Count) -> Found | None:
    currency = _CURRENCIES.get(count.token.text[0])
    return None if currency is None else count.found(currency, count.number, count.step)


def _measured(count: _Count, unit_at: int) -> Found | None:
    """The number with its own unit, or with the one that follows, in the base of its dimension."""
    unit, stop = count.token.unit.lower(), count.step
    following = count.word(unit_at)
    # "the 5th second" counts no seconds
    if unit not in UNITS and not (following == "second" and unit):
        unit, stop = following, unit_at + 1
    if unit not in UNITS:
        return None
    dimension, size = UNITS[unit]
    norm = round(count.number * size, 9)
    if dimension in {"duration", "months"} and count.word(stop) == "ago":
        return count.found("ago", norm, stop + 1, bounded=False)
    return count.found(dimension, norm, stop)


def _repeated(count: _Count, unit_at: int) -> Found | None:
    """How often: "3 times a day"."""
    if count.word(unit_at) not in _TIMES or count.word(unit_at + 1) not in _EVERY:
        return None
    period = _period(count.word(unit_at + 2))
    if period is None:
        return None
    return count.found("frequency", round(period / (count.number or 1.0), 6), unit_at + 3, bounded=False)


def _normal(number: float, token: Token) -> object:
    """A number as versions are told apart: 3.10 is not 3.1."""
    text = token.text.removesuffix(token.unit).rstrip("+")
    return text if "." in text and not token.unit else f"{number:g}"
