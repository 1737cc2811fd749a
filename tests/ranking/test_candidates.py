import datetime as dt
import re

import numpy as np
import pyarrow as pa
import pytest

from ranking import Candidates, MissingEvidence


class TestAtTheDoor:
    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    @pytest.mark.parametrize("column", ["relevance", "weight", "importance", "corroborating"])
    def test_scores_must_be_finite(self, column: str, bad: float) -> None:
        with pytest.raises(ValueError, match=rf"column '{column}': expected finite numbers, found {bad} at row 1"):
            Candidates(["a", "b"], **{column: [0.5, bad]})  # type: ignore[arg-type]

    def test_lengths_must_agree(self) -> None:
        with pytest.raises(ValueError, match="column 'weight': expected 2 rows as ids has, found 3"):
            Candidates(["a", "b"], weight=[1, 2, 3])

    def test_unknown_columns_are_named(self) -> None:
        with pytest.raises(ValueError, match="unknown column 'wieght'; columns are relevance, weight"):
            Candidates(["a"], wieght=[1.0])

    @pytest.mark.parametrize(
        ("column", "values", "message"),
        [
            ("relevance", ["x"], "expected numbers, found <U1"),
            ("relevance", [[1.0]], "expected numbers, found float64 of shape (1, 1)"),
            ("relevance", [True], "expected numbers, found bool"),
            ("corroborating", [-1], "expected counts of 0 or more, found -1"),
            ("reflection_depth", [1.5], "expected whole numbers, found 1.5"),
            ("is_reflection", [1], "expected true or false, found int64"),
            ("created_at", [3.0], "expected datetime64, found float64"),
            ("content", [3], "expected texts"),
            ("content", [None], "expected a text in every row, found 1 without"),
            ("memory_score", [np.inf], "expected numbers or nan, found inf"),
            ("tags", [[1]], "expected lists of texts"),
            ("tags", ["a"], "expected lists of texts"),
            ("embeddings", [1.0], "expected a matrix of numbers"),
            ("embeddings", [[np.nan]], "expected finite numbers"),
            ("leg_ranks", [[0.5]], "expected whole ranks, rows by legs"),
            ("leg_scores", [[np.inf]], "expected finite scores or nan"),
        ],
    )
    def test_one_clear_error_each(self, column: str, values: list[object], message: str) -> None:
        with pytest.raises((ValueError, TypeError), match=re.escape(message)):
            Candidates(["a"], **{column: values})  # type: ignore[arg-type]

    def test_times_with_a_zone_are_refused(self) -> None:
        with pytest.raises(TypeError, match="expected utc times without a zone"):
            Candidates(["a"], created_at=[dt.datetime(2026, 1, 1, tzinfo=dt.UTC)])

    def test_no_rows_are_fine(self) -> None:
        assert len(Candidates([], relevance=[], content=[], created_at=[])) == 0

    def test_a_time_may_be_missing(self) -> None:
        found = Candidates(["a", "b"], created_at=[None, dt.datetime(2026, 1, 1)])  # noqa: DTZ001 - utc by contract
        assert np.isnat(found["created_at"]).tolist() == [True, False]


class TestMissingEvidence:
    def test_a_missing_column_is_named_beside_those_there(self) -> None:
        found = Candidates(["a"], relevance=[1.0], content=["x"])
        with pytest.raises(MissingEvidence, match="no column 'weight'; candidates carry relevance, content"):
            found["weight"]

    def test_query_and_now_are_asked_for_by_name(self) -> None:
        with pytest.raises(MissingEvidence, match="no query"):
            Candidates([]).asked()
        with pytest.raises(MissingEvidence, match="no time of the question"):
            Candidates([]).time()

    def test_ids_are_looked_up_once_each(self) -> None:
        assert Candidates(["a", "b"]).position("b") == 1
        with pytest.raises(MissingEvidence, match="no candidate 'c' among 2"):
            Candidates(["a", "b"]).position("c")
        with pytest.raises(ValueError, match="expected every id once, found 1 rows with an id seen before"):
            Candidates(["a", "a"]).position("a")


def test_columns_are_shared_and_rows_can_be_taken() -> None:
    found = Candidates(
        ["a", "b", "c"], query="q", relevance=[1, 2, 3], content=["x", "y", "z"], session=["s", "", None]
    )
    changed = found.with_columns(weight=[1.0, 1.0, 1.0])
    assert changed["relevance"] is found["relevance"]
    assert "weight" not in found
    taken = changed.take([2, 0])
    assert taken.ids.tolist() == ["c", "a"]
    assert taken["relevance"].tolist() == [3, 1]
    assert taken.texts("content").to_pylist() == ["z", "x"]
    assert taken.query == "q"
    assert found.texts("session").to_pylist() == ["s", None, None]
    assert repr(found) == "<Candidates: 3 rows of relevance, content, session>"


def test_arrow_and_numpy_columns_are_taken_as_they_are() -> None:
    texts = pa.chunked_array([["x"], ["y"]])
    assert Candidates([1, 2], content=texts).texts("content").to_pylist() == ["x", "y"]
    assert Candidates(np.array([1, 2]), content=np.array(["x", "y"])).ids.tolist() == [1, 2]
    assert Candidates([("s", 1), ("s", 2)]).ids.tolist() == [("s", 1), ("s", 2)]
