from bisect import bisect_left, bisect_right

from ranking.contradictions.claim import Slot, Word
from ranking.contradictions.lexicon import WEAK

# how many words beside a value tell which slot it fills
_FRAME = 4


def framed(slots: list[Slot], words: dict[str, Word]) -> list[Slot]:
    """Slots with the words and values that stand before and after them, the nearest first, weak words left out."""
    around = [(word.place, key) for key, word in words.items() if key not in WEAK]
    around = sorted(around + [(slot.place, str(slot.value.norm)) for slot in slots])
    places, keys = [place for place, _ in around], [key for _, key in around]
    complete = []
    for slot in slots:
        first, last = bisect_left(places, slot.place), bisect_right(places, slot.place)
        before, after = tuple(keys[max(first - _FRAME, 0) : first][::-1]), tuple(keys[last : last + _FRAME])
        complete.append(Slot(slot.value, slot.place, slot.head, slot.label, slot.noun, before, after, slot.which))
    return complete
