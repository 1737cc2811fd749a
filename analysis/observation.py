"""The fingerprint of one observation's text, as the aggregation takes it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ranking import fingerprints


class Fingerprint(NamedTuple):
    """A SimHash as the store keeps it, a signed number, and how many tokens voted: without any it says nothing."""

    simhash: int
    tokens: int


def fingerprint(content: str) -> Fingerprint:
    """Taken anew from the text, so that an observation no pass has read yet has neighbours too."""
    hashes, tokens = fingerprints([content])
    return Fingerprint(int(hashes.view(np.int64)[0]), int(tokens[0]))
