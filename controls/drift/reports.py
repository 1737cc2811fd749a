"""Drift alerts as files: exactly what the page lists, whole, on record before they are handed out."""

from __future__ import annotations

import hashlib
import io
import logging
import re
import shlex
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import streamlit as st

from analysis.drift.weighing import ChangedMeanwhileError, read_alerts, weigh
from controls import glossary, messages
from controls.downloads import download
from controls.drift import messages as drift_messages
from controls.drift import searching
from controls.drift.taken import files_taken
from controls.drift.worklist import PAGE
from controls.exports import put_on_record, refuse_a_changed_role
from controls.loading import may_write, store
from controls.messages import counted
from queries.exports import RecordExport
from queries.recorded import recording
from reports.about import About, Taken
from reports.formats import FORMATS, WRITERS
from settings import VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from typing_extensions import Buffer

    from analysis.drift.alerts import Alert, AlertFilter
    from analysis.drift.search import Searched
    from controls.access import Principal
    from controls.drift.gathering import Drift
    from queries.scope import Scope
    from reports.formats import Form

log = logging.getLogger("rankscope.exports")

MOST_ROWS = 100_000
MOST_BYTES = 50_000_000
MOST_SET = 5_000  # alerts that a click sets in type: some twenty seconds
KIND = "drift-report"
PLACE = "reports"  # on the page, below a list that may be long
EXCERPTS = ("html", "pdf")
PREPARED = "drift_prepared"


class ReportTooLargeError(Exception):
    """More than a page hands out; the command line has no such limit."""


class Capped(io.BytesIO):
    """A file in memory that refuses to grow beyond what a page hands out."""

    def write(self, content: Buffer, /) -> int:
        """Write, or refuse."""
        if self.tell() + memoryview(content).nbytes > MOST_BYTES:
            raise ReportTooLargeError(f"expected at most {MOST_BYTES:,} bytes, found more")
        return super().write(content)


@dataclass(frozen=True)
class DriftReport:
    """What a click on one of the buttons gives: the alerts that pass a filter, as they are by then.

    ``searched`` is the search that the page has made already. This process never makes one: where a statement has
    changed since, the worker does. ``now`` is the moment of the page, at which a snooze is over or not.
    """

    principal: Principal
    scope: Scope
    filter: AlertFilter
    searched: Searched | None = field(default=None, repr=False)
    now: datetime | None = None

    @classmethod
    def of(cls, found: Drift, principal: Principal, searched: Searched) -> DriftReport:
        """The report of what a page lists."""
        return cls(principal, found.scope, found.wanted, searched, found.now)

    def content(self, form: Form, file_name: str) -> bytes:
        """Weigh, write, record, and only then hand out; refused as ``Export`` is where the role has changed."""
        refuse_a_changed_role(self.principal)
        if self.searched is not None:
            try:
                return self._content(form, file_name, self.searched)
            except ChangedMeanwhileError:
                log.info("export kind=%s searched anew: a statement had changed", KIND)
        return self._content(form, file_name, searching.search_now(self.scope, self.filter.threshold))

    def _content(self, form: Form, file_name: str, searched: Searched) -> bytes:
        out, counts = Capped(), Counter[str]()
        with recording(store()) as asked:
            asked.go_on(searched.asked)
            now = max(self.now or searched.as_of, searched.as_of)
            found = weigh(store(), self.scope, self.filter, searched, now=now)
            rows = MOST_SET if form == "pdf" else MOST_ROWS
            if len(found.fingerprints) > rows:
                raise ReportTooLargeError(f"expected at most {rows:,} alerts, found {len(found.fingerprints):,}")
            about = About.of(self.scope, self.filter, found, asked.asked, VERSION, taken=self._taken(form))
            # a page and a document show long statements in part; every other form holds all that both sides say
            most = None if form in EXCERPTS else MOST_BYTES
            WRITERS[form](_counted(read_alerts(store(), self.scope, found), counts, most), about, out)
        content = out.getvalue()
        self._record(form, file_name, about, counts, hashlib.sha256(content).hexdigest())
        return content

    def _taken(self, form: Form) -> Taken | None:
        """Who takes it and when, for paper; every other form is the same for whoever takes it."""
        return Taken(self.principal.name, datetime.now(UTC)) if form == "pdf" else None

    def _record(self, form: Form, file_name: str, about: About, counts: Counter[str], digest: str) -> None:
        rows = dict(counts) or {self.scope.org or "": 0}
        told = {**about.parameters(), "data_version": about.found.data_version, "sha256": digest}
        taken = RecordExport(KIND, form, told, rows, file_name, self.principal.name)
        put_on_record(store(), self.scope.reach, taken)


def way_to_reports() -> None:
    """A link down to the files, for those who came for one."""
    st.markdown(f"[Hand the listed alerts on as a file](#{PLACE})")


