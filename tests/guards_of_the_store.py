"""Guards in queries, retrieval and jobs, each with how to take it away."""

from tests.sabotage import Sabotage

PLATFORM = "queries/migrations/versions/platform_0001.py"

OF_THE_STORE = (
    Sabotage(
        "row-level security", PLATFORM, "enable row level security", "disable row level security",
        ("tests/queries/isolation/test_row_security.py::TestRowSecurity",),
    ),
    Sabotage(
        "the scope of a policy", PLATFORM, "using ({scope}) with check ({scope})", "using (true) with check (true)",
        ("tests/queries/isolation/test_row_security.py::TestRowSecurity",),
    ),
    Sabotage(
        "a scope that ends with its transaction", "queries/transactions.py", '"select set_config(key, value, true)',
        '"select set_config(key, value, false)', ("tests/queries/isolation/test_pool.py::TestPool",),
    ),
    Sabotage(
        "a scope that ends with its question", "queries/transactions.py", "count(set_config(key, value, true))",
        "count(set_config(key, value, false))", ("tests/queries/test_transactions.py",),
    ),
    Sabotage(
        "the end of a snapshot of one statement", "queries/connections.py", "if connection.is_over:", "if False:",
        ("tests/queries/test_transactions.py",),
    ),
    Sabotage(
        "statements that were to travel with one that was never sent", "queries/connections.py",
        "raw.company, raw.is_over = ALONE, False", "raw.is_over = False", ("tests/queries/test_transactions.py",),
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
        "statements that a snapshot's rollback leaves prepared", "queries/transactions.py",
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
        "sentences instead of errors", "queries/errors.py",
        'StoreError("unreachable", UNREACHABLE)', 'StoreError("unreachable", str(error))',
        ("tests/test_app.py::TestSecrets", "tests/queries/test_errors.py::TestSentences"),
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
        ("tests/retrieval/test_log_lost.py::TestLost",),
    ),
    Sabotage(
        "the lock on a session", "queries/outcomes.py",
        "locked = select(table.c.outcome).where(*mine).with_for_update(key_share=True)",
        "locked = select(table.c.outcome).where(*mine)",
        ("tests/retrieval/test_outcomes_together.py::TestTogether",),
    ),
    Sabotage(
        "the lock on what a session was given", "queries/outcomes.py",
        ".order_by(table.c.id).with_for_update(key_share=True)", ".order_by(table.c.id)",
        ("tests/retrieval/test_outcomes_together.py::TestTogether",),
    ),
    Sabotage(
        "row-level security of results", "queries/migrations/versions/rankscope_0002.py",
        "enable row level security", "disable row level security",
        ("tests/queries/isolation/test_row_security.py::TestRowSecurity",),
    ),
    Sabotage(
        "one aggregator per scope", "queries/aggregation_runs.py", "select pg_try_advisory_xact_lock(:lock)",
        "select :lock is not null", ("tests/jobs/test_aggregators.py::TestCompany",),
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
        "whose a saved view is", "queries/migrations/versions/rankscope_0001.py", "using ({own}) with check ({own})",
        "using (true) with check (true)", ("tests/queries/test_saved_views.py",),
    ),
    Sabotage(
        "a recording that hears its own thread alone", "queries/recorded.py",
        'ContextVar("recording", default=None)', 'type("Shared", (), {"kept": None, "get": lambda s: s.kept, '
        '"set": lambda s, v: (s.kept, setattr(s, "kept", v))[0], "reset": lambda s, v: setattr(s, "kept", v)})()',
        ("tests/queries/test_recorded.py",),
    ),
)  # fmt: skip
