from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from ranking.candidates import Positions
from ranking.limits import whole, within
from ranking.ranking import Ranking
from ranking.sentences import RowChange
from ranking.tokens import refuse_lone_text

CHARACTERS_PER_TOKEN = 4
BUDGETS = {"bug_fix": 750, "feature": 400, "refactor": 600, "chore": 300}
OTHER_BUDGET = 500
_FIRST_LOOK = 64
_OVER = "does not fit the budget of {tokens} tokens"

Tokens = npt.NDArray[np.int64]


def context_budget(work_type: str | None) -> int:
    """Tokens a session may spend on memory: bug fixes need most, chores least, anything unnamed 500 (Rensei)."""
    return BUDGETS.get(work_type or "", OTHER_BUDGET)


def estimate_tokens(texts: Any) -> Tokens:  # noqa: ANN401 - a sequence of texts or an Arrow array
    """``⌈characters / 4⌉`` per text: English runs at about four characters to a token, and no tokeniser is needed."""
    refuse_lone_text("texts", texts)
    lengths = np.asarray(pc.utf8_length(texts) if hasattr(texts, "type") else [len(text) for text in texts], np.int64)
    return -(-lengths // CHARACTERS_PER_TOKEN)


def fitting(tokens: Tokens, budget: int) -> int:
    """How many of the leading texts fit: up to the first that does not, but always one unless the budget is 0."""
    within("budget", budget, 0)
    if not tokens.size or budget == 0:
        return 0
    return max(1, int(np.searchsorted(tokens.cumsum(), budget, side="right")))


def fitting_head(ranking: Ranking, budget: int) -> Positions:
    """The rows of the block, best first; looks at 64 rows, then twice as many, so a million are never sorted."""
    total = ranking.scores.size
    look = min(_FIRST_LOOK, total)
    while True:
        head = ranking.last.head(look)
        fit = fitting(estimate_tokens(ranking.texts("content", head)), budget)
        if fit < look or look == total:
            return head[:fit]
        look = min(2 * look, total)


@dataclass(frozen=True)
class Block:
    """The memory block of one retrieval: its lines in rank order and what they cost."""

    ids: tuple[Any, ...]
    lines: tuple[str, ...]
    tokens: int
    budget: int

    @property
    def text(self) -> str:
        """The block as it is injected, one observation per line."""
        return "\n".join(self.lines)


def block(ranking: Ranking, budget: int) -> Block:
    """Pack the ranking into its budget; a budget of 0 gives an empty block, which is still logged."""
    rows = fitting_head(ranking, budget)
    lines: list[str] = ranking.texts("content", rows).to_pylist()
    ids = tuple(ranking.candidates.ids[ranking.positions[rows]].tolist())
    return Block(ids, tuple(f"- {line}" for line in lines), int(estimate_tokens(lines).sum()), budget)


@dataclass(frozen=True)
class TokenBudget:
    """Keep what fits the block, in rank order until the first that does not (001); 500 is the budget of other work."""

    tokens: int = OTHER_BUDGET

    def __post_init__(self) -> None:
        whole("tokens", self.tokens, 0)

    def __call__(self, ranking: Ranking) -> Ranking:
        return ranking.selected(self, fitting_head(ranking, self.tokens))

    def wording(self, row: RowChange) -> str:
        """What it says of a row: only one row is the first that does not fit."""
        if not self.tokens:
            return "a budget of 0 tokens holds nothing"
        if not row.held:
            first = row.rank_before == row.step.positions.size
            return _OVER if first else f"stands behind the first row that {_OVER}"
        cost = 0 if row.rank else int(estimate_tokens([row.text("content")])[0])
        if cost > self.tokens:
            return f"{cost} tokens are over the budget of {{tokens}}, but the first row is always included"
        return "fits the budget of {tokens} tokens"
