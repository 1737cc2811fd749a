"""Clusters whose members contradict one another, as a caller says or as their texts do."""

import pytest

from ranking import cluster_near_duplicates
from ranking.simhash import fingerprints
from tests.ranking.restated import SAME


class TestDisputes:
    COLUMNS = {"ids": ["p", "q", "r", "s"], "content": [*SAME, "else"], "weight": [1.0, 2.0, 1.0, 1.0]}  # noqa: RUF012

    def test_a_member_that_contradicts_its_canonical_disputes_the_cluster(self) -> None:
        clusters = cluster_near_duplicates(self.COLUMNS, disputes=[("r", "q")])
        assert clusters.disputed.tolist() == [True]
        assert clusters.contradicts.tolist() == [False, False, True, False]
        assert clusters.corroborating.tolist() == [2, 2, 2, 0]

    def test_it_can_be_left_out_of_the_count(self) -> None:
        """It then has no part in the agreement, neither as a voice nor as one who gains by the others'."""
        clusters = cluster_near_duplicates(self.COLUMNS, disputes=[("q", "r")], exclude_disputed=True)
        assert clusters.corroboration_score.tolist() == [1]
        assert clusters.corroborating.tolist() == [1, 1, 0, 0]
        assert clusters.size.tolist() == [3]

    def test_disputes_beside_the_canonical_or_across_clusters_do_not_count(self) -> None:
        clusters = cluster_near_duplicates(self.COLUMNS, disputes=[("p", "r"), ("q", "s"), ("q", "q")])
        assert not clusters.disputed.any()

    def test_rows_where_there_are_no_ids(self) -> None:
        assert cluster_near_duplicates(SAME, disputes=[(2, 0)]).contradicts.tolist() == [False, False, True]

    def test_agents_of_disputed_members_are_left_out_too(self) -> None:
        columns = {"content": SAME, "agent_id": ["x", "y", "z"]}
        clusters = cluster_near_duplicates(columns, count_by="agents", disputes=[(0, 2)], exclude_disputed=True)
        assert clusters.corroboration_score.tolist() == [1]

    def test_unknown_ids(self) -> None:
        with pytest.raises(ValueError, match="disputes: expected ids of observations, found 'nobody'"):
            cluster_near_duplicates(self.COLUMNS, disputes=[("p", "nobody")])


class TestDisputed:
    STORY = (
        "The payment webhook handler in the billing service validates the signature of each incoming event before it "
        "is written to the outbox table{} and the retry worker of that service picks it up there within {} seconds{}"
    )
    TEXTS = (STORY.format("", 30, "."), STORY.format("", 45, "."), STORY.format(",", 30, "!"))

    def test_a_member_that_contradicts_its_canonical_does_not_corroborate_it(self) -> None:
        rows = {"ids": ["a", "b", "c"], "content": list(self.TEXTS), "weight": [1.0, 0.9, 0.8]}
        plain = cluster_near_duplicates(rows, threshold=8)
        assert plain.corroboration_score.tolist() == [2]
        assert plain.contradicts.tolist() == [False, True, False]
        assert plain.disputed.tolist() == [True]
        settled = cluster_near_duplicates(rows, threshold=8, exclude_disputed=True)
        assert settled.contradicts.tolist() == [False, True, False]
        assert settled.disputed.tolist() == [True]
        assert settled.corroboration_score.tolist() == [1]

    def test_pairs_that_are_given_are_not_looked_for(self) -> None:
        rows = {"ids": ["a", "b", "c"], "content": list(self.TEXTS), "weight": [1.0, 0.9, 0.8]}
        given = cluster_near_duplicates(rows, threshold=8, exclude_disputed=True, disputes=())
        assert given.contradicts.tolist() == [False, False, False]

    def test_every_copy_of_a_text_that_contradicts_the_canonical_does(self) -> None:
        agrees, denies = self.TEXTS[0], self.TEXTS[1]
        clusters = cluster_near_duplicates({"content": [agrees] + [denies] * 40}, threshold=8)
        assert clusters.contradicts.tolist() == [False] + [True] * 40

    def test_without_texts_nothing_is_disputed(self) -> None:
        hashed = fingerprints(list(self.TEXTS))
        clusters = cluster_near_duplicates({"weight": [1.0, 0.9, 0.8]}, threshold=8, hashed=hashed)
        assert clusters.size.tolist() == [3]
        assert clusters.disputed.tolist() == [False]
