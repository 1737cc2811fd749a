"""A scope says what to ask for, in SQL and in words, and cannot be made larger than its reach."""

from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime

import pytest
from sqlalchemy.dialects import postgresql

from charts import look
from charts.look import literal
from queries import schema
from queries.scope import EVERYTHING, NOTHING, TURNING, OutOfReachError, Reach, Scope, isolated, marked

FIRST, LAST = date(2026, 10, 18), date(2026, 11, 16)
SOME = Reach.of(frozenset({"org_b", "org_a"}))


def compiled(scope: Scope) -> str:
    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    statement = scope.where(schema.retrieval_ab_logs).compile(dialect=dialect, compile_kwargs={"literal_binds": True})
    return " ".join(str(statement).split())


class TestReach:
    def test_the_same_organizations_give_the_same_value(self) -> None:
        assert Reach(("org_a", "org_b")) == SOME

    def test_settings_are_json_so_that_no_name_reads_as_two(self) -> None:
        assert Reach(("a, b", 'c"d')).settings() == {"dash.all_orgs": "", "dash.orgs": '["a, b", "c\\"d"]'}

    def test_everything_and_nothing(self) -> None:
        assert EVERYTHING.settings() == {"dash.all_orgs": "on", "dash.orgs": "[]"}
        assert NOTHING.settings() == {"dash.all_orgs": "", "dash.orgs": "[]"}

    def test_an_id_that_postgres_cannot_hold_is_in_no_reach(self) -> None:
        assert Reach.of(frozenset({"a\0b", "\ud800", "c"})) == Reach(("c",))


class TestScope:
    def test_days_are_whole_and_both_included(self) -> None:
        scope = Scope.of_days(EVERYTHING, FIRST, LAST)
        assert (scope.since, scope.until) == (datetime(2026, 10, 18, tzinfo=UTC), datetime(2026, 11, 17, tzinfo=UTC))
        assert scope.days == 30

    def test_the_window_before_ends_where_this_one_starts(self) -> None:
        before = Scope.of_days(EVERYTHING, FIRST, LAST, "org_a").before()
        assert (before.since, before.until) == (datetime(2026, 9, 18, tzinfo=UTC), datetime(2026, 10, 18, tzinfo=UTC))
        assert before.org == "org_a"

    def test_in_words(self) -> None:
        assert Scope.of_days(EVERYTHING, FIRST, LAST).in_words() == "all organizations, 18 Oct to 16 Nov 2026 (UTC)"
        inside = Scope.of_days(SOME, FIRST, LAST, "org_a", "api").named("Acme")
        assert inside.in_words() == "Acme, project api, 18 Oct to 16 Nov 2026 (UTC)"
        assert inside.named("Acme", "api").in_words() == inside.in_words()
        assert inside.named("Acme", "The API").in_words() == "Acme, project The API · api, 18 Oct to 16 Nov 2026 (UTC)"
        assert Scope.of_days(SOME, FIRST, LAST).in_words().startswith("2 organizations, ")
        assert Scope.of_days(EVERYTHING, LAST, LAST).in_words() == "all organizations, 16 Nov 2026 (UTC)"
        across = Scope.of_days(EVERYTHING, date(2025, 12, 20), date(2026, 1, 2))
        assert across.in_words() == "all organizations, 20 Dec 2025 to 2 Jan 2026 (UTC)"

    def test_one_organization_is_an_equality_which_the_index_can_use(self) -> None:
        assert "retrieval_ab_logs.org_id = 'org_a'" in compiled(Scope.of_days(EVERYTHING, FIRST, LAST, "org_a"))

    def test_several_are_limited_by_reach(self) -> None:
        assert "= ANY (ARRAY['org_a', 'org_b'])" in compiled(Scope.of_days(SOME, FIRST, LAST))
        assert "org_id" not in compiled(Scope.of_days(EVERYTHING, FIRST, LAST))

    def test_a_name_is_shown_and_never_asked_for(self) -> None:
        plain = Scope.of_days(SOME, FIRST, LAST, "org_a")
        assert plain.named("Acme") == plain
        assert repr(plain.named("Acme")) == repr(plain)

    def test_an_organization_out_of_reach_is_refused(self) -> None:
        with pytest.raises(OutOfReachError):
            Scope.of_days(SOME, FIRST, LAST, "org_c")

    def test_a_window_ends_after_it_starts(self) -> None:
        with pytest.raises(ValueError, match="a window ends after it starts"):
            Scope.of_days(EVERYTHING, LAST, FIRST)

    def test_a_project_needs_its_organization(self) -> None:
        with pytest.raises(ValueError, match="a project needs its organization"):
            Scope.of_days(EVERYTHING, FIRST, LAST, None, "api")


class TestMarked:
    @pytest.mark.parametrize("number", [0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)])
    def test_what_turns_letters_unseen_is_seen_by_its_number(self, number: int) -> None:
        assert unicodedata.bidirectional(chr(number)) not in ("ON", "WS", "BN")
        assert marked(f"a{chr(number)}b") == isolated(f"a{chr(number)}b") == f"a⟦U+{number:04X}⟧b"
        assert literal(f"<a{chr(number)}b") == f"&lt;a⟦U+{number:04X}⟧b"

    @pytest.mark.parametrize(
        "text",
        ["plain", "مرحبا بالعالم", "שלום, עולם 42", "نم\u200cشد", "👩\u200d👧", "⟦x⟧ [U+202E]", "a\nb\tc", ""],
    )
    def test_letters_of_any_writing_stay_as_they_are(self, text: str) -> None:
        assert marked(text) == text
        assert isolated(text).strip("\u2068\u2069") == text

    def test_nobody_can_write_a_mark(self) -> None:
        assert marked("a⟦U+202E⟧") == "a⟦U+27E6⟧U+202E⟧" != marked("a\u202e")

    def test_charts_know_the_same_characters(self) -> None:
        assert look.TURNING == TURNING

    def test_a_name_in_a_sentence_turns_only_itself(self) -> None:
        assert isolated("גלד") == "\u2068גלד\u2069"
        assert isolated("גלד\u202e") == "\u2068גלד⟦U+202E⟧\u2069"
