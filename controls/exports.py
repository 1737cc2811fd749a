"""Files for those who leave the dashboard: exactly the rows asked for, harmless in a spreadsheet, and on record."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import pandas as pd
import streamlit as st

from controls import messages
from controls.access import NotAllowedError, stored_role
from controls.downloads import download
from controls.loading import ask_now, may_write, store
from queries.exports import RecordExport
from reports.spreadsheet import BOM, csv_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from controls.access import Principal
    from queries.engine import Question, Store
    from queries.scope import Reach, Scope

log = logging.getLogger("rankscope.exports")

Format = Literal["csv", "json"]
MIME = {"csv": "text/csv", "json": "application/json"}
FORMATS: tuple[Format, ...] = ("csv", "json")


@dataclass(frozen=True)
class Export:
    """A question whose answer is to become a file, and what the record says about it."""

    question: Question
    kind: str
    filter: Mapping[str, object]

    def content(self, form: Format, file_name: str, principal: Principal) -> bytes:
        """Ask, record, and only then hand out: the answer may be newer than the page, never another filter's.

        Raises ``NotAllowedError`` where the role that the page was shown for was taken away or changed since.
        """
        refuse_a_changed_role(principal)
        frame = ask_now(self.question).frames[0]
        return _handed_out(frame, self.question.scope, (self.kind, self.filter), (form, file_name, principal.name))


@dataclass(frozen=True)
class TableExport:
    """Rows that no single question gives; ``rows`` makes them, with their ``org_id``, when the file is asked for."""

    scope: Scope
    kind: str
    filter: Mapping[str, object]
    rows: Callable[[], pd.DataFrame]

    def content(self, form: Format, file_name: str, principal: Principal) -> bytes:
        """Make the rows, record, and only then hand out; refused as ``Export`` is."""
        refuse_a_changed_role(principal)
        return _handed_out(self.rows(), self.scope, (self.kind, self.filter), (form, file_name, principal.name))


def _handed_out(
    frame: pd.DataFrame, scope: Scope, what: tuple[str, Mapping[str, object]], taken: tuple[Format, str, str]
) -> bytes:
    counts = {str(org): int(rows) for org, rows in frame["org_id"].value_counts().items()}
    if not counts and scope.org is not None:
        counts = {scope.org: 0}
    put_on_record(store(), scope.reach, RecordExport(what[0], taken[0], what[1], counts, *taken[1:]))
    return as_csv(frame) if taken[0] == "csv" else as_json(frame)


def put_on_record(where: Store, reach: Reach, taken: RecordExport) -> None:
    """A row of who took what; where nothing can be written the log alone says that it happened, as the page does."""
    if where.writer is None:
        log.warning("export kind=%s rows=%d not recorded: no write login", taken.kind, sum(taken.rows.values()))
    else:
        taken.record(where, reach)


def refuse_a_changed_role(principal: Principal) -> None:
    """Nothing, or ``NotAllowedError`` where a principal is no longer what its page was shown for."""
    if not _is_still(principal):
        raise NotAllowedError("The role that this file was offered for has changed. Open the page again.")


def _is_still(principal: Principal) -> bool:
    """Whether a principal may see today what it was shown; this machine's own user has no role to lose."""
    if principal.how == "local":
        return True
    granted = stored_role(principal.name)
    orgs = None if granted is None or granted[1] is None else frozenset(granted[1])
    return granted is not None and (granted[0], orgs) == (principal.role, principal.orgs)


def download_buttons(export: Export | TableExport, principal: Principal, *, key: str) -> None:
    """A button per format; nothing is asked or built before the click."""
    with st.container(horizontal=True):
        for form in FORMATS:
            offered = download(export.kind, form)
            st.download_button(
                f"Download {form.upper()}",
                offered.of(partial(export.content, form, offered.name, principal)),
                offered.name,
                MIME[form],
                key=f"{key}_{form}",
                on_click="ignore",
                icon=":material/download:",
            )
    if not may_write():
        messages.not_on_record()


def as_csv(frame: pd.DataFrame) -> bytes:
    """Comma-separated, every field quoted, with the mark by which a spreadsheet knows UTF-8."""
    rows = (csv_line(_plain(value) for value in row) for row in frame.itertuples(index=False))
    return BOM + "".join((csv_line(frame.columns), *rows)).encode()


def as_json(frame: pd.DataFrame) -> bytes:
    """A list of objects, exactly as stored: JSON has no formulas to guard against."""
    rows = [{name: _plain(value) for name, value in row.items()} for row in frame.to_dict("records")]
    return json.dumps(rows, ensure_ascii=False, indent=1).encode()


def _plain(value: Any) -> Any:  # noqa: ANN401 - whatever a frame holds
    if pd.isna(value):
        return None
    return value.isoformat() if isinstance(value, pd.Timestamp) else value.item() if hasattr(value, "item") else value
