"""Health's part about what runs: every project's aggregation pass, and the processes that log retrievals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from analysis.health.checks import CHECKS
from controls import glossary, messages
from controls.grid import grid
from controls.health.advice import Advice, to_do
from controls.health.words import SIGNS, since
from controls.loading import load
from controls.messages import MISSING, counted, digits, number
from queries.errors import LACKING, StoreError
from queries.health.passes import PASSES, Passes

if TYPE_CHECKING:
    from controls.health.answers import HealthAnswers
    from queries.scope import Scope

WHEN = "D MMM YYYY HH:mm"
SECONDS = 1000.0
ACT = SIGNS["red"]
PLACES = {"red": 0, "watch": 1, "good": 2, "unknown": 3}
DROPS = next(check for check in CHECKS if check.name == "drops")
FAILED = (
    "The table's last column, *Why it failed*, has the error of each. What their last good pass found still stands and "
    "grows old; once the cause is mended, `python -m jobs aggregate` tries again."
)
NEVER = (
    "Nothing is known there of who says the same or the opposite: let `python -m jobs aggregate --every 60` run, "
    "without `--org` or with theirs."
)
DROPPED = (
    "Their process's queue was full, or the process was stopping: the store was away for long or is too slow for what "
    "is logged; *Last failure* says which, and *Lost by* which process."
)
NOT_WRITTEN = (
    "The store refused them: *Last failure* has the kind, and the process's own log (`rankscope.retrieval`) tells when "
    "it began."
)


def runs(memory: HealthAnswers, scope: Scope) -> None:
    """Every project's last pass: when, how long, whether it was skipped since, and why it failed if it did."""
    st.markdown("**Aggregation passes**")
    try:
        passes = load(Passes(scope)).frames[0]
    except StoreError as error:
        if error.kind not in LACKING:
            raise
        messages.left_out("Aggregation passes", error)
    else:
        _aggregated(passes, memory.names, scope)
    st.markdown("**Writers of the retrieval log**")
    if "writers" not in memory.found.frames:
        messages.left_out("Log writers", memory.found.failed["writers"])
    elif memory.found.frames["writers"].empty:
        st.info(
            "No process that logs retrievals has reported in this window: the platform may write the log by itself.",
            icon=":material/search_off:",
        )
    else:
        _writers(memory.found.frames["writers"], memory.names, scope)


def _aggregated(passes: pd.DataFrame, names: dict[str, str], scope: Scope) -> None:
    if passes["finished_at"].isna().all() and passes["failed_at"].isna().all():
        whose = "in any organization" if scope.org is None else "in this organization"
        messages.not_aggregated("for this project" if scope.project else whose)
        return
    if len(passes) > PASSES:
        st.caption(f"The first {PASSES} projects, those that failed or were never aggregated before the others.")
    _passes(passes.head(PASSES), names)


