"""Take one guard away at a time: each has to turn at least one test red, or the tests guard nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.app_server import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PLATFORM = "queries/migrations/versions/platform_0001.py"


@dataclass(frozen=True)
class Sabotage:
    """A guard, how to take it away, and the tests that should notice."""

    guard: str
    file: str
    found: str
    instead: str
    tests: tuple[str, ...]


SABOTAGES = (
    Sabotage(
        "row-level security", PLATFORM, "enable row level security", "disable row level security",
        ("tests/queries/isolation/test_row_security.py::TestRowSecurity",),
    ),
    Sabotage(
        "the scope of a policy", PLATFORM, "using ({scope}) with check ({scope})", "using (true) with check (true)",
        ("tests/queries/isolation/test_row_security.py::TestRowSecurity",),
    ),
    Sabotage(
        "a scope that ends with its transaction", "queries/engine.py", "set_config(key, value, true)",
        "set_config(key, value, false)", ("tests/queries/isolation/test_pool.py::TestPool",),
    ),
    Sabotage(
        "the scope of a round that ends with its transaction", "queries/rounds.py", "set_config(key, value, true)",
        "set_config(key, value, false)", ("tests/queries/test_rounds.py::TestOneSnapshot",),
    ),
    Sabotage(
        "the reach of a confined caller", "queries/confined.py", "if not reach.within(self.reach):", "if False:",
        ("tests/queries/test_rounds.py::TestOneSnapshot",),
    ),
    Sabotage(
        "the distrust of connections after one died", "queries/connections.py",
        'event.listen(engine, "invalidate", died)', "str(died)", ("tests/queries/test_rounds.py::TestFailures",),
    ),
    Sabotage(
        "statements that a snapshot's rollback leaves prepared", "queries/engine.py",
        "raw.prepare_threshold = None if mode is SNAPSHOTS else PREPARED_AFTER", "pass",
        ("tests/queries/test_rounds.py::TestPrepared",),
    ),
    Sabotage(
        "recall where what was prepared is outdated", "queries/recall/asking.py",
        "(psycopg.OperationalError, *OUTDATED)", "(psycopg.OperationalError,)",
        ("tests/retrieval/test_recall_faults.py::TestFaults",),
    ),
    Sabotage(
        "the scope as JSON", "queries/scope.py", "json.dumps(self.orgs or ())",
        "'[\"' + '\",\"'.join(','.join(self.orgs or ()).split(',')) + '\"]'",
        ("tests/queries/test_scope.py", "tests/queries/isolation/test_row_security.py::TestNames"),
    ),
    Sabotage(
        "column privileges of the write role", PLATFORM, "grant update (features) on organizations",
        "grant update on organizations", ("tests/queries/isolation/test_privileges.py::TestPrivileges",),
    ),
    Sabotage(
        "the append-only audit", "queries/migrations/versions/rankscope_0001.py", "raise exception '% is append-only'",
        "raise notice '% is append-only'", ("tests/queries/isolation/test_privileges.py::TestPrivileges",),
    ),
    Sabotage(
        "the reach in a cache key", "controls/loading.py",
        "    return hashlib.sha256(repr(reach).encode()).hexdigest()[:16]", "    return ''",
        ("tests/test_app.py::TestIsolation",),
    ),
    Sabotage(
        "a statement's own limit", "queries/engine.py", "return str(int(seconds * 1000))", 'return "60000"',
        ("tests/queries/test_engine.py::TestSlow",),
    ),
    Sabotage(
        "the client's deadline", "queries/connections.py", "self.deadline if timeout is None else timeout", "timeout",
        ("tests/queries/test_engine.py::TestFrozen",),
    ),
    Sabotage(
        "the ping before use", "queries/connections.py", "engine.dialect.do_ping(raw)", "str(raw)",
        ("tests/queries/test_engine.py::TestFrozen",),
    ),
    Sabotage(
        "the proxy's token", "controls/access.py",
        "not hmac.compare_digest(tokens[0].encode(), token.encode())", "False",
        ("tests/test_app.py::TestWhoIsAsking",),
    ),
    Sabotage(
        "the refusal of open addresses", "app.py",
        'if auth != "local" or settings.is_loopback(address):', "if True:",
        ("tests/test_app.py::TestAddress",),
    ),
    Sabotage(
        "the host check", "app.py", "self._names_us(scope) and self._may_download(scope)", "self._may_download(scope)",
        ("tests/test_app.py::TestHeaders",),
    ),
    Sabotage("the security headers", "app.py", "Middleware(SecurityHeaders),", "", ("tests/test_app.py::TestHeaders",)),
    Sabotage(
        "sentences instead of errors", "queries/errors.py",
        'StoreError("unreachable", UNREACHABLE)', 'StoreError("unreachable", str(error))',
        ("tests/test_app.py::TestSecrets", "tests/queries/test_engine.py::TestSentences"),
    ),
    Sabotage(
        "the retrieval's own id against logging it twice", "queries/retrieval_log.py",
        "join fresh using (org_id, retrieval_id) join candidate c using (number)\n          order by",
        "join candidate c using (number)\n          order by",
        ("tests/retrieval/test_log.py::TestWritten",),
    ),
    Sabotage(
        "the limit of the log's queue", "retrieval/log_writer.py",
        "full = bool(self._waiting) and self._waiting_rows + size > self.capacity", "full = False",
        ("tests/retrieval/test_log.py::TestLost",),
    ),
    Sabotage(
        "the lock on a session", "queries/outcomes.py",
        "locked = select(table.c.outcome).where(*mine).with_for_update(key_share=True)",
        "locked = select(table.c.outcome).where(*mine)",
        ("tests/retrieval/test_outcomes.py::TestTogether",),
    ),
    Sabotage(
        "the lock on what a session was given", "queries/outcomes.py",
        ".order_by(table.c.id).with_for_update(key_share=True)", ".order_by(table.c.id)",
        ("tests/retrieval/test_outcomes.py::TestTogether",),
    ),
    Sabotage(
        "st.text for tenant text", "pages/shell.py",
        'st.text(f"{entry.answers}', 'st.markdown(f"{entry.answers}',
        ("tests/browser/test_overview.py::TestHostileTexts",),
    ),
    Sabotage(
        "the shell around a page", "controls/view.py",
        "    if found is None:\n        raise RuntimeError(", "    if found is None:\n        print(",
        ("tests/pages/test_shell.py::TestWithoutTheShell",),
    ),
    Sabotage(
        "the access check of the shell", "controls/access.py",
        "    if not settings.is_loopback(address):", "    if False:",
        ("tests/pages/test_shell.py::TestLocalPrincipal",),
    ),
    Sabotage(
        "row-level security of results", "queries/migrations/versions/rankscope_0002.py",
        "enable row level security", "disable row level security",
        ("tests/queries/isolation/test_row_security.py::TestRowSecurity",),
    ),
    Sabotage(
        "one aggregator per scope", "queries/aggregation_runs.py", "select pg_try_advisory_xact_lock(:lock)",
        "select :lock is not null", ("tests/jobs/test_aggregation.py::TestCompany",),
    ),
    Sabotage(
        "texts in the version of a scope", "queries/aggregation_input.py", '"id", "content", "weight"',
        '"id", "weight"', ("tests/queries/test_aggregation_input.py::TestVersion",),
    ),
    Sabotage(
        "a scope's trouble kept to itself", "jobs/aggregation.py",
        "except StoreError as error:\n        return _failed(",
        "except ZeroDivisionError as error:\n        return _failed(",
        ("tests/jobs/test_aggregation.py::TestBadScope",),
    ),
    Sabotage(
        "an end that follows the application's", "jobs/ending.py", 'os.read(sys.stdin.fileno(), 512) == b""',
        "False", ("tests/jobs/test_companion.py::TestEnd",),
    ),
    Sabotage(
        "the comparison with what was seen", "queries/flags/change.py",
        "CONFLICT if found != self.seen else", "CONFLICT if False else",
        ("tests/queries/flags/test_changes.py::TestConflict",),
    ),
    Sabotage(
        "the audit row of a flag change", "queries/flags/change.py",
        "entry=append(connection, self)", "entry=None",
        ("tests/queries/flags/test_changes.py::TestApplied",),
    ),
    Sabotage(
        "the lock on an organization's flags", "queries/flags/change.py",
        ".where(*mine).with_for_update(key_share=True)", ".where(*mine)",
        ("tests/queries/flags/test_faults.py::test_sixteen_operators_and_a_foreign_writer_lose_nothing",),
    ),
    Sabotage(
        "the request id against a second click", "queries/flags/change.py",
        "return entry_of_request(connection, self.org_id, self.request_id)", "return None",
        ("tests/queries/flags/test_changes.py::TestOnce",),
    ),
    Sabotage(
        "the look-up after a lost commit", "queries/once.py",
        "        return settle(store, reach, change)", '        return Outcome("failed", LOST)',
        ("tests/queries/flags/test_faults.py::TestLostCommit",),
    ),
    Sabotage(
        "the lock that a look-up waits for", "queries/once.py",
        "                change.lock(connection, reach)\n", "",
        ("tests/queries/flags/test_faults.py::TestLostCommit",),
    ),
    Sabotage(
        "the refusal of malformed flags", "queries/flags/change.py",
        "    if states.malformed is not None:", "    if False:",
        ("tests/queries/flags/test_changes.py::TestMalformed",),
    ),
    Sabotage(
        "a revert only of what has not moved", "queries/flags/change.py",
        "MOVED_ON if last is None or last.id != entry.id else None", "None",
        ("tests/queries/flags/test_changes.py::TestRevert",),
    ),
    Sabotage(
        "the role asked of the store for every flag change", "controls/as_operator.py",
        'require("operator", org)', 'require("viewer", org)',
        ("tests/controls/flags/test_confirm.py",),
    ),
    Sabotage(
        "controls that a viewer is not offered", "controls/flags/changing.py",
        'if not view.principal.may("operator"):', "if False:",
        ("tests/test_flags_served.py::TestViewers",),
    ),
    Sabotage(
        "the version of a triage that was seen", "queries/drift/triaging.py",
        "if (0 if stands is None else stands.version) != self.seen:", "if False:",
        ("tests/queries/drift/test_triage.py::TestTriage",),
    ),
    Sabotage(
        "the request id of a decision against a second click", "queries/once.py",
        "    if made is not None:", "    if False:",
        ("tests/queries/drift/test_triage.py::TestTriage",),
    ),
    Sabotage(
        "the pairs that were seen", "queries/drift/opposing.py",
        "        if digest(stored) != self.seen:", "        if False:",
        ("tests/queries/drift/test_triage.py::TestPairs",),
    ),
    Sabotage(
        "the role asked of the store for every decision", "controls/as_operator.py",
        'require("operator", org)', 'require("viewer", org)',
        ("tests/pages/test_drift_alerts.py::test_a_viewer_is_refused_in_the_write_itself",),
    ),
    Sabotage(
        "the escape of a statement's markup", "charts/statement.py",
        "else literal(piece) for piece, shows", "else piece for piece, shows",
        ("tests/charts/test_drift.py",),
    ),
    Sabotage(
        "the escape of a spreadsheet's formulas", "reports/spreadsheet.py",
        'return f"\'{text}" if runs else text', "return text",
        ("tests/controls/test_exports.py",),
    ),
    Sabotage(
        "a link that ends with its session", "controls/downloads.py",
        "return session is None or runtime.get_instance().is_active_session(session)", "return True",
        ("tests/controls/test_downloads.py",),
    ),
    Sabotage(
        "a name that no two files share", "controls/downloads.py",
        'f"{kind}-{secrets.token_hex(16)}.{form}"', 'f"{kind}.{form}"',
        ("tests/controls/test_downloads.py",),
    ),
    Sabotage(
        "the age of a sign-in", "controls/identity.py", "    if now >= until:", "    if False:",
        ("tests/controls/test_identity.py::TestAge",),
    ),
    Sabotage(
        "the verified address of a sign-in", "controls/identity.py",
        'claims.get("email_verified") is not True', "False", ("tests/controls/test_identity.py::TestNames",),
    ),
    Sabotage(
        "a sign-out that copies of its cookie obey", "controls/access.py", "    if found.token in sign_ins().ended:",
        "    if False:", ("tests/controls/test_identity.py::TestPrincipals",),
    ),
    Sabotage(
        "downloads for those who are signed in", "app.py", "return is_signed_in(", "return True or is_signed_in(",
        ("tests/browser/test_oidc.py::TestCookies::test_a_download_needs_a_good_cookie",),
    ),
    Sabotage(
        "a sign-out that downloads obey", "controls/identity.py",
        ".token not in sign_ins().ended", ".token != ''",
        ("tests/browser/test_oidc.py::test_sign_in_see_ones_own_and_sign_out",),
    ),
    Sabotage(
        "messages that are for developers", "app.py", "        Middleware(NeededMessages),\n", "",
        ("tests/test_websocket.py::test_what_is_for_developers_is_not_heard",),
    ),
    Sabotage(
        "the role of a flag change, over the websocket", "controls/as_operator.py",
        'require("operator", org)', 'require("viewer", org)',
        ("tests/test_flags_served.py::TestRoles",),
    ),
    Sabotage(
        "whose a saved view is", "queries/migrations/versions/rankscope_0001.py", "using ({own}) with check ({own})",
        "using (true) with check (true)", ("tests/queries/test_saved_views.py",),
    ),
    Sabotage(
        "the record of an export", "controls/exports.py",
        "        taken.record(where, reach)\n", "        pass\n",
        ("tests/browser/test_flags.py::test_a_download_is_the_filtered_set_harmless_and_on_record",),
    ),
    Sabotage(
        "the escape of tenants' texts in an HTML report", "reports/html_page.py",
        'return f"<bdi>{escape(cut)}</bdi>"', 'return f"<bdi>{cut}</bdi>"',
        ("tests/reports/test_html_page.py",),
    ),
    Sabotage(
        "the record of a drift report", "controls/drift/reports.py",
        "        self._record(form, file_name, about, counts, hashlib.sha256(content).hexdigest())\n", "",
        ("tests/controls/drift/test_reports.py",),
    ),
    Sabotage(
        "the role that a drift report was offered for", "controls/drift/reports.py",
        "        refuse_a_changed_role(self.principal)\n", "",
        ("tests/controls/drift/test_reports.py",),
    ),
    Sabotage(
        "a drift report that ends with its session", "controls/drift/reports.py",
        "offered.of(partial(report.content, form, offered.name))", "partial(report.content, form, offered.name)",
        ("tests/browser/test_drift_reports.py::test_the_page_hands_out_the_listed_alerts_to_whom_they_belong",),
    ),
    Sabotage(
        "the members that a bundle must have", "reports/verifying.py",
        "sorted(set(MEMBERS) - set(stated))", "()", ("tests/reports/test_bundle.py",),
    ),
    Sabotage(
        "the seal of a bundle's manifest", "reports/verifying.py",
        "if archive.comment != seal(content):", "if False:",
        ("tests/reports/test_bundle.py",),
    ),
    Sabotage(
        "a recording that hears its own thread alone", "queries/recorded.py",
        'ContextVar("recording", default=None)', 'type("Shared", (), {"kept": None, "get": lambda s: s.kept, '
        '"set": lambda s, v: (s.kept, setattr(s, "kept", v))[0], "reset": lambda s, v: setattr(s, "kept", v)})()',
        ("tests/queries/test_recorded.py",),
    ),
)  # fmt: skip


@pytest.mark.long
@pytest.mark.timeout(400)
@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda s: s.guard)
def test_a_guard_taken_away_turns_a_test_red(sabotage: Sabotage, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(".venv", ".git", ".rankscope", "*_cache", "__pycache__"))
    target = copy / sabotage.file
    source = target.read_text()
    assert source.count(sabotage.found) == 1, f"{sabotage.file} no longer has this guard as it was"
    target.write_text(source.replace(sabotage.found, sabotage.instead))
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-x",
            "-p",
            "no:cacheprovider",
            "-m",
            "long or not long",
            *sabotage.tests,
        ],
        cwd=copy,
        env={k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1, f"no test noticed:\n{ran.stdout[-2000:]}{ran.stderr[-500:]}"
    assert " failed" in ran.stdout


def test_every_guard_still_stands_where_it_is_taken_away() -> None:
    """Quick, where taking each away takes long: a guard that has moved would be noticed late."""
    moved = [each.guard for each in SABOTAGES if (ROOT / each.file).read_text().count(each.found) != 1]
    assert moved == []


def test_every_test_that_should_notice_is_there() -> None:
    """One that has moved would be noticed as late."""
    named = [test.split("::") for each in SABOTAGES for test in each.tests]
    gone = [file for file, *inside in named if not all(name in (ROOT / file).read_text() for name in inside)]
    assert gone == []
