"""Each fault of the database has a sentence of its own: REC-9 of the bar."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from sqlalchemy import exc

from queries.connections import answers
from queries.engine import Store, make_engine
from queries.errors import SENTENCES, StoreError, sentences, store_error
from tests.queries.failing import failure

if TYPE_CHECKING:
    from tests.conftest import Cluster


class TestSentences:
    """REC-9: each fault has a sentence of its own, and none names SQL, host, user or database."""

    @pytest.mark.parametrize(
        ("statement", "state"),
        [
            ("select * from no_such_table", "42P01"),
            ("select no_such_column from organizations", "42703"),
            ("select '[1]'::no_such_type", "42704"),
            ("select no_such_function()", "42883"),
            ("select 1 / 0", "22012"),
            ("select pg_read_file('x')", "42501"),
            ("create table x (y int)", "25006"),
            ("select 'x'::uuid", "22P02"),
        ],
    )
    def test_a_statement_fails_with_its_sqlstate(self, store: Store, statement: str, state: str) -> None:
        error, _ = failure(store, statement)
        kind, sentence = SENTENCES.get(state) or SENTENCES[state[:2]]
        assert (error.kind, error.sentence, error.sqlstate) == (kind, sentence, state)
        assert "secret" not in str(error)

    @pytest.mark.parametrize(
        ("url", "kind"),
        [
            ("{url}&dbname=no_such_database", "database"),
            ("{other_role}", "login"),
            ("postgresql://user:secret@127.0.0.1:1/x", "unreachable"),
            ("postgresql://user:secret@no-such-host.invalid/x", "unreachable"),
            ("postgresql://user:secret@127.0.0.1/x?no_such_option=secret", "address"),
        ],
    )
    def test_a_wrong_address(self, cluster: Cluster, url: str, kind: str) -> None:
        known = {"url": cluster.plain_url(), "other_role": cluster.plain_url("no_such_role")}
        store = Store(make_engine(url.format_map(known), name="wrong"))
        error, seconds = failure(store, "select 1")
        store.close()
        assert error.kind == kind
        for private in ("secret", "127.0.0.1", "no-such-host", "no_such_role", "no_such_database", "no_such_option"):
            assert private not in error.sentence + str(error)
        assert seconds < 10

    @pytest.mark.parametrize(
        ("fatal", "state"),
        [
            ('FATAL:  password authentication failed for user "u"', "28P01"),
            ('FATAL:  no pg_hba.conf entry for host "h", user "u"', "28"),
            ("FATAL:  the database system is starting up", "57P03"),
            ("FATAL:  the database system is in recovery mode", "57P03"),
            ("FATAL:  the database system is not yet accepting connections", "57P03"),
            ("FATAL:  sorry, too many clients already", "53300"),
            ("FATAL:  remaining connection slots are reserved for roles with the SUPERUSER attribute", "53300"),
        ],
    )
    def test_a_refusal_while_connecting(self, fatal: str, state: str) -> None:
        """These carry no SQLSTATE: libpq passes on the server's line alone."""
        error = store_error(exc.OperationalError("", None, psycopg.OperationalError(f"connection failed: {fatal}")))
        assert error.sqlstate == state

    @pytest.mark.parametrize(
        "state", ["25006", "53300", "57P03", "28P01", "42P01", "42703", "42704", "40001", "40P01", "55P03"]
    )
    def test_states_that_matter_have_their_own_sentence(self, state: str) -> None:
        sentence = SENTENCES[state][1]
        assert sentence.endswith(".")
        assert "Traceback" not in sentence

    def test_an_unknown_error_says_so_without_its_text(self) -> None:
        assert "secret" not in store_error(exc.ArgumentError("secret")).sentence

    def test_the_log_names_what_raised_an_unknown_error_without_its_text(self) -> None:
        with pytest.raises(StoreError) as raised, sentences():
            raise exc.InvalidRequestError("secret")
        assert str(raised.value) == "unknown (InvalidRequestError)"


class TestWrongPassword:
    def test_a_wrong_password_has_its_own_sentence(self, own_cluster: Cluster) -> None:
        """On a server that asks for one; the embedded server trusts whoever can reach its socket."""
        own_cluster.run("create role guarded login password 'right'")
        rules = Path(str(own_cluster.run("show hba_file")[0][0]))
        rules.write_text(f"local all guarded scram-sha-256\n{rules.read_text()}")
        own_cluster.run("select pg_reload_conf()")
        url = own_cluster.plain_url("guarded")
        for password, expected in (("guarded:right@", None), ("guarded:wrong@", "28P01"), ("guarded@", "28")):
            store = Store(make_engine(url.replace("guarded@", password), name="password"))
            if expected is None:
                assert answers(store.reader, limit=1.0)
            else:
                error, _ = failure(store, "select 1")
                assert error.sqlstate == expected
                assert "wrong" not in error.sentence
            store.close()