def report_buttons(report: DriftReport, *, as_of: datetime, rows: int | None = None) -> None:
    """A button per format; nothing is built before the click."""
    if rows is not None and rows > MOST_ROWS:
        drift_messages.report_too_large(rows)
    else:
        with st.container(horizontal=True, gap="small"):
            for form, kept in FORMATS.items():
                offered = download(stem(report.scope.org or "", as_of), kept.ending)
                too_long = form == "pdf" and rows is not None and rows > MOST_SET
                st.download_button(
                    kept.label,
                    offered.of(partial(report.content, form, offered.name)),
                    offered.name,
                    kept.mime,
                    key=f"drift_report_{form}",
                    on_click="ignore",
                    icon=":material/folder_zip:" if form == "bundle" else ":material/download:",
                    disabled=too_long,
                    help=glossary.TOO_LONG_TO_SET if too_long else None,
                )
        st.caption(
            f"{_held(rows)} with both statements; HTML shows the most harmful until it reaches 5 MB, and counts all. "
            f"PDF is offered up to {MOST_SET:,} alerts; above {MOST_ROWS:,} alerts or {MOST_BYTES // 1_000_000} MB "
            "any download fails: use the command."
            + (" Every file taken is recorded with your name." if may_write() else "")
        )
        if not may_write():
            messages.not_on_record()


def _held(rows: int | None) -> str:
    """What a file holds: all that is listed, on however many pages."""
    if rows is None:
        return "Each file holds every listed alert"
    pages = -(-rows // PAGE)
    on = f", on {pages:,} pages," if pages > 1 else ""
    return f"Each file holds {counted(rows, 'alert')}: every one that is listed{on}"


def of_page(found: Drift, principal: Principal) -> None:
    """The buttons for what a page lists, from its own search; the command line stands beside them."""
    st.subheader("Reports", anchor=PLACE)
    searched = _whole(found)
    if searched is not None:
        rows = None if found.left_out else len(found.listed)
        if found.logged:
            drift_messages.exposure_counted(found.scope)
        report_buttons(DriftReport.of(found, principal, searched), as_of=found.searched.as_of, rows=rows)
    files_taken(found.scope, KIND)
    command_line(found.scope, found.wanted)


def command_line(scope: Scope, chosen: AlertFilter) -> None:
    """The command that writes the same alerts, whatever their number."""
    with st.expander("The same from the command line"):
        st.code(command(scope, chosen), language=None, wrap_lines=True)


def _whole(found: Drift) -> Searched | None:
    """A search that holds every alert at this threshold; None while it is made, drawn with a way to stop it."""
    if found.complete and not found.left_out:
        return found.searched
    question, threshold = searching.asked(found.scope), found.wanted.threshold
    if not found.complete:
        drift_messages.reports_follow()
        if searching.follow(question) is not None:
            st.rerun()  # it was over before this was drawn
        return None
    name = (question, threshold)
    if st.session_state.get(PREPARED) != name:
        drift_messages.report_prepared_first(found.total)
        st.button("Search them all", key="prepare_report", on_click=_prepare, args=(name,), icon=":material/search:")
        return None
    return searching.whole(question, threshold)


def _prepare(name: tuple[searching.Asked, float]) -> None:
    st.session_state[PREPARED] = name


def stem(org: str, as_of: datetime) -> str:
    """What a file's name says of its content, in plain ASCII: whose it is, and the day of the data, in UTC."""
    plain = re.sub(r"[^A-Za-z0-9]+", "-", org.encode("ascii", "ignore").decode())[:40].strip("-") or "organization"
    return f"{KIND}-{plain}-{as_of.astimezone(UTC):%Y-%m-%d}"


def command(scope: Scope, chosen: AlertFilter) -> str:
    """The command that writes the same alerts; tenants' words are quoted for a shell."""
    several = (("--kind", chosen.kinds), ("--agent", chosen.agents), ("--state", chosen.states))
    last = scope.until.date().toordinal() - 1
    words = ["python", "-m", "jobs", "drift-report", f"--org={scope.org}"]
    words += [] if scope.project is None else [f"--project={scope.project}"]
    words += [] if chosen.since is None else [f"--since={chosen.since:%Y-%m-%d}"]
    words += [f"--from={scope.since:%Y-%m-%d}", f"--until={scope.until.date().fromordinal(last)}"]
    words += [f"--threshold={chosen.threshold:g}"]
    words += [f"--least-severity={chosen.least_severity:g}"] if chosen.least_severity else []
    words += [f"{option}={value}" for option, values in several for value in sorted(map(str, values or ()))]
    return shlex.join([*words, "--format=bundle", "--out=drift-report.zip"])


def _counted(alerts: Iterable[Alert], counts: Counter[str], most: int | None) -> Iterator[Alert]:
    """The same alerts, counted; refused once their texts alone, a byte a character, are more than a file holds."""
    characters = 0
    for alert in alerts:
        characters += len(alert.older.content) + len(alert.newer.content)
        if most is not None and characters > most:
            raise ReportTooLargeError(f"expected at most {most:,} bytes, found more")
        counts[alert.org_id] += 1
        yield alert
