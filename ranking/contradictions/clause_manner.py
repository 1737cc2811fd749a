from ranking.contradictions.asserting import denied_of_all, denies_nothing, doubts, manners_of
from ranking.contradictions.claim import Neighbours, Slot, Span, Word
from ranking.contradictions.clauses import OPENERS
from ranking.contradictions.cues import find_cue
from ranking.contradictions.facts import PERSONAL, Facts, facts
from ranking.contradictions.grammar import (
    BE,
    happened,
    holds_since,
    means_to,
    of_strangers,
    reads_as_sentence,
)
from ranking.contradictions.lexicon import BEFORE_TO, FINITE, NOUNS_TOO, OWNED, QUANTIFIERS
from ranking.contradictions.reading import Token

_SAYS = frozenset({"say", "says", "said", "saying"})
COMPARED = frozenset({"more", "less", "fewer", "rather", "longer", "greater"})
_WISHES = frozenset({"have", "be", "please", "let", "enjoy"})
_WAS = frozenset({"was", "were"})
# a clause of fewer words and no verb is a heading
SENTENCE = 4


class ClauseManner:
    """A clause as far as it is read, and what its words say about how it is meant."""

    def __init__(self, tokens: list[Token], *, goes_on: bool) -> None:
        relative = tokens[0].lower == "which"
        while len(tokens) > 1 and tokens[0].lower in OPENERS:
            tokens = tokens[1:]
        self.tokens = tokens
        self.lowers = [token.lower for token in tokens]
        self.cue = find_cue(tokens, self.lowers)
        self.words: dict[str, Word] = {}
        self.slots: list[Slot] = []
        self.beside = Neighbours(self.words, [])
        self.said: dict[str, Span] = {}
        self.sequence: list[object] = []
        self.negation: list[Span] = []
        self.retired: set[str] = set()
        self.instead: set[str] = set()
        self.marks: set[str] = {"told"} if goes_on else set()
        if relative:
            # "…, which arrived on Monday": what did, only the clause before tells
            self.marks.add("vague")
        self.scopes: set[tuple[str, str]] = set()
        self.times: set[tuple[object, ...]] = set()
        self.conditions: set[str] = set()
        self.head, self.conditional, self.label, self.skip, self.small = True, False, "", 0, 0

    def _next(self, at: int) -> str:
        return self.lowers[at + 1] if at + 1 < len(self.lowers) else ""

    def _negator(self, at: int, token: Token, known: Facts) -> None:
        following = self._next(at)
        self.marks |= (of_all := denied_of_all(self.lowers, at))
        if "nobody" in of_all:
            self.skip = at + 1 + (known.word == "no")
            self.negation.append((token.start, self.tokens[self.skip - 1].end))
            return
        if denies_nothing(known.word, following) or (known.word == "no" and at and self.lowers[at - 1] in _SAYS):
            return
        if at and following and self.tokens[at + 1].kind in {"number", "quoted"}:
            # "120 stars, not 300" puts a number right and denies nothing
            self.skip = at + 2
            return
        if doubts(following, self._next(at + 1)):
            self.marks.add("unreal")
            return
        if known.word == "without" or (known.word == "no" and at and self.lowers[at - 1] == "with"):
            self.marks.add("without")
            if self.head:
                # "requests without a token" are some of them, and those with one are others
                self.marks.add("of some")
        if "who" in self.lowers[:at]:
            # "a man who is not smoking" denies it of those alone
            self.marks.add("of some")
        self.negation.append((token.start, token.end))
        self.said.setdefault(known.key, (token.start, token.end))
        self._manner(at, token, known)

    def _manner(self, at: int, token: Token, known: Facts) -> None:
        """Note how the claim is made, and where its verb begins."""
        if known.manner:
            self._reserved(at, token, known)
        if self.head:
            self._subject(at, known)
        elif known.event and self.lowers[at - 1].endswith("s") and facts(self.lowers[at - 1]).key in NOUNS_TOO:
            # in "the tests passed" the verb is not "tests"
            self.marks |= {"event"} if happened(self.lowers, at, known) else set()
        if known.finite:
            self.head = False

    def _reserved(self, at: int, token: Token, known: Facts) -> None:
        """Note under which reservation the claim is made: supposed, due, possible, past, comparing, of whom."""
        before, following = self.lowers[at - 1] if at else "", self._next(at)
        if known.word not in _WAS or not holds_since(self.lowers, at + 1):
            self.marks |= known.marks
        if known.unreal and means_to(self.lowers, at):
            self.marks.add("unreal")
        if known.may and token.text != "May":
            self.marks.add("may")
        if (known.word == "than" and before not in COMPARED) or (
            known.word == "as" and self.lowers[max(at - 3, 0) : at].count("as")
        ):
            self.marks.add("compares")
        if known.word in BEFORE_TO and following == "to":
            self.marks.add("unreal")
        if known.stands_in and not (known.word == "it" and following in BE):
            # "the gateway signs its requests" says whose they are
            owned = known.word in OWNED and any(word.head for word in self.words.values())
            self.marks |= set() if owned else {"vague"}

    def _subject(self, at: int, known: Facts) -> None:
        """Note of whom the claim is, and whether its verb tells what happened once."""
        if known.event and happened(self.lowers, at, known):
            self.marks.add("event")
        if known.other_person:
            self.marks.add("other")
        if known.vague and self._next(at) in FINITE:
            self.marks.add("vague")
        if known.word in QUANTIFIERS:
            self.marks.add("of some")
        if known.word in PERSONAL:
            self.marks.add("me")

    def _mark_whole(self) -> None:
        """Note what only the whole clause tells."""
        if not self.head:
            self.marks |= {"told", "verb"}
        elif len(self.tokens) >= SENTENCE and reads_as_sentence(self.words, self.slots):
            self.marks.add("told")
        if self.lowers[0] in _WISHES:
            self.marks.add("order")
        self.marks |= manners_of(self.lowers)
        if self.head and self.lowers[0] == "new":
            # "new release 2.4": one of many
            self.marks.add("change")
        if of_strangers(self.lowers, self.words):
            self.marks.add("stranger")
        if not self.small and len(self.words) > 1:
            # every word written large: a heading
            self.marks.add("title")
