"""A flag's preview and go or no-go on Corroboration: two pictures of the same days, which must say the same."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl
from uuid import uuid5

import pytest

from tests import sample
from tests.analysis.replay.planted_log import plant, text
from tests.pages.application import application, until
from tests.queries.flags.flag_store import BOOST

if TYPE_CHECKING:
    import psycopg

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

# Six candidates: the last says what the first says. A boost lifts it by 0.1, into the first five where it lies near.
NEAR, FAR = (0.9, 0.8, 0.7, 0.6, 0.55, 0.5), (0.9, 0.8, 0.7, 0.6, 0.55, 0.3)
LOGGED = (  # days before today's midnight, and what was found
    (0.0, NEAR),
    (6.0, FAR),  # the first moment of seven days
    (6.001, NEAR),
    (29.0, NEAR),  # the first moment of thirty
    (29.001, FAR),
)
EXPECTED = {"7d": ("2 of 2", "50 %"), "30d": ("4 of 4", "75 %")}


@pytest.fixture
def address(cluster: Cluster, store_database: str, owner: Owner) -> str:
    """Acme, without the boost, and a retrieval on either side of where each window begins."""
    sample.add_organization(owner, "org_a", "Acme")
    ids = [uuid5(sample.NAMESPACE, f"org_a/{number}") for number in range(6)]
    for number, id_ in enumerate(ids):
        said = "the deploys wait for a canary to be green" if number in (0, 5) else text(number) * number
        owner.execute(
            """insert into observations (org_id, id, project_id, agent_id, content, content_hash, created_at)
               values ('org_a', %s, 'api', %s, %s, 'x', now() - interval '200 days')""",
            (id_, f"agent-{number}", said),
        )
    for number, (days, relevance) in enumerate(LOGGED):
        ranks = list(range(6))
        columns = {"before": ranks, "after": ranks, "injected": [rank < 1 for rank in ranks], "boost": [None] * 6}
        retrieval = plant(
            owner, "org_a", f"r{number}", observation=ids, relevance=relevance, weight=[1.0] * 6, weighting=False,
            **columns,
        )  # fmt: skip
        for table in ("retrieval_ab_logs", "context_injection_logs"):
            owner.execute(
                f"update {table} set created_at = %s where retrieval_id = %s",  # noqa: S608 - two names of ours
                (sample.TODAY - timedelta(days=days), retrieval),
            )
    owner.execute("update context_injection_logs set candidates = 6, token_budget = 15, tokens_used = 11")
    return cluster.plain_url("dash_read", store_database)


@pytest.mark.parametrize(("days", "sidebar"), [("7d", "30d"), ("30d", "7d"), ("30d", "90d")])
def test_both_count_the_same_retrievals_of_the_same_days(  # noqa: PLR0917 - fixtures
    address: str, days: str, sidebar: str, cluster: Cluster, store_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The link takes the preview's days along, whatever the sidebar says."""
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", store_database))
    with application(address, org="org_a", window=sidebar, flag=BOOST, state="on", days=days) as test:
        test.switch_page("feature_flags.py").run()
        assert not test.exception
        preview = next(frame.value for frame in test.dataframe if "replayed" in frame.value.columns).iloc[0]
        (link,) = (link.proto for link in test.get("page_link") if "Go or no-go" in link.proto.label)
    with application(address, **dict(parse_qsl(link.query_string))) as test:
        test.switch_page("corroboration.py").run()
        until(lambda: not test.run().get("progress") and any("gate" in f.value.columns for f in test.dataframe), 60)
        assert not test.exception
        (told,) = (line.value for line in test.caption if "replayed." in line.value)
    assert (preview["replayed"], preview["top"]) == EXPECTED[days]
    assert told.startswith(f"{preview['replayed']} logged retrievals replayed.")
    assert f"the top 5 of {preview['top']}," in told


@pytest.mark.parametrize(("since", "told_since"), [(0, "Nothing was retrieved since"), (1, "1 retrieval since, none")])
def test_a_boost_switched_on_against_a_no_go_stays_a_no_go(
    address: str, owner: Owner, since: int, told_since: str
) -> None:
    """One of two retrievals of seven days changes its first five; both were logged before the change."""
    row = owner.execute(
        """insert into rankscope.flag_changes
             (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
           values ('org_a', gen_random_uuid(), %s, 'absent', 'true', 'trial', 'olga', 'test', %s) returning id""",
        (BOOST, sample.TODAY + timedelta(seconds=1) - timedelta(days=since)),
    ).fetchone()
    assert row
    owner.execute("""update organizations set features = '{"corroboration_boost_enabled": true}'""")
    with application(address, org="org_a", window="7d", show="shadow") as test:
        test.switch_page("corroboration.py").run()
        until(lambda: not test.run().get("progress") and any("gate" in f.value.columns for f in test.dataframe), 60)
        assert not test.exception
        (verdict,) = (error.value for error in test.error)
        gates = next(f.value for f in test.dataframe if "gate" in f.value.columns).set_index("gate")
        (link,) = (link.proto for link in test.get("page_link") if "change" in dict(parse_qsl(link.proto.query_string)))
    judged = 2 - since
    assert verdict.startswith(f"No-go on the {judged} retrievals" if judged > 1 else "No-go on the 1 retrieval")
    assert f"Failed gates: retrievals replayed ({judged}, at least 50)" in verdict
    assert told_since in verdict
    assert gates.loc["Top 5 kept", "measured"] == ("50 %" if judged > 1 else "100 %")
    assert dict(parse_qsl(link.query_string))["change"] == str(row[0])


