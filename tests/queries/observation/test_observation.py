"""Every question about one observation, against an answer computed from the raw tables in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import pandas as pd
import pytest
from psycopg import sql

from analysis.observation import fingerprint
from queries.moments import BEGIN, END
from queries.observation.life import Home, whole_life
from queries.observation.near import NearestBySimhash, NearestByVector
from queries.observation.record import Record, Vectors, WeightSteps
from queries.observation.retrieved import GATHERED, PAGE, Moments, Retrievals, RetrievalTotals
from queries.observation.search import MATCHES, WordMatches
from queries.scope import EVERYTHING, NOTHING, Reach, Scope
from queries.shape import LogShape
from tests import sample
from tests.dossier import Planted, plant
from tests.scopes import ALIKE, add_observation

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

ALL = Scope(EVERYTHING, BEGIN, END)
LIFE = whole_life("org_a")
YES = True
HASH = fingerprint(ALIKE[0]).simhash


@pytest.fixture
def planted(owner: Owner) -> Planted:
    plant(owner, "org_b", seed=3)
    return plant(owner, "org_a")


def table(owner: Owner, name: str) -> pd.DataFrame:
    cursor = owner.execute(sql.SQL("select * from {} where org_id = 'org_a'").format(sql.Identifier(name)))
    return pd.DataFrame(cursor.fetchall(), columns=[column.name for column in cursor.description or ()])


def logged(owner: Owner, id_: UUID) -> pd.DataFrame:
    """The observation's log rows with their sessions' outcomes, by pandas."""
    log, sessions = table(owner, "retrieval_ab_logs"), table(owner, "sessions")
    return log[log["observation_id"] == id_].merge(
        sessions[["id", "outcome", "ended_at"]], how="left", left_on="session_id", right_on="id"
    )


def apart(text: str) -> int:
    """Bits in which a text's SimHash differs from the observation's."""
    return ((HASH ^ fingerprint(text).simhash) % 2**64).bit_count()


class TestHome:
    def test_an_observation_opens_in_its_own_organization_whatever_the_scope_names(
        self, store: Store, planted: Planted
    ) -> None:
        for scope in (ALL, Scope(EVERYTHING, BEGIN, END, "org_b"), Scope(Reach(("org_a", "org_b")), BEGIN, END)):
            assert list(store.ask(Home(scope, planted.id))["org_id"]) == ["org_a"]

    @pytest.mark.parametrize("reach", [Reach(("org_b",)), NOTHING])
    def test_out_of_reach_is_as_if_it_did_not_exist(self, store: Store, planted: Planted, reach: Reach) -> None:
        assert store.ask(Home(Scope(reach, BEGIN, END), planted.id)).equals(
            store.ask(Home(Scope(reach, BEGIN, END), uuid4()))
        )

    def test_of_equal_ids_the_one_in_the_scope_is_meant(self, store: Store, owner: Owner) -> None:
        same = uuid4()
        for org in ("org_a", "org_b"):
            sample.add_organization(owner, org)
            add_observation(owner, org, "x", "same id", id=same)
        assert store.ask(Home(Scope(EVERYTHING, BEGIN, END, "org_b"), same))["org_id"].iloc[0] == "org_b"
        assert store.ask(Home(ALL, same))["org_id"].iloc[0] == "org_a"


class TestRecord:
    def test_text_and_provenance_as_stored(self, store: Store, planted: Planted) -> None:
        row = store.ask(Record(LIFE, planted.id)).iloc[0]
        assert (row["content"], row["characters"]) == (ALIKE[0], len(ALIKE[0]))
        assert (row["agent_id"], row["session_id"], row["session_outcome"]) == ("agent-a", "s0", "accepted")
        assert (row["project_name"], row["tags"]) == (sample.canary("org_a", "project"), ["db", "style"])

    def test_a_time_that_no_calendar_holds_is_missing(self, store: Store, owner: Owner, planted: Planted) -> None:
        owner.execute("update observations set created_at = 'infinity' where id = %s", (planted.id,))
        assert pd.isna(store.ask(Record(LIFE, planted.id))["created_at"].iloc[0])

    def test_vectors_by_route_and_dimension(self, store: Store, owner: Owner, planted: Planted) -> None:
        owner.execute(
            "insert into observation_embeddings values ('org_a', %s, 'events', '[1,2]'::vector)", (planted.id,)
        )
        found = store.ask(Vectors(LIFE, planted.id))
        assert list(found.itertuples(index=False, name=None)) == [("events", 2), ("full", 3)]

    def test_each_step_of_the_weight_newest_first(self, store: Store, planted: Planted) -> None:
        steps = store.ask(WeightSteps(LIFE, planted.id))
        assert list(steps["outcome"]) == ["rework", "accepted", "rejected"]
        assert list(steps["alpha"]) == [0.15, 0.1, 0.15]
        # 1 · 0.85 = 0.85; 0.85 · 0.9 + 0.1 = 0.865; 0.865 · 0.85 = 0.73525
        assert list(steps["new_weight"].round(12)) == [0.73525, 0.865, 0.85]
        assert list(steps["total"]) == [3, 3, 3]


class TestRetrievals:
    def test_totals(self, store: Store, owner: Owner, planted: Planted) -> None:
        rows = logged(owner, planted.id)
        given = rows[rows["injected"] == YES].drop_duplicates("session_id")
        ranked = rows[rows["weighting_enabled"]]
        found = store.ask(RetrievalTotals(LIFE, planted.id)).iloc[0]
        assert found[["retrievals", "log_rows", "repeated", "unranked"]].to_list() == [len(rows), len(rows), 0, 0]
        assert found["injected"] == (rows["injected"] == YES).sum()
        assert found["injection_unknown"] == rows["injected"].isna().sum()
        assert found["up"] == (ranked["weighted_rank"] < ranked["unweighted_rank"]).sum()
        assert found["down"] == (ranked["weighted_rank"] > ranked["unweighted_rank"]).sum()
        assert found["sessions"] == len(given)
        for outcome in ("accepted", "rejected", "rework"):
            assert found[outcome] == given["outcome"].eq(outcome).sum()
        assert found["newest"] == rows["created_at"].max()

    def test_pages_hold_every_retrieval_once_newest_first(self, store: Store, owner: Owner, planted: Planted) -> None:
        rows = logged(owner, planted.id)
        rows = rows.assign(retrieval=rows["retrieval_id"].astype(str))
        expected = rows.sort_values(["created_at", "retrieval"], ascending=False)
        first = store.ask(Retrievals(LIFE, planted.id))
        assert len(first) == PAGE + 1
        last = first.iloc[PAGE - 1]
        below = (last["at"].to_pydatetime(), last["retrieval"])
        second = store.ask(Retrievals(LIFE, planted.id, below=below))
        both = pd.concat([first.head(PAGE), second])
        assert list(both["retrieval"]) == list(expected["retrieval"])
        assert list(both["weighted_rank"]) == list(expected["weighted_rank"])
        assert [x if x is not pd.NA else None for x in both["injected"]] == list(expected["injected"])
        assert list(both["outcome"].fillna("-")) == list(expected["outcome"].fillna("-"))
        assert list(both["query_text"]) == list(expected["query_text"])

    def test_a_retrieval_logged_twice_counts_once_and_is_named(
        self, store: Store, owner: Owner, planted: Planted
    ) -> None:
        owner.execute(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
                 weighting_enabled) values ('org_a', %s, 's1', 'again', %s, true)""",
            (planted.retrievals[0], planted.id),
        )
        found = store.ask(RetrievalTotals(LIFE, planted.id)).iloc[0]
        assert found[["retrievals", "log_rows", "repeated"]].to_list() == [70, 71, 1]

    def test_ranks_at_the_ends_of_their_type(self, store: Store, owner: Owner, planted: Planted) -> None:
        """Their difference has no place in it."""
        before = store.ask(RetrievalTotals(LIFE, planted.id)).iloc[0]
        sample.add_retrieval(owner, "org_a", [(-2, 2**31 - 1)], name="far", observations=[planted.id])
        found = store.ask(RetrievalTotals(LIFE, planted.id)).iloc[0]
        assert (found["retrievals"], found["down"]) == (before["retrievals"] + 1, before["down"] + 1)

    def test_never_retrieved_is_a_row_of_zeros_and_an_empty_page(self, store: Store, planted: Planted) -> None:
        totals = store.ask(RetrievalTotals(LIFE, planted.opposite)).iloc[0]
        assert (totals["retrievals"], totals["log_rows"]) == (0, 0)
        assert pd.isna(totals["newest"])
        assert store.ask(Retrievals(LIFE, planted.opposite)).empty
        assert store.ask(Moments(LIFE, planted.opposite)).empty

    def test_a_store_without_the_recommended_columns(self, store: Store, owner: Owner, planted: Planted) -> None:
        rows = logged(owner, planted.id)
        known = rows[rows["outcome"].notna() | rows["ended_at"].notna()]
        for column in ("retrieval_id", "created_at", "injected"):
            dropped = sql.SQL("alter table retrieval_ab_logs drop column {}").format(sql.Identifier(column))
            owner.execute(dropped)
        shape = LogShape(retrieval_id=False, created_at=False, injected=False)
        found = store.ask(RetrievalTotals(LIFE, planted.id, shape)).iloc[0]
        # without a time of its own a retrieval takes its session's, and one without a session is left out
        assert found["retrievals"] == len(known.drop_duplicates(["session_id", "query_text"]))
        assert found["injection_unknown"] == found["retrievals"]
        page = store.ask(Retrievals(LIFE, planted.id, shape))
        assert page["injected"].isna().all()
        assert set(store.ask(Moments(LIFE, planted.id, shape))["lane"]) == {"retrieved"}


