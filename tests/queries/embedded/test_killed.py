import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import psycopg
import pytest

from queries import embedded, keeper
from tests.queries.embedded.servers import (
    CLIENT,
    COMMIT,
    REPOSITORY,
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


class TestKilled:
    def test_client(self, folder: Path) -> None:
        """A killed client's lease ends with it, and what it committed is there afterwards."""
        code = CLIENT.replace(", durable=False", "").replace("print(", f"{COMMIT}\nprint(")
        with subprocess.Popen(
            [sys.executable, "-c", code, str(folder)], cwd=REPOSITORY, stdin=-1, stdout=-1, text=True
        ) as process:
            pid = said(process)
            process.kill()
        assert psutil.pid_exists(pid)
        assert eventually(lambda: not processes(folder), 6)
        with embedded.start(folder) as lease:
            assert ask(lease, "select count(*) from kept") == [(1000,)]
            ask(lease, "drop table kept")

    def test_postmaster(self, folder: Path) -> None:
        """The same lease serves again by itself, also if a busy backend outlives its postmaster."""
        with start(folder) as lease:
            ask(lease, "set synchronous_commit = on; create table kept as select generate_series(1, 1000)")
            busy = psycopg.connect(lease.url().replace("+psycopg", ""), autocommit=True)
            busy.pgconn.send_query(b"do $$ begin loop end loop; end $$")
            busy.pgconn.flush()
            for _ in range(3):
                former = postmaster_of(lease)
                former.kill()
                assert eventually(lambda: answers(lease), 15)
                assert postmaster_of(lease) != former
            assert ask(lease, "select count(*) from kept") == [(1000,)]
            assert len(postmasters(folder)) == 1
            ask(lease, "drop table kept")
            busy.close()

    def test_keeper(self, folder: Path) -> None:
        with start(folder) as lease:
            keeper_of(lease).kill()
            assert eventually(lambda: not embedded._is_kept(folder), 5)
            with start(folder) as second:
                assert second.url() == lease.url()
                assert answers(lease)
                assert len(postmasters(folder)) == 1

    def test_keeper_of_a_lease_that_is_made_sure_of(self, folder: Path) -> None:
        with start(folder) as lease:
            keeper_of(lease).kill()
            assert eventually(lambda: not answers(lease), 5)
            lease.ensure()
            assert answers(lease)

    def test_keeper_while_nobody_starts_another(self, folder: Path) -> None:
        lease = start(folder)
        keeper_of(lease).kill()
        if sys.platform == "linux":
            assert eventually(lambda: not processes(folder), 5)
        with start(folder):
            lease.release()

    def test_keeper_of_a_frozen_postmaster(self, folder: Path) -> None:
        """A frozen server does not hear that its keeper died: the next keeper finds it alive and ends it."""
        with start(folder) as lease:
            orphan = postmaster_of(lease)
            orphan.suspend()
            keeper_of(lease).kill()
            assert eventually(lambda: not embedded._is_kept(folder), 5)
            with start(folder, limit=15) as second:
                assert second.pid != orphan.pid
                assert [process.pid for process in postmasters(folder)] == [second.pid]

    def test_keeper_and_postmaster(self, folder: Path) -> None:
        with start(folder) as lease:
            processes_before = keeper_of(lease), postmaster_of(lease)
            for process in processes_before:
                process.kill()
            lease.ensure()
            assert answers(lease)

    def test_keeper_in_initdb(self, place: Path) -> None:
        home = place / "store"
        with client(home) as other:
            assert eventually((home / "data.partial" / "base").exists, 10)
            psutil.Process(keeper.State.read(home / "keeper.lock").keeper).kill()
            assert said(other)
            other.communicate()
        assert other.returncode == 0
        assert (home / "data").exists()
        assert not (home / "data.partial").exists()

    def test_initdb_with_everything_else(self, place: Path) -> None:
        home = place / "store"
        with client(home):
            assert eventually((home / "data.partial" / "base").exists, 10)
            for process in processes(place):
                with suppress(psutil.NoSuchProcess):  # one that ends because another was killed
                    process.kill()
        with start(home) as lease:
            assert answers(lease)

    def test_folder(self, copy: Path) -> None:
        """Whoever deletes the folder of a running server has ended the server."""
        lease = start(copy)
        shutil.rmtree(copy)
        assert eventually(lambda: not processes(copy), 10)
        lease.release()


class TestLeftBehind:
    @pytest.fixture
    def bystander(self, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
        """A process of the user whom Postgres runs as, for whose id Postgres alone would refuse to start."""
        owner = (folder / "data").stat().st_uid
        with subprocess.Popen(["sleep", "60"], user=owner if ROOT else None) as process:
            yield process
            process.kill()

    def test_pid_of_a_living_stranger(self, folder: Path, bystander: subprocess.Popen[bytes]) -> None:
        (folder / "data" / "postmaster.pid").write_text(f"{bystander.pid}\n{folder}/data\n")
        (folder / "socket").mkdir(mode=0o700)
        (folder / "socket" / ".s.PGSQL.5432.lock").write_text(f"{bystander.pid}\n{folder}/data\n")
        if ROOT:
            shutil.chown(folder / "socket", (folder / "data").stat().st_uid)
            shutil.chown(folder / "socket" / ".s.PGSQL.5432.lock", (folder / "data").stat().st_uid)
        with start(folder) as lease:
            assert answers(lease)
        assert bystander.poll() is None

    def test_pid_of_a_zombie(self, folder: Path, bystander: subprocess.Popen[bytes]) -> None:
        os.kill(bystander.pid, signal.SIGKILL)
        assert eventually(lambda: psutil.Process(bystander.pid).status() == psutil.STATUS_ZOMBIE, 5)
        (folder / "data" / "postmaster.pid").write_text(f"{bystander.pid}\n{folder}/data\n")
        with start(folder) as lease:
            assert answers(lease)

    @pytest.mark.parametrize("words", [b"", b"\xff\xfe", b"-1\n", b"99999999999999999999\n"])
    def test_pid_file_of_nonsense(self, folder: Path, words: bytes) -> None:
        (folder / "data" / "postmaster.pid").write_bytes(words)
        with start(folder) as lease:
            assert answers(lease)

    def test_half_of_a_data_folder(self, place: Path) -> None:
        (place / "store" / "data.partial" / "base").mkdir(parents=True)
        (place / "store" / "data.partial" / "PG_VERSION").write_text("18\n")
        with start(place / "store") as lease:
            assert answers(lease)
        assert not (place / "store" / "data.partial").exists()

    def test_state_of_a_former_keeper(self, folder: Path) -> None:
        descriptor = os.open(folder / "keeper.lock", os.O_RDWR)
        keeper.State("failed", keeper=os.getpid(), reason="long ago").write(descriptor)
        os.close(descriptor)
        with start(folder) as lease:
            assert answers(lease)
