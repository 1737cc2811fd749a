import re
import subprocess
import sys
import unicodedata

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ranking.simhash import fingerprints, hamming, simhash64
from ranking.tokens import is_separator, split_column, text_column, tokenize

# letters, every kind of separator, what is no separator, cases Python and C++ lower differently, what UTF-8 cannot hold
NASTY = (
    "abAB01 _-/.,'$+~\t\n\v\f\r\x00\x1c\x1f\x85\xa0\ufeff\u2028\u3000\u200b\u2014\u3002\xbf"
    "\u03a3\u03c3\u03c2\u0130\u0131\xdf\u1e9e\u212a\u01c5\xe9\xc9\u65e5\u672c\U0001f600\ud800\udc00"
)


def oracle_tokens(text: str) -> list[str]:
    """The rule read aloud: one character after another."""
    tokens, current = [], ""
    for character in text.lower() + " ":
        space = character in "\t\n\v\f\r\ufeff" or unicodedata.category(character).startswith("Z")
        if space or unicodedata.category(character).startswith("P"):
            tokens.append(current)
            current = ""
        else:
            current += character
    return [token for token in tokens if len(token.encode("utf-16-le", "surrogatepass")) >= 4]


def oracle_simhash(text: str) -> int:
    """One token, one unit, one bit at a time."""
    votes = [0] * 64
    for token in oracle_tokens(text):
        data = token.encode("utf-16-le", "surrogatepass")
        value = 0xCBF29CE484222325
        for at in range(0, len(data), 2):
            value = ((value ^ int.from_bytes(data[at : at + 2], "little")) * 0x100000001B3) % 2**64
        for bit in range(64):
            votes[bit] += 1 if value >> bit & 1 else -1
    return sum(1 << bit for bit in range(64) if votes[bit] > 0)


