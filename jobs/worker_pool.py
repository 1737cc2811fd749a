"""At most two workers for everyone: who waits for what, and what came of it; one run per question and data version."""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import threading
import time
from collections import OrderedDict, deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from jobs.worker import scope_to_json
from jobs.worker_process import GoneError, LateError, StartError, WorkerProcess
from queries.scope import Reach

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jobs.tasks import Task
    from queries.scope import Scope

log = logging.getLogger("rankscope.worker")

REGISTRY = "jobs.tasks"  # the module whose TASKS a worker knows
WORKERS = 2
KEPT, KEPT_BYTES = 200, 64 << 20  # results, and how much they may weigh together
FRESH = 20.0  # seconds for which a result stands although the data moved on: whoever waited for it has to see it
FAILURE = 60.0  # seconds for which a failure is told again instead of tried again
PRESENT = 5.0  # seconds since someone was last seen waiting

CANCELLED = "Cancelled. Nothing was changed."
ENDED = "The computation ended unexpectedly. Nothing was changed."
NOT_STARTED = "The computation could not be started. The log on the server names the reason."

State = Literal["waiting", "running", "done", "failed", "cancelled"]


@dataclass(frozen=True)
class Progress:
    """Steps done, steps in all (0 as long as nobody knows), and what is being done."""

    done: int = 0
    total: int = 0
    words: str = ""


@dataclass(eq=False)
class Job:
    """One run that everyone who asks the same shares; its value stays text until someone reads it."""

    question: str
    version: str
    request: Mapping[str, Any]
    limit: float
    state: State = "waiting"
    progress: Progress = Progress()
    text: str = ""
    sentence: str = ""
    asked: float = field(default_factory=time.monotonic)
    began: float | None = None
    ended: float | None = None
    seen: dict[str, float] = field(default_factory=dict)
    over: threading.Event = field(default_factory=threading.Event)

    def value(self) -> Any:  # noqa: ANN401 - JSON
        """The result, made anew for each reader, so that nobody changes another's."""
        return json.loads(self.text)

    @property
    def seconds(self) -> float:
        """How long it has been at work."""
        return 0.0 if self.began is None else (self.ended or time.monotonic()) - self.began


