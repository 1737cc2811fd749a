from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any

from ranking.ranking import Ranking, Step

DIGITS = 4
# the default 28 digits would refuse 1e30; no finite number has more than 309 before the point
_EXACT = Context(prec=800)


def rounded(value: float, digits: int = DIGITS) -> Decimal:
    """A number as it is shown; what rounds to nothing has no sign."""
    return _EXACT.add(Decimal(value).quantize(Decimal(1).scaleb(-digits), context=_EXACT), Decimal(0))


def difference(after: Decimal, before: Decimal) -> Decimal:
    """The delta between two numbers shown, to their last digit."""
    return _EXACT.subtract(after, before)


@dataclass(frozen=True, eq=False)
class RowChange:
    """One row before and after a stage: what the stage may look at to choose its words.

    Ranks are 0-based, ``rank`` None if the stage dropped the row; scores are those after it, or the last there were.
    """

    ranking: Ranking
    step: Step
    position: int
    rank_before: int
    rank: int | None
    score_before: float
    score: float

    @property
    def held(self) -> bool:
        """Whether the row was still there after the stage."""
        return self.rank is not None

    @property
    def before(self) -> Ranking:
        """The ranking as the stage found it."""
        place = next(place for place, step in enumerate(self.ranking.steps) if step is self.step)
        return Ranking(self.ranking.candidates, self.ranking.steps[:place])

    def text(self, name: str) -> str:
        """A text of the row."""
        found: str = self.ranking.candidates.texts(name)[self.position].as_py()
        return found

    def held_texts(self, name: str) -> Any:  # noqa: ANN401 - an Arrow array of large strings
        """That text of every row the stage held."""
        return self.ranking.candidates.texts(name).take(self.step.positions)


def sentence(row: RowChange) -> str:
    """The stage's own words about one row, filled from its fields and the row's columns."""
    template = _template(row)
    if template is None:
        return f"{_name(row)}: {_delta(row):+}" if row.held else f"dropped by {_name(row)}"
    if row.held and row.score == row.score_before and "{delta" in template:
        return f"{_name(row)} adds nothing"
    return template.format_map(_Evidence(row))


def _name(row: RowChange) -> str:
    return type(row.step.stage).__name__


def _delta(row: RowChange) -> Decimal:
    return difference(rounded(row.score), rounded(row.score_before))


def _template(row: RowChange) -> str | None:
    """What the stage chooses for this row by ``wording``, or else its ``words``, or ``dropped``."""
    stage: Any = row.step.stage
    if hasattr(stage, "wording"):
        chosen: str = stage.wording(row)
        return chosen
    return getattr(stage, "words" if row.held else "dropped", None)


class _Evidence(dict[str, Any]):
    """What a sentence may name: scores before and after, delta, place, the stage's fields, then the row's columns."""

    def __init__(self, row: RowChange) -> None:
        super().__init__()
        self._row = row

    def __missing__(self, name: str) -> Any:  # noqa: ANN401 - as the field or column
        row = self._row
        if name == "score":
            return rounded(row.score)
        if name == "before":
            return rounded(row.score_before)
        if name == "delta":
            return _delta(row)
        if name == "place" and row.rank is not None:
            return row.rank + 1  # sentences are read beside tables, which count from 1
        # fields before columns, as Composite has weights named like the columns they weigh
        chosen = vars(row.step.stage)
        return chosen[name] if name in chosen else row.ranking.candidates[name][row.position]