class TestMoments:
    def test_lanes_add_up_to_what_happened(self, store: Store, owner: Owner, planted: Planted) -> None:
        rows = logged(owner, planted.id)
        given = rows[rows["injected"] == YES]
        found = store.ask(Moments(LIFE, planted.id)).groupby("lane")["count"].sum()
        expected = given.drop_duplicates("session_id")["outcome"].value_counts().to_dict()
        expected |= {"injected": len(given), "retrieved": len(rows) - len(given)}
        assert found.to_dict() == expected

    def test_an_outcome_stands_where_its_session_ended(self, store: Store, owner: Owner, planted: Planted) -> None:
        given = logged(owner, planted.id)
        given = given[(given["injected"] == YES) & (given["outcome"] == "accepted")]
        ends = given[["created_at", "ended_at"]].max(axis=1).groupby(given["session_id"]).max()
        found = store.ask(Moments(LIFE, planted.id))
        found = found[found["lane"] == "accepted"]
        assert (found["first"].min(), found["last"].max()) == (ends.min(), ends.max())

    def test_ten_thousand_rows_are_a_few_hundred_marks_read_by_the_index(self, store: Store, owner: Owner) -> None:
        planted = plant(owner, "org_a", retrievals=0)
        owner.execute(
            """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, query_text, observation_id,
                 unweighted_rank, weighted_rank, weighting_enabled, injected, created_at)
               select 'org_a', gen_random_uuid(), 's' || n %% 20, 'q',
                 case when n %% 2 = 0 then %s when n %% 200 = 1 then %s else gen_random_uuid() end,
                 3, 2, true, n %% 3 = 0, now() - n * interval '1 minute' from generate_series(1, 20000) n""",
            (planted.id, planted.alike[0]),
        )
        owner.execute("analyze")
        moments = store.ask(Moments(LIFE, planted.id))
        assert len(moments) <= 5 * (GATHERED + 1)
        assert moments[moments["lane"].isin(["retrieved", "injected"])]["count"].sum() == 10_000
        asked = (
            Moments(LIFE, planted.alike[0])
            .statement()
            .compile(store.reader, compile_kwargs={"render_postcompile": True})
        )
        with store.reading(LIFE.reach) as connection:
            plan = "\n".join(row[0] for row in connection.exec_driver_sql(f"explain {asked}", dict(asked.params)))
        assert "logs_observation" in plan
        assert "Seq Scan on retrieval_ab_logs" not in plan


