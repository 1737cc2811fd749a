from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

WORDS = 25
VOCABULARY = 50_000
# Zipf-Mandelbrot for English: the commonest word is about one in twenty
_SHIFT = 2.7
_CHUNK = 100_000
_TEMPLATE, _TEMPLATED, _COPIED, _COPIES_OF = 15, 0.3, 0.2, 100


def vocabulary(random: np.random.Generator) -> npt.NDArray[np.object_]:
    """Words of 2 to 10 letters, the commonest first."""
    letters = random.integers(ord("a"), ord("z") + 1, (VOCABULARY, 10)).astype(np.uint8)
    lengths = random.integers(2, 11, VOCABULARY).tolist()
    return np.array([bytes(row[:length]).decode() for row, length in zip(letters, lengths, strict=True)], object)


def plain_corpus(count: int, seed: int = 0) -> list[str]:
    """Texts of 25 words drawn one by one."""
    random = np.random.default_rng(seed)
    words = vocabulary(random)
    shares = np.cumsum(1.0 / (np.arange(VOCABULARY) + 1 + _SHIFT))
    texts: list[str] = []
    for start in range(0, count, _CHUNK):
        drawn = random.random((min(_CHUNK, count - start), WORDS)) * shares[-1]
        texts += map(" ".join, words[np.searchsorted(shares, drawn)])
    return texts


def skewed_corpus(texts: Sequence[str], seed: int = 0) -> list[str]:
    """The same texts, 30 % of which share 15 of their 25 words and 20 % are copies of 100 of them."""
    random = np.random.default_rng(seed)
    template = texts[0].split()[:_TEMPLATE]
    templated, copied = int(len(texts) * _TEMPLATED), int(len(texts) * _COPIED)
    sources = [texts[-1 - source] for source in range(_COPIES_OF)]
    skewed = [" ".join(template + text.split()[_TEMPLATE:]) for text in texts[:templated]]
    skewed += [sources[source] for source in random.integers(0, _COPIES_OF, copied)]
    skewed += texts[templated + copied :]
    return [skewed[row] for row in random.permutation(len(skewed))]
