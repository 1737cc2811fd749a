"""Feedback Impact over a log of which only a part is folded: what is an estimate, and how good it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.long_log import RETRIEVALS, SAY_LONG, SMALL
from tests.long_log import plant as plant_long
from tests.pages.application import application
from tests.pages.impact_page import PAGE, said, titles

if TYPE_CHECKING:
    import psycopg

    Owner = psycopg.Connection[Any]


class TestDrawn:
    """Of all organizations over a log too long to fold whole, every figure is an estimate and says so."""

    @pytest.fixture
    def long(self, address: str, owner: Owner) -> str:
        plant_long(owner)
        owner.execute(SAY_LONG)
        return address

    def test_figures_carry_a_sign_and_the_strip_says_how_good_they_are(self, long: str) -> None:
        with application(long, part="measures") as test:
            test.switch_page(PAGE).run()
            assert not test.exception
            strip = next(line.value for line in test.markdown if "as of" in line.value)
            found = re.search(r"≈ ([\d,]+) log rows in ([\d,]+) retrievals, drawn from 30 % of the log", strip)
            assert found is not None
            assert int(found[2].replace(",", "")) == pytest.approx(RETRIEVALS + SMALL, rel=0.2)
            points, counts = (float(told) for told in re.findall(r"±([\d.]+)", strip))
            assert counts == pytest.approx(2 * points, rel=0.1)
            assert 0 < points < 15
            assert "newest" in strip
            share = re.search(r"top 5 in ≈ ([\d.]+) % of retrievals", test.subheader[0].value)
            assert share is not None
            # every third of the comparable, which are all but every tenth
            assert float(share[1]) == pytest.approx(100 / 3, abs=points)
            assert all(metric.value.startswith("≈ ") for metric in test.metric)
            assert all("≈ " in title for title in titles(test))
            told = said(test)
            assert re.search(r"Based on ≈ [\d,]+ comparable retrievals; counted apart: ≈ [\d,]+ logged incompl", told)
            assert re.search(r"100 of those drawn, .*; ≈ [\d,]+ there are in all", told)
            assert re.search(r"≈ [\d,]+ observations entered .* ≈ [\d.]+ flips per 100", told)

    @pytest.mark.parametrize(
        ("part", "words"),
        [("movers", "Counted in the retrievals that were drawn"), ("outcomes", "makes a difference look smaller")],
    )
    def test_what_is_no_estimate_says_so_too(self, long: str, part: str, words: str) -> None:
        with application(long, part=part) as test:
            test.switch_page(PAGE).run()
            assert not test.exception
            assert words in said(test)

    def test_one_organization_is_counted(self, long: str) -> None:
        with application(long, org="org_a") as test:
            test.switch_page(PAGE).run()
            assert "≈" not in said(test)
            assert f"in {RETRIEVALS:,} retrievals" in said(test)
