"""Tables show what would turn their letters unseen, and leave what they were made of alone."""

from __future__ import annotations

import pandas as pd

from controls.grid import visible


def test_texts_have_marks_and_the_frame_behind_them_has_none() -> None:
    frame = pd.DataFrame(
        {
            "name": ["Acme\u202e", "مرحبا", None],
            "mixed": pd.Series(["\u2066a", 3, ["\u202e"]], dtype=object),
            "count": [1, 2, 3],
        }
    )
    shown = visible(frame)
    assert shown["name"].fillna("").tolist() == ["Acme⟦U+202E⟧", "مرحبا", ""]
    assert shown["mixed"].tolist() == ["⟦U+2066⟧a", 3, ["\u202e"]]
    assert frame["name"].iloc[0] == "Acme\u202e"
    assert shown.dtypes.tolist() == frame.dtypes.tolist()


def test_a_frame_that_needs_none_is_drawn_as_it_is() -> None:
    frame = pd.DataFrame({"name": ["Acme", "שלום"], "at": pd.to_datetime(["2026-01-01", "2026-01-02"], utc=True)})
    assert visible(frame) is frame
    assert visible(pd.DataFrame()).empty
