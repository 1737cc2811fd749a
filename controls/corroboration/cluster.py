"""One cluster, opened: who is in it, how near they are, what just misses it, what it is worth and what that changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

import pandas as pd
import streamlit as st

from analysis.corroboration.evidence import SAME, bits_of, hamming, nearest, word_diff
from analysis.corroboration.rows import cluster_rows, member_rows
from analysis.corroboration.shadow import LISTED, Effect
from charts.fingerprints import bit_strips, distance_matrix
from charts.look import QUIET
from controls import disputes, links, loading, working
from controls.address import said, say
from controls.corroboration.agreement import STRICTER
from controls.corroboration.tables import members, texts
from controls.figures import WIDE, Figure, in_a_row
from controls.glossary import corroboration as glossary
from controls.grid import grid
from controls.knobs import Knob
from controls.messages import GONE, MISSING, counted, moved, number
from controls.opening import choose_to_open
from controls.verbatim import verbatim
from queries.newest import SHOWN
from queries.replay.shown import ShownRetrievals
from ranking.clusters import Method

if TYPE_CHECKING:
    from analysis.corroboration.clustered import Clustered
    from analysis.corroboration.rows import ClusterRow, MemberRow
    from queries.scope import Scope

PARTS = {"members": "Members", "bits": "Fingerprints", "misses": "Near misses", "retrievals": "Retrievals it reorders"}
PART = Knob("part", "Part", tuple(PARTS), "members")
MOST, DRAWN = 100, 24  # members that are listed, and drawn
PLACE = "opened-cluster"
CELL = 500  # characters of a difference
CHAINED = (
    "Joined by a chain: its two most distant members differ in more than the threshold allows, so they need not say "
    "the same."
)


def opened() -> str | None:
    """The observation in the address whose cluster is open."""
    name = said("cluster")
    try:
        return None if name is None else str(UUID(name))
    except ValueError:
        return name


def canonical_of(seen: Clustered, name: str | None) -> str | None:
    """The canonical of the cluster that is open, as the sliders stand."""
    number_ = None if name is None else seen.cluster_of(name)
    return None if number_ is None else seen.agreement.ids[int(seen.clusters.canonical[number_])]


def way_to_cluster() -> None:
    """A link down to the cluster that is open, which stands below everything else."""
    st.markdown(f"[Go to the opened cluster](#{PLACE})", width="content")


def panel(seen: Clustered, name: str, scope: Scope) -> None:
    """The cluster that holds an observation, or why there is none."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader("Opened cluster", anchor=PLACE)
        st.button("Close", key="close_cluster", on_click=_close, icon=":material/close:", type="tertiary")
    number_ = seen.cluster_of(name)
    if number_ is None:
        _in_none(seen, name)
        return
    row = next(row for row in cluster_rows(seen) if row.number == number_)
    rows = seen.members(number_)
    verbatim(texts(scope, [row.canonical], SHOWN).get(row.canonical, GONE))
    _worth(seen, row)
    part = PART.choose(PARTS)
    if part == "members":
        _members(seen, rows, scope)
    elif part == "bits":
        _fingerprints(seen, rows)
    elif part == "misses":
        _misses(seen, row, rows, scope)
    else:
        _retrievals(seen, rows, scope)


def _close() -> None:
    say(cluster=None, part=None)


def _in_none(seen: Clustered, name: str) -> None:
    if name not in seen.row_of:
        st.warning(
            "No such observation among the newest of this scope: it does not exist here, is not active, or you may not "
            "see it.",
            icon=":material/link_off:",
        )
        return
    level = seen.joins_at(name)
    by_hash = seen.nearness.method is Method.SIMHASH
    if level is None:
        joins = "no threshold of the slider finds another that says the same"
    else:
        joins = f"it joins one at {counted(int(level), 'bit')}" if by_hash else f"it joins one at cosine {-level:.3g}"
    st.info(f"This observation is in no cluster as the sliders stand: {joins}.", icon=":material/person:")


