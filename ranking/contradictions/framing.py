from bisect import bisect_left, bisect_right

from ranking.contradictions.claim import Slot, Word
from ranking.contradictions.lexicon import WEAK

# how many words beside a value tell which slot it fills
_FRAME = 4
_PLACE = Word._fields.index("place")


def framed(slots: list[Slot], words: dict[str, Word]) -> list[Slot]:
    """Slots with the words and values that stand before and after them, the nearest first, weak words left out."""
    around = [(word[_PLACE], key) for key, word in words.items() if key not in WEAK]
    around += [(slot.place, str(slot.value.norm)) for slot in slots]
    around.sort()
    places, keys = [place for place, _ in around], [key for _, key in around]
    complete, new = [], tuple.__new__
    for value, place, head, label, noun, _, _, which in slots:
        first, last = bisect_left(places, place), bisect_right(places, place)
        before, after = tuple(keys[max(first - _FRAME, 0) : first][::-1]), tuple(keys[last : last + _FRAME])
        complete.append(new(Slot, (value, place, head, label, noun, before, after, which)))
    return complete
