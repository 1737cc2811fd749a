from datetime import datetime
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ranking.candidates import Candidates, MissingEvidence
from ranking.clusters import Clusters
from ranking.near_duplicates import cluster_near_duplicates
from ranking.simhash import fingerprints, simhash64
from tests.ranking.restated import SAME
from tests.ranking.test_near_pairs import brute_pairs, same_partition, union_find

WORDS = st.sampled_from(["deploy", "every", "day", "never", "port", "8080", "a"])
TEXTS = st.lists(st.lists(WORDS, max_size=4).map(" ".join), max_size=14)


def agrees(clusters: Clusters, hashes: npt.NDArray[np.uint64], texts: list[str], threshold: int) -> bool:
    """Whether the clusters are what union-find makes of all near pairs of texts that say anything."""
    spoken = [row for row, text in enumerate(texts) if text.replace(" a", "").strip(" a")]
    roots = union_find(len(spoken), brute_pairs(hashes[spoken], threshold))
    kept = [at for at, root in enumerate(roots) if roots.count(root) > 1]
    inside = np.flatnonzero(clusters.cluster >= 0)
    same_rows = inside.tolist() == [spoken[at] for at in kept]
    return same_rows and (not kept or same_partition(clusters.cluster[inside], [roots[at] for at in kept]))


class TestComponents:
    @settings(max_examples=150, deadline=None)
    @given(TEXTS, st.sampled_from([0, 3, 12, 25]))
    def test_equal_union_find_over_all_pairs(self, texts: list[str], threshold: int) -> None:
        assert agrees(cluster_near_duplicates(texts, threshold), simhash64(texts), texts, threshold)

    @settings(max_examples=80, deadline=None)
    @given(TEXTS, st.integers(0, 20))
    def test_clusters_partition_what_is_corroborated(self, texts: list[str], threshold: int) -> None:
        clusters = cluster_near_duplicates(texts, threshold)
        members = [row for number in range(len(clusters)) for row in clusters.members(number).tolist()]
        assert sorted(members) == np.flatnonzero(clusters.cluster >= 0).tolist()
        assert clusters.corroborated_count == len(members)
        assert (clusters.size >= 2).all()
        assert (clusters.corroboration_score <= clusters.size - 1).all()
        assert clusters.cluster[clusters.canonical].tolist() == list(range(len(clusters)))

    @settings(max_examples=80, deadline=None)
    @given(TEXTS, st.integers(0, 12), st.randoms(use_true_random=False))
    def test_permuting_rows_permutes_the_result(self, texts: list[str], threshold: int, random: Any) -> None:  # noqa: ANN401
        order = list(range(len(texts)))
        random.shuffle(order)
        weight = [float(row % 3) for row in range(len(texts))]
        one = cluster_near_duplicates({"ids": range(len(texts)), "content": texts, "weight": weight}, threshold)
        moved = {"ids": order, "content": [texts[row] for row in order], "weight": [weight[row] for row in order]}
        other = cluster_near_duplicates(moved, threshold)
        assert other.corroborating.tolist() == one.corroborating[order].tolist()
        assert sorted(order[row] for row in other.canonical) == sorted(one.canonical.tolist())

    def test_texts_without_tokens_never_cluster(self) -> None:
        assert len(cluster_near_duplicates(["", "", "a", "...", "a b", "\n"], 64)) == 0

    def test_lone_surrogates_cluster_like_any_text(self) -> None:
        assert cluster_near_duplicates(["ab \ud800x", "ab \ud800x", "cd"]).cluster.tolist() == [0, 0, -1]


class TestCanonical:
    def test_highest_weight_then_earliest_then_id(self) -> None:
        first, later = np.datetime64("2026-01-01"), np.datetime64("2026-01-02")
        columns = {"content": [SAME[0]] * 4, "ids": list("dcba"), "created_at": [later, first, first, later]}
        assert cluster_near_duplicates({**columns, "weight": [0.9, 0.5, 0.5, 0.5]}).canonical.tolist() == [0]
        assert cluster_near_duplicates({**columns, "weight": [0.5] * 4}).canonical.tolist() == [2]
        assert cluster_near_duplicates({"content": [SAME[0]] * 4, "ids": list("dcba")}).canonical.tolist() == [3]
        assert cluster_near_duplicates([SAME[0]] * 4).canonical.tolist() == [0]

    def test_a_row_without_a_date_comes_after_those_with_one(self) -> None:
        columns = {"content": SAME[:2], "created_at": [None, datetime(2026, 1, 1)]}  # noqa: DTZ001 - utc without a zone
        assert cluster_near_duplicates(columns).canonical.tolist() == [1]

    def test_number_ids_compare_as_numbers(self) -> None:
        assert cluster_near_duplicates({"content": SAME[:2], "ids": [10, 9]}).canonical.tolist() == [1]


