"""What the measures of an alert mean, in the words of both the page's tooltips and the reports."""

WEIGHT = "Its feedback weight now: 1 at first, moved by how sessions ended that were given it."
SEVERITY_PARTS = {
    "recency": "Of the newer statement, in whole days: exp(−days / 30).",
    "domain": "1 where a side speaks of security or compliance, 0.4 elsewhere.",
    "frequency": "Of what is said: min(1, log₂(1 + observations on both sides) / 3).",
    "gap": "Difference of the two weights: feedback has begun to decide, so it lowers the severity.",
}
HARM = (
    "Severity · (1 + reach + 2 · together) / 4, with reach = min(1, log₂(1 + injections of both sides) / 10) and "
    "together = min(1, log₂(1 + sessions given both) / 5). A quarter of the severity while nobody was given either."
)
SAID_BY = (
    "Observations with nearly the same words, itself among them, and their agents; where such contradict each other, "
    "only those known to be on its side: they contradict what it contradicts."
)
CLAIM_OVERLAP = "Share of the smaller claim's words that both have."
