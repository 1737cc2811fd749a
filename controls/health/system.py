"""Health's parts about what runs: aggregation passes, the log's writers, and for admins the database itself."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from analysis.health.checks import SERVER_CHECKS, judged
from controls import messages
from controls.health.words import SIGNS as BANDS
from controls.health.words import limits, shown
from controls.loading import ask_now, load, may_write, store
from controls.messages import MISSING, counted, digits, number
from queries.checkup import examine
from queries.errors import LACKING, StoreError
from queries.health.passes import PASSES, Passes
from queries.health.server import PoolUse, ServerStatus, pool_use
from settings import VERSION

if TYPE_CHECKING:
    from controls.access import Principal
    from controls.health.answers import Memory
    from queries.findings import Finding
    from queries.scope import Scope

PACKAGES = ("streamlit", "SQLAlchemy", "psycopg", "pandas", "plotly", "numpy", "pgvector")
SIGNS = {"ok": "● ok", "degraded": "◆ degraded", "missing": "✕ missing"}
WHEN = "D MMM YYYY HH:mm"
SECONDS = 1000.0


def runs(memory: Memory, scope: Scope) -> None:
    """Every project's last pass: when, how long, whether it was skipped since, and why it failed if it did."""
    st.markdown("**Aggregation passes**")
    try:
        passes = load(Passes(scope)).frames[0]
    except StoreError as error:
        if error.kind not in LACKING:
            raise
        messages.left_out("Aggregation passes", error)
    else:
        _aggregated(passes, memory.names)
    st.markdown("**Writers of the retrieval log**")
    if "writers" not in memory.found.frames:
        messages.left_out("Log writers", memory.found.failed["writers"])
    elif memory.found.frames["writers"].empty:
        st.info(
            "No process that logs retrievals has reported in this window: the platform may write the log by itself.",
            icon=":material/search_off:",
        )
    else:
        _writers(memory.found.frames["writers"], memory.names)


