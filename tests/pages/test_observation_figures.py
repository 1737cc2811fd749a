"""Every number of the Observation page against plain SQL and numpy over the same planted rows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from analysis.observation import fingerprint
from tests.dossier import plant
from tests.pages.application import application

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg
    from streamlit.testing.v1 import AppTest

    from tests.conftest import Cluster
    from tests.dossier import Planted

    Owner = psycopg.Connection[Any]

GIVEN = """select distinct l.session_id, s.outcome from retrieval_ab_logs l
             left join sessions s on s.org_id = l.org_id and s.id = l.session_id
            where l.org_id = 'org_a' and l.observation_id = %s and l.injected"""


@pytest.fixture
def planted(owner: Owner) -> Planted:
    """Of another organization as much, which must count nowhere; one retrieval logs its row twice."""
    plant(owner, "org_b", seed=3)
    found = plant(owner, "org_a")
    owner.execute(
        """insert into retrieval_ab_logs (org_id, retrieval_id, session_id, project_id, query_text, observation_id,
             relevance_score, feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled,
             injected, created_at)
           select org_id, retrieval_id, session_id, project_id, query_text, observation_id, relevance_score,
             feedback_weight, weighted_score, unweighted_rank, weighted_rank, weighting_enabled, injected, created_at
             from retrieval_ab_logs where org_id = 'org_a' and observation_id = %s and injected limit 1""",
        (found.id,),
    )
    return found


@pytest.fixture
def page(cluster: Cluster, store_database: str, planted: Planted) -> Iterator[AppTest]:
    address = cluster.plain_url("dash_read", store_database)
    with application(address, observation=str(planted.id)) as test:
        test.switch_page("observation.py").run()
        assert not test.exception
        yield test


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.3g} %"


def test_the_figures_are_what_sql_counts(page: AppTest, planted: Planted, owner: Owner) -> None:
    each = owner.execute(
        """select retrieval_id, bool_or(injected), bool_and(weighting_enabled), min(unweighted_rank), min(weighted_rank)
             from retrieval_ab_logs where org_id = 'org_a' and observation_id = %s group by 1""",
        (planted.id,),
    ).fetchall()
    retrieved, injected = len(each), sum(row[1] is True for row in each)
    up = sum(row[2] and row[4] < row[3] for row in each)
    down = sum(row[2] and row[4] > row[3] for row in each)
    ended = [outcome for _, outcome in owner.execute(GIVEN, (planted.id,)) if outcome is not None]
    figures = {metric.label: (metric.value, metric.delta) for metric in page.metric}
    assert figures["Retrieved"] == (str(retrieved), f"▲{up} ▼{down}")
    assert figures["Injected"] == (str(injected), f"{share(injected, retrieved)} of them")
    assert figures["Accepted"] == (share(ended.count("accepted"), len(ended)), f"of {len(ended)} sessions")
    assert 0 < ended.count("accepted") < len(ended) < injected < retrieved
    assert up > 0 < down
    title = json.loads(page.get("plotly_chart")[0].proto.spec)["layout"]["title"]["text"]
    assert title.startswith(f"Retrieved {retrieved} times, injected {injected};")


def test_the_outcome_mix_counts_a_session_once(page: AppTest, planted: Planted, owner: Owner) -> None:
    """Sessions that nobody ended and sessions that the store does not know are without outcome."""
    given = [outcome for _, outcome in owner.execute(GIVEN, (planted.id,))]
    mix = " · ".join(f"{given.count(name)} {name}" for name in ("accepted", "rework", "rejected"))
    told = f"70 retrievals in all. Sessions it was injected into: {mix} · {given.count(None)} without outcome."
    assert told in [line.value for line in page.caption]
    assert given.count(None) > 0


def test_what_a_larger_mark_stands_for_is_told(page: AppTest) -> None:
    spec = json.loads(page.get("plotly_chart")[0].proto.spec)
    several = [
        int(text.split(" times")[0]) for trace in spec["data"] for text in trace.get("text", ()) if " times " in text
    ]
    told = f"A larger mark stands for several at about the same time, {max(several)} at most; it says how many."
    assert told in [line.value for line in page.caption]


def test_the_strip_counts_rows_and_retrievals(page: AppTest, planted: Planted, owner: Owner) -> None:
    rows, retrievals, unknown = owner.execute(
        """select count(*), count(distinct retrieval_id), count(distinct retrieval_id) filter (where injected is null)
             from retrieval_ab_logs where org_id = 'org_a' and observation_id = %s""",
        (planted.id,),
    ).fetchall()[0]
    strip = next(line.value for line in page.markdown if "as of" in line.value)
    assert (rows, retrievals) == (71, 70)
    assert f"{rows} log rows in {retrievals} retrievals" in strip
    assert f"injection unknown for {unknown} retrievals" in strip


def test_marks_of_the_timeline_add_up(page: AppTest, planted: Planted, owner: Owner) -> None:
    """A mark may stand for several retrievals: their numbers make the totals, lane by lane."""
    spec = json.loads(page.get("plotly_chart")[0].proto.spec)
    lanes = {trace["y"][0]: trace["text"] for trace in spec["data"] if trace.get("yaxis") == "y2"}
    (injected,) = owner.execute(
        """select count(distinct retrieval_id) from retrieval_ab_logs
            where org_id = 'org_a' and observation_id = %s and injected""",
        (planted.id,),
    ).fetchall()[0]
    assert sum(map(stands_for, lanes["injected"])) == injected
    assert sum(map(stands_for, lanes["retrieved only"])) == 70 - injected
    assert spec["layout"]["xaxis2"]["tickformatstops"][0]["value"] == "%-d %b\n%Y"  # 6 Sep, and not Sep 6


def stands_for(said: str) -> int:
    """How many a mark says it stands for: one, where it gives no number."""
    return int(said.split(" times ", maxsplit=1)[0]) if " times " in said else 1


def test_neighbours_are_those_of_numpy(page: AppTest, planted: Planted, owner: Owner) -> None:
    page.query_params["part"] = "Neighbours"
    near, alike = (table.value for table in page.run().dataframe)
    stored = owner.execute(
        """select observation_id::text, embedding::text from observation_embeddings
            where org_id = 'org_a' and route = 'full'"""
    ).fetchall()
    vectors = {name: np.array(json.loads(text)) for name, text in stored}
    mine = vectors.pop(str(planted.id))
    cosines = {
        name: float(mine @ vector / np.linalg.norm(mine) / np.linalg.norm(vector))
        for name, vector in vectors.items()
        if vector.size == mine.size
    }
    assert near["id"].tolist() == sorted(cosines, key=lambda name: -cosines[name])
    assert near["cosine"].tolist() == pytest.approx([cosines[name] for name in near["id"]], abs=1e-6)
    texts = dict(owner.execute("select id::text, content from observations where org_id = 'org_a'").fetchall())
    own = fingerprint(texts.pop(str(planted.id))).simhash % 2**64
    bits = {name: (own ^ fingerprint(text).simhash % 2**64).bit_count() for name, text in texts.items()}
    assert dict(zip(alike["id"], alike["bits"], strict=True)) == bits
    assert alike["bits"].tolist() == sorted(bits.values())


def test_retrievals_without_a_rank_are_called_so(
    cluster: Cluster, store_database: str, planted: Planted, owner: Owner
) -> None:
    """The strip counts retrievals that logged no rank, and says nothing of scores, which are finite."""
    owner.execute(
        "update retrieval_ab_logs set weighted_rank = null where observation_id = %s and retrieval_id = any(%s)",
        (planted.id, list(planted.retrievals[:3])),
    )
    with application(cluster.plain_url("dash_read", store_database), observation=str(planted.id)) as test:
        test.switch_page("observation.py").run()
        strip = next(line.value for line in test.markdown if "as of" in line.value)
    assert "3 retrievals without a rank" in strip
    assert "finite" not in strip
