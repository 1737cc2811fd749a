"""The Observation page against planted facts: what stands on it, and what never does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from tests import sample
from tests.dossier import OPPOSITE, Planted, plant
from tests.hostile import TEXTS
from tests.pages.observation_page import opening
from tests.scopes import ALIKE, add_observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster
    from tests.pages.observation_page import Opened

    Owner = psycopg.Connection[Any]

AGREEING = "delete from rankscope.contradictions where fingerprint = 'inside'"  # both beside it
UNKNOWN = "No such observation: it does not exist here, or you may not see it."


@pytest.fixture
def planted(owner: Owner) -> Planted:
    plant(owner, "org_b", seed=3)
    return plant(owner, "org_a")


@pytest.fixture
def opened(cluster: Cluster, store_database: str) -> Iterator[Opened]:
    """Open the page at an address."""
    with opening(cluster.plain_url("dash_read", store_database)) as open_:
        yield open_


def texts(test: AppTest) -> str:
    return "\n".join(element.value for element in test.text)


def said(test: AppTest, name: str) -> str:
    """What the address says; a list where the harness wrote it, a text where the page did."""
    value = test.query_params[name]
    return value if isinstance(value, str) else value[0]


class TestFigures:
    def test_text_figures_and_strip(self, opened: Opened, planted: Planted, owner: Owner) -> None:
        owner.execute(AGREEING)
        test = opened(observation=str(planted.id))
        assert test.code[0].value == ALIKE[0]
        assert f", project {sample.canary('org_a', 'project')} · api, written " in texts(test)
        figures = {metric.label: (metric.value, metric.delta) for metric in test.metric}
        assert figures["Weight"] == ("0.9", "-0.1 since first")
        assert figures["Retrieved"][0] == "70"
        assert figures["Said by others"] == ("2", "✕ 1 against · 3 agents")
        strip = next(line.value for line in test.markdown if "as of" in line.value)
        assert "70 log rows in 70 retrievals" in strip
        assert "injection unknown for" in strip
        assert "log coverage" not in strip

    def test_of_more_changes_than_are_read_the_first_still_counts(
        self, opened: Opened, planted: Planted, owner: Owner
    ) -> None:
        """The three that are planted, from 1 on, and 500 after them, which alone are drawn."""
        owner.execute(
            """insert into observation_weight_history (org_id, observation_id, session_id, outcome, previous_weight,
                 new_weight, alpha, recorded_at)
               select 'org_a', %s, 'more' || n, 'accepted', 0.5, 0.5, 0.1, %s + n * interval '1 minute'
                 from generate_series(1, 500) n""",
            (planted.id, sample.TODAY),
        )
        test = opened(observation=str(planted.id))
        figures = {metric.label: (metric.value, metric.delta) for metric in test.metric}
        assert figures["Weight"] == ("0.9", "-0.1 since first")
        (life,) = [json.loads(chart.proto.spec) for chart in test.get("plotly_chart")]
        assert life["layout"]["title"]["text"].endswith("; weight 1 → 0.5")
        # of what it was before those nothing is drawn: the line does not reach back to when it was written
        assert life["data"][0]["x"][0] >= f"{sample.TODAY:%Y-%m-%d}"

    def test_a_weight_that_its_history_does_not_explain_is_flagged_once(
        self, opened: Opened, planted: Planted, owner: Owner
    ) -> None:
        def flags(part: str = "Weight") -> list[str]:
            test = opened(observation=str(planted.id), part=part)
            return [line.value for line in (*test.caption, *test.markdown) if "outside what is recorded" in line.value]

        (told,) = flags()
        assert "The weight stands at 0.9, and the last recorded change left it at 0.735" in told
        assert flags("Retrievals") == [told]
        owner.execute("update observations set weight = 0.73526")
        assert "stands at 0.73526, and the last recorded change left it at 0.73525:" in flags()[0]
        owner.execute("update observations set weight = 0.73525")
        assert flags() == []
        owner.execute("delete from observation_weight_history")
        owner.execute("update observations set weight = 0.1")
        assert flags() == []

    def test_the_timeline_holds_all_of_it_on_one_axis(self, opened: Opened, planted: Planted, owner: Owner) -> None:
        owner.execute(AGREEING)
        test = opened(observation=str(planted.id))
        spec = json.loads(test.get("plotly_chart")[0].proto.spec)
        lanes = {trace["y"][0] for trace in spec["data"] if trace.get("yaxis") == "y2"}
        assert lanes == {
            "written", "said by others", "contradicted", "retrieved only", "injected", "accepted", "rejected", "rework"
        }  # fmt: skip
        assert spec["layout"]["yaxis"]["range"] == [0, 1.05]
        assert spec["layout"]["xaxis"]["matches"] == "x2"
        assert spec["layout"]["title"]["text"].startswith("Retrieved 70 times, injected ")
        assert spec["layout"]["title"]["text"].endswith("weight 1 → 0.735")

    def test_ranks_from_1_and_the_way_between_them(self, opened: Opened, planted: Planted, owner: Owner) -> None:
        test = opened(observation=str(planted.id))
        shown = test.dataframe[0].value
        assert len(shown) == 50
        stored = owner.execute(
            """select unweighted_rank + 1, weighted_rank + 1 from retrieval_ab_logs
                where observation_id = %s order by created_at desc, retrieval_id::text desc limit 50""",
            (planted.id,),
        ).fetchall()
        assert list(zip(shown["unweighted"], shown["weighted"], strict=True)) == stored
        for before, after, moved in zip(shown["unweighted"], shown["weighted"], shown["moved"], strict=True):
            up = before - after
            assert moved == ("=" if up == 0 else f"▲{up}" if up > 0 else f"▼{-up}")

    def test_older_and_newest_turn_the_pages_in_the_address(self, opened: Opened, planted: Planted) -> None:
        test = opened(observation=str(planted.id))
        first = list(test.dataframe[0].value["query"])
        test.button(key="older").click().run()
        second = list(test.dataframe[0].value["query"])
        assert (len(second), set(first) & set(second)) == (20, set())
        assert "~" in said(test, "below")
        test.button(key="newest").click().run()
        assert list(test.dataframe[0].value["query"]) == first


class TestParts:
    def test_each_step_of_the_weight(self, opened: Opened, planted: Planted) -> None:
        steps = opened(observation=str(planted.id), part="Weight").dataframe[0].value
        assert list(steps["outcome"]) == ["rework", "accepted", "rejected"]
        assert list(steps["alpha"]) == [0.15, 0.1, 0.15]
        assert list(steps["session"]) == ["s2", "s1", "s0"]

    def test_the_cluster_with_its_canonical_and_distances(self, opened: Opened, planted: Planted) -> None:
        test = opened(observation=str(planted.id), part="Cluster")
        members = test.dataframe[0].value
        assert list(members["role"]) == ["canonical", "this one", "✕ contradicts the canonical"]
        assert list(members["id"]) == [str(planted.alike[0]), str(planted.id), str(planted.alike[1])]
        assert members["bits"].iloc[1] == 0
        captions = " ".join(line.value for line in test.caption)
        assert "From the aggregation pass of" in captions
        assert "3 members, 3 agents, 3 sessions" in captions
        assert "✕ Disputed: a member contradicts the canonical" in captions

    def test_the_other_side_of_a_contradiction_verbatim(self, opened: Opened, planted: Planted) -> None:
        test = opened(observation=str(planted.id), part="Contradictions")
        assert [block.value for block in test.code] == [ALIKE[0], OPPOSITE]
        assert "negation · severity 61.5 of 100" in texts(test)
        assert "here “use” · there “never”" in texts(test)
        test.button(key="other_0").click().run()
        assert said(test, "observation") == str(planted.opposite)
        assert test.code[0].value == OPPOSITE

    def test_a_contradiction_leads_to_its_alert(self, opened: Opened, planted: Planted, owner: Owner) -> None:
        test = opened(observation=str(planted.id), part="Contradictions", org="org_b")
        test.button(key="alert_0").click().run()
        assert [title.value for title in test.title] == ["Drift Alerts"]
        found = owner.execute("select fingerprint from rankscope.contradictions where org_id = 'org_a'").fetchall()
        assert (said(test, "org"), said(test, "alert")) == ("org_a", found[0][0])

    def test_neighbours_by_vector_and_by_bits(self, opened: Opened, planted: Planted) -> None:
        near, alike = (table.value for table in opened(observation=str(planted.id), part="Neighbours").dataframe)
        assert list(near["id"]) == [str(one) for one in planted.alike]
        assert alike["bits"].is_monotonic_increasing
        assert str(planted.id) not in set(alike["id"])

    def test_provenance(self, opened: Opened, planted: Planted) -> None:
        test = opened(observation=str(planted.id), part="Provenance")
        fields = pd.concat([table.value for table in test.dataframe]).set_index("field")["value"].to_dict()
        assert (fields["agent"], fields["session"], fields["session's outcome"]) == ("agent-a", "s0", "accepted")
        assert (fields["tags"], fields["vectors"], fields["source"]) == ("db, style", "full (3)", "agent")
        assert (fields["id"], fields["last accessed"]) == (str(planted.id), "—")


class TestAddress:
    def test_it_opens_in_its_own_organization_though_the_scope_names_another(
        self, opened: Opened, planted: Planted
    ) -> None:
        test = opened(observation=str(planted.id), org="org_b")
        assert test.code[0].value == ALIKE[0]
        assert sample.canary("org_a", "name") in texts(test)
        assert "outside the chosen scope" in texts(test)

    @pytest.mark.parametrize("named", ["00000000-0000-4000-8000-00000000dead", "' or 1=1 --", "\u202e"])
    def test_what_names_nothing_says_so(self, opened: Opened, planted: Planted, named: str) -> None:
        assert planted.id
        test = opened(observation=named)
        assert UNKNOWN in test.warning[0].value
        assert test.text_input[0].label == "Observation id, or words of its title or text"
        assert not test.code

    @pytest.mark.parametrize("below", ["x", "2026-01-01~a", "2026-01-01T00:00:00+00:00~\0"])
    def test_a_page_that_cannot_be_is_the_first(self, opened: Opened, planted: Planted, below: str) -> None:
        assert len(opened(observation=str(planted.id), below=below).dataframe[0].value) == 50

    def test_words_find_it_and_a_pasted_id_opens_it(self, opened: Opened, planted: Planted) -> None:
        test = opened(org="org_a")
        test.text_input[0].set_value("database calls").run()
        assert said(test, "words") == "database calls"
        assert str(planted.id) in set(test.dataframe[0].value["id"])
        assert sample.canary("org_b", "name") not in set(test.dataframe[0].value["organization"])
        test.text_input[0].set_value(f" {planted.id} ").run()
        assert said(test, "observation") == str(planted.id)
        assert test.code[0].value == ALIKE[0]

    def test_a_list_by_keyboard_opens_what_was_found_and_its_retrievals(self, opened: Opened, planted: Planted) -> None:
        test = opened(org="org_a", words="database calls")
        test.selectbox("choose_found").select(str(planted.id)).run()
        assert said(test, "observation") == str(planted.id)
        newest = test.selectbox("choose_retrieval")
        assert len(newest.options) == 50
        newest.select_index(0).run()
        assert [title.value for title in test.title] == ["Inspector"]
        assert said(test, "retrieval")
        assert said(test, "org") == "org_a"
        assert not test.exception

    def test_words_that_nothing_holds(self, opened: Opened, planted: Planted) -> None:
        assert planted.id
        assert "No observation in this scope" in opened(words="zeppelin").info[0].value


class TestDegraded:
    def test_a_store_without_the_recommended_log_columns(self, opened: Opened, planted: Planted, owner: Owner) -> None:
        owner.execute(
            "alter table retrieval_ab_logs drop column retrieval_id, drop column created_at, drop column injected"
        )
        test = opened(observation=str(planted.id))
        strip = next(line.value for line in test.markdown if "as of" in line.value)
        assert "logs no retrieval id" in strip
        assert "logs no time" in strip
        assert {metric.label: metric.value for metric in test.metric}["Injected"] == "—"
        assert set(test.dataframe[0].value["injected"]) == {"—"}

    @pytest.mark.parametrize("part", ["Cluster", "Contradictions", "Neighbours"])
    def test_a_store_without_our_schema_shows_the_rest(
        self, opened: Opened, planted: Planted, owner: Owner, part: str
    ) -> None:
        owner.execute("drop schema rankscope cascade")
        test = opened(observation=str(planted.id), part=part)
        figures = {metric.label: metric.value for metric in test.metric}
        assert (figures["Retrieved"], figures["Said by others"]) == ("70", "—")
        assert any("No aggregation has finished" in line.value for line in test.info)

    def test_an_observation_without_any_history(self, opened: Opened, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        alone = add_observation(owner, "org_a", "alone", "!", None, created_at="infinity")
        for part in ("Retrievals", "Weight", "Neighbours", "Provenance"):
            test = opened(observation=str(alone), part=part)
            assert {metric.label: metric.value for metric in test.metric}["Accepted"] == "—"
        spec = json.loads(test.get("plotly_chart")[0].proto.spec)
        assert spec["layout"]["title"]["text"] == "Never retrieved"


def test_hostile_texts_stand_in_literal_elements_alone(opened: Opened, owner: Owner) -> None:
    """Every text as content, title, agent, session and tag: shown whole, and in no element that reads markup."""
    sample.add_organization(owner, "org_a")
    for number, text in enumerate(TEXTS):
        kept = {"title": text, "agent_id": text, "session_id": text, "tags": [text], "source": text, "task_tag": text}
        id_ = add_observation(owner, "org_a", f"h{number}", text, **kept)  # type: ignore[arg-type]
        if number % 6 == 0:
            test = opened(observation=str(id_), part="Provenance")
            assert test.code[0].value == text
            read = [*test.markdown, *test.caption, *test.warning, *test.info, *test.metric]
            assert not [element for element in read if text in str(element.value)]