def test_a_first_retrieval_with_the_boost_does_not_hide_the_no_go(address: str, owner: Owner) -> None:
    """Of the three of seven days the newest was made with a boost that changed nothing: too few to tell."""
    at = sample.TODAY + timedelta(seconds=1)
    owner.execute(
        """insert into rankscope.flag_changes
             (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
           values ('org_a', gen_random_uuid(), %s, 'absent', 'true', 'trial', 'olga', 'test', %s)""",
        (BOOST, at),
    )
    owner.execute("""update organizations set features = '{"corroboration_boost_enabled": true}'""")
    ids, ranks = [uuid5(sample.NAMESPACE, f"org_a/{number}") for number in range(6)], list(range(6))
    columns = {"before": ranks, "after": ranks, "injected": [rank < 1 for rank in ranks], "boost": [0.1] + [0.0] * 5}
    retrieval = plant(
        owner, "org_a", "with", observation=ids, relevance=FAR, weight=[1.0] * 6, weighting=False, **columns
    )
    owner.execute("update context_injection_logs set candidates = 6, token_budget = 15, tokens_used = 11")
    for table in ("retrieval_ab_logs", "context_injection_logs"):
        owner.execute(
            f"update {table} set created_at = %s where retrieval_id = %s",  # noqa: S608 - two names of ours
            (at + timedelta(seconds=1), retrieval),
        )
    with application(address, org="org_a", window="7d", show="shadow") as test:
        test.switch_page("corroboration.py").run()
        until(lambda: not test.run().get("progress") and any("gate" in f.value.columns for f in test.dataframe), 60)
        assert not test.exception
        before = test.error[0].value
    assert before.startswith("No-go on the 2 retrievals before it was switched on")
    assert before.endswith("Since then 1 retrieval made with it can be judged:")


def switched_on(owner: Owner, days: float, old: str = "absent", new: str = "true") -> tuple[str, str]:
    """The boost, so many days before today's midnight: the change's id, and when it was as the page tells it."""
    at = sample.TODAY - timedelta(days=days)
    row = owner.execute(
        """insert into rankscope.flag_changes
             (org_id, request_id, flag, old_state, new_state, reason, actor, source, changed_at)
           values ('org_a', gen_random_uuid(), %s, %s, %s, 'trial', 'olga', 'test', %s) returning id""",
        (BOOST, old, new, at),
    ).fetchone()
    assert row
    owner.execute("""update organizations set features = '{"corroboration_boost_enabled": true}'""")
    return str(row[0]), f"{at:%-d %b %Y %H:%M} UTC"


def judged(address: str, **said: str) -> tuple[str, list[str], dict[str, str]]:
    """What the panel says, the changes it links to, and the address that its button for another window leads to."""
    with application(address, org="org_a", show="shadow", **said) as test:
        test.switch_page("corroboration.py").run()
        until(lambda: not test.run().get("progress") and bool(test.info or test.error), 60)
        assert not test.exception
        (told,) = (box.value for kind in (test.info, test.error, test.warning) for box in kind)
        links = [dict(parse_qsl(link.proto.query_string)) for link in test.get("page_link")]
        longer = {}
        for button in test.button:
            if button.key == "longer_window":
                button.click().run()
                longer = {"label": button.label, **test.query_params}
    return told, [link["change"] for link in links if "change" in link], longer


@pytest.mark.parametrize(
    ("window", "days", "longer"),
    [
        ("7d", 6.0005, "30"),  # the last before it 6.001 days ago
        ("7d", 20.0, "30"),  # the last before it on the first of thirty days
        ("7d", 29.0005, "90"),
        ("30d", 29.0005, "90"),
        ("30d", 40.0, None),  # nothing was ever retrieved before it
        ("90d", 95.0, None),
    ],
)
def test_a_boost_switched_on_before_the_window_says_when_and_leads_to_the_change(
    address: str, owner: Owner, window: str, days: float, longer: str | None
) -> None:
    change, at = switched_on(owner, days)
    told, changes, offered = judged(address, window=window)
    assert told.startswith(f"The boost was switched on {at}, before anything in this window was retrieved")
    assert changes == [change]
    if longer is None:
        assert offered == {}
        return
    assert offered.pop("label") == f"Judge the last {longer} days, with retrievals from before it"
    assert offered == {"org": "org_a", "show": "shadow", **({} if longer == "30" else {"window": f"{longer}d"})}
    later, _, _ = judged(address, window=f"{longer}d")
    assert "before it was switched on" in later


