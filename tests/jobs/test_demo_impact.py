"""Every figure of Feedback Impact on the demo store, against the log read whole and counted with pandas."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

from analysis import impact
from analysis.intervals import FLOOR
from analysis.ratios import split
from charts.impact import delta_histogram, rank_map
from charts.impact_parts import weight_histogram
from controls.impact.measures import measures
from queries.engine import Store, make_engine
from queries.impact.listed import ListedRetrievals
from queries.impact.measures import Measures
from queries.impact.moves import Movers, Moves
from queries.impact.outcomes import SessionOutcomes
from queries.impact.selection import Selection
from queries.scope import EVERYTHING, Scope
from tests.jobs.conftest import NOW

if TYPE_CHECKING:
    from collections.abc import Iterator

# the largest, one whose log has lost rows, and all of them
ORGS = ("org_tidewater", "org_lumenfield", pytest.param(None, marks=pytest.mark.long))
MANY = 25  # retrievals: fewer would agree with much
DAYS, TOP = 30, 5
LAST = NOW.date()
KEY = ["org_id", "retrieval"]
PARTS = ("incomplete", "repeated", "unreadable", "unweighted", "comparable")


@pytest.fixture(scope="module")
def demo(filled: str) -> Iterator[Store]:
    store = Store(make_engine(filled.replace("postgres@", "dash_read@"), name="pandas"))
    yield store
    store.close()


def stored(filled: str, statement: str) -> pd.DataFrame:
    engine = make_engine(filled, name="pandas")
    with engine.connect() as connection:
        found = connection.exec_driver_sql(statement)
        frame = pd.DataFrame(found.all(), columns=list(found.keys()))
    engine.dispose()
    return frame


@pytest.fixture(scope="module")
def log(filled: str) -> pd.DataFrame:
    """The whole log beside its sessions, as it is stored."""
    frame = stored(
        filled,
        """select l.*, l.retrieval_id::text as retrieval, l.observation_id::text as observation, s.outcome
             from retrieval_ab_logs l left join sessions s on s.org_id = l.org_id and s.id = l.session_id""",
    )
    numbers = ["relevance_score", "feedback_weight", "weighted_score", "corroboration_boost"]
    frame[numbers] = frame[numbers].astype("float64")
    return frame


def selection(org: str | None) -> Selection:
    return Selection(Scope.of_days(EVERYTHING, LAST - timedelta(days=DAYS - 1), LAST, org), top=TOP)


def retrievals(log: pd.DataFrame, org: str | None) -> pd.DataFrame:
    """One row per retrieval of both windows, every measure formed from its own rows alone."""
    mine = log if org is None else log[log["org_id"] == org]
    end = pd.Timestamp(LAST, tz="UTC") + pd.Timedelta(days=1)
    mine = mine[(mine["created_at"] >= end - pd.Timedelta(days=2 * DAYS)) & (mine["created_at"] < end)]
    return pd.DataFrame([_one(rows) for _, rows in mine.groupby(KEY)])


def _one(rows: pd.DataFrame) -> dict[str, Any]:
    size, at = len(rows), rows["created_at"].min()
    told: dict[str, Any] = {
        "org_id": rows["org_id"].iloc[0], "retrieval": rows["retrieval"].iloc[0], "session": rows["session_id"].iloc[0],
        "outcome": rows["outcome"].iloc[0], "at": at, "day": at.floor("D"), "rows": size,
    }  # fmt: skip
    before, after = rows["unweighted_rank"], rows["weighted_rank"]
    ranks = list(range(size))
    scores = rows[["relevance_score", "feedback_weight", "weighted_score"]].to_numpy("float64")
    if sorted(before.dropna()) != ranks or sorted(after.dropna()) != ranks:
        return told | {"kind": "incomplete"}
    if rows["observation"].duplicated().any():
        return told | {"kind": "repeated"}
    if not np.isfinite(scores).all():
        return told | {"kind": "unreadable"}
    block = int(rows["injected"].sum()) if rows["injected"].notna().all() else None
    told |= {"injected": block, "block_rows": None if block is None else size}
    if not rows["weighting_enabled"].all():
        return told | {"kind": "unweighted"}
    by_before, by_after = (list(rows.sort_values(name)["observation"]) for name in ("unweighted_rank", "weighted_rank"))
    base = np.log(rows["relevance_score"] + rows["corroboration_boost"].fillna(0.0))
    weight = np.log(rows["feedback_weight"])
    spread = weight.var(ddof=0) + base.var(ddof=0)
    told |= {
        "kind": "comparable",
        "top_one": by_before[0] != by_after[0],
        "top_k": set(by_before[:TOP]) != set(by_after[:TOP]),
        "shift": (before - after).abs().sum(),
        "candidates": size,
        "overlap": _overlap(by_before, by_after),
        "tau": before.astype("float64").corr(after.astype("float64"), method="kendall") if size > 1 else None,
        "dominance": weight.var(ddof=0) / spread if spread > 1e-18 else None,
    }
    if block is None or set(by_after[:block]) != set(rows.loc[rows["injected"], "observation"]):
        return told
    flips = len(set(by_after[:block]) ^ set(by_before[:block]))
    return told | {"block_known": True, "block_changed": flips > 0, "flips": flips}


def _overlap(one: list[str], other: list[str]) -> float:
    shared = [len(set(one[:depth]) & set(other[:depth])) / depth for depth in range(1, len(one) + 1)]
    return sum(0.1 * 0.9**place * share for place, share in enumerate(shared)) + 0.9 ** len(one)


@pytest.fixture(scope="module")
def counted(log: pd.DataFrame) -> Any:  # noqa: ANN401 - a function
    return cache(lambda org: retrievals(log, org))


def nine(each: pd.DataFrame) -> dict[str, float | None]:
    """The page's nine measures of some retrievals; nothing where there is nothing to form one of."""
    can = each[each["kind"] == "comparable"]
    known = can[can["block_known"].notna()] if "block_known" in can else can.head(0)
    logged = each[each["injected"].notna()] if "injected" in each else each.head(0)

    def mean(values: pd.Series[Any], scale: int = 1) -> float | None:
        left = values.dropna().astype("float64")
        return scale * float(left.mean()) if len(left) else None

    return {
        "top_k": mean(can["top_k"], 100),
        "block": mean(known["block_changed"], 100),
        "move": float(can["shift"].sum() / can["candidates"].sum()) if len(can) else None,
        "overlap": mean(can["overlap"]),
        "rate": 100 * float(logged["injected"].sum() / logged["block_rows"].sum()) if len(logged) else None,
        "top_one": mean(can["top_one"], 100),
        "flips": mean(known["flips"], 100),
        "tau": mean(can["tau"]),
        "dominance": mean(can["dominance"]),
    }


