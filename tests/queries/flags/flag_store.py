"""Changes of flags, and what the store says about them in one snapshot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

from queries.flags.change import SetFlag
from queries.scope import Reach

if TYPE_CHECKING:
    import psycopg

    from queries.flags.registry import State

    Owner = psycopg.Connection[Any]

MINE = Reach(("org_a",))
WEIGHTING, BOOST = "feedback_weighting_disabled", "corroboration_boost_enabled"
SPOKEN: dict[str | None, State] = {None: "absent", "true": "on", "false": "off", "absent": "absent"}


def set_flag(
    seen: State, new: State, org: str = "org_a", flag: str = WEIGHTING, request: UUID | None = None, **more: Any  # noqa: ANN401 - SetFlag's own
) -> SetFlag:  # fmt: skip
    given = {"reason": "because", "actor": "omar", "source": "test", **more}
    return SetFlag(org, flag, seen, new, request_id=request or uuid4(), **given)


def live_and_audited(owner: Owner, org: str = "org_a", flag: str = WEIGHTING) -> tuple[State, State | None]:
    """The flag as it stands and as its last audit entry says, both from one statement."""
    row = owner.execute(
        """select features ->> %(flag)s, (select new_state from rankscope.flag_changes
             where org_id = %(org)s and flag = %(flag)s order by id desc limit 1)
             from organizations where id = %(org)s""",
        {"org": org, "flag": flag},
    ).fetchone()
    assert row
    return SPOKEN[row[0]], None if row[1] is None else SPOKEN[row[1]]


def audit_rows(owner: Owner, org: str = "org_a", flag: str = WEIGHTING) -> list[tuple[State, State]]:
    rows = owner.execute(
        "select old_state, new_state from rankscope.flag_changes where org_id = %s and flag = %s order by id",
        (org, flag),
    )
    return [(SPOKEN[old], SPOKEN[new]) for old, new in rows]


def features_text(owner: Owner, org: str = "org_a") -> str | None:
    row = owner.execute("select features::text from organizations where id = %s", (org,)).fetchone()
    assert row
    found: str | None = row[0]
    return found
