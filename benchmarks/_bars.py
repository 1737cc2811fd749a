"""Bars that a run is held to: which it misses, in words, wherever in its answer they stand."""

from collections.abc import Iterator, Mapping, Sequence


def over(found: Mapping[str, float], limits: Mapping[str, float]) -> list[str]:
    """The figures above their limits, each with both numbers; a limit without a figure says nothing."""
    above = {name: most for name, most in limits.items() if name in found and not found[name] <= most}
    return [f"{name} {found[name]:.3g}, limit {most:g}" for name, most in above.items()]


def under(found: Mapping[str, float], least: Mapping[str, float]) -> list[str]:
    """The figures below what is asked at least."""
    below = {name: most for name, most in least.items() if name in found and not found[name] >= most}
    return [f"{name} {found[name]:.3g}, at least {most:g}" for name, most in below.items()]


def held(missed: Sequence[str]) -> dict[str, object]:
    """The two cells that say whether bars are met: ``met``, and ``missed`` with those that are not."""
    return {"met": not missed, "missed": "; ".join(missed)}


def missed(answer: object, name: str = "") -> Iterator[str]:
    """Every part of an answer whose ``met`` is false, called by its place, with the bars it names.

    A part that holds such parts is not told again for their sake.
    """
    if isinstance(answer, Mapping):
        inner = [line for key, part in answer.items() for line in missed(part, _joined(name, str(key)))]
        yield from inner
        if answer.get("met") is False and (answer.get("missed") or not inner):
            yield f"{name}: {answer.get('missed') or 'not met'}".removeprefix(": ")
    elif isinstance(answer, Sequence) and not isinstance(answer, str):
        for number, part in enumerate(answer, 1):
            yield from missed(part, _called(part) or _joined(name, str(number)))


def _joined(name: str, key: str) -> str:
    return f"{name}, {key}" if name else key


def _called(part: object) -> str:
    """A row by what its first cells say, up to the first figure."""
    words: list[str] = []
    for key, cell in part.items() if isinstance(part, Mapping) else ():
        if isinstance(cell, float) or key in ("met", "missed"):
            break
        words.append(cell if isinstance(cell, str) else f"{cell} {key}")
    return ", ".join(words[:2])