def _worth(seen: Clustered, row: ClusterRow) -> None:
    """Its figures in one line, the two boosts beside each other, and the chaining alarm."""
    by_hash = seen.nearness.method is Method.SIMHASH
    width = MISSING if row.diameter is None else f"{row.diameter:.3g}{' bits' if by_hash else ''}"
    spread = "↔ chained" if row.chained else "" if row.diameter is None else "within the threshold"
    shown = (
        (
            "Members",
            number(row.size),
            f"{counted(row.agents, 'agent')}, {counted(row.sessions, 'session')}",
            glossary.MEMBERS,
        ),
        ("Diameter" if by_hash else "Diameter, 1 − cosine", width, spread, glossary.DIAMETER),
        (
            "Boost as configured",
            f"+{row.boost:.3g}",
            f"{counted(row.others, 'other member')}",
            glossary.BOOST_BY_MEMBERS,
        ),
        (
            "Boost by agents only",
            f"+{row.independent_boost:.3g}",
            f"{counted(row.other_agents, 'other agent')}",
            glossary.BOOST_BY_AGENTS,
        ),
    )
    in_a_row((Figure(label, value, beside or None, explained) for label, value, beside, explained in shown), WIDE)
    if row.chained:
        advice = f"{STRICTER[seen.nearness.method]} until it falls apart, or read the members."
        st.warning(f"{CHAINED} {advice}", icon=":material/link:")
    if row.agents <= 1:
        who = "one agent repeats itself" if row.agents else "no agent is named"
        st.caption(f"■ Self-repetition: {who}. It earns a boost as configured, and none if only agents counted.")
    if row.disputed:
        disputes.cluster_is_disputed(row.settled)


def _members(seen: Clustered, rows: list[int], scope: Scope) -> None:
    """Who says it, when and with which weight, and what each says differently, word by word."""
    listed = member_rows(seen, rows[:MOST])
    if len(rows) > MOST:
        st.caption(f"The canonical and the newest {number(MOST - 1)} of {number(len(rows))} members.")
    whole = texts(scope, [row.id for row in listed], SHOWN if len(listed) <= DRAWN else CELL)
    first = whole.get(listed[0].id, "")
    roles = [_role(row) for row in listed]
    diffs = [MISSING if row.canonical else _diff(first, whole.get(row.id)) for row in listed]
    bits = [int(value) for value in nearest(seen.agreement, rows[:MOST], rows[:1])]
    shown = {id_: text[:CELL] for id_, text in whole.items()}
    members(listed, shown, "members", {"role": roles, "bits": bits, "diff": diffs})
    st.caption(
        f"[−gone−] stands in the canonical and not here, [+new+] the other way round; “{SAME}” may differ in marks."
    )


def _role(row: MemberRow) -> str:
    if row.canonical or not row.contradicts:
        return "★ canonical" if row.canonical else "member"
    return disputes.of_member(row.verdict)


def _diff(first: str, other: str | None) -> str:
    return GONE if other is None else word_diff(first, other)[:CELL]


def _labels(seen: Clustered, rows: list[int]) -> list[str]:
    """The beginning of each id, the canonical marked: short enough for an axis, and what the table lists too."""
    return [f"{'★ ' if place == 0 else ''}{seen.agreement.ids[row][:8]}" for place, row in enumerate(rows)]


def _fingerprints(seen: Clustered, rows: list[int]) -> None:
    """The members' 64 bits, and in how many of them any two differ."""
    drawn = rows[:DRAWN]
    if len(rows) > DRAWN:
        st.caption(f"The canonical and the newest {number(DRAWN - 1)} of {number(len(rows))} members.")
    hashes, labels = seen.agreement.hashes[drawn], _labels(seen, drawn)
    apart = hamming(hashes)
    from_first = list(apart[0][1:])
    st.plotly_chart(
        bit_strips(bits_of(hashes), labels, f"{_span(from_first)} of 64 bits differ from the canonical ★"),
        key="bit_strips",
        config=QUIET,
        alt="The 64 bits of every member; those that differ from the canonical are crossed",
    )
    beyond = sum(apart[i][j] > seen.nearness.bits for i in range(len(drawn)) for j in range(i))
    pairs = len(drawn) * (len(drawn) - 1) // 2
    by_hash = seen.nearness.method is Method.SIMHASH
    limit = seen.nearness.bits if by_hash else 64
    title = f"{number(beyond)} of {counted(pairs, 'pair')} lie beyond {counted(seen.nearness.bits, 'bit')} (!)"
    st.plotly_chart(
        distance_matrix(apart, labels, limit, "bits", title if by_hash else "Bits in which any two members differ"),
        key="distance_matrix",
        config=QUIET,
        alt="In how many bits any two members differ",
    )


