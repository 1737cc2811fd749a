"""Pictures of Drift Alerts: what is drawn of a statement, and what each title says."""

from __future__ import annotations

from datetime import UTC, datetime

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.drift.figures import AGE_NAMES
from charts.drift import precision_curve, trends
from charts.drift_timeline import Given, Life, both_lives
from charts.statement import COLUMNS, HIDDEN, LONGEST, excerpt, lines, statement
from tests.hostile import TEXTS


class TestStatement:
    def test_evidence_is_set_apart_and_nothing_else(self) -> None:
        drawn = lines("The API listens on port 8080.", [(24, 28)])
        assert drawn == [[("The API listens on port ", False), ("8080", True), (".", False)]]
        text = statement("The API listens on port 8080.", [(24, 28)]).layout.annotations[0].text
        assert text == 'The API listens on port <b><u><span style="color:#7B5EA7">8080</span></u></b>.'

    @pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
    def test_no_markup_of_a_text_survives(self, text: str) -> None:
        drawn = [note.text for note in statement(text[:LONGEST], [(0, 3)]).layout.annotations]
        bare = "".join(drawn).replace('<b><u><span style="color:#7B5EA7">', "").replace("</span></u></b>", "")
        assert "<" not in bare
        assert not any(ord(letter) < 32 for letter in bare)

    @given(st.text(max_size=400), st.integers(0, 400), st.integers(0, 20))
    def test_no_letter_is_lost_and_no_line_too_long(self, text: str, start: int, length: int) -> None:
        drawn = lines(text, [(start, start + length)])
        shown = "".join(piece for pieces in drawn for piece, _ in pieces)
        assert len([c for c in shown if c != " "]) == len([c for c in text if c not in " \n"])
        assert all(sum(len(piece) for piece, _ in pieces) <= COLUMNS for pieces in drawn)
        marked = "".join(piece for pieces in drawn for piece, is_evidence in pieces if is_evidence)
        assert len(marked.replace(" ", "")) == len([c for c in text[start : start + length] if c not in " \n"])

    def test_of_a_long_text_what_stands_around_the_evidence(self) -> None:
        text = "a " * 5_000 + "8080" + " b" * 5_000
        begin, end = excerpt(text, [(10_000, 10_004)])
        assert (begin, end - begin) == (9_700, LONGEST)
        shown = lines(text, [(10_000, 10_004)])
        assert shown[0][0] == ("… ", False)
        assert shown[-1][-1] == (" …", False)
        assert ("8080", True) in [piece for pieces in shown for piece in pieces]

    def test_what_would_turn_letters_round_is_a_dot(self) -> None:
        assert lines("\u202eevil", []) == [[(f"{HIDDEN}evil", False)]]


def test_trends_say_how_much_waits() -> None:
    days = pd.DataFrame([(datetime(2026, 3, 9, tzinfo=UTC), 2, 5, 4, 3, 1)], columns=["day", "arisen", *AGE_NAMES])
    figure = trends(days, AGE_NAMES)
    assert figure.layout.title.text == "13 open, 4 of them for over 30 days"
    assert [list(trace.y) for trace in figure.data] == [[2], [5], [4], [3], [1]]


@pytest.mark.parametrize(("arisen", "step"), [(1, 1), (4, 1), (5, None), (40, None)])
def test_ticks_of_few_alerts_are_whole_numbers(arisen: int, step: int | None) -> None:
    days = pd.DataFrame([(datetime(2026, 3, 9, tzinfo=UTC), arisen, 0, 1, 0, 0)], columns=["day", "arisen", *AGE_NAMES])
    layout = trends(days, AGE_NAMES).layout
    assert layout.yaxis.dtick == step
    assert layout.yaxis2.dtick == 1


def test_where_nothing_arose_there_is_no_picture_of_it() -> None:
    days = pd.DataFrame([(datetime(2026, 3, 9, tzinfo=UTC), 0, 5, 4, 3, 1)], columns=["day", "arisen", *AGE_NAMES])
    figure = trends(days, AGE_NAMES)
    assert figure.layout.title.text == "13 open, 4 of them for over 30 days; none arose"
    assert [list(trace.y) for trace in figure.data] == [[5], [4], [3], [1]]
    assert figure.layout.yaxis2.domain == (0, 1)


def test_a_curve_without_verdicts_says_that_it_collects_them() -> None:
    shares = pd.DataFrame(
        {"threshold": [0.3, 0.5], "share": [0.8, None], "low": [0.6, None], "high": [0.9, None], "judged": [20, 3]}
    )
    assert precision_curve(shares, 0.5).layout.title.text == "Collecting verdicts: 3 so far"
    assert precision_curve(shares, 0.3).layout.title.text == "80% confirmed (60%–90%, n = 20)"


def test_both_lives_on_one_axis() -> None:
    now = datetime(2026, 3, 10, tzinfo=UTC)
    happened = pd.DataFrame({"lane": ["written", "injected"], "first": [now] * 2, "last": [now] * 2, "count": [1, 3]})
    for name in ("first", "last"):
        happened[name] = pd.to_datetime(happened[name])
    steps = pd.DataFrame({"recorded_at": [], "previous_weight": [], "new_weight": []})
    life = Life(happened, steps, 0.5, now)
    figure = both_lives(life, life, now, Given(30, 2, 1, 1))
    assert figure.layout.xaxis2.tickformatstops[0].value == "%-d %b\n%Y"  # 6 Sep, and not Sep 6
    assert figure.layout.title.text == (
        "Injected 3 and 3 times in all<br>2 and 1 in the window's 30 days, both into 1 session"
    )
    unlogged = both_lives(life, life, now, Given(30, None, None, None))
    assert unlogged.layout.title.text == "Injected 3 and 3 times in all"
    assert set(figure.layout.yaxis2.categoryarray) == {
        "older: written", "older: injected", "newer: written", "newer: injected",
    }  # fmt: skip
