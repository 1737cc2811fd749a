"""Which logged retrievals can be replayed, one planted retrieval per reason why not."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid5

import pytest

from analysis.replay.flags import flag_flip
from analysis.replay.replaying import Replayer, replay
from analysis.replay.settings import AS_LOGGED, WhatIf
from queries.scope import OutOfReachError, Reach, Scope
from tests import sample
from tests.analysis.replay.planted_log import AT, plant, plant_organization, text

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store

    Owner = psycopg.Connection[Any]


@pytest.fixture
def planted(owner: Owner) -> str:
    return plant_organization(owner, "org_a")


def scope(org: str, project: str | None = None) -> Scope:
    return Scope(Reach((org,)), AT - timedelta(days=2), AT + timedelta(days=1), org, project)


def reasons(store: Store, org: str, settings: WhatIf = AS_LOGGED) -> dict[str, int]:
    found = replay(store, scope(org), settings).coverage
    assert found.logged == found.replayed + sum(count for _, count in found.reasons)
    assert found.replayed == 1
    return dict(found.reasons)


@pytest.mark.parametrize(
    ("reason", "changed"),
    [
        ("incomplete", {"after": [0, 1, 1]}),
        ("incomplete", {"before": [0, None, 1]}),
        ("not_finite", {"relevance": [float("nan"), 0.8, 0.7]}),
        ("not_finite", {"weight": [None, 1.0, 1.0]}),
        ("not_finite", {"relevance": [float("inf"), 0.8, 0.7]}),
        ("not_finite", {"boost": [float("nan"), 0.0, 0.0]}),
        ("deleted", {"observation": [uuid5(sample.NAMESPACE, f"org_a/{n}") for n in ("gone", 1, 2)]}),
        ("repeated", {"observation": [uuid5(sample.NAMESPACE, f"org_a/{n}") for n in (0, 1, 1)]}),
        ("unexplained", {"after": [0, 1, 2], "injected": [True, True, False]}),
        ("other_block", {"injected": [True, True, True]}),
    ],
)  # fmt: skip
def test_each_reason_is_counted_alone(store: Store, owner: Owner, planted: str, reason: str, changed: Any) -> None:  # noqa: ANN401 - a column's values
    plant(owner, planted, "faulty", **changed)
    assert reasons(store, planted) == {reason: 1}


def test_a_missing_vector_matters_only_where_vectors_are_compared(store: Store, owner: Owner, planted: str) -> None:
    for number in range(3):
        owner.execute(
            "insert into observation_embeddings (org_id, observation_id, route, embedding) values (%s, %s, 'full', %s)",
            (planted, uuid5(sample.NAMESPACE, f"{planted}/{number}"), f"[{number},1]"),
        )
    sample_id = sample.add_observations(owner, planted, 1, days_ago=3)[0]
    owner.execute("update observations set content = %s where id = %s", (text(9), sample_id))
    ids = [sample_id, *(uuid5(sample.NAMESPACE, f"{planted}/{n}") for n in (1, 2))]
    plant(owner, planted, "without", observation=ids)
    assert replay(store, scope(planted), AS_LOGGED).coverage.replayed == 2
    assert reasons(store, planted, WhatIf(lam=0.5)) == {"no_vector": 1}
    owner.execute(
        "insert into observation_embeddings (org_id, observation_id, route, embedding) values (%s, %s, 'full', '[1]')",
        (planted, sample_id),
    )
    assert reasons(store, planted, WhatIf(lam=0.5)) == {"no_vector": 1}  # one of another length compares with none


def test_a_log_without_times_takes_the_sessions_and_counts_the_rest(store: Store, owner: Owner, planted: str) -> None:
    plant(owner, planted, "nobody knows when")
    owner.execute(
        """insert into sessions (org_id, id, project_id, work_type, created_at)
           values (%s, 'session-sound', 'api', 'chore', %s)""",
        (planted, AT),
    )
    owner.execute("alter table retrieval_ab_logs drop column created_at")
    assert reasons(store, planted) == {"no_time": 1}


def test_a_log_with_the_documented_columns_alone_can_be_replayed(store: Store, owner: Owner, planted: str) -> None:
    for column in ("retrieval_id", "injected", "corroboration_boost", "pipeline", "id"):
        owner.execute(f"alter table retrieval_ab_logs drop column {column} cascade")
    found = replay(store, scope(planted), WhatIf(weighting=False))
    assert (found.coverage.replayed, found.changed) == (1, 1)
    # no injection is known by this id: other work has 500 tokens, so every text was in the block and still is
    assert (found.entered, found.left) == (0, 0)


def test_the_arithmetic_of_one_flip(store: Store, planted: str) -> None:
    """Without weights the order is 0.9, 0.8, 0.7; 25 tokens hold two of ten: the first enters, the third leaves."""
    found = replay(store, scope(planted), WhatIf(weighting=False))
    ids = [str(uuid5(sample.NAMESPACE, f"{planted}/{number}")) for number in range(3)]
    assert [(flip.observation, flip.entered, flip.before, flip.after) for flip in found.flips] == [
        (ids[0], True, 2, 0),
        (ids[2], False, 1, 2),
    ]
    assert (found.changed, found.top_changed, found.entered, found.left, found.flipped) == (1, 0, 1, 1, 1)
    assert found.tau == pytest.approx(-1 / 3)  # of three pairs one agrees: 1/3 - 2/3
    held = replay(store, scope(planted), AS_LOGGED).fragile
    assert held is not None
    assert (held.measured, held.fragile) == (1, 0)  # 0.7 stands 0.25 above 0.45: 0.25 / 0.9 of a weight


def test_a_boost_counts_what_was_written_before_and_nothing_later(store: Store, owner: Owner, planted: str) -> None:
    twins = [uuid5(sample.NAMESPACE, f"twin-{number}") for number in range(2)]
    for id_, created in zip(twins, (AT - timedelta(days=1), AT + timedelta(hours=1)), strict=True):
        owner.execute(
            """insert into observations (org_id, id, project_id, agent_id, content, content_hash, created_at)
               values (%s, %s, 'api', 'agent-9', %s, 'x', %s)""",
            (planted, id_, text(0), created),
        )
    replayer = Replayer(store, scope(planted))
    # the three texts differ in a number too short to be a token, so all of them say the same
    counts = replayer.evidence.corroborating(0, WhatIf(boost=0.1, bits=0))
    assert counts.tolist() == [[3, 3, 3]]
    owner.execute(
        "update observations set content = left(md5(id::text) || repeat('y', 40), 40) where id <> all(%s)",
        ([*twins, uuid5(sample.NAMESPACE, f"{planted}/0")],),
    )
    counts = Replayer(store, scope(planted)).evidence.corroborating(0, WhatIf(boost=0.1, bits=0))
    assert counts.tolist() == [[1, 0, 0]]


class TestScope:
    def test_a_project_holds_only_its_own(self, store: Store, owner: Owner, planted: str) -> None:
        plant(owner, planted, "elsewhere", project="web")
        assert replay(store, scope(planted), AS_LOGGED).coverage.logged == 2
        assert replay(store, scope(planted, "web"), AS_LOGGED).coverage.logged == 1

    def test_another_organizations_log_is_out_of_reach(self, store: Store, owner: Owner, planted: str) -> None:
        other = sample.add_organization(owner, "org_b")
        plant(owner, other, "theirs")
        assert replay(store, scope(planted), AS_LOGGED).coverage.logged == 1
        with pytest.raises(OutOfReachError):
            flag_flip(store, Reach((planted,)), other, "corroboration_boost_enabled", AT, AT + timedelta(days=1))

    def test_all_organizations_together_are_refused(self, store: Store, planted: str) -> None:
        with pytest.raises(ValueError, match="a replay needs one organization"):
            Replayer(store, Scope(Reach((planted,)), AT, AT + timedelta(days=1)))

    def test_an_empty_log_is_no_error(self, store: Store, owner: Owner) -> None:
        org = sample.add_organization(owner, "org_empty")
        found = replay(store, scope(org), WhatIf(lam=0.5, boost=0.2))
        assert (found.coverage.logged, found.rbo, found.tau, found.coverage.share) == (0, None, None, None)
        assert (len(found.worst), len(found.flips), len(found.movers)) == (0, 0, 0)


def test_a_retrieval_whose_injection_was_written_twice_is_replayed_once(
    store: Store, owner: Owner, planted: str
) -> None:
    """A platform's own table may lack the unique index on retrievals."""
    owner.execute("drop index injections_retrieval")
    owner.execute(
        """insert into context_injection_logs (org_id, retrieval_id, session_id, project_id, token_budget, tokens_used,
             candidates, observation_ids, created_at)
           select org_id, retrieval_id, session_id, project_id, token_budget, tokens_used, candidates, observation_ids,
                  created_at
             from context_injection_logs"""
    )
    assert reasons(store, planted) == {}