class TestNeighbours:
    def test_by_vector_every_one_of_equal_length_is_compared(self, store: Store, planted: Planted) -> None:
        found = store.ask(NearestByVector(LIFE, planted.id))
        assert list(found["id"]) == [str(planted.alike[0]), str(planted.alike[1])]
        # (1, 0, 0) · (0.9, 0.1, 0) / √0.82
        assert list(found["cosine"].round(6)) == [round(0.9 / 0.82**0.5, 6), 0]

    def test_by_simhash_in_bits(self, store: Store, owner: Owner, planted: Planted) -> None:
        rows = table(owner, "observations")
        rows = rows[rows["id"] != planted.id]
        expected = sorted((apart(str(row.content)), str(row.id)) for row in rows.itertuples())
        found = store.ask(NearestBySimhash(LIFE, planted.id, HASH))
        assert list(zip(found["bits"], found["id"], strict=True)) == expected


class TestSearch:
    def test_all_words_inside_the_scope_newest_first(self, store: Store, owner: Owner, planted: Planted) -> None:
        scope = Scope(EVERYTHING, BEGIN, END, "org_a", "api")
        newest = add_observation(owner, "org_a", "new", "a database of async calls", created_at=sample.TODAY)
        add_observation(owner, "org_a", "web", "async database", "web")
        found = list(store.ask(WordMatches(scope, "calls database"))["id"])
        assert found[0] == str(newest)
        assert set(found) == {str(newest), *map(str, (planted.id, *planted.alike, planted.opposite))}
        assert store.ask(WordMatches(scope, "async spring")).empty

    def test_at_most_twenty(self, store: Store, owner: Owner) -> None:
        sample.add_organization(owner, "org_a")
        for n in range(MATCHES + 5):
            add_observation(owner, "org_a", f"n{n}", "many of them")
        assert len(store.ask(WordMatches(ALL, "many"))) == MATCHES

    @pytest.mark.parametrize("words", ["' & | !", "\\", "a:*", '"open', "<->", "%s :x"])
    def test_whatever_is_typed_is_a_search(self, store: Store, planted: Planted, words: str) -> None:
        assert planted.id
        assert len(store.ask(WordMatches(ALL, words)).columns) == 7

    def test_another_organization_is_not_found(self, store: Store, planted: Planted) -> None:
        mine = Scope(Reach(("org_b",)), BEGIN, END)
        assert str(planted.id) not in set(store.ask(WordMatches(mine, "async"))["id"])
