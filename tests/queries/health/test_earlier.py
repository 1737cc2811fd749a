"""What stood when the window began and how sessions fared, against an answer formed with pandas from whole tables."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

from queries.health.earlier import EarlierUsage, EarlierWeights
from queries.health.served import Blocks, Ended, Misled
from queries.health.stored import Duplicates
from queries.scope import EVERYTHING, Reach, Scope
from tests import sample
from tests.health_store import NOW, frames, inside, plant, plant_elsewhere, plant_history
from tests.queries.health.test_stored_and_logged import ALL, SCOPES, UNINDEXED, answered

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]

DAY = timedelta(days=1)
WEEK = Scope.of_days(EVERYTHING, NOW.date() - 6 * DAY, NOW.date(), "org_a")


def weight_then(history: pd.DataFrame, row: dict[Any, Any], since: pd.Timestamp) -> tuple[float, bool]:
    """One observation's weight at a moment, and whether that is known: untouched, or its history begins earlier."""
    own = history[(history["org_id"] == row["org_id"]) & (history["observation_id"] == row["id"])]
    later = own[own["recorded_at"] >= since].sort_values(["recorded_at", "id"])
    weight = float(later["previous_weight"].iloc[0]) if len(later) else float(row["weight"])
    return weight, weight == 1.0 or len(later) < len(own)


def slowly(owner: Owner, scope: Scope) -> dict[str, dict[Any, dict[str, int]]]:
    """Counts by question and organization, one observation or session at a time."""
    tables, whole = frames(owner, scope), frames(owner, replace(scope, project=None))
    since = pd.Timestamp(scope.since)
    stored = tables["observations"]
    stored = stored[(stored["status"] == "active") & (stored["created_at"] < since)]
    log = whole["retrieval_ab_logs"]
    found: dict[str, dict[Any, dict[str, int]]] = {"EarlierUsage": {}, "EarlierWeights": {}, "Duplicates": {}}
    for org, rows in stored.groupby("org_id"):
        texts = {tuple(map(str, row)) for row in rows[["project_id", "agent_id", "content_hash"]].to_numpy()}
        found["Duplicates"][org] = {"active": len(rows), "surplus": len(rows) - len(texts)}
        weights = [weight_then(whole["observation_weight_history"], row, since) for row in rows.to_dict("records")]
        weights = [(weight, known) for weight, known in weights if math.isfinite(weight)]
        found["EarlierWeights"][org] = {
            "weighed": len(weights),
            "collapsed": sum(weight < 0.2 for weight, _ in weights),
            "unknown_weights": sum(not known for _, known in weights),
        }
        mine = log[log["org_id"] == org]
        before = mine[mine["created_at"] < since]
        counts = dict.fromkeys(("settled", "never", "kept", "stale", "unknown_never", "unknown_stale"), 0)
        for row in rows.to_dict("records"):
            accessed = None if pd.isna(row["last_accessed_at"]) else row["last_accessed_at"]
            reads = list(before[before["observation_id"] == row["id"]]["created_at"])
            reads += [accessed] if accessed is not None and accessed < since else []
            later = accessed is not None and accessed >= since
            unknown = later and not reads and (mine.empty or row["created_at"] < mine["created_at"].min())
            old = row["created_at"] < since - 7 * DAY
            counts["settled"] += old
            counts["never"] += old and not unknown and not reads
            counts["unknown_never"] += old and unknown
            ancient = row["created_at"] < since - 90 * DAY
            too_short = unknown and ancient and (mine.empty or mine["created_at"].min() > since - 90 * DAY)
            counts["kept"] += 1
            counts["unknown_stale"] += too_short
            counts["stale"] += not too_short and max([row["created_at"], *reads]) < since - 90 * DAY
        found["EarlierUsage"][org] = counts
    return found


@pytest.mark.parametrize("seed", [2, 5])
def test_what_stood_when_the_window_began_equals_the_slow_answer(store: Store, owner: Owner, seed: int) -> None:
    plant(owner, seed)
    plant_history(owner, seed)
    if seed == 1:  # the log of the other begins after most was written
        plant_elsewhere(owner, seed)
    met: set[str] = set()
    for scope in SCOPES.values():
        expected = slowly(owner, scope)
        counted = (EarlierUsage(scope), EarlierWeights(scope), Duplicates(scope, by=scope.since))
        # what is drawn is looked up one by one: here, all of it
        drawn = (EarlierUsage(scope, share=ALL), EarlierWeights(scope, ALL), Duplicates(scope, scope.since, ALL))
        unindexed = (EarlierUsage(scope, UNINDEXED), EarlierUsage(scope, UNINDEXED, ALL))
        for question in counted + drawn + unindexed:
            name = type(question).__name__
            assert answered(store, question) == expected[name], (name, scope)
            met |= {key for row in expected[name].values() for key, value in row.items() if value}
    assert met == {
        "settled", "never", "kept", "stale", "weighed", "collapsed", "active", "surplus", "unknown_weights",
        "unknown_never", "unknown_stale",
    }  # fmt: skip


