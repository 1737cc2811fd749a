"""HOS-7: whatever is typed or stands in an address is looked for letter by letter, and is never part of a statement."""

from __future__ import annotations

import random
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queries.anything import AskedRetrievals, NamedOrganizations, TitledObservations
from queries.found import FOUND
from queries.found_alerts import ToldAlerts
from queries.impact.listed import LISTED, ListedRetrievals
from queries.impact.selection import Filters, Selection
from queries.scope import EVERYTHING, Scope
from tests import sample
from tests.app_server import AppServer
from tests.driver import Session
from tests.hostile import QUERY, TEXTS
from tests.retrieval.planted import plant
from tests.test_unstorable import NAMES, PAGES, TYPED

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from queries.engine import Store
    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

EXAMPLES = [200, pytest.param(5_000, marks=pytest.mark.long)]
# of letters beyond ASCII Postgres and Python do not agree in which are the same but for their case
PLANTED = [text for text in TEXTS if text.isascii() and len(text) < 200]
PIECES = [
    "'",
    '"',
    "\\",
    "%",
    "_",
    "--",
    ";",
    ":name",
    "%s",
    "%(a)s",
    "$1",
    "{}",
    "/*",
    "*/",
    "\n",
    "E'",
    "||",
    "0x27",
    "NULL",
]
WHEN = sample.TODAY.date()
SCOPE = Scope.of_days(EVERYTHING, WHEN - timedelta(days=6), WHEN)
MARK = "zqxinjected"  # of letters that no statement of ours holds
SAID = re.compile(r"(?:statement|execute [^:]*): (.*)", re.DOTALL)

ASKED: dict[str, Callable[[str], Any]] = {
    "organizations": lambda words: NamedOrganizations(SCOPE, words),
    "titles": lambda words: TitledObservations(SCOPE, words),
    "queries": lambda words: AskedRetrievals(SCOPE, words),
    "alerts": lambda words: ToldAlerts(SCOPE, words),
    "filter": lambda words: ListedRetrievals(Selection(SCOPE, Filters(text=words))),
}


@st.composite
def typed(draw: st.DrawFn) -> str:
    """A part of what is stored, in another case perhaps, or what a statement could stumble over."""
    if draw(st.booleans()):
        text = draw(st.sampled_from(PLANTED))
        begin = draw(st.integers(0, len(text) - 1))
        part = text[begin : draw(st.integers(begin + 1, len(text)))]
        return draw(st.sampled_from([part, part.upper(), part.lower()]))
    return "".join(draw(st.lists(st.sampled_from([*PIECES, "a", "1", " "]), min_size=1, max_size=6)))


def fill(owner: Owner) -> None:
    """Each text once as the name of an organization, as a title, as a query and on one side of an alert."""
    for place, text in enumerate(PLANTED):
        org = sample.add_organization(owner, f"org_{place:03}", name=text)
        (observation, other) = sample.add_observations(owner, org, 2)
        owner.execute("update observations set title = %s where id = %s", (text, observation))
        owner.execute("update observations set content = '' where id = %s", (observation,))
        owner.execute("update observations set content = %s where id = %s", (text, other))
        owner.execute(
            """with run as (insert into rankscope.aggregation_runs (org_id, project_id, state, data_version)
                 values (%(org)s, 'api', 'done', 'v') returning id)
               insert into rankscope.contradictions (org_id, run_id, place, fingerprint, older, newer, kind, rule,
                 overlap, severity, parts, evidence)
               select %(org)s, id, 0, 'f', %(older)s, %(newer)s, 'value', 'r', 0.5, 3, '{}', '[]' from run""",
            {"org": org, "older": observation, "newer": other},
        )
        sample.add_retrieval(owner, org, sample.unchanged(2), name="one")
        owner.execute("update retrieval_ab_logs set query_text = %s where org_id = %s", (text, org))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("examples", EXAMPLES)
@pytest.mark.parametrize("kind", ASKED)
def test_what_is_found_holds_the_very_letters(store: Store, owner: Owner, kind: str, examples: int) -> None:
    fill(owner)
    most = LISTED if kind == "filter" else FOUND + 1

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(words=typed())
    def check(words: str) -> None:
        expected = {f"org_{place:03}" for place, text in enumerate(PLANTED) if words.lower() in text.lower()}
        rows: pd.DataFrame = store.ask(ASKED[kind](words))
        found = set(rows["org_id"])
        assert found <= expected
        assert len(found) == min(most, len(expected))

    check()


class Heard:
    """Every statement that the two logins send from now on, as the server reads it: without what is bound to it.

    The server's log is emptied whenever it has grown large, so it is read again and again.
    """

    def __init__(self, cluster: Cluster, database: str) -> None:
        for login in ("dash_read", "dash_write"):
            cluster.run(f"alter role {login} in database {database} set log_statement = 'all'")
        self.log = Path(cluster.lease.home) / "postgres.log"
        self.read_up_to = self.log.stat().st_size
        self.unfinished = ""
        self.statements: list[str] = []

    def read(self) -> None:
        """Add what was written since; of the last entry more may be still to come."""
        if self.log.stat().st_size < self.read_up_to:
            self.read_up_to = 0
        with self.log.open("rb") as written:
            written.seek(self.read_up_to)
            text = written.read().decode(errors="replace")
            self.read_up_to = written.tell()
        *entries, self.unfinished = re.split(r"^(?=\d{4}-\d\d-\d\d )", self.unfinished + text, flags=re.MULTILINE)
        self.statements += _said(entries)

    def all(self) -> list[str]:
        """All of them, the last one too."""
        self.read()
        return self.statements + _said([self.unfinished])


def _said(entries: list[str]) -> list[str]:
    return [found[1] for entry in entries if "LOG:" in entry and (found := SAID.search(entry))]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", [2, pytest.param(60, marks=pytest.mark.long)])
def test_no_statement_of_any_page_holds_what_was_said(cluster: Cluster, template: str, rounds: int) -> None:
    """By address, everything that it can say at once, and typed into every box."""
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        plant(owner)
    dice = random.Random(7)  # noqa: S311 - the same texts every time
    heard = Heard(cluster, name)
    server = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", name), RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", name)
    )
    try:
        for page in PAGES:
            for _ in range(rounds):
                said = {part: f"{dice.choice(QUERY)}{MARK}{dice.choice(PIECES)}" for part in NAMES}
                address = "&".join(f"{part}={quote(text)}" for part, text in said.items())
                with Session(server.url, f"org=acme&{address}", page) as session:
                    assert session.run().bodies("exception") == []
                    boxes = [
                        getattr(element, kind).id
                        for element in session.elements
                        for kind in TYPED
                        if element.WhichOneof("type") == kind
                    ]
                    for box in boxes:
                        text = f"{dice.choice(QUERY)}{MARK}"
                        assert session.run({box: ("string_value", text)}).bodies("exception") == []
                heard.read()
    finally:
        server.stop()
    cluster.drop(name)
    statements = heard.all()
    asked = sum("retrieval_ab_logs" in statement for statement in statements)
    assert asked > 10 * rounds, "the log holds no questions"
    assert [statement for statement in statements if MARK in statement.lower()] == []