def _span(values: list[int]) -> str:
    low, high = min(values), max(values)
    return str(low) if low == high else f"{low} to {high}"


def _misses(seen: Clustered, row: ClusterRow, rows: list[int], scope: Scope) -> None:
    """What one step of the threshold more would add."""
    by_hash = seen.nearness.method is Method.SIMHASH
    looser = seen.nearness.looser
    at = counted(looser.bits, "bit") if by_hash else f"cosine {looser.cosine:.2f}"
    missed = seen.near_misses(row.number)
    if not missed:
        st.caption(f"Nothing would join this cluster at {at}.")
        return
    few = f", the newest {number(MOST)} listed" if len(missed) > MOST else ""
    st.caption(f"{counted(len(missed), 'observation')} would join at {at}, directly or through one another{few}.")
    listed = member_rows(seen, missed[:MOST])
    said_by = texts(scope, [each.id for each in listed])
    first = texts(scope, [row.canonical], SHOWN).get(row.canonical, "")
    more: dict[str, list[Any]] = {"bits": nearest(seen.agreement, missed[:MOST], rows)}
    more["diff"] = [_diff(first, said_by.get(each.id)) for each in listed]
    members(listed, said_by, "misses", more)


def _retrievals(seen: Clustered, rows: list[int], scope: Scope) -> None:
    """The window's retrievals in whose order this cluster's boost makes a difference."""
    if seen.nearness.method is not Method.SIMHASH:
        st.caption("Retrievals are replayed with clusters by SimHash, as they are live. Choose SimHash to see them.")
        return
    params = {
        "members": sorted(seen.agreement.ids[row] for row in rows),
        "bits": seen.nearness.bits,
        "scale": seen.nearness.scale,
    }
    told = working.wait("corroboration_effect", params, scope, words="Replaying the log with and without its boost")
    if told is None:
        return
    found = Effect.from_json(told)
    st.caption(
        f"{counted(found.holding, 'retrieval')} of {number(found.replayed)} replayed hold a member. Its boost reorders "
        f"{number(found.changed)}, changes the top 5 of {number(found.top_changed)}, and moves {number(found.entered)} "
        f"into blocks and {number(found.left)} out. Voices are counted as of each retrieval."
    )
    if not found.listed:
        return
    if found.changed > LISTED:
        st.caption(f"The {number(LISTED)} it changes most.")
    ids = tuple(each.retrieval for each in found.listed)
    frame = loading.load(ShownRetrievals(scope, tuple(sorted(ids)), loading.shape())).frames[0]
    asked = dict(zip(frame["id"], frame["query"], strict=True))
    labels = {id_: str(asked.get(id_, GONE)) for id_ in ids}
    choose_to_open("choose_reordered", "a retrieval", labels, links.open_retrieval)
    grid(
        pd.DataFrame(
            {
                "open": "Inspect",
                "query": [asked.get(id_, GONE) for id_ in ids],
                "rank": [f"{each.before + 1} → {each.after + 1}" for each in found.listed],
                "moved": [moved(each.before, each.after) for each in found.listed],
                "entered": [each.entered for each in found.listed],
                "left": [each.left for each in found.listed],
                "member": [each.observation for each in found.listed],
                "id": ids,
            }
        ),
        hide_index=True,
        key="reordered",
        column_config={
            "open": links.open_column("reordered_open", ids, "inspector.py", "retrieval"),
            "query": st.column_config.TextColumn("Question", width=380),
            "rank": st.column_config.TextColumn("Best member", width=100, help=glossary.RANK_WITH_BOOST),
            "moved": st.column_config.TextColumn("Moved", width=70),
            "entered": st.column_config.NumberColumn("▲ in", width=55, help=glossary.ENTERED),
            "left": st.column_config.NumberColumn("▼ out", width=55, help=glossary.LEFT),
            "member": st.column_config.TextColumn("Member", width=110),
            "id": st.column_config.TextColumn("Retrieval", width=110),
        },
    )