class TestCounts:
    def test_members_or_agents(self) -> None:
        """One agent that says a thing three times is three members and no second voice."""
        columns = {"content": SAME, "agent_id": ["x", "x", "x"], "session_id": ["s", "t", "t"]}
        by_members, by_agents = (cluster_near_duplicates(columns, count_by=by) for by in ("members", "agents"))
        assert by_members.corroborating.tolist() == [2, 2, 2]
        assert by_agents.corroborating.tolist() == [0, 0, 0]
        assert by_agents.agents == [1]
        assert by_agents.sessions == [2]

    def test_an_unknown_agent_is_no_voice(self) -> None:
        columns = {"content": SAME, "agent_id": ["x", None, "y"]}
        assert cluster_near_duplicates(columns, count_by="agents").corroborating.tolist() == [1, 1, 1]
        assert cluster_near_duplicates({**columns, "agent_id": [None] * 3}, count_by="agents").agents == [0]

    def test_agents_must_be_there_to_be_counted(self) -> None:
        with pytest.raises(MissingEvidence, match="no column 'agent_id' to count by; observations carry content"):
            cluster_near_duplicates(SAME, count_by="agents")
        assert cluster_near_duplicates(SAME).agents is None

    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.tuples(st.sampled_from(SAME), st.sampled_from(["x", "y", "z", None])), min_size=2, max_size=9))
    def test_agents_never_count_more_than_members(self, rows: list[tuple[str, str | None]]) -> None:
        columns = {"content": [row[0] for row in rows], "agent_id": [row[1] for row in rows]}
        members, agents = (cluster_near_duplicates(columns, count_by=by) for by in ("members", "agents"))
        known = {row[1] for row in rows} - {None}
        assert agents.corroboration_score == [max(len(known) - 1, 0)]
        assert members.corroboration_score == [len(rows) - 1]


class TestLimit:
    def test_the_newest_and_the_result_says_so(self) -> None:
        created = np.array(["2026-01-03", "2026-01-01", "2026-01-02"], "datetime64[D]")
        clusters = cluster_near_duplicates({"content": SAME, "created_at": created}, limit=2)
        assert clusters.cluster.tolist() == [0, -1, 0]
        assert clusters.truncated
        assert clusters.in_words() == "2 of the newest 2 of 3 observations in 1 clusters"
        assert not cluster_near_duplicates(SAME, limit=3).truncated

    def test_equal_ages_by_id_and_no_dates_by_arrival(self) -> None:
        columns = {"content": SAME, "ids": ["c", "a", "b"], "created_at": [np.datetime64("2026-01-01")] * 3}
        assert cluster_near_duplicates(columns, limit=2).cluster.tolist() == [-1, 0, 0]
        assert cluster_near_duplicates(SAME, limit=2).cluster.tolist() == [-1, 0, 0]

    def test_ten_thousand_by_default(self) -> None:
        """000: "up to 10,000 rows"."""
        assert cluster_near_duplicates(["word"] * 10_001).considered == 10_000


class TestKnownHashes:
    @settings(max_examples=80, deadline=None)
    @given(TEXTS, st.integers(0, 12), st.sampled_from([None, 5]))
    def test_kept_hashes_give_what_hashing_gives(self, texts: list[str], threshold: int, limit: int | None) -> None:
        anew = cluster_near_duplicates(texts, threshold, limit=limit)
        kept = cluster_near_duplicates(texts, threshold, limit=limit, hashed=fingerprints(texts))
        assert kept.cluster.tolist() == anew.cluster.tolist()
        assert kept.diameter.tolist() == anew.diameter.tolist()

    def test_no_text_is_read(self) -> None:
        clusters = cluster_near_duplicates({"ids": ["a", "b", "c"]}, hashed=fingerprints(SAME))
        assert clusters.cluster.tolist() == [0, 0, 0]

    def test_a_hash_that_no_token_voted_for_is_no_evidence(self) -> None:
        hashes, _ = fingerprints(SAME)
        assert len(cluster_near_duplicates(SAME, hashed=(hashes, np.zeros(3, np.int64)))) == 0

    def test_one_of_another_length(self) -> None:
        with pytest.raises(ValueError, match="hashed: expected 3 rows as observations have, found 2"):
            cluster_near_duplicates(SAME, hashed=fingerprints(SAME[:2]))


