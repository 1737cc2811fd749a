"""Corroboration: which memories agents agree on, which only repeat themselves, and what agreement is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from analysis.corroboration.rows import cluster_rows
from controls import empty_messages, knobs, messages, one_organization
from controls.corroboration import agreement, cluster, pictures, shadow
from controls.corroboration.export import export
from controls.corroboration.tables import LISTED, area_table, cluster_table, texts
from controls.exports import download_buttons
from controls.view import view

if TYPE_CHECKING:
    from analysis.corroboration.clustered import Clustered
    from analysis.corroboration.rows import ClusterRow
    from queries.scope import Scope


def draw_more(seen: Clustered, rows: list[ClusterRow], scope: Scope, opened: str | None) -> set[str] | None:
    """The further picture that was chosen; the clusters with a member in the map's area, if one is drawn."""
    show = pictures.choose_show()
    if show == "sizes":
        pictures.sizes_and_boost(seen, rows)
    elif show == "map" and (places := pictures.places(scope)) is not None:
        listed = [row.canonical for row in rows[:LISTED]]
        canonical = cluster.canonical_of(seen, opened)
        pictures.draw_map(seen, rows, places, canonical, texts(scope, listed))
        if corners := pictures.area():
            inside = pictures.within(seen, places, corners)
            area_table(seen, inside, scope)
            return pictures.clusters_of(seen, inside)
    return None


def main(scope: Scope) -> None:
    """Sliders beside the sweep; figures above; the clusters they leave, and the one that was opened, below."""
    # what is waited for comes and goes: in a place of its own it does not move the figures, which stood twice meanwhile
    asking, top, decision, panel, picture = (st.container() for _ in range(5))
    with panel:
        agreement.choose()
    with asking:
        messages.ignored_in_link([*pictures.ignored(), *knobs.ignored([cluster.PART])])
        seen = agreement.found(scope)
    if seen is None:
        return
    if not len(seen.agreement):
        empty_messages.nothing_stored()
        return
    with asking:
        log = agreement.logged(scope)
    rows, opened = cluster_rows(seen), cluster.opened()
    with top:
        agreement.strip(seen, log, scope)
        agreement.figures(seen, rows, log)
        if opened is not None:
            cluster.way_to_cluster()
    with picture:
        agreement.sweep(seen, log)
    with decision:
        shadow.decision(seen, scope)
    area = draw_more(seen, rows, scope, opened)
    st.subheader("Clusters" if area is None else "Clusters with a member in this area")
    kind = pictures.choose_kind()
    kept = pictures.filtered(rows, kind, area)
    cluster_table(kept, scope, seen.nearness.method)
    chosen = {"kind": kind, "area": pictures.area() if area is not None else None}
    download_buttons(export(seen, kept, scope, chosen), view().principal, key="clusters")
    if opened is not None:
        cluster.panel(seen, opened, scope)


if view().scope.org is None:
    one_organization.offer(view().scope, "Agreement is looked for inside one organization.")
else:
    main(view().scope)
