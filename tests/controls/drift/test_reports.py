"""Reports from the page: the filtered set, on record, under a name nobody can guess, up to what a page may hand out."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import zipfile
from datetime import datetime, timedelta, timezone
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import psycopg
import pypdfium2
import pytest

from analysis.drift.alerts import OPEN, AlertFilter
from analysis.drift.tasks import from_text, search_in_worker, whole_in_worker
from analysis.drift.weighing import find_alerts, read_alerts
from controls.access import NotAllowedError, Principal
from controls.downloads import download
from controls.drift import reports
from controls.drift.reports import DriftReport, ReportTooLargeError, command, stem
from controls.loading import store
from jobs.__main__ import parser, run
from queries.scope import EVERYTHING, Scope
from ranking.contradictions import Kind
from reports.about import permalink
from reports.formats import FORMATS
from settings import VERSION
from tests.hostile import TEXTS
from tests.jobs.command import ROOT
from tests.pages.application import application
from tests.reports.planted import TODAY, plant

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analysis.drift.search import Searched
    from tests.conftest import Cluster

ANN = Principal("ann", "viewer", frozenset({"org_a"}), "local")
VERA = Principal("vera", "viewer", frozenset({"org_a"}), "proxy")
PAGE = ROOT / "tests" / "controls" / "drift" / "reports_page.py"
SUBJECTS = ("one", "two", "three")
TODAY_BEGAN = TODAY.replace(hour=0, minute=0, second=0, microsecond=0)


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner, "org_a", SUBJECTS)
        plant(owner, "org_b", ["CANARY-B"], first=1_000)
        plant(owner, "org_c", ["long"], first=2_000)
        owner.execute("update observations set content = content || repeat(' y', 50000) where org_id = 'org_c'")
    yield name
    cluster.drop(name)


@pytest.fixture
def scope(cluster: Cluster, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scope]:
    """A scope in the store that this process has open."""
    monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", database))
    with application(cluster.plain_url("dash_read", database)):
        last = TODAY.date()
        yield Scope.of_days(ANN.reach, last - timedelta(days=29), last, "org_a").named("Acme")
        store().close()


def recorded(cluster: Cluster, database: str) -> dict[str, Any]:
    columns = "org_id, kind, format, rows, file_name, actor, filter"
    row = cluster.run(f"select {columns} from rankscope.exports order by id desc limit 1", database)[0]  # noqa: S608
    return dict(zip(columns.split(", "), row, strict=True))


def searched(scope: Scope, threshold: float | None = None) -> Searched:
    """What the worker hands to a page, of every threshold or of one."""
    memory, params = SimpleNamespace(store=store()), {"threshold": threshold}
    task = search_in_worker if threshold is None else whole_in_worker
    return from_text(json.dumps(task(memory, scope, params, lambda *_: None)))  # type: ignore[arg-type]


@pytest.mark.parametrize("form", FORMATS)
def test_a_click_gives_the_filtered_set_and_leaves_a_record(
    cluster: Cluster, database: str, scope: Scope, form: Any  # noqa: ANN401 - a format
) -> None:  # fmt: skip
    content = DriftReport(ANN, scope, AlertFilter(0.5), searched(scope)).content(form, "name")
    row = recorded(cluster, database)
    told = row.pop("filter")
    assert row == {
        "org_id": "org_a", "kind": "drift-report", "format": form, "rows": 3, "file_name": "name", "actor": "ann",
    }  # fmt: skip
    assert told["sha256"] == hashlib.sha256(content).hexdigest()
    assert (told["threshold"], told["organization"]) == (0.5, "org_a")
    assert b"CANARY" not in content
    if form == "json":
        alerts = list(read_alerts(store(), scope, find_alerts(store(), scope, AlertFilter(0.5))))
        assert [one["fingerprint"] for one in json.loads(content)["alerts"]] == [one.fingerprint for one in alerts]


def test_a_click_never_searches_in_this_process(scope: Scope, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the page's search every format comes at once, from none by the worker's; both are what a command writes."""
    page, whole = searched(scope), searched(scope, threshold=0.5)
    assert ({one.least for one in page.found}, {one.least for one in whole.found}) == ({0.3}, {0.5})
    expected = find_alerts(store(), scope, AlertFilter(0.5)).data_version

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a search in the server's own process")

    monkeypatch.setattr("analysis.drift.weighing.search", refused)
    monkeypatch.setattr("analysis.drift.search.detect_contradictions", refused)
    for form in ("csv", "json", "bundle"):
        made = {DriftReport(ANN, scope, AlertFilter(0.5), one).content(form, "name") for one in (page, whole, None)}
        assert len(made) == 1, form
    told = json.loads(DriftReport(ANN, scope, AlertFilter(0.5), page).content("json", "name"))
    assert told["about"]["data_version"] == expected


