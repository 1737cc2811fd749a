"""Files that leave the dashboard: exactly what was asked for, and nothing that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from controls.exports import as_csv, as_json
from reports.spreadsheet import harmless
from tests.hostile import SPREADSHEET, TEXTS

if TYPE_CHECKING:
    from collections.abc import Sequence

DANGEROUS = ("=", "+", "-", "@", "|", "%", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
HIDDEN = ("", " ", "\u200b", "\ufeff", '"', " \t", "\u2060", "\u00ad", "\u061c", "\u3164", "\x7f", "\u115f", "\u2064")
MOMENT = pd.Timestamp("2026-03-01T12:00:00.5Z")


def frame(texts: Sequence[Any]) -> pd.DataFrame:
    numbers = pd.Series(range(len(texts)), dtype="Int64")
    return pd.DataFrame({"text": pd.Series(list(texts), dtype="string"), "n": numbers, "at": [MOMENT] * len(texts)})


def read(content: bytes) -> list[dict[str, Any]]:
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))


@pytest.mark.parametrize("text", SPREADSHEET)
def test_what_looks_like_a_formula_becomes_text(text: str) -> None:
    assert harmless(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "plain", "a=b", "1+1", "Größe", "it's fine", "org-7"])
def test_everything_else_stays(text: str) -> None:
    assert harmless(text) == text


@given(st.text(max_size=20), st.sampled_from(DANGEROUS), st.sampled_from(HIDDEN))
def test_no_field_starts_with_a_sign_that_runs(rest: str, sign: str, hidden: str) -> None:
    assert harmless(f"{hidden}{sign}{rest}").startswith("'")


def test_every_text_comes_back_from_both_files() -> None:
    texts = [text for text in TEXTS if "\0" not in text]
    told = read(as_csv(frame(texts)))
    assert [row["text"] for row in told] == [harmless(text) for text in texts]
    assert [row["n"] for row in told] == [str(number) for number in range(len(texts))]
    assert {row["at"] for row in told} == {"2026-03-01T12:00:00.500000+00:00"}
    assert [row["text"] for row in json.loads(as_json(frame(texts)))] == texts


def test_what_is_missing_is_empty_or_null_and_an_empty_file_has_its_heading() -> None:
    assert read(as_csv(frame([None])))[0]["text"] == ""
    assert json.loads(as_json(frame([None])))[0] == {"text": None, "n": 0, "at": "2026-03-01T12:00:00.500000+00:00"}
    assert as_csv(frame([])).decode("utf-8-sig") == '"text","n","at"\r\n'
    assert as_json(frame([])) == b"[]"
