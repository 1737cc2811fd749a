from ranking.contradictions.claim import Slot, Word
from ranking.contradictions.clause_manner import ClauseManner
from ranking.contradictions.cues import Cue
from ranking.contradictions.facts import GO, LANGUAGE, PARTICLES, Facts, facts
from ranking.contradictions.grammar import (
    counted_noun,
    ends_subject,
    is_verb,
    verb_at,
    written_as_name,
)
from ranking.contradictions.lexicon import INDEXED, PERIODS
from ranking.contradictions.measures import WEEKDAYS
from ranking.contradictions.reading import Token
from ranking.contradictions.stems import stem
from ranking.contradictions.values import VALUE_STARTS, tells_which, value_at

_ASIDE = frozenset({"number", "version", "clock", "date", "short", "aside"})
_OPENING = frozenset({":", "("})
TURNED = frozenset({"turned", "switched", "toggled", "set"})
_NOWHERE = frozenset[int]()


class ClauseReader(ClauseManner):
    """Reads one clause from left to right."""

    def read(self) -> None:
        in_cue = self.cue.tokens if self.cue else _NOWHERE
        for at, token in enumerate(self.tokens):
            if at < self.skip:
                continue
            # by one step: a named tuple's fields take one each
            kind, _, _, _, lower, _, _ = token
            if at in in_cue:
                self.head = self.head and lower in {"from", "off"}
                self.sequence.append(lower)
            elif kind == "word":
                known = facts(lower)
                if known.plain:
                    self._plain(at, token, known)
                elif lower not in VALUE_STARTS or not self._value(at):
                    self._word(at, token, known)
            elif kind == "comma":
                self._comma(at, token)
            elif not self._value(at) and kind not in _ASIDE:
                self._word(at, token, facts(lower))
        self._mark_whole()
        self._settle()

    def _comma(self, at: int, token: Token) -> None:
        if token.text == ",":
            self.conditional = False
            if self.head:
                # what comes before the subject, "Every Friday, …", is not part of it
                self._mark_heads(head=False)
        elif token.text == ":":
            # "Email 4:" says which
            self.slots = [slot._replace(which=True) for slot in self.slots]
            if at + 1 == len(self.tokens):
                return
            # what stands before a colon is what the rest is said of
            self._mark_heads(head=True)
            if self.head or "order" in self.marks:
                self.marks.add("listed")
            self.head = False

    def _mark_heads(self, *, head: bool) -> None:
        """Note whether all that was read so far is part of the subject."""
        for key, word in self.words.items():
            self.words[key] = word._replace(head=head)
        self.slots = [slot._replace(head=head) for slot in self.slots]

    def _value(self, at: int) -> bool:
        found = value_at(self.tokens, at)
        if found is None:
            return False
        value, self.skip = found.value, at + found.taken
        self.sequence.append(value.key)
        if value.kind == "ago":
            self.times.add(value.key)
        elif self.conditional:
            self.conditions.add(str(value.key))
        else:
            noun = counted_noun(self.tokens, self.skip)
            if value.kind == "number":
                which = self.label in INDEXED or self._names(at, noun) or tells_which(self.tokens[at])
            else:
                which = self.head and value.kind in {"address", "quoted"}
            self.slots.append(Slot(value, at, self.head, self.label, noun, self.beside, which))
            self.beside.values.append((at, value.norm))
            if self.cue is not None:
                self._place(self.cue, at, str(value.norm))
        return True

    def _names(self, at: int, noun: str) -> bool:
        """Whether a number is part of a name: "sprint 14" and "node 2"."""
        beside = at > 0 and facts(self.lowers[at - 1]).key == self.label
        return self.head and beside and (not noun or verb_at(self.lowers, self.skip))

    def _plain(self, at: int, token: Token, known: Facts) -> None:
        """What ``_word`` comes to for most words."""
        key = known.key
        self.sequence.append(key)
        if key not in self.said:
            self.said[key] = (token.start, token.end)
        if at + 1 < len(self.tokens) and self.tokens[at + 1].tied:
            self._compound(token, known, self.tokens[at + 1])
        if not known.stop:
            self._content(at, token, known)

    def _compound(self, token: Token, known: Facts, following: Token) -> None:
        if following.kind == "word":
            self.said.setdefault(stem(known.word + following.lower), (token.start, following.end))

    def _word(self, at: int, token: Token, known: Facts) -> None:
        if at and token.text == GO:
            known = facts(LANGUAGE)
        self.sequence.append(known.key)
        if known.negator or (known.key == "fail" and self._next(at) == "to"):
            self._negator(at, token, known)
            return
        following = self._next(at)
        if known.word not in PARTICLES or following in {"", ","} or (at and self.lowers[at - 1] in TURNED):
            self.said.setdefault(known.key, (token.start, token.end))
        if following and self.tokens[at + 1].tied:
            self._compound(token, known, self.tokens[at + 1])
        if known.condition and not (known.word == "once" and following in {"a", "per"}):
            self.conditional = True
            self.conditions.add("unless" if known.word in {"unless", "except"} else "if")
            return
        self._manner(at, token, known)
        if known.time or (known.relative_time and (following in PERIODS or following in WEEKDAYS)):
            self.times.add((known.word, following if known.relative_time else ""))
            self.skip = at + 1 + known.relative_time
        elif len(token.text) == 1 and token.text.isupper() and at and token.text != "I":
            # "server A" is not server B
            self.words[token.lower] = Word(token.lower, token.start, token.end, at, True, self.head, "", self.label)  # noqa: FBT003
        elif not known.stop and not (
            known.relative_time and self.tokens[at + 1 : at + 2] and self.tokens[at + 1].kind == "number"
        ):
            self._content(at, token, known)

    def _content(self, at: int, token: Token, known: Facts) -> None:
        key = known.key
        if self.conditional:
            self.conditions.add(key)
            return
        if known.scope:
            self.scopes.add((known.scope, key))
        if self.head and (
            is_verb(self.lowers, at, known) if known.verb else known.third and ends_subject(self.tokens, at, known)
        ):
            self.head = False
            if not at:
                self.marks.add("order")
        if key not in self.words:
            text, before = token.text, self.lowers[at - 1] if at else ""
            small = text.islower()
            name = known.always_name or (not small and written_as_name(token, first=not at or before in _OPENING))
            bound = before == "of" or token.lower.endswith("'s")
            self.words[key] = tuple.__new__(
                Word, (key, token.start, token.end, at, name, self.head, known.kind, self.label, bound)
            )
            self.small += text[0].islower()
        if self.cue is not None:
            self._place(self.cue, at, key)
        self.label = key

    def _place(self, cue: Cue, at: int, key: str) -> None:
        if cue.retired is not None and at in cue.retired:
            self.retired.add(key)
        if at in cue.instead:
            self.instead.add(key)

    def _settle(self) -> None:
        if self.head and all(word.head for word in self.words.values()) and all(slot.head for slot in self.slots):
            # a fragment: nothing was said of it, so nothing is its subject
            self._mark_heads(head=False)