def _aggregated(passes: pd.DataFrame, names: dict[str, str]) -> None:
    if passes["finished_at"].isna().all() and passes["failed_at"].isna().all():
        messages.not_aggregated()
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
    states = [
        "✕ failed" if f else "✕ never aggregated" if n else "● unchanged, skipped" if s else "● done"
        for f, n, s in zip(failed, never, skipped, strict=True)
    ]
    st.dataframe(
        pd.DataFrame(
            {
                "organization": [names.get(org, org) for org in passes["org_id"]],
                "project": passes["project_id"].fillna("(no project)"),
                "state": states,
                "finished": passes["finished_at"],
                "checked": passes["checked_at"],
                "took": [MISSING if pd.isna(ms) else f"{digits(ms / SECONDS)} s" for ms in passes["elapsed_ms"]],
                "read": passes["observations"],
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
            "active": st.column_config.NumberColumn("Active", width=70, format="localized"),
            "apart": st.column_config.NumberColumn("Set apart", width=80, format="localized"),
            "clusters": st.column_config.NumberColumn("Clusters", width=75, format="localized"),
            "contradictions": st.column_config.NumberColumn("Contradictions", width=105, format="localized"),
            "error": st.column_config.TextColumn("Why it failed", width=420),
        },
    )


def _writers(writers: pd.DataFrame, names: dict[str, str]) -> None:
    st.dataframe(
        writers.assign(organization=[names.get(org, org) for org in writers["org_id"]])[
            ["organization", "writers", "written", "rows", "queued", "dropped", "failed", "last_failure", "seen_at"]
        ],
        hide_index=True,
        key="writers",
        column_config={
            "organization": st.column_config.TextColumn("Organization", width=150, pinned=True),
            "writers": st.column_config.NumberColumn("Processes", width=85, format="localized"),
            "written": st.column_config.NumberColumn("Written", width=85, format="localized"),
            "rows": st.column_config.NumberColumn("Rows", width=85, format="localized"),
            "queued": st.column_config.NumberColumn("Waiting", width=75, format="localized"),
            "dropped": st.column_config.NumberColumn("Dropped", width=80, format="localized"),
            "failed": st.column_config.NumberColumn("Failed", width=70, format="localized"),
            "last_failure": st.column_config.TextColumn("Last failure", width=130),
            "seen_at": st.column_config.DatetimeColumn("Seen (UTC)", format=WHEN, timezone="UTC", width=135),
        },
    )
    st.caption("Totals of each process since it started. A process unseen for 90 days is forgotten.")


def system(principal: Principal, scope: Scope) -> None:
    """The server, this process's pool, versions, and what `python -m jobs doctor` finds; for admins."""
    if not principal.may("admin"):
        messages.not_allowed("This part looks at the whole store. It takes the role admin; an administrator grants it.")
        return
    _status(scope)
    findings = examine(store())
    wrong = [each for each in findings if each.state != "ok"]
    st.markdown(
        f"**What `python -m jobs doctor` finds**: {len(findings) - len(wrong)} of {len(findings)} as they should be"
    )
    _findings(findings)
    if mends := "\n\n".join(f"-- {each.name}\n{each.mend}" for each in wrong if each.mend):
        with st.expander("SQL that would mend it, for the store's owner to read and run"):
            st.code(mends, language="sql")


def _status(scope: Scope) -> None:
    try:
        answer = ask_now(ServerStatus(scope))
    except StoreError as error:
        messages.left_out("The server's status", error)
        return
    server = answer.frames[0].iloc[0]
    pools = {"reading": pool_use(store().reader), "writing": pool_use(store().writer)}
    st.caption(f"The server as of {answer.as_of:%H:%M:%S} UTC; pools since this process started.")
    _server_checks(server, pools)
    facts = {
        "Rankscope": VERSION,
        "PostgreSQL": server["version"],
        "pgvector extension": server["vector"],
        "up since": f"{server['started_at']:%Y-%m-%d %H:%M} UTC",
        "database size": f"{server['bytes'] / 2**20:,.0f} MB",
        "connections to the server": f"{number(server['connections'])} of {number(server['most_connections'])}",
        "deadlocks so far": number(server["deadlocks"]),
        "role": "standby" if server["standby"] else "primary",
        "behind the primary": MISSING if pd.isna(server["lag_seconds"]) else f"{server['lag_seconds']:.3g} s",
        "read login": server["login"],
        "write login": "configured" if may_write() else "none: Rankscope only reads",
        **{f"this process's pool for {name}": _used(pool) for name, pool in pools.items() if pool is not None},
        "Python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }
    rows = [(name, MISSING if value is None or pd.isna(value) else str(value)) for name, value in facts.items()]
    half = (len(rows) + 1) // 2
    for column, part in zip(st.columns(2), (rows[:half], rows[half:]), strict=True):
        column.dataframe(
            pd.DataFrame(part, columns=["fact", "value"]),
            hide_index=True,
            height="content",
            column_config={"fact": st.column_config.TextColumn("Fact", width=190), "value": "Value"},
        )


def _used(pool: PoolUse) -> str:
    at = "" if pool.most_at is None else f" ({pool.most_at:%-d %b %H:%M} UTC)"
    return f"{pool.now} in use, at most {pool.most} of {pool.room}{at}"


def _server_checks(server: pd.Series[Any], pools: dict[str, PoolUse | None]) -> None:
    """What is near a limit, with what to do about it; only a standby can lie behind, only a login has a pool."""
    asked = ("connections", "most_connections", "lag_seconds", "deadlocks")
    counts = {name: float(server[name]) for name in asked if not pd.isna(server[name])}
    for name, pool in pools.items():
        counts |= {} if pool is None else {f"{name}_most": float(pool.most), f"{name}_room": float(pool.room)}
    there = {"lag": bool(server["standby"])} | {name: pool is not None for name, pool in pools.items()}
    checks = judged(counts, tuple(check for check in SERVER_CHECKS if there.get(check.name, True)))
    st.dataframe(
        pd.DataFrame(
            {
                "state": [BANDS[each.band] for each in checks],
                "check": [each.check.label for each in checks],
                "value": [shown(each.check, each.value) for each in checks],
                "bands": [limits(each.check) for each in checks],
                "todo": [MISSING if each.band == "good" else each.check.todo for each in checks],
            }
        ),
        hide_index=True,
        key="server_checks",
        column_config={
            "state": st.column_config.TextColumn("State", width=100),
            "check": st.column_config.TextColumn("Check", width=140),
            "value": st.column_config.TextColumn("Now", width=80),
            "bands": st.column_config.TextColumn("Bands", width=250),
            "todo": st.column_config.TextColumn("What to do", width=620),
        },
    )


def _findings(findings: tuple[Finding, ...]) -> None:
    order = {"missing": 0, "degraded": 1, "ok": 2}
    listed = sorted(findings, key=lambda each: order[each.state])
    st.dataframe(
        pd.DataFrame(
            {
                "state": [SIGNS[each.state] for each in listed],
                "name": [each.name for each in listed],
                "sentence": [each.sentence for each in listed],
            }
        ),
        hide_index=True,
        key="findings",
        column_config={
            "state": st.column_config.TextColumn("State", width=100),
            "name": st.column_config.TextColumn("What", width=220),
            "sentence": st.column_config.TextColumn("Finding", width=800),
        },
    )
