"""A flag's preview against what replaying the opposite says, and against planted states of the flags."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from analysis.replay.flags import flag_flip
from analysis.replay.replaying import replay
from analysis.replay.settings import WhatIf
from queries.scope import OutOfReachError, Reach
from tests.analysis.conftest import scope_of

if TYPE_CHECKING:
    from queries.engine import Store

WEIGHTING, BOOST = "feedback_weighting_disabled", "corroboration_boost_enabled"


@pytest.mark.parametrize(
    ("org", "flag", "effect", "settings"),
    [
        ("org_tidewater", WEIGHTING, "weighting off", WhatIf(weighting=False)),
        ("org_alder", WEIGHTING, "weighting on", WhatIf(weighting=True)),
        ("org_quillworks", WEIGHTING, "weighting on", WhatIf(weighting=True)),
        ("org_tidewater", BOOST, "boost off", WhatIf(boost=0.0)),
        ("org_lumenfield", BOOST, "boost on", WhatIf(boost=0.1)),
    ],
)
def test_a_flip_is_the_opposite_of_what_holds_now(
    demo: Store, org: str, flag: str, effect: str, settings: WhatIf
) -> None:
    scope = scope_of(org)
    preview = flag_flip(demo, scope.reach, org, flag, scope.since, scope.until)
    expected = replay(demo, scope, settings)
    assert preview.effect == effect
    assert (preview.logged, preview.retrievals) == (expected.coverage.logged, expected.coverage.replayed)
    assert preview.changed == expected.changed > 0
    assert (preview.top_changed, preview.entered, preview.left) == (
        expected.top_changed,
        expected.entered,
        expected.left,
    )
    assert preview.rbo == expected.rbo
    assert preview.worst == tuple(one.retrieval for one in expected.worst)
    assert preview.coverage == preview.retrievals / preview.logged
    assert sum(count for _, count in preview.reasons) == preview.logged - preview.retrievals


def test_retrievals_already_made_under_the_new_state_stay_as_they_are(demo: Store) -> None:
    """Quillworks switched weighting off 40 days before the demo's now: before that it was on."""
    scope = scope_of("org_quillworks")
    late = scope_of("org_quillworks", days=40)
    whole, since = (
        flag_flip(demo, each.reach, "org_quillworks", WEIGHTING, each.since, each.until) for each in (scope, late)
    )
    assert whole.retrievals > since.retrievals
    assert whole.changed == since.changed


def test_a_logged_boost_is_not_counted_anew(demo: Store) -> None:
    scope = scope_of("org_tidewater")
    assert replay(demo, scope, WhatIf(boost=0.1, logged_boost_stays=True)).changed == 0


def test_a_preview_goes_into_an_audit_row(demo: Store) -> None:
    """With the moment at which the log was read: the last day of its window is seldom over by then."""
    scope, before = scope_of("org_lumenfield"), datetime.now(UTC)
    preview = flag_flip(demo, scope.reach, "org_lumenfield", WEIGHTING, scope.since, scope.until)
    said = json.loads(json.dumps(preview.to_json()))
    assert said["changed"] == preview.changed
    assert said["reasons"] == [
        ["logged incompletely (a rank is missing or repeated)", preview.logged - preview.retrievals]
    ]
    assert said["since"] == scope.since.isoformat()
    assert before <= datetime.fromisoformat(said["as_of"]) <= datetime.now(UTC)


def test_only_known_flags_and_organizations_in_reach(demo: Store) -> None:
    scope = scope_of("org_alder")
    with pytest.raises(ValueError, match="flag: expected one of feedback_weighting_disabled"):
        flag_flip(demo, scope.reach, "org_alder", "other", scope.since, scope.until)
    with pytest.raises(OutOfReachError):
        flag_flip(demo, Reach(("org_tidewater",)), "org_alder", WEIGHTING, scope.since, scope.until)
