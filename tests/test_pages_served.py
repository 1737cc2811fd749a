"""ISO-6 on Drift Alerts, Corroboration, Health and Inspector: every part, every link and every file, byte by byte.

An operator of B looks first, so that every cache and every worker holds B's results when a viewer of A asks.
"""

from __future__ import annotations

import io
import time
import zipfile
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

import psycopg
import pypdfium2
import pytest
import requests

from ranking.contradictions import Kind
from ranking.contradictions.findings import fingerprint
from tests import sample
from tests.app_server import AppServer
from tests.driver import Session
from tests.retrieval.planted import EMBEDDER
from tests.scopes import add_observation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster

    Owner = psycopg.Connection[Any]

TOKEN = "a-token-that-only-the-proxy-knows"  # noqa: S105 - of this test alone
ORGS = ("org_a", "org_b")
MINE, FOREIGN = b"CANARY-org_a", b"CANARY-org_b"
WAITING = (b"being looked for", b"being read", b"measuring width")
QUESTION = "which port does the dispatch API listen on"
RUN = "insert into rankscope.aggregation_runs (org_id, project_id, state, data_version, error, finished_at)"
WRITER = """insert into rankscope.log_writers
              (org_id, writer, queued, written, rows, dropped, failed, name, last_failure, started_at, seen_at)"""
TRIAGE = "insert into rankscope.drift_triage (org_id, fingerprint, state, owner, note, changed_by)"
EVENT = """insert into rankscope.drift_triage_events
             (org_id, fingerprint, request_id, old_state, new_state, note, actor)"""
PIN = "insert into rankscope.pins (org_id, name, query_text, expectations, created_by)"


def plant(owner: Owner, org: str) -> dict[str, str]:
    """An organization whose every text is a canary: one contradiction, one cluster, one retrieval; ids by name."""

    def canary(field: str) -> str:
        return sample.canary(org, field)

    sample.add_organization(owner, org)
    project = canary("project-id")
    owner.execute("insert into projects (org_id, id, name) values (%s, %s, %s)", (org, project, canary("project-name")))
    said = [f"{canary('content')} the dispatch API listens on port {port}." for port in (8080, 9090)]
    said += [f"{canary('content')} releases are cut on the last Thursday of every month."] * 3
    by = {"session_id": canary("session"), "title": canary("title")}
    ids = [
        str(add_observation(owner, org, str(place), text, project, agent_id=f"{canary('agent')}-{place % 2}", **by))
        for place, text in enumerate(said)
    ]
    for id_, vector in zip(ids, EMBEDDER.embed(said), strict=True):
        owner.execute(
            "insert into observation_embeddings values (%s, %s, 'full', %s)", (org, id_, str(vector.tolist()))
        )
    sample.add_session(owner, org, "session-r")
    works = "update sessions set work_type = %s, agent_id = %s where org_id = %s"
    owner.execute(works, (canary("work"), canary("agent"), org))
    found = list(map(UUID, ids))
    retrieval = sample.add_retrieval(owner, org, sample.swapped(5, 0, 4), name="r", observations=found)
    owner.execute("update retrieval_ab_logs set injected = true where org_id = %s", (org,))
    alert = fingerprint((ids[0], said[0]), (ids[1], said[1]), Kind.VALUE)
    told = (canary("owner"), canary("note"), canary("actor"))
    owner.execute(f"{TRIAGE} values (%s, %s, 'acknowledged', %s, %s, %s)", (org, alert, *told))
    owner.execute(
        f"{EVENT} values (%s, %s, gen_random_uuid(), 'new', 'acknowledged', %s, %s)",
        (org, alert, *told[1:]),
    )
    owner.execute(
        "insert into rankscope.opposition_pairs values (%s, %s, 'cold', %s)", (org, canary("pair"), canary("actor"))
    )
    expected = f'{{"must_include": ["{ids[0]}"], "must_precede": []}}'
    (pin,) = owner.execute(
        f"{PIN} values (%s, %s, %s, %s, %s) returning id", (org, canary("pin"), QUESTION, expected, canary("actor"))
    ).fetchone()  # type: ignore[misc]
    owner.execute(
        """insert into session_diagnostics (org_id, session_id, outcome, helpful_observation_ids,
             misleading_observation_ids, created_at) values (%s, 'session-r', 'rejected', '{}', %s, %s)""",
        (org, ids[:1], sample.TODAY),
    )
    owner.execute(f"{RUN} values (%s, %s, 'failed', '', %s, now())", (org, project, canary("error")))
    owner.execute(
        f"{WRITER} values (%s, gen_random_uuid(), 0, 9, 90, 2, 3, %s, %s, now(), now())",
        (org, canary("writer"), canary("failure")),
    )
    return {"org": org, "alert": alert, "one": ids[0], "said": ids[2], "retrieval": str(retrieval), "pin": str(pin)}


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    name = cluster.create(template)
    yield name
    cluster.drop(name)


@pytest.fixture(scope="module")
def planted(cluster: Cluster, database: str) -> dict[str, str]:
    """What B's things are called."""
    with psycopg.connect(cluster.plain_url("postgres", database), autocommit=True) as owner:
        theirs = [plant(owner, org) for org in ORGS][1]
        owner.execute(
            """insert into rankscope.principals (name, role, orgs) values ('vera', 'viewer', '{org_a}'),
                 ('olga', 'operator', '{org_b}')"""
        )
    return theirs


