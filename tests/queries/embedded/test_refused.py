import os
import shutil
import signal
import sys
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from queries import embedded, keeper
from queries.embedded import EmbeddedError, Lease
from tests.queries.embedded.servers import (
    ROOT,
    answers,
    ask,
    eventually,
    postmaster_of,
    processes,
    start,
)


class TestRefused:
    def test_data_of_another_version(self, copy: Path) -> None:
        (copy / "data" / "PG_VERSION").write_text("17\n")
        with pytest.raises(EmbeddedError, match=r"expected data of postgres 18 in .*, found version 17; logs: /"):
            start(copy)
        (copy / "data" / "PG_VERSION").write_text("18\n")
        start(copy).release()

    def test_a_failure_that_another_met_is_not_told_to_who_comes_later(self, copy: Path) -> None:
        """Whoever mends the data and starts at once finds the keeper that failed still there, about to try again."""
        (copy / "data" / "PG_VERSION").write_text("17\n")
        other = Lease(copy, durable=True, limit=5)
        with pytest.raises(EmbeddedError, match="found version 17"):
            start(copy)
        (copy / "data" / "PG_VERSION").write_text("18\n")
        start(copy).release()
        other.release()

    def test_a_folder_that_is_no_data(self, place: Path) -> None:
        (place / "store" / "data").mkdir(parents=True)
        (place / "store" / "data" / "thesis.txt").touch()
        with pytest.raises(EmbeddedError, match="found no PG_VERSION"):
            start(place / "store")
        assert (place / "store" / "data" / "thesis.txt").exists()

    def test_data_that_postgres_cannot_read(self, copy: Path) -> None:
        (copy / "data" / "global" / "pg_control").write_bytes(b"rubbish")
        with pytest.raises(EmbeddedError, match=r"expected postgres to start, found (FATAL|PANIC): .*; logs: /"):
            start(copy)

    @pytest.mark.parametrize("how", ["open to others", "a link", "of another user"])
    def test_a_socket_folder_that_others_could_use(self, folder: Path, place: Path, how: str) -> None:
        theirs = place / "theirs"
        theirs.mkdir(mode=0o700)
        (theirs / ".s.PGSQL.5432").touch()
        if how == "open to others" or not ROOT:
            theirs.chmod(0o777)
        elif how == "of another user":
            os.chown(theirs, 12345, 12345)
        socket = folder / "socket"
        if how == "a link":
            socket.symlink_to(theirs)
        else:
            theirs.rename(socket)
        with pytest.raises(EmbeddedError, match=r"expected .*/socket to be drwx------ of user \d+, found "):
            start(folder)
        assert eventually(lambda: not processes(folder), 5)
        assert (socket / ".s.PGSQL.5432").exists()
        if how == "a link":
            socket.unlink()
        else:
            shutil.rmtree(socket)

    def test_a_folder_of_another_user(self, place: Path) -> None:
        foreign = place if ROOT else Path("/usr")
        if ROOT:
            os.chown(foreign, 12345, 12345)
        with pytest.raises(EmbeddedError, match=r"expected .* to belong to user \d+, found user \d+"):
            start(foreign)

    def test_a_file_instead_of_a_folder(self, place: Path) -> None:
        (place / "store").touch()
        with pytest.raises(EmbeddedError, match=r"expected to run postgres in .*/store, found: .*File exists"):
            start(place / "store")

    def test_a_frozen_server(self, folder: Path) -> None:
        with start(folder) as lease:
            postmaster_of(lease).suspend()
            began = time.monotonic()
            with pytest.raises(
                EmbeddedError, match="expected postgres to answer in 2 s, found phase ready and no answer"
            ):
                start(folder, limit=2)
            assert time.monotonic() - began < 3
            postmaster_of(lease).resume()
            assert answers(lease)

    def test_a_frozen_server_can_still_be_released(self, folder: Path) -> None:
        lease = start(folder)
        postmaster_of(lease).suspend()
        began = time.monotonic()
        lease.release()
        assert time.monotonic() - began < 15
        assert not processes(folder)

    def test_no_wheel(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(embedded, "find_spec", lambda _: None)
        with pytest.raises(EmbeddedError, match=r"found none for this platform: set DATABASE_URL"):
            start(folder)

    def test_windows(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "platform", "win32")
        with pytest.raises(EmbeddedError, match=r"found windows: set DATABASE_URL"):
            start(folder)


class TestLog:
    def test_tenant_text_stays_out(self, folder: Path) -> None:
        with embedded.start(folder) as lease:
            ask(lease, "create table once (word text primary key); insert into once values ('canary')")
            for statement in (
                "insert into once values ('canary')",
                "select 'canary'::int",
                "selekt 'canary'",
                "do $$ begin raise warning 'canary'; end $$",
                "select 'canary', pg_terminate_backend(pg_backend_pid())",
            ):
                with closing(psycopg.connect(lease.url().replace("+psycopg", ""))) as connection:
                    if "warning" in statement:
                        connection.execute(statement.encode())
                    else:
                        with pytest.raises(psycopg.Error):
                            connection.execute(statement.encode())
            with closing(psycopg.connect(lease.url().replace("+psycopg", ""))) as connection:
                connection.pgconn.send_query(b"select 'canary', pg_sleep(60)")
                connection.pgconn.flush()
                assert eventually(
                    lambda: ask(lease, "select 1 from pg_stat_activity where query ~ 'canary., pg_sl'"), 5
                )
                os.kill(connection.info.backend_pid, signal.SIGKILL)
                assert eventually(lambda: "terminated by signal 9" in (folder / "postgres.log").read_text(), 5)
            assert eventually(lambda: answers(lease), 5)
            ask(lease, "drop table once")
        assert "canary" not in (folder / "postgres.log").read_text()

    def test_it_does_not_grow_without_end(self, folder: Path) -> None:
        with start(folder) as lease:
            with (folder / "postgres.log").open("ab") as log:
                log.write(b"x" * (keeper.LOG_LIMIT + 1))
            assert eventually(lambda: (folder / "postgres.log").stat().st_size < 1000, 2)
            postmaster_of(lease).send_signal(signal.SIGHUP)
            assert eventually(lambda: "SIGHUP" in (folder / "postgres.log").read_text(), 2)
