"""The memory block: what the best rows say, one line each, under a budget of tokens."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from ranking.budget import Block, block, estimate_tokens

if TYPE_CHECKING:
    from ranking.ranking import Ranking

BULLET = "- "

# Unseen by the person who reads the block and seen by the model: overrides of the reading direction, tag characters
# and variation selectors that spell hidden text, and characters of no width. Joiners stay, scripts and emoji need them.
UNSEEN = re.compile("[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e0fff]")
# Controls and every kind of line end; str.split knows most of them as blanks, a terminal or a model may not.
CONTROLS = re.compile("[\x00-\x20\x7f-\xa0\u2028\u2029]+")


def one_line(text: str) -> str:
    """A text on a single line without hidden characters: never longer, so what fitted its budget still does.

    An observation is tenant text. Left with its line ends it could write lines of its own into the block, which would
    then pass for other observations.
    """
    return CONTROLS.sub(" ", UNSEEN.sub("", text)).strip()


def format_observations_block(ranking: Ranking, budget: int) -> Block:
    """Pack the ranking in rank order until the first row that does not fit; the first always does (001).

    Which rows fit is decided as ``TokenBudget`` decides it, so that block and ranking never disagree.
    """
    packed = block(ranking, budget)
    contents = [one_line(line.removeprefix(BULLET)) for line in packed.lines]
    tokens = int(estimate_tokens(contents).sum())
    return replace(packed, lines=tuple(f"{BULLET}{content}" for content in contents), tokens=tokens)