@pytest.mark.parametrize("scope", SCOPES.values(), ids=SCOPES)
def test_how_sessions_fared_equals_the_slow_answer(store: Store, owner: Owner, scope: Scope) -> None:
    plant(owner, 3)
    owner.execute("update context_injection_logs set observation_ids = array[gen_random_uuid()] where tokens_used > 99")
    owner.execute("alter table sessions drop constraint sessions_outcome_check")
    owner.execute("update sessions set outcome = 'abandoned' where outcome = 'rejected' and id like '%3'")
    tables = frames(owner, scope)
    sessions = tables["sessions"]
    if scope.project is not None:
        sessions = sessions[sessions["project_id"] == scope.project]
    ended = inside(sessions, scope).dropna(subset="outcome").groupby("org_id")["outcome"]
    assert answered(store, Ended(scope)) == {
        org: {
            "judged": int((found != "abandoned").sum()),
            "accepted": int((found == "accepted").sum()),
            "unknown_outcome": int((found == "abandoned").sum()),
        }
        for org, found in ended
    }
    diagnosed = inside(tables["session_diagnostics"], scope)
    diagnosed = diagnosed.merge(sessions[["org_id", "id"]], left_on=["org_id", "session_id"], right_on=["org_id", "id"])
    assert answered(store, Misled(scope)) == {
        org: {"diagnosed": len(found), "misled": int(found.map(bool).sum())}
        for org, found in diagnosed.groupby("org_id")["misleading_observation_ids"]
    }
    assert answered(store, Blocks(scope)) == {
        org: {
            "blocks": len(found),
            "empty": int((found["observation_ids"].map(len) == 0).sum()),
            "tokens": int(found["tokens_used"].sum()),
        }
        for org, found in inside(tables["context_injection_logs"], scope).groupby("org_id")
    }


class TestByHand:
    """One observation written long before the window, and what the store knows about it."""

    @pytest.fixture
    def observation(self, owner: Owner) -> Any:  # noqa: ANN401 - an id
        sample.add_organization(owner, "org_a")
        (id_,) = sample.add_observations(owner, "org_a", 1, days_ago=20)
        return id_

    def usage(self, store: Store) -> list[int]:
        (counts,) = answered(store, EarlierUsage(WEEK)).values()
        return [counts[name] for name in ("settled", "never", "unknown_never", "kept", "stale", "unknown_stale")]

    def test_never_read_it_was_never_retrieved_then(self, store: Store, observation: Any) -> None:  # noqa: ANN401
        assert observation
        assert self.usage(store) == [1, 1, 0, 1, 0, 0]

    def test_read_since_by_a_log_that_begins_later_nobody_knows(
        self,
        store: Store,
        owner: Owner,
        observation: Any,  # noqa: ANN401
    ) -> None:
        owner.execute("update observations set last_accessed_at = %s", (NOW,))
        assert self.usage(store) == [1, 0, 1, 1, 0, 0]
        sample.add_retrieval(owner, "org_a", sample.unchanged(1), name="late", days_ago=1, observations=[observation])
        assert self.usage(store) == [1, 0, 1, 1, 0, 0]

    def test_read_since_and_not_before_although_the_log_was_there(
        self,
        store: Store,
        owner: Owner,
        observation: Any,  # noqa: ANN401
    ) -> None:
        owner.execute("update observations set last_accessed_at = %s", (NOW,))
        sample.add_retrieval(owner, "org_a", sample.unchanged(2), name="other", days_ago=25)
        assert observation
        assert self.usage(store) == [1, 1, 0, 1, 0, 0]

    def test_read_since_and_before_the_window_before(self, store: Store, owner: Owner, observation: Any) -> None:  # noqa: ANN401
        """Fifteen days ago it was a candidate, which is a retrieval, injected or not."""
        owner.execute("update observations set last_accessed_at = %s", (NOW,))
        sample.add_retrieval(owner, "org_a", sample.unchanged(2), name="other", days_ago=25)
        sample.add_retrieval(owner, "org_a", sample.unchanged(1), name="early", days_ago=15, observations=[observation])
        assert self.usage(store) == [1, 0, 0, 1, 0, 0]
        owner.execute("update observations set last_accessed_at = null")
        assert self.usage(store) == [1, 0, 0, 1, 0, 0]

    @pytest.mark.parametrize(
        ("weight", "history", "expected"),
        [
            (1.0, [], (1, 0, 0)),
            (0.1, [], (1, 1, 1)),
            (0.1, [(3, 1.0, 0.1)], (1, 0, 0)),
            (0.1, [(10, 1.0, 0.5), (3, 0.5, 0.1)], (1, 0, 0)),
            (0.1, [(3, 0.5, 0.1)], (1, 0, 1)),
            (0.1, [(10, 0.5, 0.1)], (1, 1, 0)),
            (0.9, [(10, 1.0, 0.15), (3, 0.15, 0.6), (2, 0.6, 0.9)], (1, 1, 0)),
        ],
        ids=[
            "untouched",
            "nobody kept any",
            "untouched then",
            "fell since",
            "fell at a time that is not kept",
            "fell before",
            "rose since",
        ],
    )
    @pytest.mark.usefixtures("observation")
    def test_a_weight_is_what_the_first_change_since_started_from(
        self, store: Store, owner: Owner, weight: float, history: list[Any], expected: tuple[int, int, int]
    ) -> None:
        owner.execute("update observations set weight = %s", (weight,))
        for days, previous, new in history:
            owner.execute(
                """insert into observation_weight_history (org_id, observation_id, session_id, outcome,
                     previous_weight, new_weight, alpha, recorded_at)
                   select org_id, id, 's', 'rework', %s, %s, 0.15, %s from observations""",
                (previous, new, NOW - days * DAY),
            )
        (counts,) = answered(store, EarlierWeights(WEEK)).values()
        assert (counts["weighed"], counts["collapsed"], counts["unknown_weights"]) == expected


