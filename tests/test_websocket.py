"""Whatever arrives over the websocket, the server stays up and others notice nothing: WEB-9."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest
import requests
from streamlit.proto.BackMsg_pb2 import BackMsg
from websockets.exceptions import ConnectionClosed

from controls.wire import is_needed
from tests import sample
from tests.app_server import AppServer
from tests.driver import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Cluster

TOKEN = "a-token-that-only-the-proxy-knows"  # noqa: S105 - of this test alone
ADA = {"X-Forwarded-User": "ada", "X-Proxy-Token": TOKEN}
LARGEST = 25_000_000  # bytes that Streamlit takes from a browser
HEARD = 0.01  # seconds to wait for an answer to a frame
TOLD = (b"Traceback", b"site-packages", b'File "', b"DecodeError")
BACKENDS = "select array_agg(pid order by pid) from pg_stat_activity where application_name = 'rankscope'"
DEVELOPERS = {
    "clear_cache": BackMsg(clear_cache=True),
    "set_run_on_save": BackMsg(set_run_on_save=True),
    "load_git_info": BackMsg(load_git_info=True),
    "debug_shutdown_runtime": BackMsg(debug_shutdown_runtime=True),
    "debug_disconnect_websocket": BackMsg(debug_disconnect_websocket=True),
    "nothing": BackMsg(),
}
for _operation in ("install_skills", "dismiss_skills_nudge"):
    DEVELOPERS[_operation] = BackMsg()
    getattr(DEVELOPERS[_operation].backend_operation_request, _operation).SetInParent()


@pytest.fixture(scope="module")
def database(cluster: Cluster, template: str) -> Iterator[str]:
    name = cluster.create(template)
    with psycopg.connect(cluster.plain_url("postgres", name), autocommit=True) as owner:
        sample.add_organization(owner, "org_a", "Acme")
        sample.add_retrieval(owner, "org_a", sample.unchanged(8), name="one")
        owner.execute("insert into rankscope.principals (name, role, orgs) values ('ada', 'admin', null)")
    yield name
    cluster.drop(name)


@pytest.fixture(scope="module")
def server(cluster: Cluster, database: str) -> Iterator[AppServer]:
    started = AppServer(
        DATABASE_URL=cluster.plain_url("dash_read", database), RANKSCOPE_AUTH="proxy", RANKSCOPE_PROXY_TOKEN=TOKEN
    )
    yield started
    started.stop()


def frames(count: int, seed: int) -> Iterator[bytes | str]:
    """Bytes of no meaning, messages that were cut or bent, messages with odd values, text; a few are too large."""
    draw = random.Random(seed)  # noqa: S311 - the same frames every time
    for number in range(count):
        whole = message(draw).SerializeToString()
        kind = number % 8
        if kind in (0, 1, 2):
            yield draw.randbytes(draw.choice((1, 2, 7, 40, 300)))
        elif kind in (3, 4):
            yield whole[: draw.randrange(len(whole))]
        elif kind in (5, 6):
            place = draw.randrange(len(whole))
            yield whole[:place] + bytes([whole[place] ^ (1 << draw.randrange(8))]) + whole[place + 1 :]
        elif number % 2_000 == 7:
            yield bytes(LARGEST + 1)
        elif number % 80 == 15:
            yield whole
        else:
            yield draw.choice(("", "rerun", '{"rerun_script": {}}', "\x00"))


def message(draw: random.Random) -> BackMsg:
    """A message as a browser would send it, of anything to anything."""
    made = BackMsg()
    made.rerun_script.query_string = draw.choice(("", "org=org_a", "org=%00", "a=b&" * 50))
    made.rerun_script.page_script_hash = draw.choice(("", "0" * 32, "../../etc/passwd"))
    made.rerun_script.page_name = draw.choice(("", "health", "\u202e", "x" * 500))
    made.rerun_script.fragment_id = draw.choice(("", "0" * 32, "\x00"))
    for _ in range(draw.randrange(4)):
        state = made.rerun_script.widget_states.widgets.add()
        state.id = draw.choice(("", "$$ID-x-None", "$$ID-" + draw.randbytes(8).hex() + "-pick_org"))
        state.string_value = draw.choice(("", "org_b", "\U0001f4a5" * 20))
    return made


def throw(server: AppServer, count: int, seed: int) -> tuple[int, bytes]:
    """How many frames were taken, each by a connection that was open, and everything that came back.

    A frame that met a connection the server had just closed is thrown again; one that is too large closes its own.
    """
    thrown, back = 0, b""
    left = frames(count, seed)
    frame = next(left, None)
    while frame is not None:
        with Session(server.url) as session:  # no name, no token: the way in is open to everyone up to here
            try:
                while frame is not None:
                    try:
                        session.socket.send(frame)
                    except ConnectionClosed:
                        if len(frame) <= LARGEST:
                            raise
                    thrown, frame = thrown + 1, next(left, None)
                    back += _bytes(session.socket.recv(timeout=HEARD))
            except TimeoutError:
                pass
            except ConnectionClosed as closed:
                back += closed.rcvd.reason.encode() if closed.rcvd else b""
    return thrown, back


def _bytes(answer: bytes | str) -> bytes:
    return answer.encode() if isinstance(answer, str) else answer


@pytest.mark.parametrize("count", [240, pytest.param(10_000, marks=[pytest.mark.long, pytest.mark.timeout(900)])])
def test_no_frame_harms_the_server_or_others(server: AppServer, count: int) -> None:
    throwers = 4
    with Session(server.url, "org=org_a", headers=ADA) as bystander, ThreadPoolExecutor(throwers) as pool:
        number = bystander.run().id
        throwing = [pool.submit(throw, server, count // throwers, seed) for seed in range(throwers)]
        while not all(done.done() for done in throwing):
            assert any("Acme" in text for text in bystander.run().bodies("text"))
            assert bystander.bodies("exception") == bystander.bodies("alert") == []
            bystander.frames.clear()
        assert bystander.id == number
    results = [done.result() for done in throwing]
    assert sum(thrown for thrown, _ in results) == count
    assert not [word for word in TOLD for _, back in results if word in back]
    assert server.process.poll() is None
    assert requests.get(f"{server.url}/healthz", timeout=5).status_code == 200


@pytest.mark.parametrize("name", sorted(DEVELOPERS))
def test_what_is_for_developers_is_not_heard(server: AppServer, cluster: Cluster, database: str, name: str) -> None:
    """Emptying the caches would close the store for everyone; it is open to whoever can reach the port."""
    assert not is_needed(DEVELOPERS[name].SerializeToString())
    with Session(server.url, headers=ADA) as bystander, Session(server.url) as stranger:
        bystander.run()
        before = cluster.run(BACKENDS, database)
        stranger.socket.send(DEVELOPERS[name].SerializeToString())
        stranger.run()
        assert bystander.run().bodies("exception") == []
        assert cluster.run(BACKENDS, database) == before != [(None,)]


def test_what_a_page_needs_is_heard() -> None:
    for name in ("rerun_script", "stop_script", "app_heartbeat", "backend_operation_request"):
        made = BackMsg()
        if name == "backend_operation_request":
            made.backend_operation_request.deferred_file.file_id = "x"
        elif name == "rerun_script":
            made.rerun_script.query_string = ""
            made.rerun_script.SetInParent()
        else:
            setattr(made, name, True)
        assert is_needed(made.SerializeToString()), name
    assert is_needed(b"\xff\xff")
    assert not is_needed(None)
