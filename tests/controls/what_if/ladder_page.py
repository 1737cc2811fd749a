"""The ladder of outcomes where weighting went on, after so many sessions before: all, then half of them accepted."""

import streamlit as st

from analysis.replay.outcomes import Outcomes, Switched, switched
from analysis.replay.pool import Coverage
from analysis.replay.propensity import Reweighted
from controls.what_if.outcome_ladder import ladder
from tests.analysis.replay.switching import DAY, endings

first, second = int(st.query_params["first"]), int(st.query_params["second"])
at = [*range(first), *(90 * DAY + place for place in range(second)), *((100 + place) * DAY for place in range(40))]
on = [False] * (first + second) + [True] * 40
after = {"none": [False] * 40, "half": [place % 2 == 0 for place in range(40)], "all": [True] * 40}
accepted = [True] * first + [place % 2 == 0 for place in range(second)] + after[st.query_params["after"]]
both = int(st.query_params["both"])
more = at[-1:] * both
found = switched(endings(on + [True] * both, accepted + [True] * both, both, at=[*at, *more]), "Weighting")
ladder(
    Coverage(1, 1, ()), Outcomes(found, Switched(None, "No boost.")), Reweighted(None, "Nothing more."), on_top=False
)
