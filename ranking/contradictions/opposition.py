from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from ranking.contradictions.stems import stem

Pairs = tuple[tuple[str, str], ...]

# what one side may say and the other may not, in this field's language
DEFAULT_PAIRS: Pairs = (
    ("always", "never"),
    ("enabled", "disabled"),
    ("required", "optional"),
    ("mandatory", "optional"),
    ("mandatory", "forbidden"),
    ("required", "forbidden"),
    ("allowed", "forbidden"),
    ("allow", "deny"),
    ("allow", "block"),
    ("accept", "reject"),
    ("synchronous", "asynchronous"),
    ("sync", "async"),
    ("blocking", "nonblocking"),
    ("safe", "unsafe"),
    ("secure", "insecure"),
    ("stable", "unstable"),
    ("stable", "flaky"),
    ("stable", "crashes"),
    ("reliable", "unreliable"),
    ("reliable", "flaky"),
    ("supported", "unsupported"),
    ("public", "private"),
    ("internal", "external"),
    ("mutable", "immutable"),
    ("stateless", "stateful"),
    ("encrypted", "unencrypted"),
    ("encrypted", "plaintext"),
    ("manual", "automatic"),
    ("manually", "automatically"),
    ("on", "off"),
    ("open", "closed"),
    ("true", "false"),
    ("pass", "fail"),
    ("succeed", "fail"),
    ("increase", "decrease"),
    ("fast", "slow"),
    ("before", "after"),
    ("include", "exclude"),
    ("strict", "lenient"),
    ("valid", "invalid"),
    ("compatible", "incompatible"),
    ("nullable", "non-null"),
    ("unique", "duplicated"),
    ("idempotent", "non-idempotent"),
    ("prefer", "avoid"),
    ("eager", "lazy"),
    ("available", "unavailable"),
    ("thread-safe", "thread-unsafe"),
    ("read-only", "read-write"),
    ("read-only", "writable"),
    ("parallel", "sequential"),
    ("parallel", "serial"),
    ("easy", "difficult"),
    ("love", "hate"),
    ("like", "dislike"),
    ("sensitive", "insensitive"),
    ("online", "offline"),
    ("permanent", "temporary"),
    ("static", "dynamic"),
    ("allowlist", "denylist"),
    ("opt-in", "opt-out"),
    ("deterministic", "nondeterministic"),
    ("visible", "hidden"),
    ("signed", "unsigned"),
    ("authenticated", "anonymous"),
    ("encouraged", "discouraged"),
    ("recommended", "discouraged"),
    ("possible", "impossible"),
    ("complete", "incomplete"),
    ("consistent", "inconsistent"),
    ("tested", "untested"),
    ("used", "unused"),
    ("centralized", "decentralized"),
    ("active", "inactive"),
    ("locked", "unlocked"),
    ("sorted", "unsorted"),
    ("bounded", "unbounded"),
    ("limited", "unlimited"),
    ("known", "unknown"),
    ("approve", "reject"),
    ("grant", "revoke"),
    ("ascending", "descending"),
    ("permit", "forbid"),
    ("prior", "following"),
    ("left-aligned", "right-aligned"),
    ("active-high", "active-low"),
    ("harder", "easier"),
    ("indoor", "outdoor"),
    ("local", "remote"),
    ("present", "absent"),
    ("allow", "forbid"),
    ("case-sensitive", "case-insensitive"),
    ("full", "empty"),
    ("asleep", "awake"),
    ("alive", "dead"),
    ("hot", "cold"),
    ("wet", "dry"),
    ("clean", "dirty"),
    ("win", "lose"),
)


def key(word: str) -> str:
    """The form under which a side of a pair is looked for."""
    return stem(word.lower().replace("-", "").replace(" ", ""))


@dataclass(frozen=True)
class Oppositions:
    """Pairs made ready to look up: word → the words it is opposed to, all as stems.

    ``tails`` has the last part of a compound ("only" of read-only) → the compounds it may belong to.
    """

    against: dict[str, tuple[str, ...]]
    tails: dict[str, frozenset[str]]

    def __hash__(self) -> int:
        return id(self)


@lru_cache(maxsize=64)
def _compiled(pairs: Pairs) -> Oppositions:
    against: dict[str, set[str]] = {}
    tails: dict[str, set[str]] = {}
    for one, other in pairs:
        left, right = key(one), key(other)
        if not left or not right or left == right:
            raise ValueError(f"opposition_pairs: expected two different words, found {one!r} and {other!r}")
        against.setdefault(left, set()).add(right)
        against.setdefault(right, set()).add(left)
        for word in (one, other):
            parts = word.lower().replace("-", " ").split()
            if len(parts) > 1:
                tails.setdefault(stem(parts[-1]), set()).add(key(word))
    return Oppositions(
        {word: tuple(sorted(others)) for word, others in against.items()},
        {tail: frozenset(words) for tail, words in tails.items()},
    )


_LEAST = {"un": 4, "non": 3, "dis": 6, "in": 6, "im": 6, "ir": 6}
DENYING = tuple(_LEAST)
# begin so and deny nothing
_NOT_DENYING = frozenset(map(stem, ("disappoint", "immigrate", "indifferent", "infamous", "inflammable", "invaluable")))


def are_opposed(one: str, other: str) -> bool:
    """Whether one stem is the other with a denying prefix: reachable, unreachable."""
    short, long = (one, other) if len(one) <= len(other) else (other, one)
    return long.endswith(short) and undenied(long) == short


def undenied(word: str) -> str | None:
    """A stem without its denying prefix, None if it has none."""
    if word in _NOT_DENYING:
        return None
    for prefix, least in _LEAST.items():
        if word.startswith(prefix) and len(word) - len(prefix) >= least:
            return word[len(prefix) :]
    return None


def compiled(pairs: Iterable[tuple[str, str]]) -> Oppositions:
    """Pairs of words, in any order and spelling of case, as they are looked up."""
    given = tuple(tuple(pair) if not isinstance(pair, str) else (pair,) for pair in pairs)
    for pair in given:
        if len(pair) != len(("one", "other")) or not all(isinstance(side, str) for side in pair):
            raise ValueError(f"opposition_pairs: expected pairs of words, found {pair!r:.60}")
    return _compiled(given)