@pytest.fixture(scope="module")
def server(cluster: Cluster, database: str, planted: dict[str, str]) -> Iterator[AppServer]:
    assert planted
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", database),
        RANKSCOPE_WRITE_URL=cluster.plain_url("dash_write", database),
        RANKSCOPE_AUTH="proxy",
        RANKSCOPE_PROXY_TOKEN=TOKEN,
    )
    yield started
    started.stop()


def headers(name: str) -> dict[str, str]:
    return {"X-Forwarded-User": name, "X-Proxy-Token": TOKEN}


def shown(server: AppServer, name: str, page: str, said: dict[str, str]) -> Session:
    """A page once nothing on it is waited for any more; to be closed by whoever asked for it."""
    session = Session(server.url, urlencode(said), page, headers=headers(name))
    until = time.monotonic() + 90
    while True:
        before = len(session.frames)
        session.run()
        sent = b"".join(session.frames[before:])
        bars = [each.progress.text for each in session.elements if each.WhichOneof("type") == "progress"]
        waits = any("at most" in text or "waiting" in text for text in bars)
        if not waits and not any(words in sent for words in WAITING):
            assert session.bodies("exception") == []
            return session
        assert time.monotonic() < until


def taken(server: AppServer, session: Session, name: str, forms: str, done: set[str]) -> Iterator[tuple[str, bytes]]:
    """Label and content of every file of these forms that was not done before; what is packed is unpacked."""
    offered = [each.download_button for each in session.elements if each.WhichOneof("type") == "download_button"]
    for button in (each for each in offered if not forms or each.label.split()[-1] in forms.split()):
        if button.label in done:
            continue
        done.add(button.label)
        link = session.download(button.deferred_file_id)
        assert link, button.label
        answer = requests.get(server.url + link, headers=headers(name), timeout=30)
        assert answer.status_code == 200, button.label
        content = answer.content
        if content.startswith(b"PK"):
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                content += b"".join(map(archive.read, archive.namelist()))
        if content.startswith(b"%PDF"):
            pages = pypdfium2.PdfDocument(content)
            content += "".join(page.get_textpage().get_text_range() for page in pages).encode().replace(b"\r\n", b"")
        yield button.label, content


def addresses(planted: dict[str, str], page: str) -> list[dict[str, str]]:
    """Every part of a page, each opened thing by its id; the first reads what every other one shares."""
    alert, one, said = planted["alert"], planted["one"], planted["said"]
    asked = {"q": QUESTION}
    return {
        "drift_alerts": [{"alert": alert}, {}, {"state": "acknowledged", "t": "0.3"}, {"sev": "1"}],
        "corroboration": [
            {"bits": "3", "cluster": said}, {"show": "sizes"}, {"show": "shadow"}, {"method": "embedding"},
            {"show": "map", "area": "-9,-9;9,-9;9,9;-9,9"}, {"cluster": said, "part": "bits"},
        ],
        "health": [{"part": part} for part in ("top", "memory", "budget", "coverage", "runs", "system")],
        "inspector": [
            {**asked, "obs": one}, {"retrieval": planted["retrieval"]}, {"pin": planted["pin"]},
            {**asked, "show": "pins"}, {**asked, "show": "why", "why": "dispatch", "missed": one},
            {**asked, "show": "compare"}, {**asked, "show": "block"}, {},
        ],
    }[page]  # fmt: skip


# What B's operator is shown of B somewhere on the page: without it nothing would be proven.
FIELDS = {
    "drift_alerts": ("content", "agent", "session", "owner", "note", "actor", "project-id", "name"),
    "corroboration": ("content", "agent", "session", "name"),
    "health": ("content", "agent", "project-id", "error", "failure", "name"),
    "inspector": ("content", "pin", "name"),
}
FILES = {"drift_alerts": 7, "corroboration": 2, "health": 0, "inspector": 1}


def looked_at(
    server: AppServer, page: str, parts: list[dict[str, str]], forms: str = ""
) -> tuple[bytes, dict[str, set[str]]]:
    """What B's operator was sent, once A's viewer was sent the same parts of A and of B and nothing of B in them.

    Each file is taken once by both, wherever it is first offered; their labels by name.
    """
    theirs, files = b"", dict[str, set[str]](olga=set(), vera=set())
    for said in parts:
        with shown(server, "olga", page, {"org": "org_b", **said}) as warm:
            theirs += warm.received
            for label, content in taken(server, warm, "olga", forms, files["olga"]):
                assert FOREIGN in content, (page, said, label)
            for org in ORGS:
                with shown(server, "vera", page, {"org": org, **said}) as session:
                    assert MINE in session.received, (page, org, said)
                    assert FOREIGN not in session.received, (page, org, said)
                    for label, content in taken(server, session, "vera", forms, files["vera"]):
                        assert MINE in content, (page, org, said, label)
                        assert FOREIGN not in content, (page, org, said, label)
    return theirs, files


@pytest.mark.parametrize("page", FIELDS)
def test_a_page_that_was_warmed_by_its_own_operator(server: AppServer, planted: dict[str, str], page: str) -> None:
    """The part that every other part of the page shares its results with."""
    theirs, _ = looked_at(server, page, addresses(planted, page)[:1], "CSV JSON")
    assert b"CANARY-org_b-content" in theirs


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("page", FIELDS)
def test_every_part_and_every_file_of_it(server: AppServer, planted: dict[str, str], page: str) -> None:
    theirs, files = looked_at(server, page, addresses(planted, page))
    assert {name: len(labels) for name, labels in files.items()} == dict.fromkeys(("olga", "vera"), FILES[page])
    for field in FIELDS[page]:
        assert sample.canary("org_b", field).encode() in theirs, field
