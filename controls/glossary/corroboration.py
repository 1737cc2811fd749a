"""What the tooltips of Corroboration say."""

from __future__ import annotations

from controls import glossary as terms
from queries.aggregation_input import LIMIT
from ranking.near_duplicates import DUPLICATE_COSINE as SAME_COSINE

# The knobs, their gates and figures
SIMHASH_BITS = terms.SIMHASH_BITS
BOOST_SCALE = terms.BOOST_SCALE
GATE_LIMITS = (
    "Rankscope's own limits of what a boost may do, the same for every organization; docs/pages/corroboration.md gives "
    "them with their reasons. A smaller scale, or counting agents alone, may meet them: try it in What-if."
)
NEAR_BY = (
    "SimHash compares words, bit by bit (documented). Embedding compares meaning: it finds the same said in other "
    "words, and also takes an opposite for the same more often."
)
LEAST_COSINE = f"Vectors with at least this cosine say the same. Documented, as Memsense's duplicates: {SAME_COSINE:g}."
CHAINED = "Chained: two members lie further apart than the threshold, joined only by those between them."
CLUSTERS = f"Groups of two observations or more that say the same, inside one project. {CHAINED}"
MEMBERS = "Observations that say the same, the canonical among them, and how many agents and sessions wrote them."
CANONICAL = "The member that stands for the cluster: the one of highest weight, of equals the earliest."
DIAMETER = "How far the two most distant members lie apart: in bits of 64, or by embedding in 1 − cosine."
CORROBORATED = (
    f"Observations that are in a cluster, of the newest {LIMIT:,}. Beside it: those in a cluster that two agents or "
    "more stand behind; in the rest one agent repeats itself, or none is named."
)
INDEPENDENT = "Clusters that two agents or more stand behind. In the rest one agent repeats itself, or none is named."
DISPUTED = (
    "Clusters in which a member contradicts the canonical: near in words, opposite in what they say. A pair that "
    "triage dismissed (false positive, or both hold) disputes nothing; one resolved for a side still does: settled."
)
BOOSTED_SHARE = (
    "Retrievals of the window with a candidate that is in a cluster today, as the sliders stand. Beside it: those that "
    "had a boost when they were logged."
)
BOOST_BY_MEMBERS = "As configured: scale · log₂(1 + other members)."
BOOST_BY_AGENTS = "The boost if only other agents counted."
RANK_WITH_BOOST = "Its rank without → with this boost."
ENTERED = "Observations that enter the block."
LEFT = "Observations that leave the block."
