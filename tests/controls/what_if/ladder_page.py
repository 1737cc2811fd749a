"""The ladder of outcomes where weighting went on, after so many sessions before: all, then half of them accepted."""

import streamlit as st

from analysis.replay.outcomes import Outcomes, Switched, switched
from analysis.replay.pool import Coverage
from analysis.replay.propensity import Estimate, Reweighted
from controls.what_if.outcome_ladder import in_short, ladder
from tests.analysis.replay.switching import DAY, endings

first, second = int(st.query_params["first"]), int(st.query_params["second"])
began = int(st.query_params["began"]) * DAY + DAY // 2
at = [*range(first), *(90 * DAY + place for place in range(second)), *(began + place * DAY for place in range(40))]
on = [False] * (first + second) + [True] * 40
after = {"none": [False] * 40, "half": [place % 2 == 0 for place in range(40)], "all": [True] * 40}
accepted = [True] * first + [place % 2 == 0 for place in range(second)] + after[st.query_params["after"]]
both = int(st.query_params["both"])
more = at[-1:] * both
found = switched(endings(on + [True] * both, accepted + [True] * both, both, at=[*at, *more]), "Weighting")
outcomes = Outcomes(found, Switched(None, "No boost."))
in_short(outcomes)
weighed = st.query_params.get("weighed")
effective, largest, clipped, mean = map(float, (weighed or "1 1 0 1").split())
made = Estimate(4_000, 0, 3_000, 0.5, 0.6, 0.55, 0.65, effective, largest, clipped, mean) if weighed else None
ladder(Coverage(1, 1, ()), outcomes, Reweighted(made, "Nothing more."), on_top=False)
