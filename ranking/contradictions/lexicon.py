"""The closed word lists that reading a claim needs, under the names by which rules speak of them."""

from ranking.contradictions.stems import stem
from ranking.contradictions.word_lists import by_group, grouped, words


def _stems(name: str) -> frozenset[str]:
    return frozenset(map(stem, words(name)))


# carry grammar, not subject
STOP = words("stop")
# say little about what is claimed: one in place of another is no difference
WEAK = _stems("weak")
PRONOUNS = words("pronouns")
# of whom a claim may be that the speaker's own claims are not of; "they" may be things
OTHER_PEOPLE = words("other_people")
NEGATORS = words("negators")
# a claim about what is meant, asked, wished or supposed is not a claim about what is
UNREAL = words("unreal")
# what must be, what can be and what was differ from what is
DUTY, ABLE, PAST = words("duty"), words("able"), words("past")
# a claim under a condition conflicts only with one under the same
CONDITIONS = words("conditions")
# which of several alike things is spoken of: word → what it tells apart
SCOPES = by_group("scopes")
# when a claim holds: words that say it alone, and words that say it before a period
TIMES, RELATIVE_TIMES, PERIODS = words("times"), words("relative_times"), words("periods")

# "at least five" and "five" are no conflict as two numbers are: word → which bound it sets
BOUNDS = by_group("bounds")
APPROXIMATE = words("approximate")
# a number after one of these says which, not how many
INDEXED = _stems("indexed")

# verbs that name their one holder: another name in front of them is a conflict, not another subject
ONE_HOLDER = _stems("one_holder")
# nouns that have one value at a time: a lower-case word in place of another is then a conflict
ATTRIBUTES = _stems("attributes")
# of these, the ones whose value is a noun even in lower case
NOMINAL = _stems("nominal")
# verbs whose object has one value at a time
HOLDS_ONE = _stems("holds_one")

# names this field writes in lower case too, by what they do: two of one kind answer the same question
KIND = by_group("names")
# also plain words: names only where both sides hold one of the same kind, or where they are capitalised
AMBIGUOUS = words("ambiguous_names")

# verbs of this field and of everyday: they end a clause's subject
FINITE = words("finite")
VERBS = _stems("verbs")
_VERBS_AS_WRITTEN = words("verbs")
_NOUN_ENDINGS = ("ion", "ions", "ment", "ments")
# verbs that are as often nouns: without an ending they do not end a subject
NOUNS_TOO = _stems("nouns_too")

# who captions speak of without naming anyone, and how they begin to
STRANGERS, INDEFINITE = _stems("strangers"), words("indefinite")
# of whom nobody is one
PERSONS = _stems("persons")
# some may and some may not: a denial of one denies nothing of the other
QUANTIFIERS = words("quantifiers")
# verbs that may hold of several things at once
SEVERAL = _stems("several")
# but of one number at a time
SEVERAL_NAMES = _stems("several_names")
# verb → the preposition behind which it may have several
SEVERAL_LINKED = {stem(word): link for word, link in by_group("several_linked").items()}
# each text has its own of these
MOMENTARY = _stems("momentary")
SEVERAL_VERSIONS = _stems("several_versions")
# of several days or hours
OFTEN = {kind: frozenset(map(stem, listed)) for kind, listed in grouped("often").items()}
# what a log of changes begins its lines with: each tells of one change
CHANGES = _stems("changes")
# of which a text that says "this" has its own
TEXT_PARTS = _stems("text_parts")
# before "to", what follows is not yet done
BEFORE_TO = words("before_to")
# whoever they stand for is named elsewhere
STAND_INS = words("stand_ins")
OWNED = frozenset({"its", "their", "his", "her"})

# prepositions as stems → the one that stands for all of its sense
SAME_LINK = {stem(word): group for word, group in by_group("links").items()}

# a contradiction about one of these does more harm
SECURITY = words("security")


def is_verb_form(word: str, key: str) -> bool:
    """Whether a lower-case word may be a verb, by its stem and its ending: to replicate is done, replication is not."""
    return key in VERBS and (not word.endswith(_NOUN_ENDINGS) or word.removesuffix("s") in _VERBS_AS_WRITTEN)
