import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranking import LexicalScorer, Pair, ScorerUsed, lexical_score
from ranking.words import tokenize

texts = st.lists(st.sampled_from(["alpha", "Alpha", "beta", "gamma", "it's", "-"]), max_size=8).map(" ".join)


def plain_score(query: str, title: str, content: str) -> float:
    """The oracle: the formula of docs/ranking.md term by term, case-sensitive as the document's system."""
    asked, head, body = tokenize(query), tokenize(title), tokenize(content)
    if not asked:
        return 0.0
    words = head + body
    jaccard = len(set(asked) & set(words)) / len(set(asked) | set(words))
    rarity = 0.0
    for word in asked:
        same = [other for other in words if other.lower() == word.lower()]
        if same:
            rarity += len(same) / len(words) * (math.log(len(set(words)) / (1 + len(set(same)))) + 1)
    rarity = min(1.0, max(0.0, rarity / len(asked)))
    bigrams = list(pairwise(asked))
    found = list(pairwise(words))
    phrases = sum(bigram in found for bigram in bigrams) / len(bigrams) if bigrams else 0.0
    coverage = len(set(asked) & set(head)) / len(set(asked))
    return min(1.0, max(0.0, 0.30 * jaccard + 0.30 * rarity + 0.20 * phrases + 0.20 * coverage))


@given(texts, texts, texts)
def test_is_the_plain_formula(query: str, title: str, content: str) -> None:
    assert lexical_score(query, title, content, case_sensitive=True) == pytest.approx(
        plain_score(query, title, content)
    )


@given(texts, texts, texts)
def test_folding_case_is_the_formula_on_lower_case(query: str, title: str, content: str) -> None:
    expected = plain_score(query.lower(), title.lower(), content.lower())
    assert lexical_score(query, title, content) == pytest.approx(expected)
    assert 0 <= lexical_score(query, title, content) <= 1


def test_a_title_in_title_case_matches_unless_told_not_to() -> None:
    title, content = "Network Configuration Guide", "how the office is wired"
    folded = lexical_score("network configuration", title, content)
    assert folded > lexical_score("network configuration", title, content, case_sensitive=True) + 0.3


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("foo_bar-baz 12.5", ["foo", "bar", "baz", "12", "5"]),
        ("it's 'quoted'", ["it's", "'quoted'"]),
        ("日本語テキスト test", ["日本語テキスト", "test"]),
        ("हिन्दी", ["हिन", "दी"]),
        ("ไทยที่", ["ไทยที"]),
        ("Ⅷ ½ ²", ["Ⅷ", "½", "²"]),
        ("", []),
    ],
)
def test_words(text: str, words: list[str]) -> None:
    assert tokenize(text) == words


def test_a_scorer_scores_each_pair_with_its_own_query() -> None:
    pairs = [Pair("alpha", "alpha", "x"), Pair("beta", "alpha", "x"), Pair("", "t", "c")]
    found = LexicalScorer().score(pairs)
    assert found.scores.tolist() == [lexical_score(*pair) for pair in pairs]
    assert found.scorer_used is ScorerUsed.LEXICAL
    assert LexicalScorer().score([]).scorer_used is ScorerUsed.NONE
    assert not LexicalScorer().neural