class TestAgreesWithTheSlowWay:
    @settings(max_examples=300, deadline=None)
    @given(st.lists(st.text(NASTY, max_size=30), max_size=8))
    @example(["BΣ", "BΣ\nB", "Σ", "BΣ.", "BΣ'B"])
    @example(["İSTANBUL", "istanbul"])
    @example(["", "\n", "a\n\nb", "\n\n"])
    def test_over_nasty_characters(self, texts: list[str]) -> None:
        assert simhash64(texts).tolist() == [oracle_simhash(text) for text in texts]
        assert [tokenize(text) for text in texts] == [oracle_tokens(text) for text in texts]

    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.text(max_size=40), max_size=5))
    def test_over_any_text(self, texts: list[str]) -> None:
        assert simhash64(texts).tolist() == [oracle_simhash(text) for text in texts]

    @settings(max_examples=50, deadline=None)
    @given(st.lists(st.sampled_from(["ab", "cd", "ef", "x", ""]), min_size=200, max_size=600))
    def test_more_votes_than_a_byte_counts(self, words: list[str]) -> None:
        texts = [" ".join(words), "ab", " ".join(words[:255]), " ".join(words[:256])]
        assert simhash64(texts).tolist() == [oracle_simhash(text) for text in texts]

    def test_long_texts_and_long_tokens(self) -> None:
        texts = ["x" * 100_000, "ab cd ef " * 20_000, "short one", ("y" * 300 + " ") * 40, "é" * 5_000]
        assert simhash64(texts).tolist() == [oracle_simhash(text) for text in texts]

    def test_more_texts_than_a_block_holds(self) -> None:
        texts = [f"observation {number} about port {number % 97}" for number in range(20_000)]
        picked = [0, 16_383, 16_384, 19_999]
        assert simhash64(texts)[picked].tolist() == [oracle_simhash(texts[row]) for row in picked]

    def test_texts_too_long_for_one_block(self) -> None:
        texts = ["abcdefghijklmnopqrstuvwxyz, " * 2_000_000, "ef gh", "Abcdefghijklmnopqrstuvwxyz É " * 500_000]
        expected = [
            oracle_simhash(text) for text in ("abcdefghijklmnopqrstuvwxyz", "ef gh", "abcdefghijklmnopqrstuvwxyz")
        ]
        assert simhash64(texts).tolist() == expected

    def test_nothing_imports_pandas(self) -> None:
        """Arrow does so behind pa.array, pa.scalar and to_numpy, and a first call then takes ten times as long."""
        code = (
            "import sys; from ranking import simhash; simhash.simhash64(['ab', 'é']); sys.exit('pandas' in sys.modules)"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestTokens:
    def test_every_character_is_split_as_its_category_says(self) -> None:
        """Also those beyond the table: a newer Unicode may put punctuation where none is looked for."""
        points = [point for point in range(sys.maxunicode + 1) if not 0xD800 <= point < 0xE000]
        texts = [f"ab{chr(point)}cd" for point in points]
        pieces = split_column(text_column(texts))
        apart = np.diff(pieces.offsets.to_numpy()) == 2
        assert apart.tolist() == [is_separator(chr(point)) for point in points]

    @pytest.mark.parametrize(
        "separator", ["\t", "\n", "\v", "\f", "\r", " ", "\xa0", "\ufeff", "\u2028", "_", "—", "。"]
    )
    def test_separators(self, separator: str) -> None:
        assert tokenize(f"ab{separator}cd") == ["ab", "cd"]

    @pytest.mark.parametrize("kept", ["\x85", "\x1c", "\x1f", "\x00", "$", "+", "~", "\u200b", "é"])
    def test_no_separators(self, kept: str) -> None:
        assert tokenize(f"ab{kept}cd") == [f"ab{kept}cd"]

    def test_lower_case_is_pythons(self) -> None:
        """A sigma is final at the end of a word only, and İ becomes two code points."""
        assert tokenize("ΟΔΟΣ ΟΔΟΣΑ İx") == ["οδος", "οδοσα", "i̇x"]

    def test_two_utf16_units_are_the_least(self) -> None:
        assert tokenize("a é 日 😀 bc") == ["😀", "bc"]

    def test_punctuation_separates(self) -> None:
        """000's "strips punctuation" would make one token of it."""
        assert tokenize("async/await") == ["async", "await"]


class TestFingerprints:
    def test_a_text_without_tokens_is_told_apart_from_the_hash_zero(self) -> None:
        hashes, tokens = fingerprints(["", "a b c", "...", "two words"])
        assert hashes[:3].tolist() == [0, 0, 0]
        assert tokens.tolist() == [0, 0, 0, 2]

    def test_repeated_tokens_vote_each_time(self) -> None:
        assert simhash64(["ab ab cd"])[0] == simhash64(["ab"])[0]

    def test_a_tie_leaves_the_bit_unset(self) -> None:
        one, other = simhash64(["ab", "cd"])
        assert simhash64(["ab cd"])[0] == one & other

    def test_columns_of_any_kind(self) -> None:
        texts = ["ab cd", "Éf gh", "ij"]
        expected = simhash64(texts).tolist()
        column = pa.array(["skip", *texts])
        for given_as in (
            tuple(texts),
            np.array(texts, object),
            np.array(texts),
            column.slice(1),
            pa.chunked_array([texts]),
        ):
            assert simhash64(given_as).tolist() == expected
        assert simhash64([]).dtype == np.uint64

    @pytest.mark.parametrize("texts", [["ab", None], ["ab", 3]])
    def test_what_is_no_text_is_refused(self, texts: list[str]) -> None:
        with pytest.raises(ValueError, match="texts: expected strings, found"):
            simhash64(texts)


class TestAsDocumented:
    def test_hex_of_the_peer(self) -> None:
        """Read off simhash.ts of Rensei (000)."""
        assert f"{simhash64(['hello world'])[0]:016x}" == "0410d84600088803"

    def test_one_changed_word_of_nine_is_seven_bits(self) -> None:
        """000 says 3 bits "catch paraphrases and minor rewording"; at this length they do not."""
        left, right = simhash64([f"the quick brown fox {verb} over the lazy dog" for verb in ("jumps", "leaps")])
        assert hamming(left, right) == 7

    def test_the_rule_in_one_expression(self) -> None:
        assert re.split(r"[\s\W_]+", "always run npm run build:verify".lower()) == tokenize(
            "always run npm run build:verify"
        )
