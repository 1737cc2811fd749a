"""What every tooltip says, worded once: a term means the same on every page."""

from __future__ import annotations

from analysis.drift import meanings
from analysis.health.checks import CHECKS
from analysis.replay.propensity import CLIP
from analysis.replay.settings import AS_LOGGED
from queries.anything import LOOKED_THROUGH, ROWS_LOOKED_THROUGH
from queries.flags.registry import DEFAULT_STALE
from queries.found_alerts import ALERTS_LOOKED_THROUGH
from queries.retrievals import POOL, TOP
from ranking.budget import BUDGETS, OTHER_BUDGET
from ranking.contradictions.classifying import THRESHOLD
from ranking.corroboration import SCALE
from ranking.mmr import DEFAULT_LAMBDA, DUPLICATE_THRESHOLD
from retrieval import pipelines

COVERED = next(check for check in CHECKS if check.name == "coverage")

FIND = (
    "An id or part of a name: organizations and projects by either, observations by id or part of their title, "
    "retrievals by id or part of their query, alerts by id or words of their two texts. Looked for in everything you "
    "may see; an alert, among those that the last aggregation pass found, its words among the "
    f"{ALERTS_LOOKED_THROUGH:,} most severe; a title, among the newest {LOOKED_THROUGH:,} active observations, and a "
    f"query, among the newest {ROWS_LOOKED_THROUGH:,} log rows, of the organization in the sidebar, or where none is "
    "chosen of all together, in equal shares; what small ones leave goes to the others."
)
SAVED_VIEW = "Keeps this page with its scope, filters and what is open, for you alone. Its link can be handed on."

# Terms of several pages
SIMHASH_BITS = f"Texts say the same if at most so many of their 64 bits differ. Documented: {AS_LOGGED.bits}."
BOOST_SCALE = f"Corroboration boost: scale · log₂(1 + others in the cluster). Documented: {SCALE:g}."
RBO = (
    "Rank-biased overlap of the two orders, p 0.9: 86 % of its weight lies on the first ten places. "
    "1 is the same order, 0 nothing shared; above 0.9 little changed, below 0.7 much."
)
TAU = (
    "Kendall's τ-b: pairs in the same order less those turned round, over all pairs. 1 the same order, 0 unrelated, "
    "−1 reversed. Every rank counts alike, unlike RBO."
)
ALL_DIGITS = "Figures as they were computed, without rounding."
RANK_BY_RELEVANCE = "Its rank by relevance alone, from 1."
RANK_WITH_FEEDBACK = "Its rank after feedback weights, from 1."
OUTCOME = "How the session ended."


def top_changed(top: int) -> str:
    """How often feedback changes the first so many."""
    return (
        f"Share of comparable retrievals whose first {top} observations would have been others without feedback "
        "weights. Comparable are those logged completely while weighting was on."
    )


# The trust strip
LOG_COVERAGE_AND_POOL = (
    "Log coverage is the share of retrievals whose two rank columns are whole, each rank given once: only these "
    "can say what feedback moved; Left out, on Feedback Impact, lists the others. Logging is lossy by design. "
    f"A retrieval at the limit of {POOL} candidates may have lost the ones after them; one that logged more had "
    "another limit and is not counted here."
)

# The matrix of organizations
FLIPS_OF_ORGANIZATION = (
    "Observations that entered or left a memory block through feedback, per 100 retrievals. "
    "Counts comparable retrievals whose block is logged."
)
OVERLAP_OF_ORGANIZATION = "Rank-biased overlap of the orders without and with feedback; 1: feedback moved nothing."
DRIFT_OF_ORGANIZATION = "Alerts of the last pass nobody has looked at; all but the dismissed per 1 000 observations."

# Overview
OBSERVATIONS = "Active observations stored now, and how many of them are new in this window."
RETRIEVALS = "Retrievals made in a session; others are never logged."
RETRIEVALS_BY_DAY = "Retrievals per day; the last day is not over."
ACCEPTED = "Share of the window's sessions with an outcome that were accepted, not rejected or sent to rework."
ACCEPTED_OF_ORGANIZATION = (
    f"{ACCEPTED} Beside it the change; worse and better hold among all organizations. (dip): better only than one bad "
    "week of the window before."
)
LOG_COVERAGE = (
    f"Share of retrievals logged completely. Above {COVERED.watch:.0%} is good; below {COVERED.red:.0%} read the other "
    "figures as a sample."
)
WEIGHTING_NOW = f"On unless {pipelines.WEIGHTING_OFF} is true."
BOOST_NOW = f"Corroboration boost: off unless {pipelines.BOOST_ON} is true."
OVERRIDE_AGE = (
    f"For how long the oldest flag that was set here has stood. Stale: for longer than {DEFAULT_STALE} days. "
    "Set outside: other software set it, and the audit has no entry for it or knows another state."
)
SESSIONS_WITH = {
    "without_rework": "Share of sessions with an outcome that were not sent to rework; rejected ones are among them.",
    "accepted": ACCEPTED,
}
OUTCOMES = "Accepted / rework / rejected, in percent of sessions with an outcome."

