"""What feedback moved most, as its tables draw it."""

from __future__ import annotations

import json

import pytest
from streamlit.testing.v1 import AppTest


def drawn(last: list[float] | None) -> None:
    import pandas as pd  # noqa: PLC0415 - runs as a page of its own

    from controls.impact.movers import movers  # noqa: PLC0415 - same

    one = {"observation_id": "a", "text": "said", "places": 3, "retrievals": 2, "up": 2, "down": 0, "weight": 1.0}
    movers(pd.DataFrame([{**one, "weights": [0.5, 1.0]}, {**one, "observation_id": "b", "weights": last}]))


@pytest.mark.parametrize(
    ("last", "label", "top"),
    [
        ([0.2, 0.9], "0 to 1", 1),
        (None, "0 to 1", 1),
        ([1.0, 1.6], "0 to 1.6", 1.6),
        ([float("nan"), 1.2], "0 to 1.2", 1.2),
    ],
)
def test_the_line_of_weights_reaches_as_high_as_any_of_them(last: list[float] | None, label: str, top: float) -> None:
    test = AppTest.from_function(drawn, args=(last,)).run()
    assert not test.exception
    for table in test.dataframe:
        column = json.loads(table.proto.columns)["weights"]
        assert column["label"] == f"Its last weights, {label}"
        assert column["type_config"]["y_max"] == pytest.approx(top)
