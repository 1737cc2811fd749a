"""One PostgreSQL server as a child process: made, started, watched and ended, whoever runs it."""

import contextlib
import ctypes
import locale
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, NamedTuple

import psutil

MAJOR: Final = "18"
PORT: Final = 5432
PR_SET_PDEATHSIG: Final = 1
PR_SET_CHILD_SUBREAPER: Final = 36
LIBC: Final = ctypes.CDLL(None) if sys.platform == "linux" else None

SETTINGS: Final = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "60",
    "shared_buffers": "256MB",
    "client_connection_check_interval": "500ms",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # the text, detail, statement and parameters of an error may quote a tenant; "log" ranks above "error"
    "log_min_messages": "log",
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_checkpoints": "off",
    "log_autovacuum_min_duration": "-1",
}
HASTY: Final = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class StartError(Exception):
    """Postgres cannot start, and trying again at once would not help."""


class Plan(NamedTuple):
    """Where and as whom a Postgres runs; without ``uid`` and ``gid`` as the user who starts it."""

    home: str
    binaries: str
    socket: str
    durable: bool
    uid: int | None = None
    gid: int | None = None


class Postgres:
    """The server of one data folder, and that folder."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.home = Path(plan.home)
        self.data = self.home / "data"
        self.log = self.home / "postgres.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.log_start = 0
        self.socket_is_ours = False
        if LIBC:
            # what a killed postmaster leaves behind becomes a child of ours, to be found and ended
            LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1)

    @property
    def pid(self) -> int | None:
        """The postmaster's process id."""
        return self.process.pid if self.process else None

    def launch(self, lock: int) -> None:
        """Start Postgres, on data that are complete, of this version and nobody else's."""
        self.end_former()
        if not self.data.exists():
            self.make_data(lock)
        self.check_version()
        self.provide_socket_folder()
        settings = SETTINGS | ({} if self.plan.durable else HASTY) | shared_memory_settings()
        # Postgres reads a list of folders here; only a quoted one may hold a comma or a space
        settings["unix_socket_directories"] = '"{}"'.format(self.plan.socket.replace('"', '""'))
        with self.log.open("ab") as log:
            self.log_start = log.tell()
            arguments = [f"--{name}={value}" for name, value in settings.items()]
            self.process = self.run("postgres", "-D", str(self.data), *arguments, output=log.fileno())

    def is_ready(self) -> bool:
        """Return whether the server says that it takes connections."""
        return self.recorded() == (self.pid, "ready")

    def has_ended(self) -> bool:
        """Return whether the process launched last is gone."""
        return self.process is not None and self.process.poll() is not None

    def end(self) -> None:
        """Stop the server, if there is one, and whatever it left behind."""
        if self.process:
            end(self.process.pid)
            self.process.wait()
        if self.socket_is_ours:
            shutil.rmtree(self.plan.socket, ignore_errors=True)
        self.bury()

    def bury(self) -> None:
        """End the backends that outlived a killed postmaster: a busy one would keep the next from starting."""
        strays = psutil.Process().children(recursive=True)
        for stray in strays:
            with contextlib.suppress(psutil.NoSuchProcess):
                stray.kill()
        psutil.wait_procs(strays, timeout=5)
        self.process = None

    def last_words(self) -> str:
        """Return the last line that this server logged, a fatal one if there is one that is not about a client."""
        lines: list[str] = []
        with contextlib.suppress(FileNotFoundError), self.log.open("rb") as log:
            log.seek(self.log_start)
            lines = log.read().decode(errors="replace").splitlines()
        fatal = [
            line for line in lines if "PANIC:" in line or ("FATAL:" in line and "the database system is" not in line)
        ]
        return (fatal or lines or [""])[-1].rpartition("] ")[2]

    def recorded(self) -> tuple[int, str]:
        """Return process id and status from the server's own file, zero and nothing if there is none."""
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
            return int(lines[0]), "".join(lines[7:8]).strip()
        except (FileNotFoundError, IndexError, ValueError):
            return 0, ""

    def end_former(self) -> None:
        """Stop a server whose keeper was killed; forget one that is gone or whose process id is another's by now."""
        pid, _ = self.recorded()
        if pid > 0 and is_postmaster(pid, self.data):
            end(pid)
        (self.data / "postmaster.pid").unlink(missing_ok=True)

    def make_data(self, lock: int) -> None:
        """Make the data folder under another name first, so that it is complete or not there."""
        partial = self.home / "data.partial"
        shutil.rmtree(partial, ignore_errors=True)
        self.make_private(partial)
        options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", *locale_options()]
        if not self.plan.durable:
            options.append("--no-sync")
        with (self.home / "initdb.log").open("w+b") as log:
            # the lock goes along: should the keeper be killed, the next one waits for this to end
            code = self.run("initdb", "-D", str(partial), *options, output=log.fileno(), keep=(lock,)).wait()
            log.seek(0)
            lines = log.read().decode(errors="replace").splitlines()
        if code:
            shutil.rmtree(partial, ignore_errors=True)
            errors = [line.rpartition("] ")[2] for line in lines if "error:" in line or "FATAL:" in line]
            raise StartError(f"expected initdb to make {self.data}, found {(errors or [f'exit code {code}'])[0]}")
        partial.rename(self.data)
        home = os.open(self.home, os.O_RDONLY)
        os.fsync(home)
        os.close(home)

    def check_version(self) -> None:
        """Refuse data that another Postgres made, or none at all."""
        version = self.data / "PG_VERSION"
        found = f"version {version.read_text().strip()}" if version.exists() else "no PG_VERSION"
        if found != f"version {MAJOR}":
            raise StartError(f"expected data of postgres {MAJOR} in {self.data}, found {found}")

    def provide_socket_folder(self) -> None:
        """Make the socket's folder, or refuse one in which others could put a socket of theirs."""
        folder = Path(self.plan.socket)
        with contextlib.suppress(FileExistsError):
            self.make_private(folder)
        found = folder.lstat()
        owner = os.geteuid() if self.plan.uid is None else self.plan.uid
        if (found.st_uid, stat.filemode(found.st_mode)) != (owner, "drwx------"):
            mode = stat.filemode(found.st_mode)
            raise StartError(f"expected {folder} to be drwx------ of user {owner}, found {mode} of user {found.st_uid}")
        self.socket_is_ours = True
        for left_behind in folder.iterdir():
            left_behind.unlink()

    def make_private(self, folder: Path) -> None:
        """Make a folder for the server's user alone."""
        folder.mkdir(mode=0o700)
        if self.plan.uid is not None and self.plan.gid is not None:
            os.chown(folder, self.plan.uid, self.plan.gid)

    def run(self, program: str, *arguments: str, output: int, keep: tuple[int, ...] = ()) -> subprocess.Popen[bytes]:
        """Start one of the wheel's programs, as the user who owns the data."""
        return subprocess.Popen(  # noqa: S603  our own program and arguments, no shell
            [f"{self.plan.binaries}/{program}", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            user=self.plan.uid,
            group=self.plan.gid,
            extra_groups=None if self.plan.uid is None else [],
            preexec_fn=end_with_parent,  # noqa: PLW1509  the keeper has one thread
            pass_fds=keep,
        )


def end_with_parent() -> None:
    """Have the kernel send a fast shutdown when the keeper dies; runs after the change of user, which would undo it."""
    if LIBC:
        LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def end(pid: int) -> None:
    """Stop a postmaster: fast, then at once, then by force."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process = psutil.Process(pid)
        for signum, patience in ((signal.SIGINT, 20), (signal.SIGQUIT, 5), (signal.SIGKILL, 5)):
            process.send_signal(signum)
            process.send_signal(signal.SIGCONT)  # a frozen process hears nothing else
            until = time.monotonic() + patience
            while time.monotonic() < until:
                # nobody may be there to reap it: in a container process 1 often does not
                if process.status() == psutil.STATUS_ZOMBIE:
                    return
                time.sleep(0.01)
        raise StartError(f"expected postgres to end, found process {pid} still there after SIGKILL")


def is_postmaster(pid: int, data: Path) -> bool:
    """Return whether a process is the Postgres of this data folder, by its arguments, of which a zombie has none."""
    with contextlib.suppress(psutil.Error):
        program, *arguments = psutil.Process(pid).cmdline() or [""]
        return Path(program).name == "postgres" and arguments[:2] == ["-D", str(data)]
    return False


def locale_options() -> list[str]:
    """Return a locale that sorts the same everywhere and, for full text, knows letters from punctuation."""
    for name in ("C.UTF-8", "en_US.UTF-8", "C"):
        with contextlib.suppress(locale.Error):
            # with "C" everything beyond ascii counts as a letter, and the quotes of “memory” as part of the word
            locale.setlocale(locale.LC_CTYPE, name)
            break
    return ["--locale=C", f"--lc-ctype={name}", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]


def shared_memory_settings() -> dict[str, str]:
    """Return where parallel queries share memory: in files if /dev/shm is as small as a container's 64 MB."""
    shm = Path("/dev/shm")  # noqa: S108  the kernel's, not a place for files of ours
    if not shm.exists():
        return {}
    size = os.statvfs(shm)
    return {"dynamic_shared_memory_type": "mmap"} if size.f_frsize * size.f_blocks < 512 << 20 else {}
