"""Drift Alerts as it stands on the page, against planted contradictions."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from analysis.drift.alerts import AlertFilter
from analysis.drift.weighing import find_alerts
from tests.drift_store import LOGS, PORTS, RETRIES, add_pair, window
from tests.hostile import TEXTS
from tests.pages.drift_page import figures, press, table, worst

if TYPE_CHECKING:
    import psycopg

    from queries.engine import Store
    from tests.pages.drift_page import Show

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_writing", "_contradictions")


def test_figures_and_worklist(drift_page: Show, store: Store) -> None:
    test = drift_page(org="org_a")
    assert figures(test) == {
        "Listed": ("3", "of 3"),
        "New": ("3", ""),
        "Reached agents": ("1", "of 3 open"),
        "Both in a session": ("1", "of 3 open"),
        "Confirmed": ("—", "0 judged, needs 10"),
    }
    rows = table(test)
    assert rows["older"][0] == RETRIES[0]
    assert (rows["both"][0], rows["injected"][0], rows["kind"][0], rows["state"][0]) == (
        "8", "8 / 8", "opposition", "● new",
    )  # fmt: skip
    assert list(rows["harm"]) == sorted(rows["harm"], reverse=True)
    one = worst(store)
    assert rows["harm"][0] == one.harm
    assert dict(one.parts) == {name: rows[name][0] for name in ("recency", "domain", "frequency", "gap")}
    strip = next(line.value for line in test.markdown if "compared" in line.value)
    assert "6 active observations compared" in strip


def test_a_long_statement_is_shown_from_the_words_that_matter(drift_page: Show, owner: Owner) -> None:
    """The evidence begins 80 characters in; of the 20 before it the first are half a word, which is left out."""
    ahead = "Decided in the spring review of all services: the relay gateway listens on port "
    texts = (f"{ahead}8080. {'Older words. ' * 30}", f"{ahead}9090.")
    assert (len(ahead), ahead[-20:]) == (80, "way listens on port ")
    add_pair(owner, "org_b", "late", texts)
    (row,) = table(drift_page(org="org_b")).to_dict("records")
    # 300 characters from the 61st on, without the four of "way "
    assert row["older"] == f"…{' '.join(texts[0][64:360].split())}…"
    assert row["newer"] == "…listens on port 9090."


def test_threshold_severity_kind_agent_and_state_narrow(drift_page: Show) -> None:
    test = drift_page(org="org_a", t="0.9")
    assert LOGS[0] not in list(table(test)["older"])
    assert figures(test)["Listed"] == ("2", "of 2")
    assert test.slider(key="pick_t").value == 0.9
    test.query_params["t"] = "0.5"
    test.query_params["kind"] = "value"
    assert list(table(test.run())["kind"]) == ["value", "value"]
    test.query_params["sev"] = "50"
    assert list(table(test.run())["older"]) == [PORTS[0]]
    test.query_params["agent"] = "nobody"
    assert "No alert passes these filters" in test.run().info[0].value
    for name in ("agent", "sev", "kind"):
        del test.query_params[name]
    test.query_params["state"] = "resolved,false_positive"
    assert "No alert passes these filters" in test.run().info[0].value
    test.slider(key="pick_t").set_value(0.9).run()
    assert test.query_params["t"] == "0.9"
    for beyond in ("101", "999"):
        test.query_params["sev"] = beyond
        assert not test.run().exception
        assert test.slider(key="pick_sev").value == 0


def test_an_opened_alert_leads_to_its_observation(drift_page: Show, store: Store) -> None:
    one = worst(store)
    test = drift_page(org="org_a", alert=one.fingerprint)
    press(test, "Observation")
    assert not test.exception
    assert [title.value for title in test.title] == ["Observation"]
    assert test.query_params["observation"] == one.older.id


def test_without_tables_of_our_own_alerts_are_read_only(drift_page: Show, owner: Owner, store: Store) -> None:
    one = worst(store)
    owner.execute("drop schema rankscope cascade")
    assert worst(store) == one
    test = drift_page(org="org_a", alert=one.fingerprint)
    assert figures(test)["New"] == ("3", "")
    assert any("Alerts can be seen and not triaged here: this store has no tables" in info.value for info in test.info)
    assert "Acknowledge" not in [button.label for button in test.button]


def test_a_store_of_an_older_revision_is_shown_and_named(drift_page: Show, owner: Owner, store: Store) -> None:
    """What the fifth revision added is gone: states are read all the same, nothing can be decided or changed."""
    one = worst(store)
    owner.execute(
        """insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by)
           values ('org_a', %s, 'acknowledged', 'me')""",
        (one.fingerprint,),
    )
    owner.execute("drop table rankscope.opposition_changes cascade")
    owner.execute("alter table rankscope.drift_triage_events drop column owner, drop column snoozed_until cascade")
    columns = ("older", "newer", "kind", "found_up_to")
    for name in columns:
        owner.execute(f"alter table rankscope.drift_triage drop column {name} cascade")
    test = drift_page(org="org_a", alert=one.fingerprint)
    assert figures(test)["New"] == ("2", "")
    assert list(table(test)["state"]) == ["◐ acknowledged", "● new", "● new"]
    strip = next(line.value for line in test.markdown if "compared" in line.value)
    for name in (*(f"drift_triage.{name}" for name in columns), "drift_triage_events.owner", "opposition_changes"):
        assert name in strip
    assert "alerts cannot be decided about; opposition pairs cannot be changed" in strip
    assert any("not triaged here: this store is of an older revision" in info.value for info in test.info)
    assert "Acknowledge" not in [button.label for button in test.button]
    test.session_state["pairs_open"] = True
    test.run()
    assert not test.exception
    assert "Save pairs" not in [button.label for button in test.button]
    assert any(list(frame.value.columns) == ["one", "other"] for frame in test.dataframe)


def test_verdicts_make_the_precision_curve(drift_page: Show, owner: Owner) -> None:
    owner.execute(
        """insert into rankscope.drift_triage (org_id, fingerprint, state, verdict, changed_by, found_up_to)
           select 'org_a', 'p' || n, case when n % 4 = 0 then 'false_positive' else 'resolved' end,
                  case when n % 4 = 0 then null else 'newer' end, 'me', case when n <= 8 then 0.6 else 1 end
             from generate_series(1, 20) n"""
    )
    test = drift_page(org="org_a")
    assert figures(test)["Confirmed"] == ("75 %", "of 20 judged")
    curve = next(
        json.loads(chart.proto.spec) for chart in test.get("plotly_chart") if "confirmed" in chart.proto.spec[-3000:]
    )
    assert "75% confirmed (53%–89%, n = 20)" in json.dumps(curve, ensure_ascii=False)


def test_too_few_verdicts_are_counted_and_not_drawn(drift_page: Show, owner: Owner) -> None:
    """Nine at a threshold of 0.5; a tenth makes a curve."""

    def judge(first: int, last: int) -> None:
        owner.execute(
            """insert into rankscope.drift_triage (org_id, fingerprint, state, changed_by, found_up_to)
               select 'org_a', 'p' || n, 'false_positive', 'me', 1 from generate_series(%s::int, %s::int) n""",
            (first, last),
        )

    judge(1, 9)
    told = "How often alerts are confirmed is drawn from 10 verdicts on: 9 so far."
    test = drift_page(org="org_a")
    assert told in [caption.value for caption in test.caption]
    assert len(test.get("plotly_chart")) == 1
    judge(10, 10)
    test = drift_page(org="org_a")
    assert told not in [caption.value for caption in test.caption]
    assert len(test.get("plotly_chart")) == 2


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"org": "org_b"}, "No two statements of this scope contradict each other"),
        ({}, "inside one organization. Choose one here or in the sidebar."),
    ],
    ids=["nothing", "no organization"],
)
def test_nothing_to_show_is_said(drift_page: Show, said: dict[str, str], expected: str) -> None:
    assert expected in drift_page(**said).info[0].value


def test_unknown_and_foreign_alerts_look_the_same(drift_page: Show, store: Store) -> None:
    test = drift_page(org="org_b", alert=worst(store).fingerprint)
    foreign = [line.value for line in test.warning]
    test.query_params["alert"] = "f" * 32
    assert [line.value for line in test.run().warning] == foreign
    assert "No such alert" in foreign[0]


def test_hostile_texts(drift_page: Show, owner: Owner) -> None:
    for number, hostile in enumerate(TEXTS[:20]):
        subject = f"The z{number}q collector listens on port"
        add_pair(owner, "org_b", f"h{number}", (f"{subject} 8080. {hostile}", f"{subject} 9090. {hostile}"))
    test = drift_page(org="org_b")
    assert len(table(test)) > 15
    markdown = " ".join([*(line.value for line in test.markdown), *(line.value for line in test.caption)])
    assert not any(text in markdown for text in TEXTS[:20])
    shown = " ".join(table(test)["older"])
    assert sum(" ".join(text.split()) in shown for text in TEXTS[:20]) > 10


def test_files_say_of_which_days_their_exposure_is(drift_page: Show) -> None:
    told = (
        "Harm, the order and what agents were given count {}, the window of the sidebar; the alerts themselves are all "
        "that are listed, of whatever day."
    )
    test = drift_page(org="org_a", window="custom", **{"from": "2026-03-04", "to": "2026-03-10"})
    assert told.format("4 Mar to 10 Mar 2026 (UTC)") in [caption.value for caption in test.caption]
    test = drift_page(org="org_a", window="custom", **{"from": "2025-12-31", "to": "2026-01-01"})
    assert told.format("31 Dec 2025 to 1 Jan 2026 (UTC)") in [caption.value for caption in test.caption]


def test_files_without_exposure_say_nothing_of_its_days(drift_page: Show, owner: Owner) -> None:
    owner.execute("alter table retrieval_ab_logs drop column injected")
    assert not [caption for caption in drift_page(org="org_a").caption if "window of the sidebar" in caption.value]


def test_what_the_threshold_changes_is_said_beside_it(drift_page: Show, owner: Owner) -> None:
    test = drift_page(org="org_a")
    assert "Threshold: 3 alerts at 0.3, 2 at 1.0, before the other filters." in [each.value for each in test.caption]
    add_pair(owner, "org_b", "ports", PORTS)
    test = drift_page(org="org_b")
    told = "The threshold changes nothing here: 1 alert from 0.3 to 1.0, before the other filters."
    assert told in [each.value for each in test.caption]


def test_a_link_to_no_alert_says_that_and_nothing_of_filters(drift_page: Show) -> None:
    test = drift_page(org="org_a", alert="0" * 32)
    assert [line.value for line in test.warning if line.value.startswith("No such alert at any threshold")]
    assert not [line for line in test.warning if "Lower" in line.value]
    assert not [caption for caption in test.caption if "filtered out of list and files" in caption.value]


def test_a_link_to_an_alert_of_another_threshold_says_of_which(drift_page: Show, store: Store) -> None:
    """Three alerts at 0.3 and two at 1.0: the third is found below."""
    low, high = (
        {one.fingerprint for one in find_alerts(store, window("org_a"), AlertFilter(at)).listed} for at in (0.3, 1.0)
    )
    (lost,) = low - high
    test = drift_page(org="org_a", alert=lost, t="1.0")
    (told,) = [line.value for line in test.warning]
    assert told.startswith("This alert is found at thresholds from 0.30 to ")
    assert told.endswith(" and not at this one. Move *Threshold*, under *Figures and filters*, there.")


def test_a_link_to_an_alert_of_no_organization_says_that_it_waits(drift_page: Show) -> None:
    told = (
        "The link names an alert and no organization: the alert is opened once its organization is chosen. "
        "No last aggregation that you may see found this alert."
    )
    assert told not in [line.value for line in drift_page().info]
    assert told in [line.value for line in drift_page(alert="zzz").info]


def test_harm_is_told_with_its_formula(drift_page: Show, store: Store) -> None:
    """Eight injections of the older: reach is log2(9 or more) / 10 of what was given."""
    one = worst(store)
    test = drift_page(org="org_a", alert=one.fingerprint)
    (line,) = [text for text in test.text if text.value.startswith("Harm ")]
    said = re.search(r"Here: ([\d.]+) · \(1 \+ ([\d.]+) \+ 2 · ([\d.]+)\) / 4 = ([\d.]+)\.$", line.help)
    assert said
    severity, reach, together, harm = map(float, said.groups())
    assert severity * (1 + reach + 2 * together) / 4 == pytest.approx(harm, rel=0.02)
    (fired,) = [text.value for text in test.text if "of the smaller claim's words agree" in text.value]
    assert re.search(r" \d+(\.\d)? % of the smaller", fired)


OF_2020 = {"window": "custom", "from": "2020-01-01", "to": "2020-01-07"}


def test_days_on_which_there_was_nothing_are_a_sentence(drift_page: Show) -> None:
    test = drift_page(org="org_a", **OF_2020)
    assert "No alert arose or was open from 1 Jan to 7 Jan 2020 (UTC)." in [each.value for each in test.caption]
    assert not test.get("plotly_chart")


def test_days_on_which_nothing_arose_show_what_was_open(drift_page: Show, owner: Owner) -> None:
    owner.execute("update observations set created_at = '2019-12-01' where org_id = 'org_a'")
    (chart,) = drift_page(org="org_a", **OF_2020).get("plotly_chart")
    assert "3 open, 3 of them for over 30 days; none arose" in chart.proto.spec
