"""The Inspector's figures, as they stand on the page, against the library's for the same question."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from controls.inspector.stages import KNOBS, PARTS, STARTS, shown
from queries.engine import Store, make_engine
from ranking import INTENDED, LIVE, LexicalScorer, explain, fingerprints
from ranking.near_pairs import near_components
from retrieval.retrieve import AgentSession, Memory, retrieve
from tests import sample
from tests.hostile import TEXTS as HOSTILE
from tests.pages.application import application
from tests.retrieval.planted import EMBEDDER, QUESTION, plant

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from controls.inspector.stages import Knob
    from retrieval.retrieve import Retrieval
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

WEIGHTS = (0.2, 1.0, 0.9, 1.0, 0.5)


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner) -> str:
    plant(owner, weights=WEIGHTS)
    return cluster.plain_url("dash_read", store_database)


@pytest.fixture
def store(cluster: Cluster, store_database: str) -> Iterator[Store]:
    opened = Store(make_engine(cluster.url("dash_read", store_database), name="oracle"))
    yield opened
    opened.close()


def oracle(store: Store, stages: Any = LIVE) -> Retrieval:  # noqa: ANN401 - a pipeline
    return retrieve(Memory(store, EMBEDDER, LexicalScorer()), AgentSession("acme"), QUESTION, stages)


def opened(address: str, **said: str) -> AppTest:
    with application(address, **said) as test:
        test.switch_page("inspector.py").run()
    assert not test.exception
    return test


def param(test: AppTest, name: str) -> str:
    """What the address says; the harness keeps what it was given and what the page wrote in two shapes."""
    found = test.query_params[name]
    return found if isinstance(found, str) else found[0]


def turnable(test: AppTest, key: str) -> Any:  # noqa: ANN401 - a control of any kind
    kinds = (test.slider, test.number_input, test.toggle, test.button_group)
    return next(control for kind in kinds for control in kind if control.key == key)


def other(knob: Knob, value: Any) -> Any:  # noqa: ANN401 - a number, a switch or an option
    """A value that the knob has not now, on its own steps."""
    if knob.switch:
        return not value
    if knob.options is not None:
        return next(option for option in knob.options if option != value)
    changed = value + knob.step if value + knob.step <= knob.high else value - knob.step
    return int(changed) if knob.whole else round(changed, 6)


def titles(test: AppTest) -> list[str]:
    return [json.loads(chart.proto.spec)["layout"]["title"]["text"] for chart in test.get("plotly_chart")]


def said(test: AppTest) -> str:
    kinds = (test.error, test.warning, test.info, test.caption, test.text, test.markdown)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


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
        assert table["block"].tolist() == [True] * 5

    def test_a_knob_in_the_address_is_turned(self, address: str) -> None:
        test = opened(address, org="acme", q=QUESTION, fb="off", tokens="100", v="1")
        assert test.toggle("turn_fb").value is False
        assert test.number_input("turn_tokens").value == 100
        assert "2 changed" in said(test)
        assert test.dataframe[0].value["moved"].tolist() == ["="] * 5

    def test_a_slider_writes_the_address_and_a_reset_takes_it_back(self, address: str) -> None:
        with application(address, org="acme", q=QUESTION, preset="INTENDED", v="1", open="corroboration") as test:
            test.switch_page("inspector.py").run()
            test.slider("turn_boost").set_value(0.3).run()
            assert (param(test, "boost"), param(test, "v")) == ("0.3", "1")
            test.button("reset_boost").click().run()
            assert "boost" not in test.query_params
            assert not test.exception

    @pytest.mark.parametrize("start", ["routes", "scores"])
    def test_every_knob_of_every_stage_can_be_turned_and_none_undoes_another(self, address: str, start: str) -> None:
        """What was turned while a run went on comes all at once, each knob by its own callback."""
        link = {"preset": "FULL", "start": start, "with": ".".join(PARTS), "open": ".".join(("start", *PARTS))}
        with application(address, org="acme", q=QUESTION, v="1", **link) as test:
            test.switch_page("inspector.py").run()
            turned = {}
            for knob in KNOBS:
                if knob.stage in (*PARTS.values(), type(STARTS[start])):
                    control = turnable(test, f"turn_{knob.key}")
                    turned[knob.key] = other(knob, control.value)
                    control.set_value(turned[knob.key])
            assert {knob.key for knob in KNOBS} - set(turned) == ({"alpha"} if start == "routes" else {"k"})
            test.run()
            assert not test.exception
            assert {key: param(test, key) for key in turned} == {key: shown(value) for key, value in turned.items()}
            assert {key: turnable(test, f"turn_{key}").value for key in turned} == turned

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
        assert opened(address, org="acme", q=QUESTION, open="feedback").toggle("turn_fb").value is False

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


class TestParts:
    def test_the_first_part_and_what_was_changed_are_open(self, address: str) -> None:
        test = opened(address, org="acme", q=QUESTION, head="7", v="1")
        assert {element.key for element in test.number_input} == {"turn_head"}
        assert "pick_start" in {element.key for element in test.selectbox}

    def test_what_the_address_opens_is_open_and_nothing_else(self, address: str) -> None:
        test = opened(address, org="acme", q=QUESTION, open="budget")
        assert {element.key for element in test.number_input} == {"turn_tokens"}
        assert "pick_start" not in {element.key for element in test.selectbox}


class TestThreshold:
    TEXTS = (
        "The null pointer in the auth middleware came from a missing session cookie in the browser of the user today.",
        "The null pointer in the auth middleware came from a missing session cookie in the browser of the user now.",
        "Auth middleware must check the token before it reads the user.",
    )

    def test_other_bits_count_voices_anew_as_the_library_does(self, address: str, owner: Owner) -> None:
        """Without any pass nobody is corroborated at 3 bits; at 16 the first two say the same, each with one voice."""
        plant(owner, "twins", self.TEXTS)
        hashes = fingerprints(list(self.TEXTS))[0]
        alone = near_components(hashes, 16)
        assert (alone[0] == alone[1], alone[0] == alone[2]) == (True, False)
        link = {"org": "twins", "q": QUESTION, "preset": "INTENDED", "v": "1", "open": "corroboration"}
        passed, counted = opened(address, **link), opened(address, **link, bits="16")
        assert "No aggregation pass has finished" in said(passed)
        assert "No aggregation pass has finished" not in said(counted)
        assert (passed.slider("pick_bits").value, counted.slider("pick_bits").value) == (3, 16)
        before, after = (
            dict(zip(test.dataframe[0].value["memory"], map(float, test.dataframe[0].value["score"]), strict=True))
            for test in (passed, counted)
        )
        assert {name: round(after[name] - before[name], 3) for name in before} == {
            "Note 0": pytest.approx(0.1, abs=0.002), "Note 1": pytest.approx(0.1, abs=0.002), "Note 2": 0.0
        }  # fmt: skip
        assert "Texts up to 16 of 64 bits apart count as saying the same" in said(counted)

    def test_the_slider_writes_the_address(self, address: str) -> None:
        with application(
            address, org="acme", q=QUESTION, preset="INTENDED", v="1", open="corroboration", bits="x"
        ) as test:
            test.switch_page("inspector.py").run()
            assert test.slider("pick_bits").value == 3
            test.slider("pick_bits").set_value(5).run()
            assert param(test, "bits") == "5"
            assert "1 changed" in said(test)
            test.button("reset_bits").click().run()
            assert "bits" not in test.query_params
            assert not test.exception


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
        assert sorted(table["logged"].dropna()) == [1, 2, 3]
        assert table["given"].sum() == 2

    @pytest.mark.parametrize(("stored", "told"), [(True, "on"), (False, "off"), (None, "of unknown state")])
    def test_it_tells_how_weighting_stood(
        self, address: str, owner: Owner, retrieval: str, *, stored: bool | None, told: str
    ) -> None:
        owner.execute("alter table retrieval_ab_logs alter column weighting_enabled drop not null")
        owner.execute("update retrieval_ab_logs set weighting_enabled = %s", (stored,))
        assert f"weighting {told} then" in said(opened(address, org="acme", retrieval=retrieval))

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


def test_hostile_texts_reach_only_sinks_that_show_them_literally(address: str, owner: Owner) -> None:
    plant(owner, "evil", [text[:300] or "x" for text in HOSTILE if text.strip() and "\0" not in text][:30])
    test = opened(address, org="evil", q="<script>window.__x='q'</script> beacon heading list", obs="<b>x</b>")
    shown = "\n".join(str(element.value) for kind in (test.markdown, test.caption, test.info) for element in kind)
    assert "window.__x" not in shown
    assert "beacon" not in shown