def test_the_command_that_the_page_shows_writes_the_same_bytes(
    scope: Scope, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = AlertFilter(0.5, states=frozenset(OPEN))
    monkeypatch.chdir(tmp_path)
    assert run(shlex.split(command(scope, wanted))[3:]) == 0
    (written,) = tmp_path.iterdir()
    assert written.name == "drift-report.zip"
    taken = DriftReport(ANN, scope.named("org_a <b>"), wanted, searched(scope)).content("bundle", "name")
    assert written.read_bytes() == taken
    with zipfile.ZipFile(written) as bundle:
        assert json.loads(bundle.read("manifest.json"))["versions"]["rankscope"] == VERSION


def test_a_pdf_names_who_took_it_as_the_record_does_and_no_other_form_does(scope: Scope) -> None:
    report = DriftReport(ANN, scope, AlertFilter(0.5), searched(scope))
    first = pypdfium2.PdfDocument(report.content("pdf", "name"))[0].get_textpage().get_text_range()
    assert re.search(r"Taken\s+\d{4}-\d\d-\d\d \d\d:\d\d UTC by ann\b", first)
    for form in ("csv", "json", "jsonld", "md", "html"):
        assert b"UTC by ann" not in report.content(form, "name")


def test_a_text_that_changed_since_the_page_was_drawn_is_searched_anew(
    cluster: Cluster, database: str, scope: Scope
) -> None:
    before = searched(scope)
    cluster.run("update observations set content = content || ' Since June.' where org_id = 'org_a'", database)
    told = json.loads(DriftReport(ANN, scope, AlertFilter(0.5), before).content("json", "name"))
    assert len(told["alerts"]) == len(SUBJECTS)
    assert all(one["older"]["content"].endswith(" Since June.") for one in told["alerts"])


def test_above_the_caps_nothing_is_handed_out_or_recorded(
    cluster: Cluster, database: str, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LOAD-9: the caps themselves are 100 000 alerts and 50 MB; 5 000 alerts are set in type by a click."""
    assert (reports.MOST_ROWS, reports.MOST_BYTES, reports.MOST_SET) == (100_000, 50_000_000, 5_000)
    before = cluster.run("select count(*) from rankscope.exports", database)
    monkeypatch.setattr(reports, "MOST_ROWS", 2)
    report = DriftReport(ANN, scope, AlertFilter(0.5), searched(scope))
    with pytest.raises(ReportTooLargeError, match="at most 2 alerts, found 3"):
        report.content("csv", "name")
    monkeypatch.setattr(reports, "MOST_ROWS", 3)
    monkeypatch.setattr(reports, "MOST_SET", 2)
    with pytest.raises(ReportTooLargeError, match="at most 2 alerts, found 3"):
        report.content("pdf", "name")
    monkeypatch.setattr(reports, "MOST_SET", 3)
    monkeypatch.setattr(reports, "MOST_BYTES", 1_000)
    for form in ("csv", "pdf", "bundle"):
        with pytest.raises(ReportTooLargeError, match="at most 1,000 bytes"):
            report.content(form, "name")
    assert cluster.run("select count(*) from rankscope.exports", database) == before


def test_texts_that_are_too_long_are_refused_before_they_are_written(
    cluster: Cluster, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """LOAD-9: a bundle of 200 000 equal characters is small; the work to make it is not."""
    monkeypatch.setattr(reports, "MOST_BYTES", 150_000)
    who = Principal("ann", "viewer", frozenset({"org_c"}), "local")
    with application(cluster.plain_url("dash_read", database)):
        scope = Scope.of_days(who.reach, TODAY.date(), TODAY.date(), "org_c")
        report = DriftReport(who, scope, AlertFilter(0.5), searched(scope))
        for form in ("bundle", "md", "csv"):
            with pytest.raises(ReportTooLargeError, match="at most 150,000 bytes"):
                report.content(form, "name")
        assert b"<article" in report.content("html", "name")
        monkeypatch.setattr(reports, "MOST_BYTES", 250_000)
        assert len(report.content("bundle", "name")) < 150_000
        store().close()


def test_a_role_that_changed_since_the_page_was_drawn_gets_nothing(
    cluster: Cluster, database: str, scope: Scope
) -> None:
    """Granted as shown: a file; for another organization, in another role, or not at all: none, and no record."""
    granted = "insert into rankscope.principals (name, role, orgs) values ('vera', 'viewer', '{org_a}')"
    cluster.run(granted, database)
    report = DriftReport(VERA, scope, AlertFilter(0.5), searched(scope))
    assert report.content("csv", "name")
    before = cluster.run("select count(*) from rankscope.exports", database)
    for change in ("update rankscope.principals set orgs = '{org_b}'", "update rankscope.principals set orgs = null",
                   "delete from rankscope.principals"):  # fmt: skip
        cluster.run(f"{change} where name = 'vera'", database)
        for form in ("csv", "bundle"):
            with pytest.raises(NotAllowedError, match="has changed"):
                report.content(form, "name")
    assert cluster.run("select count(*) from rankscope.exports", database) == before


@pytest.mark.parametrize("org", [*TEXTS, "org_a", "", "\0", "../../etc"])
def test_a_file_name_is_plain_and_cannot_be_guessed(org: str) -> None:
    """HOS-4 and ISO-8."""
    late = datetime(2026, 3, 1, 23, 30, tzinfo=timezone(timedelta(hours=-2)))  # in UTC it is the next day
    names = {download(stem(org, late), "csv").name for _ in range(3)}
    assert len(names) == 3
    for name in names:
        assert re.fullmatch(r"drift-report-[A-Za-z0-9-]{1,40}-2026-03-02-[0-9a-f]{32}\.csv", name)


@pytest.mark.parametrize("org", ["org_a", "--out", 'a\'b "c" $(d) `e` ;f', "\u202eg"])
def test_the_command_asks_for_the_same(org: str) -> None:
    first, last = TODAY.date() - timedelta(days=6), TODAY.date()
    scope = Scope.of_days(EVERYTHING, first, last, org, "p 1")
    wanted = AlertFilter(
        0.6, 25.0, frozenset({Kind.VALUE, Kind.NEGATION}), frozenset({"-x", "y"}), frozenset({"new", "false positive"})
    )
    words = shlex.split(command(scope, wanted))
    assert words[:3] == ["python", "-m", "jobs"]
    args = parser().parse_args(words[3:])
    assert (args.org, args.project, args.threshold, args.least_severity) == (org, "p 1", 0.6, 25.0)
    assert (args.first, args.last, args.since) == (first, last, None)
    assert (set(args.kind), set(args.agent), set(args.state)) == (
        {"value", "negation"}, {"-x", "y"}, {"new", "false positive"},
    )  # fmt: skip


def test_the_permalink_is_the_pages_own_address() -> None:
    scope = Scope.of_days(EVERYTHING, TODAY.date(), TODAY.date(), "org a", None)
    day = f"{TODAY:%Y-%m-%d}"
    always = f"/drift_alerts?org=org+a&window=custom&from={day}&to={day}"
    every = "new,acknowledged,investigating,resolved,false_positive,snoozed"
    assert permalink(scope, AlertFilter(0.5)) == f"{always}&t=0.5&state={every}"
    chosen = AlertFilter(0.35, 25.0, frozenset({Kind.VALUE}), frozenset({"a b"}), frozenset(OPEN))
    assert permalink(scope, chosen) == f"{always}&t=0.35&sev=25&kind=value&agent=a+b"
    several = AlertFilter(0.5, agents=frozenset({"b,c", "a&d=e"}), states=frozenset(OPEN), since=TODAY_BEGAN)
    assert permalink(scope, several) == f"{always}&t=0.5&agent=a%26d%3De&agent=b,c&since={day}"


@pytest.mark.parametrize(
    "chosen",
    [AlertFilter(0.52), AlertFilter(0.1), AlertFilter(0.5, 25.5),
     AlertFilter(0.5, since=TODAY_BEGAN + timedelta(hours=12))],
    ids=["between steps", "below the slider", "severity", "within a day"],
)  # fmt: skip
def test_what_the_page_cannot_show_has_no_permalink(chosen: AlertFilter) -> None:
    assert permalink(Scope.of_days(EVERYTHING, TODAY.date(), TODAY.date(), "org_a"), chosen) == ""


@pytest.mark.parametrize(("rows", "buttons"), [(100_000, 7), (100_001, 0)])
def test_too_many_for_a_page_are_left_to_the_command_beside_it(
    cluster: Cluster, database: str, rows: int, buttons: int
) -> None:
    with application(cluster.plain_url("dash_read", database), PAGE, rows=str(rows)) as page:
        page.run()
        assert not page.exception
        assert len(page.get("download_button")) == buttons
        assert [info.value.split(" are more")[0] for info in page.info] == ([] if buttons else ["100,001 alerts"])
        assert page.code[0].value.startswith("python -m jobs drift-report '--org=org '\"'\"'<b>' --from=2026-03-01")


@pytest.mark.parametrize(("rows", "disabled"), [(5_000, []), (5_001, ["PDF"])])
def test_more_than_a_click_can_set_in_type_is_left_to_the_command(
    cluster: Cluster, database: str, rows: int, disabled: list[str]
) -> None:
    with application(cluster.plain_url("dash_read", database), PAGE, rows=str(rows)) as page:
        page.run()
        assert not page.exception
        assert [button.proto.label for button in page.get("download_button") if button.proto.disabled] == disabled


@pytest.mark.parametrize("writable", [True, False])
def test_the_page_says_whether_a_file_is_on_record(
    cluster: Cluster, database: str, monkeypatch: pytest.MonkeyPatch, *, writable: bool
) -> None:
    if writable:
        monkeypatch.setenv("RANKSCOPE_WRITE_URL", cluster.plain_url("dash_write", database))
    with application(cluster.plain_url("dash_read", database), PAGE, rows="3") as page:
        page.run()
        said = " ".join(line.value for line in page.caption)
    assert ("Every file taken is recorded with your name." in said) == writable
    assert ("This download is not on record: no write login is configured." in said) != writable
