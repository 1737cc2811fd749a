"""The states of pages that axe and the keyboard look at: an address, and what is pressed there."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import psycopg
from playwright.sync_api import expect

from controls.sections import SECTIONS
from tests import sample
from tests.browser.conftest import Visit
from tests.browser.pictures import FOLLOWED, INSPECTED, OPENED, PAGES, open_first_row
from tests.demo_server import demo_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page

    from tests.app_server import AppServer
    from tests.conftest import Cluster

# what its address alone does not show: the page, and the button that leads there
ASKED = {"flag-review": ("/feature_flags?target=org_tidewater&state=on", "Review 1 change")}
EMPTY = "org_empty"
PARTS = {f"health-{part}": f"/health?part={part}" for part in ("top", "budget", "coverage", "runs", "system")}
PANELS = {f"inspector-{panel}": f"/inspector?{INSPECTED}&show={panel}" for panel in ("block", "compare", "why", "pins")}
SCRIPTS = [entry.script.removesuffix(".py") for entries in SECTIONS.values() for entry in entries]
NOTHING = {f"{page}-empty": f"/{page}?org={EMPTY}" for page in SCRIPTS}
VIEWS = {"saved-views": "/?window=7d"}
CALENDAR = {"calendar": "/?window=custom&from=2026-01-20"}
SHOWN = {
    **PAGES, **PARTS, **PANELS, **NOTHING, **VIEWS, **CALENDAR, "search": "/?search=tidewater",
    **{name: path for name, (path, _) in ASKED.items()},
}  # fmt: skip
QUARTER = "org=org_tidewater&window=90d"
# what lies behind a page's parts; words in braces are ids of the demo
DEEPER = {
    "health-of-one": "/health?org=org_quillworks&window=30d",
    "health-coverage-by-agent": "/health?part=coverage&by=agent",
    "what-if-outcomes": "/what_if?org=org_quillworks&window=90d&show=outcomes",
    "what-if-worst": f"/what_if?{QUARTER}&boost=0.2&show=worst",
    "what-if-fragile": f"/what_if?{QUARTER}&show=fragile",
    **{f"impact-{part}": f"/feedback_impact?{QUARTER}&part={part}" for part in ("weights", "outcomes", "measures")},
    "impact-left": "/feedback_impact?org=org_lumenfield&window=90d&part=left",
    "corroboration-sizes": f"/corroboration?{QUARTER}&show=sizes",
    "corroboration-shadow": "/corroboration?org=org_lumenfield&window=90d&show=shadow",
    **{
        f"cluster-{part}": f"/corroboration?{QUARTER}&cluster={{member}}&part={part}"
        for part in ("members", "bits", "misses", "retrievals")
    },
    **{
        f"observation-{part.lower()}": f"/observation?observation={{{of}}}&part={part}"
        for part, of in (
            ("Weight", "member"), ("Cluster", "member"), ("Contradictions", "older"), ("Neighbours", "member"),
            ("Provenance", "member"),
        )
    },
    "inspector-retrieval": "/inspector?org=org_tidewater&retrieval={retrieval}",
    "inspector-row": f"/inspector?{INSPECTED}&row={{member}}",
    "inspector-compared": f"/inspector?{INSPECTED}&show=compare&vs=FULL,MEMINI",
    "flag-change": "/feature_flags?change=1",
    "corroboration-of-none": "/corroboration",
    "drift-alerts-of-none": "/drift_alerts",
    "search-of-nothing": "/?search=zzzzqq",
    "hostile": "/?org=org_hostile",
    "ignored-in-link": "/?window=zzz",
}  # fmt: skip
IDS = {
    "member": "select observation_id from rankscope.clusters where org_id = 'org_tidewater' order by 1 limit 1",
    "older": "select older from rankscope.contradictions where org_id = 'org_tidewater' order by 1 limit 1",
    "retrieval": "select retrieval_id from retrieval_ab_logs where org_id = 'org_tidewater' order by 1 limit 1",
}
Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")
WORKING = re.compile("waiting|of at most")  # what a bar says that goes on, and not the one of a block's tokens
DRAWN = ".js-plotly-plot .bars, .js-plotly-plot .point, [data-testid=stMetric], [data-testid=stAlert]"


class Demo:
    """The demo's store, served, with an organization that has nothing; and the addresses of states in it."""

    def __init__(self, server: AppServer, ids: dict[str, str]) -> None:
        self.url, self.ids = server.url, ids

    def address(self, name: str) -> str:
        """Of a state of the pages or of what lies deeper."""
        return self.url + (SHOWN | DEEPER)[name].format_map(defaultdict(str, self.ids))


def serve_demo(cluster: Cluster, template: str) -> Iterator[Demo]:
    """For a fixture of a file, which changes the store only by saving views."""
    with demo_server(cluster, template, aggregated=True) as started:
        name = urlsplit(started.environment["DATABASE_URL"]).path.removeprefix("/")
        with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
            sample.add_organization(owner, EMPTY, "Empty")
            ids = {word: _first(owner, statement) for word, statement in IDS.items()}
        yield Demo(started, ids)


def _first(owner: psycopg.Connection[Any], statement: str) -> str:
    (found,) = owner.execute(statement.encode()).fetchall()
    return str(found[0])


def opened(browser: Browser, url: str, theme: Theme, width: int = 1400) -> Visit:
    """A page in a theme once its charts and figures are drawn."""
    visit = Visit(browser.new_context(viewport={"width": width, "height": 1000}, color_scheme=theme))
    visit.open(url).locator(DRAWN).first.wait_for()
    return visit


def reach(visit: Visit, name: str) -> None:
    """Press what leads from the address to the state: a page's first row, what that shows, or a button."""
    page = visit.page
    if name in OPENED:
        open_first_row(page, OPENED[name])
    if name in FOLLOWED:
        page.get_by_text(OPENED[name]).click()
        page.get_by_text(FOLLOWED[name]).wait_for()
    if name in ASKED:
        page.get_by_role("button", name=ASKED[name][1]).click()
        page.get_by_role("dialog").wait_for()
    if name in CALENDAR:
        page.locator("[data-testid=stDateInput] [role=spinbutton]").first.click()
        page.get_by_test_id("stDateInputCalendar").wait_for()
    expect(page.get_by_test_id("stProgress").filter(has_text=WORKING)).to_have_count(0)
    visit.settled()
    page.wait_for_timeout(1000)  # what fades in is pale until then


def described(page: Page) -> list[str | None]:
    """What is read out in place of each chart."""
    found: list[str | None] = page.locator("[data-testid=stPlotlyChart]").evaluate_all(NAMES)
    return found


NAMES = """charts => charts.map(chart => {
    const named = [chart, ...chart.querySelectorAll("[aria-label], [aria-labelledby]")];
    return named.map(element => element.getAttribute("aria-label")).find(Boolean) ?? null;
})"""