@pytest.mark.parametrize("org", ORGS, ids=str)
def test_the_nine_measures_their_days_and_the_window_before(demo: Store, counted: Any, org: str | None) -> None:  # noqa: ANN401
    chosen, each = selection(org), counted(org)
    days, now, then = split(demo.ask(Measures(chosen)), chosen.scope.since)
    inside = each["day"] >= chosen.scope.since
    for sums, mine in ((now, each[inside]), (then, each[~inside])):
        assert sums["retrievals"] == len(mine)
        assert sums["log_rows"] == mine["rows"].sum()
        assert {name: sums[name] for name in PARTS} == {name: (mine["kind"] == name).sum() for name in PARTS}
        expected = nine(mine)
        for measure in measures(TOP):
            assert measure.of.value(sums) == pytest.approx(expected[measure.name], abs=1e-9), measure.name
    by_day = [nine(mine) for _, mine in each[inside].groupby("day")]
    for measure in measures(TOP):
        line = [value for found in by_day if (value := found[measure.name]) is not None]
        assert measure.of.by_day(days) == pytest.approx(line, abs=1e-9), measure.name
    assert min(now["comparable"], then["comparable"]) >= MANY
    assert (now["incomplete"] > 0) == (org != "org_tidewater")


@pytest.fixture(scope="module", params=ORGS, ids=str)
def both(request: pytest.FixtureRequest, demo: Store, log: pd.DataFrame, counted: Any) -> Any:  # noqa: ANN401
    """A selection, its comparable retrievals, and their rows."""
    chosen = selection(request.param)
    each = counted(request.param)
    each = each[(each["kind"] == "comparable") & (each["day"] >= chosen.scope.since)]
    return demo, chosen, each, log.merge(each[KEY], on=KEY)


def test_the_pictures_count_every_candidate(both: Any) -> None:  # noqa: ANN401
    demo, chosen, _, rows = both
    found = demo.ask(Moves(chosen))
    assert found["candidates"].sum() == len(rows)
    before, after = rows["unweighted_rank"] + 1, rows["weighted_rank"] + 1
    cells = rows.groupby([before, after]).size().to_dict()
    targets = next(trace for trace in rank_map(found).data if trace.type == "scatter")
    assert {(b + 1, a + 1): count for b, a, count, _ in targets.customdata} == cells
    moved = (before - after)[before != after]
    bars = delta_histogram(found).data[0]
    assert dict(zip(bars.x, bars.y, strict=True)) == moved.value_counts().to_dict()
    weights = weight_histogram(found)
    bins = np.minimum((rows["feedback_weight"] * 20).astype(int), 20)
    stacked = np.sum([list(trace.y) for trace in weights.data], axis=0)
    assert list(stacked) == [int((bins == number).sum()) for number in range(21)]
    full = 100 * (rows["feedback_weight"] == 1).mean()
    assert weights.layout.title.text.startswith(f"{full:.3g} % of candidates still have weight 1")