def test_where_nothing_was_retrieved_in_the_window_the_change_is_still_led_to(address: str, owner: Owner) -> None:
    owner.execute("delete from retrieval_ab_logs where created_at >= %s", (sample.TODAY - timedelta(days=6),))
    change, at = switched_on(owner, 1.0)
    told, changes, offered = judged(address, window="7d")
    assert told == f"No retrieval was logged in this window: the effect is unknown. The boost was switched on {at}."
    assert changes == [change]
    assert "the last 30 days" in offered["label"]


def test_a_window_that_ends_before_the_change_has_its_verdict(address: str, owner: Owner) -> None:
    """Two retrievals, at the beginning of the sixth day ago and just before it."""
    change, _ = switched_on(owner, 1.0)
    first, last = (f"{sample.TODAY - timedelta(days=days):%Y-%m-%d}" for days in (9, 3))
    told, changes, offered = judged(address, window="custom", **{"from": first, "to": last})
    assert told.startswith("No-go on the 2 retrievals before it was switched on")
    assert told.endswith("This window ends before that.")
    assert changes == [change]
    assert offered == {}


def foretold(address: str, **said: str) -> str:
    """What the panel says of the retrievals before the change, above what it says of those since."""
    with application(address, org="org_a", show="shadow", **said) as test:
        test.switch_page("corroboration.py").run()
        until(lambda: not test.run().get("progress") and any("gate" in f.value.columns for f in test.dataframe), 60)
        assert not test.exception
        return test.error[0].value


def boosted(owner: Owner, *days: float) -> None:
    """The retrievals so many days ago as if the boost had lifted their first."""
    owner.execute(
        """update retrieval_ab_logs set corroboration_boost = case weighted_rank when 0 then 0.1 else 0 end
           where created_at = any(%s)""",
        ([sample.TODAY - timedelta(days=each) for each in days],),
    )


@pytest.mark.parametrize(
    ("again", "window", "told_since"),
    [
        (1.0, (9, 3), "This window ends before that; 1 retrieval made when it was on before can be judged:"),
        (1.0, (9, 1), "None made with it since; 1 retrieval made when it was on before can be judged:"),
        (6.0005, (9, 3), "1 retrieval made with it since; 1 retrieval made when it was on before can be judged, too:"),
    ],
)
def test_what_was_made_when_it_was_on_before_is_not_said_to_be_made_since(
    address: str, owner: Owner, again: float, window: tuple[int, int], told_since: str
) -> None:
    """On, off and on again; the earlier of the two retrievals was made while it was on first."""
    switched_on(owner, 8.0)
    switched_on(owner, 7.5, "true", "absent")
    switched_on(owner, again)
    for table in ("retrieval_ab_logs", "context_injection_logs"):
        owner.execute(
            f"update {table} set created_at = %s where created_at = %s",  # noqa: S608 - two names of ours
            tuple(sample.TODAY - timedelta(days=days) for days in (7.9, 6.001)),
        )
    boosted(owner, *(7.9, 6.0)[: 2 if again > 6 else 1])
    first, last = (f"{sample.TODAY - timedelta(days=days):%Y-%m-%d}" for days in window)
    assert foretold(address, window="custom", **{"from": first, "to": last}).endswith(told_since)


def test_a_boost_that_was_off_for_minutes_was_switched_on_before_them(address: str, owner: Owner) -> None:
    """One retrieval made with it before it was taken back, one after; one of thirty days before all of that."""
    _, at = switched_on(owner, 8.0)
    switched_on(owner, 6.0009, "true", "absent")
    switched_on(owner, 6.0005)
    boosted(owner, 6.001, 6.0)
    told = foretold(address, window="30d")
    assert told.startswith(f"No-go on the 1 retrieval before it was switched on ({at})")
    assert told.endswith("Since then 2 retrievals made with it can be judged:")


def test_a_boost_set_outside_has_no_change_to_lead_to(address: str, owner: Owner) -> None:
    owner.execute("""update organizations set features = '{"corroboration_boost_enabled": true}'""")
    told, changes, offered = judged(address, window="7d")
    assert told.startswith("The boost is on, but no replayed retrieval was made with it")
    assert changes == []
    assert offered == {}