# One observation
WEIGHT = meanings.WEIGHT
RETRIEVED = "Retrievals that logged it, and in how many of them feedback moved it up or down."
INJECTED = "Retrievals that put it into the memory block."
ACCEPTED_OF_GIVEN = "Of sessions given it that have an outcome, those accepted. It was never their only memory."
SAID_BY_OTHERS = (
    "Others in its cluster of near-duplicates, as of the last aggregation pass. Where members contradict each other, "
    "only those known to be on its side: they contradict what it contradicts. The corroboration boost counts all. "
    "Against it: what contradicts it, in its cluster or elsewhere, but for what triage dismissed."
)

# Feedback Impact
MOVED_TIMES = "Retrievals that moved it up and down."
QUERY_CONTAINS = (
    "Keeps retrievals whose query contains these words as typed, in any case; % and _ are ordinary characters."
)
TOP_K = "How many of the first ranks count as the top in “top k changed”."
CELL_OF_THE_MAP = "The same as a click on the map: keeps the retrievals with a candidate at these two ranks."
FLIPS_BY_FEEDBACK = "Observations that entered or left the block through feedback: half came in, half were kept out."
FLIPS_BY_FEEDBACK_PER_100 = (
    "Observations that entered or left a block through feedback, per 100 retrievals with a logged block; "
    "half came in, half were kept out."
)
BLOCK_CHANGED = (
    "Share of retrievals with a logged block where at least one observation crossed the budget's cut: "
    "in the block with feedback and not without, or the other way round."
)
MEAN_MOVE = (
    "Places a candidate moved on average, either way: mean |rank without − rank with feedback|. "
    "The mean with its sign is zero by construction and says nothing."
)
RBO_BY_FEEDBACK = f"The order without feedback against the one with it. {RBO}"
TAU_BY_FEEDBACK = f"The order without feedback against the one with it. {TAU}"
INJECTION_RATE = (
    "Candidates that were injected, of all logged. Above 70 % nearly all that is found fits the budget; "
    "40 to 70 % is usual; below 40 % the budget decides more than the ranking."
)
TOP_ONE_CHANGED = "Share of comparable retrievals whose first observation would be another without feedback."
WEIGHT_DOMINANCE = (
    "Within a retrieval var(ln weight) / (var(ln weight) + var(ln score)), averaged: how much of the "
    "spread of the weighted score is the weight's. Above 0.5 weights order more than relevance does."
)
AVERAGE_OVER = "What it is an average over."
RANKS_FROM_ONE = "What breaks the rule: ranks without → with feedback, from 1; in the log they begin at 0."
ROWS_OF_CANDIDATES = "Rows logged, of as many candidates as the last rank names."

# What-if
REPLAY = (
    f"A replay reorders what was logged of each retrieval: {POOL} candidates, or as many as its pipeline recalled. "
    "Nothing outside that pool can enter, and agents would have acted differently."
)
ORDER_CHANGED = "Share of replayed retrievals in which a candidate would change its rank, or enter or leave the block."
TOP_CHANGED_REPLAYED = f"Share of the replayed retrievals whose first {TOP} observations would be others."
RBO_WITH_LOGGED = f"The order that was logged against this one. {RBO}"
TAU_WITH_LOGGED = f"The order that was logged against this one, over all candidates. {TAU}"
FLIPS_REPLAYED = (
    "Observations that would enter (▲) or leave (▼) a block, per 100 retrievals: all that agents can notice."
)
FLIPS_COUNTED_APART = (
    "Flips may differ from Feedback Impact's, which counts by places and in comparable retrievals alone; here texts "
    "are packed into the budget, and all that was replayed counts."
)
RANK_REPLAYED = "As logged → under these settings, from 1."
WEIGHT_CHANGE = "0 is an exact tie."
EFFECTIVE_SAMPLE = "How many sessions of equal weight would say as much: (Σ weight)² / Σ weight²."
LARGEST_WEIGHT = "What the least likely of the matching sessions counts for, before it is clipped."
CLIPPED = f"Share of sessions whose weight is above {CLIP:g} and counts as {CLIP:g}: each biases the estimate a little."
MEAN_WEIGHT = "1 but for chance where the log could have tried all that these settings choose."
WEIGHTING_REPLAYED = "Exact in both directions: relevance and weight are logged either way."
NORMALISE = "Min–max spreads relevance over 0–1 first, so that weights do not dominate. Documented: none."
BOOST_SCALE_REPLAYED = f"{BOOST_SCALE} All but as logged count clusters anew, among what existed at each retrieval."
BOOST_COUNTS = "The other members of a cluster (documented), or only the other agents among them."
LAMBDA = f"Maximal marginal relevance over the stored vectors. Live has none; Memsense documents {DEFAULT_LAMBDA:g}."
DUPLICATE_COSINE = f"Rows at least this alike wait until nothing else is left. Documented: {DUPLICATE_THRESHOLD:g}."
BLOCK_BUDGET = (
    f"Of the memory block. As logged: bug fixes {BUDGETS['bug_fix']}, features {BUDGETS['feature']}, refactoring "
    f"{BUDGETS['refactor']}, chores {BUDGETS['chore']}, other work {OTHER_BUDGET}."
)

