"""Feature flags: what each organization has set, what a change would do, and what changes did."""

from controls import messages
from controls.flags import changing, history
from controls.flags.states import organizations
from controls.loading import ask_now, may_write
from controls.view import view
from queries.flags.history import FlagObjects
from queries.flags.standing import StandingChanges

seen = view()
answers = ask_now(FlagObjects(seen.scope), StandingChanges(seen.scope))
objects, standing = answers.frames
shown = organizations(objects, standing, answers.as_of, changing.stale_after())

messages.ignored_in_link(changing.ignored())
history.opened_by_link(seen)
changing.figures(shown, objects, answers.as_of)
changing.matrix(shown, choosing=len(shown) > 1 and may_write() and seen.principal.may("operator"))
changing.change(shown, seen)
history.history(seen)