class TestEmbeddings:
    @settings(max_examples=60, deadline=None)
    @given(st.integers(0, 2**32), st.integers(0, 300), st.sampled_from([0.5, 0.94, 0.99]))
    def test_equal_union_find_over_all_cosines(self, seed: int, count: int, cosine: float) -> None:
        random = np.random.default_rng(seed)
        vectors = random.normal(size=(5, 8))[random.integers(0, 5, count)] + 0.2 * random.normal(size=(count, 8))
        vectors[::7] = 0
        clusters = cluster_near_duplicates({"embeddings": vectors}, method="embedding", cosine=cosine)
        spoken = np.flatnonzero(vectors.any(axis=1))
        units = vectors[spoken] / np.linalg.norm(vectors[spoken], axis=1, keepdims=True)
        near = units @ units.T
        pairs = [(int(a), int(b)) for a, b in zip(*np.nonzero(near >= cosine), strict=True) if a < b]
        roots = np.array(union_find(len(spoken), pairs), np.int64)
        inside = clusters.cluster[spoken] >= 0
        assert inside.tolist() == [bool((roots == root).sum() > 1) for root in roots]
        assert same_partition(clusters.cluster[spoken][inside], roots[inside].tolist())
        for number in range(len(clusters)):
            rows = np.searchsorted(spoken, clusters.members(number))
            assert clusters.diameter[number] == pytest.approx(1 - near[np.ix_(rows, rows)].min(), abs=1e-9)

    def test_as_memsense_has_it(self) -> None:
        """002: duplicates from cosine 0.94 on."""
        at = [[1.0, 0.0], [0.95, np.sqrt(1 - 0.95**2)], [0.0, -1.0], [0.0, 0.0], [0.0, 0.0]]
        assert cluster_near_duplicates({"embeddings": at}, method="embedding").cluster.tolist() == [0, 0, -1, -1, -1]

    @pytest.mark.parametrize(
        ("cosine", "clusters"), [(0.94 + 4e-6, 1), (0.94 + 1e-9, 1), (0.94 - 1e-9, 0), (0.94 - 4e-6, 0)]
    )
    def test_the_edge_is_decided_in_double_precision(self, cosine: float, clusters: int) -> None:
        """Single precision cannot tell these from 0.94."""
        vectors = [[1.0, 0.0], [cosine, np.sqrt(1 - cosine**2)]]
        assert len(cluster_near_duplicates({"embeddings": vectors}, method="embedding")) == clusters

    def test_copies_beyond_number(self) -> None:
        vectors = np.ones((3_000, 4), np.float32)
        clusters = cluster_near_duplicates({"embeddings": vectors}, method="embedding")
        assert clusters.size.tolist() == [3_000]
        assert clusters.diameter == pytest.approx([0], abs=1e-9)

    def test_embeddings_must_be_there(self) -> None:
        with pytest.raises(MissingEvidence, match="no column 'embeddings'; observations carry content"):
            cluster_near_duplicates(SAME, method="embedding")


class TestInput:
    def test_candidates_and_columns_say_the_same(self) -> None:
        weight, agent = [1.0, 3.0, 2.0], ["x", "y", "y"]
        candidates = Candidates("abc", content=SAME, weight=weight, agent=agent)
        one = cluster_near_duplicates(candidates, count_by="agents")
        columns = {"ids": "abc", "content": SAME, "weight": weight, "agent_id": agent}
        other = cluster_near_duplicates(columns, count_by="agents")
        assert one.corroborating.tolist() == other.corroborating.tolist() == [1, 1, 1]
        assert one.canonical.tolist() == other.canonical.tolist() == [1]
        assert cluster_near_duplicates(pa.array(SAME)).size.tolist() == [3]

    def test_what_comes_back_cannot_be_written_to(self) -> None:
        clusters = cluster_near_duplicates(SAME)
        with pytest.raises(ValueError, match="read-only"):
            clusters.corroborating[0] = 9

    def test_others_are_the_members_but_the_canonical(self) -> None:
        clusters = cluster_near_duplicates(["else", *SAME])
        assert clusters.members(0).tolist() == [1, 2, 3]
        assert clusters.others(0).tolist() == [2, 3]

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"threshold": -1}, "threshold: expected a whole number of bits from 0 to 64, found -1"),
            ({"threshold": 2.5}, "threshold: expected a whole number of bits from 0 to 64, found 2.5"),
            ({"threshold": 65}, "threshold: expected a whole number of bits from 0 to 64, found 65"),
            ({"cosine": 1.5}, "cosine: expected -1 to 1, found 1.5"),
            ({"limit": -1}, "limit: expected 0 or more, found -1"),
            ({"method": "guess"}, "'guess' is not a valid Method"),
            ({"count_by": "votes"}, "'votes' is not a valid CountBy"),
        ],
    )
    def test_options_that_make_no_sense(self, options: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            cluster_near_duplicates(SAME, **options)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"weight": [1.0, 2.0]}, "expected columns of one length, found content 3, weight 2"),
            ({"weight": [1.0, float("nan"), 1.0]}, "column 'weight': expected finite numbers, found nan at row 1"),
            ({"wieght": [1, 2, 3]}, "unknown column 'wieght'; observations may carry ids, content, weight"),
            ({"embeddings": [[1.0], [float("inf")], [1.0]]}, "column 'embeddings': expected finite numbers"),
        ],
    )
    def test_columns_that_make_no_sense(self, columns: dict[str, Any], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            cluster_near_duplicates({"content": SAME, **columns})

    def test_one_text_is_no_list_of_texts(self) -> None:
        with pytest.raises(TypeError, match="expected a list of texts, found one text"):
            cluster_near_duplicates("a text")

    @pytest.mark.parametrize("nothing", [[], {"content": []}, {"content": [], "ids": [], "weight": [], "agent_id": []}])
    def test_nothing_is_no_error(self, nothing: Any) -> None:  # noqa: ANN401
        clusters = cluster_near_duplicates(nothing)
        assert len(clusters) == clusters.corroborated_count == 0
        assert clusters.in_words() == "0 of 0 observations in 0 clusters"
