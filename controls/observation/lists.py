"""The parts of an observation's page that are lists: retrievals, weight, cluster, contradictions, neighbours."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from analysis.corroboration.disputes import settled
from controls import address, disputes, glossary, links, messages, observations
from controls.grid import grid
from controls.loading import load
from controls.messages import MISSING, counted, moved, number
from controls.opening import choose_to_open
from controls.verbatim import verbatim
from queries.errors import OUR_SCHEMA, StoreError
from queries.observation.near import NEAREST, NearestBySimhash, NearestByVector
from queries.observation.record import STEPS
from queries.observation.retrieved import PAGE
from queries.scope import marked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from streamlit.elements.lib.mutable_tab_container import TabContainer

    from controls.dossier import Dossier

PART, TABS = "part", "pick_part"
ALERTS_PAGE = "drift_alerts.py"


def tabs(labels: Sequence[str]) -> Sequence[TabContainer]:
    """The parts; the one that the address names is open."""
    named = address.said(PART)
    st.session_state[TABS] = named if named in labels else labels[0]
    return st.tabs(labels, key=TABS, on_change=_picked, args=(labels[0],))


def _picked(first: str) -> None:
    picked = st.session_state[TABS]
    address.say(**{PART: None if picked == first else picked})


def retrievals(found: Dossier) -> None:
    """A page of the retrievals that logged it; each opens in the Inspector."""
    total, rows = int(found.totals["retrievals"]), found.retrievals
    if not total:
        messages.never_retrieved()
        return
    page = rows.head(PAGE)
    outcomes = {name: int(found.totals[name]) for name in ("accepted", "rework", "rejected")}
    unknown = int(found.totals["unknown_outcome"])
    without = int(found.totals["sessions"]) - sum(outcomes.values()) - unknown
    outcomes |= {"without outcome": without} | ({"with an unknown one": unknown} if unknown else {})
    mix = " · ".join(f"{number(count)} {name}" for name, count in outcomes.items())
    st.caption(f"{counted(total, 'retrieval')} in all. Sessions it was injected into: {mix}.")
    before, after = page["unweighted_rank"] + 1, page["weighted_rank"] + 1
    shown = pd.DataFrame(
        {
            "open": "Inspect",
            "at": page["at"],
            "query": page["query_text"],
            "unweighted": before,
            "weighted": after,
            "moved": [moved(*ranks) for ranks in zip(before, after, strict=True)],
            "injected": page["injected"].map({True: "● injected", False: "○ no"}).fillna(MISSING),
            "weighting": page["weighted"].map({True: "on", False: "off"}).fillna(MISSING),
            "outcome": page["outcome"].fillna(MISSING),
            "session": page["session_id"],
        }
    )
    queries = dict(zip(page["retrieval"], page["query_text"], strict=True))
    choose_to_open("choose_retrieval", "a retrieval", queries, partial(_inspect, str(found.scope.org)))
    grid(
        shown,
        hide_index=True,
        key="retrievals",
        placeholder=MISSING,
        column_config={
            "open": links.open_column(
                "open_retrieval", tuple(page["retrieval"]), "inspector.py", "retrieval", org=str(found.scope.org)
            ),
            "at": st.column_config.DatetimeColumn("When (UTC)", format=observations.WHEN, timezone="UTC", width=135),
            "query": st.column_config.TextColumn("Query", width=300),
            "unweighted": st.column_config.NumberColumn("Unweighted", help=glossary.RANK_BY_RELEVANCE),
            "weighted": st.column_config.NumberColumn("Weighted", help=glossary.RANK_WITH_FEEDBACK),
            "moved": st.column_config.TextColumn("Moved"),
            "injected": st.column_config.TextColumn("Injected"),
            "weighting": st.column_config.TextColumn("Weighting"),
            "outcome": st.column_config.TextColumn("Outcome", help=glossary.OUTCOME),
            "session": st.column_config.TextColumn("Session"),
        },
    )
    with st.container(horizontal=True):
        if "below" in st.query_params:
            st.button("Newest", key="newest", on_click=_turn, args=(None,), icon=":material/first_page:")
        if len(rows) > PAGE:
            last = page.iloc[-1]
            at = f"{last['at'].isoformat()}~{last['retrieval']}"
            st.button("Older", key="older", on_click=_turn, args=(at,), icon=":material/chevron_right:")


def _inspect(org: str, retrieval: str) -> None:
    links.go("inspector.py", org=org, retrieval=retrieval)


def _turn(below: str | None) -> None:
    address.say(below=below)


def weight(found: Dossier) -> None:
    """Each change of the weight with the session, its outcome and the rate."""
    steps = found.steps
    if steps.empty:
        st.info("No outcome has moved this weight yet.", icon=":material/balance:")
        return
    total = int(steps["total"].iloc[0])
    newest = f" The newest {number(STEPS)} are shown." if total > len(steps) else ""
    st.caption(
        f"{counted(total, 'change')}: new = old · (1 − α) + α after success, old · (1 − α) after failure.{newest}"
    )
    breaks = int((steps["previous_weight"].iloc[:-1].to_numpy() != steps["new_weight"].iloc[1:].to_numpy()).sum())
    if breaks:
        told = f"{counted(breaks, 'change')} {'does' if breaks == 1 else 'do'} not begin where the one before ended."
        st.caption(f":orange[:material/warning: {told}]")
    grid(
        pd.DataFrame(
            {
                "when": steps["recorded_at"],
                "outcome": steps["outcome"],
                "old": steps["previous_weight"],
                "new": steps["new_weight"],
                "change": steps["new_weight"] - steps["previous_weight"],
                "alpha": steps["alpha"],
                "session": steps["session_id"],
            }
        ),
        hide_index=True,
        key="weight_steps",
        placeholder=MISSING,
        column_config={
            "when": st.column_config.DatetimeColumn("When (UTC)", format=observations.WHEN, timezone="UTC"),
            "outcome": st.column_config.TextColumn("Outcome"),
            "session": st.column_config.TextColumn("Session"),
            "old": st.column_config.NumberColumn("Old weight", format="%.3g"),
            "new": st.column_config.NumberColumn("New weight", format="%.3g"),
            "change": st.column_config.NumberColumn("Change", format="%+.3g"),
            "alpha": st.column_config.NumberColumn("α", format="%.3g"),
        },
    )


def _pass(found: Dossier) -> None:
    if found.last_pass is not None and not pd.isna(found.last_pass["finished_at"]):
        checked = found.last_pass["checked_at"]
        held = "" if pd.isna(checked) else f", last seen to hold {checked:%-d %b %H:%M}"
        st.caption(f"From the aggregation pass of {found.last_pass['finished_at']:%-d %b %Y %H:%M} UTC{held}.")


def cluster(found: Dossier) -> None:
    """The near-duplicates of it, as the last pass found them, whichever side they are on; each member opens."""
    if found.members is None:
        messages.not_aggregated()
        return
    _pass(found)
    members = found.members
    if members.empty:
        st.info("It is in no cluster: the pass found no near-duplicate of it.", icon=":material/person:")
        return
    first = members.iloc[0]
    sizes = ", ".join(counted(int(first[f"{noun}s"]), noun) for noun in ("member", "agent", "session"))
    st.caption(f"{sizes}, at most {counted(int(first['diameter']), 'bit')} apart.")
    if found.disputes:
        disputes.cluster_is_disputed(settled(one.verdict for one in found.disputes))
    role = [
        " · ".join(_roles(found, id_, canonical=canonical))
        for id_, canonical in zip(members["id"], members["canonical"], strict=True)
    ]
    observations.table(members.assign(role=role), "members", {"role": "Role", "bits": "Bits apart"})


def _roles(found: Dossier, id_: str, *, canonical: bool) -> Iterator[str]:
    """What a member of the cluster is, and whom it contradicts: this one, or what speaks for the cluster."""
    if id_ == str(found.id):
        yield "this one"
    if canonical:
        yield "canonical"
    verdicts = {side: one.verdict for one in found.disputes for side in (one.older, one.newer)}
    if id_ in verdicts and not canonical:
        yield disputes.of_member(verdicts[id_], "the canonical")
    if id_ in found.against and {id_, str(found.id)} not in ({one.older, one.newer} for one in found.disputes):
        yield disputes.of_member(_verdict(found, id_), "this one")


def _verdict(found: Dossier, other: str) -> str | None:
    """Which side triage found right, of the contradiction with another; none where several of equal texts stand."""
    rows = [] if found.contradictions is None else found.contradictions[["other", "verdict"]].itertuples(index=False)
    return next((str(verdict) for id_, verdict in rows if id_ == other and not pd.isna(verdict)), None)


def contradictions(found: Dossier) -> None:
    """The other side of each contradiction verbatim, with what shows the conflict."""
    if found.contradictions is None:
        messages.not_aggregated()
        return
    _pass(found)
    if found.contradictions.empty:
        st.info("The pass found nothing that contradicts it.", icon=":material/handshake:")
        return
    total = int(found.contradictions["total"].iloc[0])
    if total > len(found.contradictions):
        st.caption(f"The {len(found.contradictions)} most severe of {number(total)}.")
    for place, (_, row) in enumerate(found.contradictions.iterrows()):
        with st.container(border=True):
            _contradiction(place, row, str(found.scope.org))


def _contradiction(place: int, row: pd.Series[Any], org: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        measured = f"severity {row['severity']:.3g} of 100 · overlap {row['overlap']:.3g}"
        verdict = None if pd.isna(row["verdict"]) else str(row["verdict"])
        decided = disputes.of_contradiction(verdict, dismissed=row["dismissed"])
        shown = f"{'○' if row['dismissed'] else '✕'} {row['kind']} · {measured} · rule {row['rule']}"
        st.text(shown if decided is None else f"{shown} · {decided}")
        st.button(
            "Open the other", key=f"other_{place}", on_click=_go, args=(row["other"],), type="tertiary",
            icon=":material/article:",
        )  # fmt: skip
        st.button(
            "Alert", key=f"alert_{place}", on_click=_to_alert, args=(org, row["fingerprint"]), type="tertiary",
            icon=":material/difference:",
        )  # fmt: skip
    age = "newer" if row["side"] == "older" else "older"
    who = [f"the {age} side", *(str(row[name]) for name in ("agent_id", "session_id") if not pd.isna(row[name]))]
    if not pd.isna(row["created_at"]):
        who.append(f"{row['created_at']:%-d %b %Y %H:%M} UTC")
    st.text(marked(" · ".join(who)))
    if pd.isna(row["content"]):
        st.text("The other observation is no longer stored.")
    else:
        verbatim(row["content"])
    evidence = row["evidence"] if isinstance(row["evidence"], list) else []
    quoted = {}
    for where, side in (("here", row["side"]), ("there", age)):
        quoted[where] = ", ".join(f"“{word['text']}”" for word in evidence if word.get("side") == side)
    shows = " · ".join(f"{where} {words}" for where, words in quoted.items() if words)
    if shows:
        st.text(marked(f"Shown by: {shows}"))


def _to_alert(org: str, fingerprint: str) -> None:
    links.go(ALERTS_PAGE, org=org, alert=fingerprint)


def _go(observation: str) -> None:
    links.go(observations.PAGE, observation=observation)


def neighbours(found: Dossier) -> None:
    """The nearest of the organization, by vector and by SimHash; each opens."""
    st.caption(
        f"The {NEAREST} nearest full vectors of the organization, every one compared: cosine 1 is the same direction."
    )
    try:
        near = load(NearestByVector(found.scope, found.id)).frames[0]
        if near.empty:
            st.info(
                "It has no full vector, or one of zeros, or no other of that length exists here.",
                icon=":material/scatter_plot:",
            )
        else:
            observations.table(near, "by_vector", {"cosine": "Cosine"})
    except StoreError as error:
        messages.left_out("Neighbours by vector", error)
    st.caption(f"The {NEAREST} nearest SimHashes: up to 3 of 64 bits apart count as the same thing said again.")
    if not found.fingerprint.tokens:
        st.info("Its text has no words to hash.", icon=":material/fingerprint:")
        return
    try:
        alike = load(NearestBySimhash(found.scope, found.id, found.fingerprint.simhash)).frames[0]
    except StoreError as error:
        if error.kind in OUR_SCHEMA:
            messages.not_aggregated()
        else:
            messages.left_out("Neighbours by SimHash", error)
        return
    if alike.empty and found.last_pass is None:
        messages.not_aggregated()
    elif alike.empty:
        st.info("No other text of the organization has a SimHash to compare.", icon=":material/fingerprint:")
    else:
        observations.table(alike, "by_simhash", {"bits": "Bits apart"})
