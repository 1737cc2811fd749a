import tomllib
from pathlib import Path
from typing import Any

_LISTS: dict[str, Any] = {
    name: listed
    for file in ("words.toml", "forms.toml")
    for name, listed in tomllib.loads(Path(__file__).with_name(file).read_text(encoding="utf-8")).items()
}


def in_order(name: str) -> list[str]:
    """The words of a list, as they stand there."""
    return str(_LISTS[name]).split()


def words(name: str) -> frozenset[str]:
    """The words of a list."""
    return frozenset(in_order(name))


def grouped(name: str) -> dict[str, list[str]]:
    """A table of lists."""
    return {group: str(listed).split() for group, listed in _LISTS[name].items()}


def by_group(name: str) -> dict[str, str]:
    """A table of lists turned round: word → the name of its list."""
    return {word: group for group, listed in grouped(name).items() for word in listed}
