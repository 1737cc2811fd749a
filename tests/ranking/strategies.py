"""Few distinct scores, so that ties are common: that is where rankings go wrong."""

import numpy as np
from hypothesis import strategies as st

from ranking import Candidates

FEW = (-0.5, 0.0, 0.25, 0.5, 0.75, 1.0)
TEXTS = ("", "one", "One ", "two words", "a longer text that costs tokens")

scores = st.lists(st.sampled_from(FEW), max_size=25).map(lambda values: np.array(values, dtype=np.float64))
some_scores = st.lists(st.sampled_from(FEW), min_size=1, max_size=25).map(lambda v: np.array(v, dtype=np.float64))
orderings = st.lists(st.integers(0, 9), unique=True, max_size=10)


@st.composite
def candidates(draw: st.DrawFn, *, min_size: int = 0) -> Candidates:
    """Candidates with every column a stage may ask for."""
    n = draw(st.integers(min_size, 12))
    # one seed for all columns: drawing twenty lists one by one takes thirty times as long
    choose = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))

    def column(*values: object) -> list[object]:
        return [values[place] for place in choose.integers(0, len(values), n)]

    now = np.datetime64("2026-06-01T00:00:00")
    days = np.array(column(0, 1, 7, 21, 60), dtype="timedelta64[D]")
    return Candidates(
        range(n),
        query="what did we decide 3 weeks ago",
        now=now,
        legs=("vec_full", "lexical"),
        relevance=column(*FEW[1:]),
        weight=column(0.25, 0.5, 1.0),
        importance=column(-1.0, 0.5, 2.0),
        corroborating=column(0, 1, 3),
        memory_score=column(0.0, 0.5, 1.0),
        pair_score=column(0.0, 0.5, 1.0),
        is_reflection=np.array(column(False, True), dtype=np.bool_),  # noqa: FBT003 - the values themselves
        reflection_depth=column(-1, 0, 2, 5),
        shown_before=np.array(column(False, True), dtype=np.bool_),  # noqa: FBT003 - the values themselves
        created_at=now - days,
        last_accessed_at=now - days,
        session=column("s1", "s2", None),
        granularity=column("observation", "turn", "session"),
        tags=column(("a",), ("a", "b"), ()),
        title=column(*TEXTS),
        content=column(*TEXTS),
        embeddings=np.array(column((1.0, 0.0), (0.0, 1.0), (1.0, 1.0), (0.0, 0.0))).reshape(n, 2),
        leg_ranks=np.array(column((0, -1), (1, 0), (-1, 2), (-1, -1)), dtype=np.int64).reshape(n, 2),
        leg_scores=np.array(column((0.5, np.nan), (0.25, 1.0), (np.nan, 2.0)), dtype=np.float64).reshape(n, 2),
    )
