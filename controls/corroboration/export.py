"""Clusters as a file: the members of exactly those clusters that the filters leave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from analysis.corroboration.rows import member_rows
from controls.exports import TableExport
from controls.loading import ask_now
from queries.newest import MemberTexts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from analysis.corroboration.clustered import Clustered
    from analysis.corroboration.rows import ClusterRow
    from queries.scope import Scope

KIND = "corroboration"
COLUMNS = (
    "org_id", "cluster", "kind", "members", "agents", "sessions", "diameter", "chained", "disputed", "boost",
    "boost_by_agents", "observation", "canonical", "contradicts", "project", "agent", "session", "created_at",
    "weight", "characters", "text",
)  # fmt: skip


def export(seen: Clustered, rows: list[ClusterRow], scope: Scope, chosen: Mapping[str, object]) -> TableExport:
    """The file that the buttons offer; ``chosen`` are the filters, for the record."""
    nearness = seen.nearness
    told = {
        "org": scope.org, "project": scope.project, "method": nearness.method.value, "bits": nearness.bits,
        "cosine": nearness.cosine, "scale": nearness.scale, "as_of": seen.agreement.as_of, **chosen,
    }  # fmt: skip
    return TableExport(scope, KIND, told, lambda: frame(seen, rows, scope))


def frame(seen: Clustered, rows: list[ClusterRow], scope: Scope) -> pd.DataFrame:
    """One row per member, cluster by cluster, canonical first; texts are read when the file is asked for."""
    listed = [(row, member) for row in rows for member in member_rows(seen, seen.members(row.number))]
    ids = tuple(sorted(member.id for _, member in listed))
    stored = (
        ask_now(MemberTexts(scope, ids)).frames[0] if ids else pd.DataFrame({"id": [], "text": [], "characters": []})
    )
    text = dict(zip(stored["id"], stored["text"], strict=True))
    length = dict(zip(stored["id"], stored["characters"], strict=True))
    values = [
        (
            scope.org, row.canonical, row.kind, row.size, row.agents, row.sessions, row.diameter, row.chained,
            row.disputed, row.boost, row.independent_boost, member.id, member.canonical, member.contradicts,
            member.project, member.agent, member.session, member.created_at, member.weight, length.get(member.id),
            text.get(member.id),
        )
        for row, member in listed
    ]  # fmt: skip
    made = pd.DataFrame(values, columns=list(COLUMNS), dtype="object")
    made["created_at"] = pd.Series(made["created_at"], dtype="datetime64[us, UTC]")
    return made