class WorkerPool:
    """Owns the processes; they end with it, and with the application whatever becomes of that."""

    def __init__(self, address: str, registry: str = "", workers: int = WORKERS) -> None:
        self.address = address
        self.registry = registry or REGISTRY
        self.tasks: Mapping[str, Task] = importlib.import_module(self.registry).TASKS
        self.closed = False
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: deque[Job] = deque()
        self._working: dict[Job, WorkerProcess] = {}
        self._idle: list[WorkerProcess] = []
        self._change = threading.Condition()
        self._lanes = [threading.Thread(target=self._lane, name=f"worker {n}", daemon=True) for n in range(workers)]
        for lane in self._lanes:
            lane.start()

    def ask(
        self,
        task: str,
        params: Mapping[str, Any],
        scope: Scope,
        version: str,
        *,
        who: str = "",
        again: bool = False,
    ) -> Job:
        """The run of this question, joined or else begun."""
        request, question = _request(task, params, scope), question_of(task, params, scope)
        with self._change:
            job = self._jobs.get(question)
            if job is None or not _stands(job, version, again=again):
                job = Job(question, version, request, self.tasks[task].limit)
                if self.closed:
                    _end(job, "failed", sentence=NOT_STARTED)
                else:
                    self._waiting.append(job)
                self._jobs[question] = job
                self._change.notify()
            self._jobs.move_to_end(question)
            job.seen[who] = time.monotonic()
            self._forget()
            return job

    def find(self, question: str, who: str | None = None) -> Job | None:
        """The run of a question that was asked; ``who`` is still waiting for it."""
        with self._change:
            job = self._jobs.get(question)
            if job is not None and who is not None:
                job.seen[who] = time.monotonic()
            return job

    def cancel(self, question: str, who: str = "") -> None:
        """Stop waiting; the run ends unless somebody else was seen waiting for it a moment ago."""
        with self._change:
            job = self._jobs.get(question)
            if job is None or job.over.is_set():
                return
            job.seen.pop(who, None)
            if any(time.monotonic() - seen < PRESENT for seen in job.seen.values()):
                return
            _end(job, "cancelled", sentence=CANCELLED)
            process = self._working.get(job)
        if process is not None:
            process.kill()

    def ahead_of(self, job: Job) -> int:
        """How many runs wait before this one."""
        with self._change:
            return list(self._waiting).index(job) if job in self._waiting else 0

    @property
    def waiting(self) -> int:
        """How many runs wait for a worker."""
        with self._change:
            return sum(not job.over.is_set() for job in self._waiting)

    def close(self) -> None:
        """End every process; whoever still waits is told."""
        with self._change:
            self.closed = True
            self._change.notify_all()
            processes = [*self._working.values(), *self._idle]
        for process in processes:
            process.kill()
        for lane in self._lanes:
            lane.join(timeout=5.0)

    def _forget(self) -> None:
        """Keep results within their limits, the ones used longest ago going first."""
        over = [job for job in self._jobs.values() if job.over.is_set()]
        weight = sum(len(job.text) for job in over)
        for job in over[:-1]:
            if len(self._jobs) <= KEPT and weight <= KEPT_BYTES:
                return
            weight -= len(job.text)
            del self._jobs[job.question]

    def _lane(self) -> None:
        while (job := self._next()) is not None:
            self._run(job)

    def _next(self) -> Job | None:
        with self._change:
            while not self.closed:
                while self._waiting:
                    job = self._waiting.popleft()
                    if not job.over.is_set():
                        return job
                self._change.wait()
            for job in self._waiting:
                _end(job, "failed", sentence=ENDED)
            return None

    def _run(self, job: Job) -> None:
        """Do one run, in the process that was used last if it is still there; keep the process if it is sound."""
        with self._change:
            warm = self._idle.pop() if self._idle else None
        if warm is not None and not warm.alive:
            warm.kill()
            warm = None
        sound: WorkerProcess | None = None
        try:
            sound = self._ask(job, warm)
        except GoneError:
            self._finish(job, "failed", sentence=ENDED)
        except LateError:
            self._finish(job, "failed", sentence=too_long(job.limit))
        except StartError:
            self._finish(job, "failed", sentence=NOT_STARTED)
        except Exception as error:  # noqa: BLE001 - a lane that ended here would take half of the pool with it
            log.error("worker: %s", type(error).__name__)  # noqa: TRY400 - the text may quote what was asked
            self._finish(job, "failed", sentence=NOT_STARTED)
        finally:
            with self._change:
                used = self._working.pop(job, None)
                if sound is not None and not self.closed:
                    self._idle.append(sound)
                    used = None
            if used is not None:
                used.kill()

    def _ask(self, job: Job, warm: WorkerProcess | None) -> WorkerProcess:
        process = warm or WorkerProcess(self.registry, self.address)
        with self._change:
            self._working[job] = process
            gone = job.over.is_set() or self.closed
            job.began = time.monotonic()
            job.state = job.state if gone else "running"
        if gone:
            raise GoneError
        began = False
        try:
            for message in process.ask(dict(job.request), job.limit):
                began = True
                if "progress" in message:
                    job.progress = Progress(*message["progress"])
                elif "value" in message:
                    self._finish(job, "done", text=message["value"])
                elif "failed" in message:
                    self._finish(job, "failed", sentence=message["failed"])
        except GoneError:
            # A warm process may just have ended by itself; a run that had not begun is safe to begin anew.
            if warm is None or began or job.over.is_set():
                raise
            process.kill()
            return self._ask(job, None)
        return process

    def _finish(self, job: Job, state: State, *, text: str = "", sentence: str = "") -> None:
        with self._change:
            if not job.over.is_set():
                _end(job, state, text=text, sentence=sentence)
        words = "task name=%s state=%s ms=%.0f waited_ms=%.0f bytes=%d"
        waited = ((job.began or time.monotonic()) - job.asked) * 1000
        log.info(words, job.request["task"], job.state, job.seconds * 1000, waited, len(job.text))


def question_of(task: str, params: Mapping[str, Any], scope: Scope) -> str:
    """What is asked, as one short text: who asks the same in the same reach gets the same run."""
    request = _request(task, params, scope)
    return hashlib.sha256(json.dumps(request, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _request(task: str, params: Mapping[str, Any], scope: Scope) -> dict[str, Any]:
    """A task as it is sent, inside one organization with no further reach: less to see, and more askers who share."""
    narrowed = scope if scope.org is None else replace(scope, reach=Reach.of(frozenset({scope.org})))
    return {"task": task, "params": dict(params), "scope": scope_to_json(narrowed)}


def too_long(limit: float) -> str:
    """What to say of a run that was stopped at its limit."""
    return f"This took longer than {limit:.0f} s and was stopped. Choose a smaller scope, or less to compute."


def _end(job: Job, state: State, *, text: str = "", sentence: str = "") -> None:
    job.state, job.text, job.sentence = state, text, sentence
    job.ended = time.monotonic()
    job.over.set()


def _stands(job: Job, version: str, *, again: bool) -> bool:
    """Whether a run answers who asks now: it is under way, or its result is of these data or hardly older."""
    if not job.over.is_set():
        return True
    age = time.monotonic() - (job.ended or 0.0)
    if job.state == "done":
        return job.version == version or age < FRESH
    return not again and job.state == "failed" and age < FAILURE