def test_the_list_and_the_movers_lead_with_the_most_changed(both: Any) -> None:  # noqa: ANN401
    demo, chosen, each, rows = both
    listed = demo.ask(ListedRetrievals(chosen))
    order = each.assign(flips=each["flips"].astype("float64")).sort_values(
        ["flips", "shift", "at", "retrieval"], ascending=[False, False, False, True], na_position="last"
    )
    assert list(listed["retrieval"]) == list(order["retrieval"].head(100))
    assert set(listed["total"]) == {len(each)}
    rows = rows.assign(delta=rows["unweighted_rank"] - rows["weighted_rank"])
    sums = rows.groupby(["org_id", "observation"])["delta"].agg(["sum", "size"]).reset_index()
    ties = ["org_id", "observation"]
    up = sums.sort_values(["sum", *ties], ascending=[False, True, True]).head(8)
    down = sums.sort_values(["sum", *ties]).head(8)
    expected = pd.concat([up[up["sum"] > 0], down[down["sum"] < 0]]).set_index("observation")
    movers = demo.ask(Movers(chosen)).set_index("observation_id")
    assert movers["places"].to_dict() == expected["sum"].to_dict()
    assert movers["retrievals"].to_dict() == expected["size"].to_dict()


def test_movers_have_the_weight_of_today_and_the_last_forty_before(both: Any, filled: str) -> None:  # noqa: ANN401
    demo, chosen, _, rows = both
    weight = stored(filled, "select id::text as id, weight from observations").set_index("id")["weight"]
    steps = stored(
        filled,
        "select id, observation_id::text as observation, new_weight, recorded_at from observation_weight_history",
    ).sort_values(["recorded_at", "id"])
    moved = (rows["unweighted_rank"] - rows["weighted_rank"]).groupby(rows["observation"])
    movers = demo.ask(Movers(chosen)).set_index("observation_id")
    assert len(movers) > 2
    for id_, mover in movers.iterrows():
        assert mover["weight"] == weight[str(id_)]
        history = steps.loc[steps["observation"] == id_, "new_weight"].astype("float64")
        assert list(mover["weights"]) == list(history.tail(40))
        places = moved.get_group(id_)
        assert (mover["up"], mover["down"]) == ((places > 0).sum(), (places < 0).sum())
    # what was moved has a history, and the last of it is what it weighs
    assert all(mover["weights"][-1] == pytest.approx(mover["weight"]) for _, mover in movers.iterrows())


@pytest.mark.parametrize("floor", [FLOOR, 10])
def test_the_intervals_are_those_of_sessions_drawn_again(
    demo: Store,
    counted: Any,  # noqa: ANN401 - a function
    floor: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every session a row, drawn again with its outcome: the slow way, by a generator of its own."""
    monkeypatch.setattr(impact, "FLOOR", floor)
    chosen = Selection(Scope.of_days(EVERYTHING, LAST - timedelta(days=2 * DAYS - 1), LAST))
    asked = demo.ask(SessionOutcomes(chosen))
    found = impact.compare_outcomes(
        {(bool(c), None if pd.isna(o) else str(o)): int(n) for c, o, n in asked.itertuples(index=False)}
    )
    each = counted(None)
    known = each[(each["kind"] == "comparable") & each["block_known"].notna()]
    sessions = known.groupby(["org_id", "session"]).agg({"block_changed": "any", "outcome": "first"})
    ended = sessions[sessions["outcome"].notna()]
    random, shares = np.random.default_rng(9), {}
    for mix in (found.changed, found.kept):
        side = ended.loc[ended["block_changed"] == mix.changed, "outcome"].reset_index(drop=True)
        assert mix.open_sessions == (sessions["outcome"].isna() & (sessions["block_changed"] == mix.changed)).sum()
        assert mix.judged == len(side)
        if len(side) < floor:
            assert mix.shares is None
            continue
        drawn = [side.sample(len(side), replace=True, random_state=random).value_counts() for _ in range(2_000)]
        shares[mix.changed] = pd.DataFrame(drawn).reindex(columns=list(impact.OUTCOMES)).fillna(0) / len(side)
        assert mix.shares is not None
        for name, told in zip(impact.OUTCOMES, mix.shares, strict=True):
            assert told.value == pytest.approx((side == name).mean())
            # a share moves in steps of one session; so may the ends of its interval
            ends = shares[mix.changed][name].quantile([0.025, 0.975])
            assert [told.low, told.high] == pytest.approx(list(ends), abs=1.01 / len(side))
    assert (found.accepted is None) is (floor == FLOOR)  # a small demo has about twenty sessions on one side
    if found.accepted is None:
        return
    apart = shares[True]["accepted"] - shares[False]["accepted"]
    assert found.accepted.value == pytest.approx(
        (ended.loc[ended["block_changed"], "outcome"] == "accepted").mean()
        - (ended.loc[~ended["block_changed"].astype(bool), "outcome"] == "accepted").mean()
    )
    assert [found.accepted.low, found.accepted.high] == pytest.approx(list(apart.quantile([0.025, 0.975])), abs=0.02)


def test_outcomes_count_each_session_once(both: Any) -> None:  # noqa: ANN401
    demo, chosen, each, _ = both
    known = each[each["block_known"].notna()]
    sessions = known.groupby(["org_id", "session"]).agg({"block_changed": "any", "outcome": "first"})
    expected = sessions.assign(outcome=sessions["outcome"].fillna("")).value_counts().to_dict()
    found = demo.ask(SessionOutcomes(chosen))
    assert {(bool(c), "" if pd.isna(o) else o): n for c, o, n in found.itertuples(index=False)} == expected
