"""Feature flags: what each organization has set, what a change would do, and what changes did."""

from controls import flag_history, flags, messages
from controls.flag_states import organizations
from controls.loading import ask_now, may_write
from controls.view import view
from queries.flags.history import FlagObjects, StandingChanges

seen = view()
answers = ask_now(FlagObjects(seen.scope), StandingChanges(seen.scope))
objects, standing = answers.frames
shown = organizations(objects, standing, answers.as_of, flags.stale_after())

messages.ignored_in_link(flags.ignored())
flag_history.opened_by_link(seen)
flags.figures(shown, answers.as_of)
flags.matrix(shown, choosing=len(shown) > 1 and may_write() and seen.principal.may("operator"))
flags.change(shown, seen)
flag_history.history(seen)