def _passes(passes: pd.DataFrame, names: dict[str, str]) -> None:
    never = passes["finished_at"].isna() & passes["failed_at"].isna()
    failed = passes["failed_at"].notna() & (
        passes["finished_at"].isna() | (passes["failed_at"] > passes["finished_at"])
    )
    skipped = ~failed & (passes["checked_at"] > passes["finished_at"])
    done, left = int((~failed & ~never).sum()), int(failed.sum())
    not_yet = f", {int(never.sum())} never looked at" if never.any() else ""
    took = passes["elapsed_ms"].max()
    longest = "" if pd.isna(took) else f"; the longest took {digits(took / SECONDS, 2)} s"
    st.caption(
        f"{counted(done, 'project')} aggregated, {int(skipped.sum())} unchanged since, {left} failed{not_yet}{longest}."
    )
    of = f"{ACT}, of {counted(len(passes), 'project')}"
    wanted = (("Failed passes", left, FAILED), ("Never aggregated", int(never.sum()), NEVER))
    to_do([Advice(f"{what} {number(count)}", of, todo) for what, count, todo in wanted if count])
    states = [
        "✕ failed" if f else "✕ never aggregated" if n else "● unchanged, skipped" if s else "● done"
        for f, n, s in zip(failed, never, skipped, strict=True)
    ]
    grid(
        pd.DataFrame(
            {
                "organization": [names.get(org, org) for org in passes["org_id"]],
                "project": passes["project_id"].fillna("(no project)"),
                "state": states,
                "finished": passes["finished_at"],
                "checked": passes["checked_at"],
                "took": [MISSING if pd.isna(ms) else f"{digits(ms / SECONDS)} s" for ms in passes["elapsed_ms"]],
                "read": passes["observations"],
                "hashed": passes["hashed"],
                "active": passes["active"],
                "apart": passes["set_apart"],
                "clusters": passes["clusters"],
                "contradictions": passes["contradictions"],
                "error": passes["error"].where(failed).fillna(""),
            }
        ),
        hide_index=True,
        key="passes",
        column_config={
            "organization": st.column_config.TextColumn("Organization", width=150, pinned=True),
            "project": st.column_config.TextColumn("Project", width=120),
            "state": st.column_config.TextColumn("State", width=140),
            "finished": st.column_config.DatetimeColumn("Finished (UTC)", format=WHEN, timezone="UTC", width=135),
            "checked": st.column_config.DatetimeColumn("Last looked at (UTC)", format=WHEN, timezone="UTC", width=135),
            "took": st.column_config.TextColumn("Took", width=70),
            "read": st.column_config.NumberColumn("Read", width=70, format="localized"),
            "hashed": st.column_config.NumberColumn("New texts", width=85, format="localized", help=glossary.NEW_TEXTS),
            "active": st.column_config.NumberColumn("Active", width=70, format="localized"),
            "apart": st.column_config.NumberColumn("Set apart", width=80, format="localized", help=glossary.SET_APART),
            "clusters": st.column_config.NumberColumn("Clusters", width=75, format="localized"),
            "contradictions": st.column_config.NumberColumn("Contradictions", width=105, format="localized"),
            "error": st.column_config.TextColumn("Why it failed", width=420),
        },
    )


def _writers(writers: pd.DataFrame, names: dict[str, str], scope: Scope) -> None:
    lost = writers["dropped"] + writers["failed"]
    logged = writers["written"] + lost
    bands = [
        DROPS.band(DROPS.value({DROPS.part: part, str(DROPS.whole): whole}))
        for part, whole in zip(lost, logged, strict=True)
    ]
    beside = f"{SIGNS[min(bands, key=PLACES.__getitem__)]}, {since(writers)}" if lost.any() else ""
    wanted = (
        ("Dropped", int(writers["dropped"].sum()), DROPPED),
        ("Not written", int(writers["failed"].sum()), NOT_WRITTEN),
    )
    to_do(
        [
            Advice(f"{what} {number(count)} of {number(logged.sum())} retrievals", beside, todo)
            for what, count, todo in wanted
            if count
        ]
    )
    rows = writers.assign(
        organization=[names.get(org, org) for org in writers["org_id"]],
        state=[SIGNS[band] for band in bands],
        place=[PLACES[band] for band in bands],
    ).sort_values("place", kind="stable")
    grid(
        rows[
            [
                "organization", "state", "started_at", "dropped", "failed", "last_failure", "losing", "written", "rows",
                "queued", "writers", "seen_at",
            ]
        ],
        hide_index=True,
        key="writers",
        column_config={
            "organization": st.column_config.TextColumn("Organization", width=150, pinned=True),
            "state": st.column_config.TextColumn("State", width=100),
            "started_at": st.column_config.DatetimeColumn("Since (UTC)", format=WHEN, timezone="UTC", width=135),
            "writers": st.column_config.NumberColumn("Processes", width=85, format="localized"),
            "written": st.column_config.NumberColumn("Written", width=85, format="localized"),
            "rows": st.column_config.NumberColumn("Rows", width=85, format="localized"),
            "queued": st.column_config.NumberColumn("Waiting", width=75, format="localized"),
            "dropped": st.column_config.NumberColumn("Dropped", width=80, format="localized"),
            "failed": st.column_config.NumberColumn("Not written", width=90, format="localized"),
            "last_failure": st.column_config.TextColumn("Last failure", width=130),
            "losing": st.column_config.TextColumn("Lost by", width=150, help=glossary.LOST_BY),
            "seen_at": st.column_config.DatetimeColumn("Seen (UTC)", format=WHEN, timezone="UTC", width=135),
        },
    )  # fmt: skip
    wider = " A writer counts by organization: these are of all its projects." if scope.project else ""
    st.caption(
        "Totals of each process since it started, the first of them at *Since*, and not of the window alone: a loss "
        "is counted until its process ends and has not been seen for a whole window. A process unseen for 90 days is "
        f"forgotten.{wider}"
    )
