"""What tests of contradictions expect to be found."""

from ranking import Contradiction


def only(found: list[Contradiction]) -> Contradiction:
    """The one finding, where there is one."""
    assert len(found) == 1, found
    return found[0]
