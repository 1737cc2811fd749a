"""Corroboration: which memories agents agree on, which only repeat themselves, and what agreement is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import streamlit as st

from analysis.corroboration_rows import cluster_rows
from controls import (
    corroboration,
    corroboration_cluster,
    corroboration_parts,
    corroboration_shadow,
    empty_messages,
    knobs,
    messages,
)
from controls.corroboration_export import export
from controls.corroboration_tables import LISTED, area_table, cluster_table, texts
from controls.exports import download_buttons
from controls.view import view

if TYPE_CHECKING:
    from analysis.corroboration_rows import ClusterRow
    from analysis.corroboration_view import View
    from queries.scope import Scope


def draw_more(seen: View, rows: list[ClusterRow], scope: Scope, opened: str | None) -> set[str] | None:
    """The further picture that was chosen; the clusters with a member in the map's area, if one is drawn."""
    show = corroboration_parts.choose_show()
    if show == "sizes":
        corroboration_parts.sizes_and_boost(seen, rows)
    elif show == "shadow":
        corroboration_shadow.panel(corroboration.documented(seen, scope), scope)
    elif (places := corroboration_parts.places(scope)) is not None:
        listed = [row.canonical for row in rows[:LISTED]]
        canonical = corroboration_cluster.canonical_of(seen, opened)
        corroboration_parts.draw_map(seen, rows, places, canonical, texts(scope, listed))
        if corners := corroboration_parts.area():
            inside = corroboration_parts.within(seen, places, corners)
            area_table(seen, inside, scope)
            return corroboration_parts.clusters_of(seen, inside)
    return None


def main(scope: Scope) -> None:
    """Sliders beside the sweep; figures above; the clusters they leave, and the one that was opened, below."""
    # what is waited for comes and goes: in a place of its own it does not move the figures, which stood twice meanwhile
    asking, top, panel, picture = (st.container() for _ in range(4))
    with panel:
        corroboration.choose()
    with asking:
        messages.ignored_in_link([*corroboration_parts.ignored(), *knobs.ignored([corroboration_cluster.PART])])
        seen = corroboration.found(scope)
    if seen is None:
        return
    if not len(seen.agreement):
        empty_messages.nothing_stored()
        return
    with asking:
        log = corroboration.logged(scope)
    rows, opened = cluster_rows(seen), corroboration_cluster.opened()
    with top:
        corroboration.strip(seen, log, scope)
        corroboration.figures(seen, rows, log)
    with picture:
        corroboration.sweep(seen, log)
    area = draw_more(seen, rows, scope, opened)
    st.subheader("Clusters" if area is None else "Clusters with a member in this area")
    kind = corroboration_parts.choose_kind()
    kept = corroboration_parts.filtered(rows, kind, area)
    cluster_table(kept, scope)
    chosen = {"kind": kind, "area": corroboration_parts.area() if area is not None else None}
    download_buttons(export(seen, kept, scope, chosen), view().principal, key="clusters")
    if opened is not None:
        corroboration_cluster.panel(seen, opened, scope)


if view().scope.org is None:
    messages.clusters_need_one_organization()
else:
    main(view().scope)
