"""Feature flags as a test opens them, and the organizations behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests import sample
from tests.queries.flags.flag_store import WEIGHTING
from tests.weighed import add_observed, add_weighed

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    Owner = psycopg.Connection[Any]

PAGE = "feature_flags.py"


def plant_flagged(owner: Owner) -> None:
    """Acme, on which weighting has an effect; Birch, set by other software."""
    sample.add_organization(owner, "org_a", "Acme")
    add_weighed(owner, "org_a", add_observed(owner, "org_a"), 4)
    sample.add_organization(owner, "org_b", "Birch", features={WEIGHTING: True, "theirs": "<b>x</b>"})


def opened(test: AppTest) -> AppTest:
    test.switch_page(PAGE).run()
    assert not test.exception
    return test
