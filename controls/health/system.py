"""Health's part about the database itself, for admins: the server, this process's pools, and what doctor finds."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from analysis.health.checks import SERVER_CHECKS, judged
from controls import messages
from controls.facts import in_two_columns
from controls.grid import grid
from controls.health.advice import Advice, to_do
from controls.health.words import SIGNS as BANDS
from controls.health.words import limits, shown
from controls.loading import ask_now, may_write, store
from controls.messages import MISSING, digits, number
from queries.checkup import examine
from queries.errors import StoreError
from queries.health.server import PoolUse, ServerStatus, pool_use
from settings import VERSION

if TYPE_CHECKING:
    from analysis.health.checks import Judged
    from controls.access import Principal
    from queries.findings import Finding
    from queries.scope import Scope

PACKAGES = ("streamlit", "SQLAlchemy", "psycopg", "pandas", "plotly", "numpy", "pgvector")
SIGNS = {"ok": "● ok", "degraded": "◆ degraded", "missing": "✕ missing"}


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
    st.caption(f"The server as of {answer.as_of:%H:%M:%S} UTC; pools are this process's, since it started.")
    _server_checks(server_checks(server, pools))
    facts = {
        "Rankscope": VERSION,
        "PostgreSQL": server["version"],
        "pgvector extension": server["vector"],
        "up since": f"{server['started_at']:%Y-%m-%d %H:%M} UTC",
        "database size": f"{server['bytes'] / 2**20:,.0f} MB",
        "connections to the server": f"{number(server['connections'])} of {number(server['most_connections'])}",
        "deadlocks so far": number(server["deadlocks"]),
        "role": "standby" if server["standby"] else "primary",
        "behind the primary": MISSING if pd.isna(server["lag_seconds"]) else f"{digits(server['lag_seconds'])} s",
        "read login": server["login"],
        "write login": "configured" if may_write() else "none: Rankscope only reads",
        **{name: told for which, pool in pools.items() if pool is not None for name, told in _used(which, pool)},
        "Python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
    }
    in_two_columns("fact", facts, 190)


def _used(name: str, pool: PoolUse) -> list[tuple[str, str]]:
    """A pool's use, and when it was fullest, as a fact of its own: in one the end would be cut off."""
    used = [(f"pool for {name}", f"{pool.now} in use, at most {pool.most} of {pool.room}")]
    if pool.most_at is None:
        return used
    return [*used, (f"pool for {name} fullest", f"{pool.most_at:%-d %b %H:%M} UTC")]


def server_checks(server: pd.Series[Any], pools: dict[str, PoolUse | None]) -> tuple[Judged, ...]:
    """Where the server stands; only a standby can lie behind, only a login has a pool."""
    asked = ("connections", "most_connections", "lag_seconds", "deadlocks")
    counts = {name: float(server[name]) for name in asked if not pd.isna(server[name])}
    for name, pool in pools.items():
        counts |= {} if pool is None else {f"{name}_most": float(pool.most), f"{name}_room": float(pool.room)}
    there = {"lag": bool(server["standby"])} | {name: pool is not None for name, pool in pools.items()}
    return judged(counts, tuple(check for check in SERVER_CHECKS if there.get(check.name, True)))


def advised(checks: tuple[Judged, ...]) -> list[Advice]:
    """What to do about those near a limit or beyond it."""
    return [
        Advice(f"{each.check.label} {shown(each.check, each.value)}", BANDS[each.band], each.check.todo)
        for each in checks
        if each.band in ("red", "watch")
    ]


def _server_checks(checks: tuple[Judged, ...]) -> None:
    to_do(advised(checks))
    grid(
        pd.DataFrame(
            {
                "state": [BANDS[each.band] for each in checks],
                "check": [each.check.label for each in checks],
                "value": [shown(each.check, each.value) for each in checks],
                "bands": [limits(each.check) for each in checks],
            }
        ),
        hide_index=True,
        key="server_checks",
        column_config={
            "state": st.column_config.TextColumn("State", width=100),
            "check": st.column_config.TextColumn("Check", width=140),
            "value": st.column_config.TextColumn("Now", width=80),
            "bands": st.column_config.TextColumn("Bands", width=250),
        },
    )


def _findings(findings: tuple[Finding, ...]) -> None:
    order = {"missing": 0, "degraded": 1, "ok": 2}
    listed = sorted(findings, key=lambda each: order[each.state])
    # not as Markdown: names and types in it are the server's
    if wrong := [f"{SIGNS[each.state]} · {each.name}: {each.sentence}" for each in listed if each.state != "ok"]:
        st.text("\n".join(wrong))
    grid(
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