class TestForgotten:
    """Weights that only fall, of which the truth is known; and what is told of them by a history that was cut."""

    SIZE = 120

    def fall(self, owner: Owner) -> int:
        """How many of them stood below 0.2 when the window of 30 days began."""
        draw = random.Random(11)  # noqa: S311 - a test's own choice
        sample.add_organization(owner, "org_a")
        then = 0
        with owner.transaction():
            for id_ in sample.add_observations(owner, "org_a", self.SIZE, days_ago=100):
                weight = was = 1.0
                for days in sorted((draw.randrange(1, 99) for _ in range(draw.choice([0, 0, 1, 2, 4]))), reverse=True):
                    new = weight * draw.choice([0.3, 0.6])
                    owner.execute(
                        """insert into observation_weight_history (org_id, observation_id, session_id, outcome,
                             previous_weight, new_weight, alpha, recorded_at)
                           values ('org_a', %s, 's', 'rework', %s, %s, 0.15, %s)""",
                        (id_, weight, new, NOW - days * DAY),
                    )
                    weight, was = new, new if NOW - days * DAY < SCOPES["one"].since else was
                owner.execute("update observations set weight = %s where id = %s", (weight, id_))
                then += was < 0.2
        return then

    @pytest.mark.parametrize("kept", [100, 60, 29, 10, 0], ids="{} days".format)
    @pytest.mark.parametrize("share", [1.0, ALL])
    def test_the_truth_lies_within_what_is_not_known(self, store: Store, owner: Owner, kept: int, share: float) -> None:
        truth = self.fall(owner)
        assert truth > 5
        owner.execute("delete from observation_weight_history where recorded_at < %s", (NOW - kept * DAY,))
        (counts,) = answered(store, EarlierWeights(SCOPES["one"], share)).values()
        assert counts["weighed"] == self.SIZE
        assert abs(counts["collapsed"] - truth) <= counts["unknown_weights"]
        (moved,) = owner.execute("select count(*) from observations where weight <> 1").fetchone()  # type: ignore[misc]
        if kept == 100:
            assert (counts["collapsed"], counts["unknown_weights"]) == (truth, 0)
        else:
            assert 0.05 * self.SIZE < counts["unknown_weights"] <= moved
        if kept == 0:
            assert counts["unknown_weights"] == moved


def test_an_empty_store_has_typed_frames_without_rows_and_nobody_elses_counts(store: Store, owner: Owner) -> None:
    kinds = (EarlierUsage, EarlierWeights, Ended, Misled, Blocks)
    assert all(store.ask(kind(SCOPES["all"])).empty for kind in kinds)
    plant(owner, 3, size=30)
    plant_history(owner, 3, size=30)
    mine = Scope.of_days(Reach.of(frozenset({"org_a"})), NOW.date() - 29 * DAY, NOW.date())
    for kind in kinds:
        assert set(store.ask(kind(mine))["org_id"]) == {"org_a"}
