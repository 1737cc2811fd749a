"""The Inspector's figures, as they stand on the page, against the library's for the same question."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from queries.engine import Store, make_engine
from ranking import INTENDED, LIVE, LexicalScorer, explain
from retrieval.retrieve import AgentSession, Memory, retrieve
from tests import sample
from tests.hostile import TEXTS as HOSTILE
from tests.pages.application import application
from tests.pages.inspector_page import opened, param, said, titles
from tests.retrieval.planted import EMBEDDER, QUESTION, plant

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from retrieval.retrieve import Retrieval
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_weighted_notes")


@pytest.fixture
def store(cluster: Cluster, store_database: str) -> Iterator[Store]:
    opened = Store(make_engine(cluster.url("dash_read", store_database), name="oracle"))
    yield opened
    opened.close()


def oracle(store: Store, stages: Any = LIVE) -> Retrieval:  # noqa: ANN401 - a pipeline
    return retrieve(Memory(store, EMBEDDER, LexicalScorer()), AgentSession("acme"), QUESTION, stages)


class TestQuestion:
    def test_all_organizations_is_one_too_many_and_a_button_picks_one(self, address: str) -> None:
        with application(address) as test:
            test.switch_page("inspector.py").run()
            assert "asked to one organization's memory" in test.info[0].value
            test.button("enter_0").click().run()
            assert param(test, "org") == "acme"
            assert test.text_input("typed_question").value == ""

    def test_a_typed_question_goes_into_the_address(self, address: str) -> None:
        with application(address, org="acme") as test:
            test.switch_page("inspector.py").run()
            test.text_input("typed_question").set_value(QUESTION).run()
            assert param(test, "q") == QUESTION
            assert not test.exception
            assert len(test.dataframe[0].value) == 5

    def test_nothing_recalled_is_said(self, address: str, owner: Owner) -> None:
        sample.add_organization(owner, "empty")
        assert "Nothing was recalled" in said(opened(address, org="empty", q="anything at all"))

    def test_an_organization_without_retrievals_says_so(self, address: str) -> None:
        assert "No retrievals in this scope" in said(opened(address, org="acme"))


class TestFigures:
    def test_the_list_is_the_librarys(self, address: str, store: Store) -> None:
        found = oracle(store)
        table = opened(address, org="acme", q=QUESTION).dataframe[0].value
        assert table["id"].tolist() == found.ranking.ids()
        assert table.columns[:3].tolist() == ["open", "place", "memory"]
        assert set(table["open"]) == {"Open"}
        assert table["score"].tolist() == [f"{row.score:.3g}" for row in explain(found.ranking).rows]
        assert table["block"].tolist() == ["✓"] * 5

    def test_the_pipeline_can_be_copied(self, address: str) -> None:
        test = opened(address, org="acme", q=QUESTION, head="7")
        assert "Relevance~~Head~k~7~~Feedback~enabled~true" in test.code[0].value

    def test_the_organizations_own_pipeline_follows_its_flags(self, address: str, owner: Owner, store: Store) -> None:
        owner.execute("""update organizations set features = '{"corroboration_boost_enabled": true}'""")
        test = opened(address, org="acme", q=QUESTION, open="corroboration")
        assert test.slider("turn_boost").value == 0.1
        assert "No aggregation pass has finished" in said(test)
        assert test.dataframe[0].value["id"].tolist() == oracle(store, INTENDED).ranking.ids()

    def test_weighting_that_is_off_is_shown_off(self, address: str, owner: Owner) -> None:
        owner.execute("""update organizations set features = '{"feedback_weighting_disabled": true}'""")
        test = opened(address, org="acme", q=QUESTION, open="feedback")
        assert test.toggle("turn_fb").value is False
        assert "Weighting is off in this organization: feedback leaves every score as it is." in said(test)
        assert "Feedback (off)" in test.button_group("pick_parts").options
        assert [each.label for each in test.expander if "eedback" in each.label] == ["Feedback (off)"]
        assert "feedback (off)" in json.loads(test.get("plotly_chart")[0].proto.spec)["layout"]["xaxis"]["ticktext"]

    def test_weighting_turned_for_this_question_alone_says_how_the_organization_has_it(
        self, address: str, owner: Owner
    ) -> None:
        told = said(opened(address, org="acme", q=QUESTION))
        assert "Weighting is" not in told
        assert "feedback (off)" not in told
        told = said(opened(address, org="acme", q=QUESTION, fb="off"))
        assert "Weighting is turned off here and on in this organization: feedback leaves every score as it is." in told
        owner.execute("""update organizations set features = '{"feedback_weighting_disabled": true}'""")
        told = said(opened(address, org="acme", q=QUESTION, fb="on"))
        assert "Weighting is turned on here and off in this organization." in told
        assert "Weighting is" not in said(opened(address, org="acme", q=QUESTION, without="feedback"))

    @pytest.mark.parametrize("preset", ["MEMSENSE", "MEMINI", "AI_MEMORY", "FULL"])
    def test_every_preset_runs(self, address: str, preset: str) -> None:
        test = opened(address, org="acme", q=QUESTION, preset=preset, v="1", scorer="lexical")
        assert len(titles(test)) == 1
        assert len(test.dataframe[0].value) > 0

    def test_the_block_against_its_budget(self, address: str, store: Store) -> None:
        found = oracle(store)
        test = opened(address, org="acme", q=QUESTION, show="block", tokens="40")
        assert test.code[-1].value == "\n".join(found.text.splitlines()[:2])
        assert "First not to fit: № 3" in said(test)

    def test_what_a_link_says_and_cannot_be_is_told_above_the_picture(self, address: str) -> None:
        unreadable = {"preset": "NOPE", "bits": "99", "scorer": "tarot", "top": "9" * 5000, "show": "cellar"}
        test = opened(address, org="acme", q=QUESTION, **unreadable)
        told = "pipeline, SimHash bits, Pairs are scored by, Top k, Panel"
        assert [each.value for each in test.warning] == [
            f"Not understood in this link, and ignored: {told}. The default is shown instead."
        ]
        sound = {"preset": "LIVE", "bits": "3", "scorer": "lexical", "top": "10", "show": "compare"}
        assert opened(address, org="acme", q=QUESTION, **sound).warning.len == 0


class TestOpened:
    def test_a_row_opens_with_its_waterfall_and_neighbours(self, address: str, store: Store) -> None:
        second = oracle(store).ranking.ids()[1]
        test = opened(address, org="acme", q=QUESTION, obs=second)
        row = explain(oracle(store).ranking, ids=[second]).rows[0]
        assert titles(test)[1].startswith(f"Score {row.shown()[-1][0]}".replace("-", "−"))
        listed, bars = (table.value for table in test.dataframe)
        assert listed["open"].tolist() == ["Open", "▸ Open", "Open", "Open", "Open"]
        assert bars["how"].tolist() == [effect.sentence for effect in row.effects]
        assert "№ 2 of 5 · " in said(test)
        assert "Why № 1 stands above it" in said(test)
        assert "Why it stands above № 3" in said(test)
        assert "Flip distance: They change places at" in said(test)

    def test_a_row_opens_by_the_list_above_too(self, address: str, store: Store) -> None:
        third = oracle(store).ranking.ids()[2]
        with application(address, org="acme", q=QUESTION) as test:
            test.switch_page("inspector.py").run()
            test.selectbox("choose_row").select(third).run()
            assert param(test, "obs") == third
            assert "№ 3 of 5 · " in said(test)
            assert not test.exception

    def test_all_digits_stand_in_the_address(self, address: str, store: Store) -> None:
        found = oracle(store)
        with application(address, org="acme", q=QUESTION, digits="all") as test:
            test.switch_page("inspector.py").run()
            scores = test.dataframe[0].value["score"].tolist()
            assert scores == [repr(row.score) for row in explain(found.ranking).rows]
            test.toggle("list_digits").set_value(False).run()
            assert "digits" not in test.query_params
            test.toggle("list_digits").set_value(True).run()
            assert param(test, "digits") == "all"
            assert not test.exception

    @pytest.mark.parametrize("label", ["elsewhere", "6f1d7a60-95a3-4c39-9d52-3ad8dfb7a1a1"])
    def test_what_is_no_candidate_is_said_to_be_none(self, address: str, label: str) -> None:
        test = opened(address, org="acme", q=QUESTION, obs=label)
        assert "not among the candidates" in said(test)
        assert len(titles(test)) == 1


class TestLogged:
    @pytest.fixture
    def retrieval(self, owner: Owner, address: str) -> str:
        assert address
        ids = [
            row[0]
            for row in owner.execute("select id from observations where org_id = 'acme' order by created_at desc")
        ]
        return str(sample.add_retrieval(owner, "acme", sample.swapped(3, 0, 2), name="r", observations=ids[:3]))

    def test_it_is_replayed_with_its_places_beside(self, address: str, owner: Owner, retrieval: str) -> None:
        owner.execute("update retrieval_ab_logs set query_text = %s, injected = weighted_rank < 2", (QUESTION,))
        test = opened(address, org="acme", retrieval=retrieval)
        assert test.text_input("typed_question").value == QUESTION
        assert "The logged retrieval of " in said(test)
        table = test.dataframe[0].value
        assert sorted(table["logged"].dropna()) == ["1", "2", "3"]
        assert (table["given"] == "✓").sum() == 2

    @pytest.mark.parametrize(("stored", "told"), [(True, "on"), (False, "off"), (None, "of unknown state")])
    def test_it_tells_how_weighting_stood(
        self, address: str, owner: Owner, retrieval: str, *, stored: bool | None, told: str
    ) -> None:
        owner.execute("alter table retrieval_ab_logs alter column weighting_enabled drop not null")
        owner.execute("update retrieval_ab_logs set weighting_enabled = %s", (stored,))
        assert f"weighting {told} then" in said(opened(address, org="acme", retrieval=retrieval))

    @pytest.mark.parametrize(
        ("work", "told"),
        [
            ("chore", "300 tokens, the budget of chore, its session's work (a typed question has 500)"),
            ("sorcery", "500 tokens, the budget of other work: its session's has none of its own"),
            (None, "500 tokens, the budget of other work: its session names no work type"),
        ],
    )
    def test_which_budget_applies_and_why(
        self, address: str, owner: Owner, retrieval: str, work: str | None, told: str
    ) -> None:
        owner.execute("update retrieval_ab_logs set query_text = %s", (QUESTION,))
        sample.add_session(owner, "acme", "session-r")
        owner.execute("update sessions set work_type = %s", (work,))
        assert f" of {told} · " in said(opened(address, org="acme", retrieval=retrieval))
        typed = said(opened(address, org="acme", q=QUESTION))
        assert " of 500 tokens, the budget of other work: a typed question names no work type · " in typed
        pinned = said(opened(address, org="acme", q=QUESTION, work_type="bug_fix"))
        assert " of 750 tokens, the budget of bug_fix, named in the address · " in pinned
        turned = said(opened(address, org="acme", retrieval=retrieval, tokens="40"))
        assert " of 40 tokens, as chosen in the pipeline · " in turned

    def test_its_organization_is_entered(self, address: str, retrieval: str) -> None:
        with application(address, retrieval=retrieval) as test:
            test.switch_page("inspector.py").run()
            assert param(test, "org") == "acme"

    def test_a_list_offers_it(self, address: str, retrieval: str) -> None:
        table = opened(address, org="acme").dataframe[0].value
        assert retrieval
        assert table["question"].tolist() == [sample.canary("acme", "query")]

    def test_a_list_by_keyboard_opens_it(self, address: str, retrieval: str) -> None:
        with application(address, org="acme", work_type="review") as test:
            test.switch_page("inspector.py").run()
            test.selectbox("choose_logged").select(retrieval).run()
            assert param(test, "retrieval") == retrieval
            assert "work_type" not in test.query_params
            assert "The logged retrieval of " in said(test)

    def test_unknown_and_foreign_look_alike(self, address: str, owner: Owner, retrieval: str) -> None:
        sample.add_organization(owner, "other", "Other")
        foreign = opened(address, org="other", retrieval=retrieval)
        unknown = opened(address, org="other", retrieval="3d9f7f0e-0000-0000-0000-000000000000")
        assert "Unknown retrieval" in said(foreign)
        assert said(foreign) == said(unknown)
        assert "CANARY-acme" not in said(foreign)
        whose = opened(address, retrieval="zzz")
        assert "Unknown retrieval in this link" in said(whose)
        assert whose.button(key="enter_0").label == "Choose"


def test_hostile_texts_reach_only_sinks_that_show_them_literally(address: str, owner: Owner) -> None:
    plant(owner, "evil", [text[:300] or "x" for text in HOSTILE if text.strip() and "\0" not in text][:30])
    test = opened(address, org="evil", q="<script>window.__x='q'</script> beacon heading list", obs="<b>x</b>")
    shown = "\n".join(str(element.value) for kind in (test.markdown, test.caption, test.info) for element in kind)
    assert "window.__x" not in shown
    assert "beacon" not in shown