# Drift Alerts
NOTE_ALONE = "Keeps note and owner; the alert stays where it stands."
DRIFT_THRESHOLD = (
    "Share of the smaller claim's words that both sides must have in common; what one side says was replaced by "
    f"something else counts whatever the share. Documented: {THRESHOLD:g}. "
    "Lower finds more and is wrong more often; the curve below says how often, by this organization's verdicts."
)
LEAST_SEVERITY = "Hides alerts below this severity, 0 to 100. Documented: 0, which hides none."
EITHER_AGENT = "On either side."
ALERTS_LISTED = (
    "Alerts that pass the filters, of all at this threshold. Each is a pair; the list says how many disputes they are: "
    "pairs that share an observation are one."
)
ALERTS_NEW = "Of all alerts at this threshold, those that nobody has looked at, or whose text changed since."
ALERTS_REACHED = "Open alerts of which at least one statement was injected in the window."
ALERTS_BOTH = "Open alerts of which both statements were injected into one session: its agent had to choose."
ALERTS_CONFIRMED = (
    "Of this organization's judged alerts that are found at this threshold, the share that was resolved and not "
    "dismissed as a false positive: how often an alert was worth raising. Shown from ten verdicts on."
)
AROSE_SINCE = "Hides alerts whose newer statement was written before this day, UTC."
HARM = meanings.HARM
SEVERITY = "100 · (0.4 · recency + 0.3 · domain + 0.3 · frequency) · (1 − gap / 2)."
SEVERITY_IN_PARTS = "Recency, domain, frequency and gap, each 0 to 1; the numbers stand at the right."
SEVERITY_PARTS = meanings.SEVERITY_PARTS
GIVEN_BOTH = "Sessions of the window that were given both."
SIDES_INJECTED = "Retrievals of the window that injected the older / the newer."
CONFLICT_WORDS = "The words that the finding rests on: those of the older statement, then those of the newer."
CLAIM_OVERLAP = meanings.CLAIM_OVERLAP
AROSE = "When the newer one was written."
RESOLVE = (
    "Keeps who is right, with your name and note. Both stay stored, and agents are given them until the platform "
    "corrects or archives one. U takes the decision back."
)

# Feature Flags
ORGANIZATIONS = "Organizations in this scope."
OVERRIDES = "Known flags that are set to on or off."
STALE = "Overrides set here more than so many days ago. A change that was taken back within a day does not count."
SET_OUTSIDE = "Other software set it: it is not what the audit says last. What a revert restored is not counted here."
UNREADABLE = "Not a valid flag object; never overwritten."
REASON = "Kept in the audit for good, with your name, the time and the preview's figures."
TOO_LONG_TO_SET = "Too many for the page: use the command below."
REPLAYED_OF_LOGGED = "Retrievals replayed, of those logged."
FLAG_PREVIEW = (
    "Each logged retrieval is ranked again with the flag turned, from the scores in the log. Nothing outside the "
    "logged candidates can enter. A flip is an observation that enters or leaves a memory block."
)


FLAG_STATES = (
    "What it does first, then the flag's own word. Off and absent rank alike today: off is an override, which stands "
    "until someone takes it away and is counted as one; absent follows the default, also should that change."
)


def flag(description: str, default: str, owner: str) -> str:
    """A flag as the registry describes it."""
    return f"{description} Default: {default}. Owner: {owner}."


# Health
FOUR_OF_THE_LOG = (
    "Log coverage: retrievals in the log with all their ranks; the others are logged incompletely. Permutation "
    "integrity: retrievals with all ranks, each observation once and every score a number. Lost retrievals: blocks "
    "that agents were given and of which the log has no row at all. Log-queue drops: what the writers themselves say "
    "they could not write since they started, whatever the window."
)
NEW_TEXTS = "Of those read, how many were new or changed since they were last fingerprinted."
SET_APART = "Observations that the pass left out because their weight is no number."
LOST_BY = "The processes that lost most, by the name each was given or its process id; three at most."
AMONG_MANY = (
    "Sessions accepted are adjusted for the number of organizations, as on Overview; all other measures together, for "
    "that of organizations and measures: of the changes marked in either, at most 5 % are chance on average "
    "(Benjamini–Hochberg). One opened by itself is held against its own 95 % interval alone."
)


def with_dip(explained: str, dip: str | None) -> str:
    """What a figure is, and where it is better only against a dip, which that is."""
    return explained if dip is None else f"{explained}\n\n{dip[:1].upper()}{dip[1:]}."


def check(formula: str, bands: str | None, todo: str, *, is_of_log: bool = False) -> str:
    """A measure of Health: how it is formed, how it is read, and what to do; without bands where platforms differ.

    One of the log is easily taken for another of it.
    """
    if bands is None:
        return f"{formula}. No bands: what is usual differs between platforms. When it gets worse: {todo}"
    apart = f"\n\n{FOUR_OF_THE_LOG}" if is_of_log else ""
    return f"{formula}. {bands}. When it is red: {todo}{apart}"
