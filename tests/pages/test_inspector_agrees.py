"""What the Inspector shows twice, or a command shows too, is the same: lists beside each other, pins, copied code."""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from controls.inspector.agreement import FEWEST
from jobs.__main__ import run
from queries.engine import LIST
from queries.pins import Pin, SavePin
from queries.scope import Reach
from ranking import Corroboration, Feedback, Head, Relevance, TokenBudget, to_text
from tests import sample
from tests.pages.application import application
from tests.pages.inspector_page import opened, param, said
from tests.retrieval.planted import NOW, QUESTION, add_session

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg
    from streamlit.testing.v1 import AppTest

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]
    Commanded = Callable[[str], tuple[int, str]]

BOOSTED = to_text((Relevance(), Head(20), Corroboration(1.0), Feedback(), TokenBudget(500)))
TWIN_LINK = {"org": "twins", "q": QUESTION, "preset": "INTENDED", "boost": "1", "v": "1"}

pytestmark = pytest.mark.usefixtures("_long_notes")


@pytest.fixture
def commanded(address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Commanded:
    """Run a command as it was copied, in this process; its exit code and what it printed."""

    def do(shown: str) -> tuple[int, str]:
        words = shlex.split(shown)
        assert words[:3] == ["python", "-m", "jobs"]
        capsys.readouterr()
        monkeypatch.setenv("DATABASE_URL", address)
        code = run([*words[3:], "--json"])
        return code, capsys.readouterr().out

    return do


def copied(test: AppTest, job: str) -> str:
    (found,) = [block.value for block in test.code if block.value.startswith(f"python -m jobs {job} ")]
    return str(found)


class TestCompare:
    @pytest.mark.parametrize(
        "link",
        [
            {"org": "acme", "q": QUESTION, "work_type": "bug_fix", "vs": "LIVE"},
            {"org": "acme", "q": QUESTION, "work_type": "chore", "vs": "LIVE"},
            {"org": "off", "q": QUESTION, "preset": "LIVE", "v": "1", "vs": "LIVE"},
            {**TWIN_LINK, "bits": "16", "vs": BOOSTED},
        ],
    )
    def test_a_pipeline_beside_itself_changes_nothing(self, address: str, link: dict[str, str]) -> None:
        test = opened(address, show="compare", **link)
        (figures,) = test.dataframe[0].value.to_dict("records")
        order = pytest.approx(1.0 if figures["both"] >= FEWEST else math.nan, nan_ok=True)
        best = min(10, figures["both"])
        assert (figures["overlap"], figures["rbo"], figures["tau"]) == (f"{best} of {best}", 1.0, order)
        assert (figures["both"] >= FEWEST) == (link["org"] != "twins")
        assert (figures["entered"], figures["left"]) == (0, 0)
        assert "The memory block holds the same observations" in said(test)

    def test_a_text_means_its_own_numbers(self, address: str) -> None:
        """The preset's name is fitted to the work; its text says 500 tokens, and two of five rows leave."""
        plain = to_text((Relevance(), Head(20), Feedback(), TokenBudget(500)))
        link = {"org": "acme", "q": QUESTION, "work_type": "bug_fix", "vs": f"LIVE,{plain}"}
        figures = opened(address, show="compare", **link).dataframe[0].value.to_dict("records")
        assert [(row["entered"], row["left"]) for row in figures] == [(0, 0), (0, 2), (0, 2)]


class TestPins:
    @staticmethod
    def hold(store: Store, org: str, pin: Pin) -> int:
        with store.writing(Reach.of(frozenset({org})), LIST, name="pin") as connection:
            return SavePin(org, pin, "ada").apply(connection) or 0

    @staticmethod
    def held(test: AppTest) -> bool:
        (line,) = [line.value for line in test.markdown if "pins hold under this pipeline" in line.value]
        return {"**1 of 1": True, "**0 of 1": False}[line[:8]]

    def test_a_pin_is_asked_for_its_own_work_here_and_by_the_command(
        self, address: str, store: Store, commanded: Commanded
    ) -> None:
        """Its last row fits the 750 tokens of a bug fix and not the 500 of other work."""
        ranked = opened(address, org="acme", q=QUESTION).dataframe[0].value
        assert ranked["block"].tolist() == ["✓"] * 3 + [""] * 2
        pin = Pin("deep", QUESTION, (ranked["id"].iloc[4],), work_type="bug_fix")
        number = self.hold(store, "acme", pin)
        for link in ({"pin": str(number)}, {"q": "which fruit ripens"}, {"q": QUESTION, "work_type": "chore"}):
            test = opened(address, org="acme", show="pins", **link)
            assert self.held(test)
            assert commanded("python -m jobs pins --org acme")[0] == 0
            assert commanded(copied(test, "pins"))[0] == 0
        turned = opened(address, org="acme", q=QUESTION, show="pins", tokens="550", v="1")
        assert not self.held(turned)
        assert commanded(copied(turned, "pins"))[0] == 1

    def test_what_is_half_filled_in_stays_while_another_panel_is_looked_at(
        self, address: str, cluster: Cluster, store_database: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", store_database))
        with application(address, org="acme", q=QUESTION, show="pins") as test:
            test.switch_page("inspector.py").run()
            second, third = test.multiselect("pin_include").options[1:3]
            test.text_input("pin_name").input("half")
            test.multiselect("pin_include").set_value([third])
            test.selectbox("pin_upper").set_value(second)
            test.run()
            chosen = test.multiselect("pin_include").value, test.selectbox("pin_upper").value
            for panel in ("block", "pins"):
                test.query_params["show"] = panel
                test.run()
                assert ("pin_include" in [each.key for each in test.multiselect]) == (panel == "pins")
            assert test.text_input("pin_name").value == "half"
            assert (test.multiselect("pin_include").value, test.selectbox("pin_upper").value) == chosen
            assert [third[-8:], second[-8:]] == [each[:8] for each in (*chosen[0], chosen[1])]

    def test_a_link_to_a_pin_brings_its_work_along_until_another_question_is_typed(
        self, address: str, store: Store
    ) -> None:
        number = self.hold(store, "acme", Pin("p", QUESTION, (str(sample.NAMESPACE),), work_type="bug_fix"))
        with application(address, org="acme", pin=str(number)) as test:
            test.switch_page("inspector.py").run()
            assert param(test, "work_type") == "bug_fix"
            assert test.dataframe[0].value["block"].tolist() == ["✓"] * 5
            assert "Work bug_fix: a budget of 750 tokens" in said(test)
            test.text_input("typed_question").set_value("which fruit ripens").run()
            assert "work_type" not in test.query_params
            assert not test.exception

    def test_who_says_the_same_counts_within_the_bits_that_are_shown(
        self, address: str, store: Store, commanded: Commanded
    ) -> None:
        ids = opened(address, org="twins", q=QUESTION).dataframe[0].value["id"].tolist()
        self.hold(store, "twins", Pin("together", QUESTION, (), ((ids[1], ids[0]),)))
        for bits, holds in ({}, False), ({"bits": "16"}, True):
            test = opened(address, show="pins", **TWIN_LINK, **bits)
            assert self.held(test) is holds
            assert commanded(copied(test, "pins"))[0] == (not holds)


class TestCopied:
    @pytest.mark.parametrize(
        "link",
        [
            {"org": "acme", "q": QUESTION},
            {"org": "acme", "q": QUESTION, "project": "api", "work_type": "bug_fix"},
            {"org": "acme", "q": QUESTION, "head": "3", "fb": "off", "v": "1"},
            {"org": "off", "q": QUESTION},
            {"org": "off", "q": QUESTION, "fb": "on", "v": "1"},
            {"org": "acme", "q": QUESTION, "preset": "AI_MEMORY", "scorer": "lexical", "v": "1"},
            {**TWIN_LINK, "bits": "16"},
            {"org": "acme", "q": '--auth\'s $(null) `pointer`\n"middleware"'},
        ],
    )
    def test_the_command_gives_the_list_that_is_shown(
        self, address: str, commanded: Commanded, link: dict[str, str]
    ) -> None:
        test = opened(address, digits="all", **link)
        assert_same(test, *commanded(copied(test, "rank")))

    def test_a_logged_retrieval_is_asked_as_of_its_moment(
        self, address: str, owner: Owner, commanded: Commanded
    ) -> None:
        """Memini counts ages: asked as of now, its scores would be others."""
        ids = [row[0] for row in owner.execute("select id from observations where org_id = 'acme' order by id")]
        add_session(owner, "acme", "session-r", "bug_fix")
        retrieval = sample.add_retrieval(owner, "acme", sample.swapped(3, 0, 2), name="r", observations=ids[:3])
        owner.execute("update retrieval_ab_logs set query_text = %s, created_at = %s", (QUESTION, NOW))
        link = {"org": "acme", "retrieval": str(retrieval), "preset": "MEMINI", "v": "1"}
        test = opened(address, digits="all", **link)
        command = copied(test, "rank")
        assert f"--at {NOW.isoformat()}" in command
        assert "--work-type bug_fix" in command
        assert_same(test, *commanded(command), relative=1e-12)

    @pytest.mark.parametrize(
        ("link", "left_out"),
        [
            ({"org": "acme", "q": QUESTION}, "The text does not say who asks: only the command does."),
            ({**TWIN_LINK, "bits": "16"}, "does not say who asks or the SimHash bits: only"),
            (
                {"org": "acme", "q": QUESTION, "preset": "FULL", "scorer": "lexical", "bits": "9", "v": "1"},
                "does not say who asks, the SimHash bits or who scores pairs: only",
            ),
        ],
    )
    def test_what_the_text_leaves_out_is_named(self, address: str, link: dict[str, str], left_out: str) -> None:
        assert left_out in said(opened(address, **link))


def assert_same(test: AppTest, code: int, printed: str, relative: float = 1e-6) -> None:
    """The rows of the command are the first of the page's, with their scores, and the same are in the block."""
    assert code == 0
    shown, rows = test.dataframe[0].value, json.loads(printed)["rows"]
    assert rows
    assert [row["id"] for row in rows] == shown["id"].tolist()[: len(rows)]
    assert [row["score"] for row in rows] == pytest.approx(
        shown["score"].map(float).tolist()[: len(rows)], rel=relative
    )
    assert [row["id"] for row in rows if row["injected"]] == shown.loc[shown["block"] == "✓", "id"].tolist()
