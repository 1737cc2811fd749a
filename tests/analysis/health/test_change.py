"""What a change means: worse and better by the measure's sense, chance by an interval, and what is worth a sentence."""

from __future__ import annotations

import pytest

from analysis.health.change import PRESENT_ONLY, SERVICES, compare, worst_first
from analysis.health.checks import CHECKS
from analysis.health.counts import FLOOR, Shares, told


def means(now: dict[str, float], before: dict[str, float]) -> dict[str, str]:
    return {each.measure.name: each.meaning for each in compare(now, before)}


class TestMeaning:
    def test_less_is_worse_for_sessions_accepted_and_better_for_misled(self) -> None:
        now = {"accepted": 500.0, "judged": 1000.0, "misled": 100.0, "diagnosed": 1000.0}
        before = {"accepted": 600.0, "judged": 1000.0, "misled": 200.0, "diagnosed": 1000.0}
        found = means(now, before)
        assert (found["accepted"], found["misled"]) == ("worse", "better")
        turned = means(before, now)
        assert (turned["accepted"], turned["misled"]) == ("better", "worse")

    def test_few_sessions_are_chance_and_many_are_not(self) -> None:
        """Ten of twenty after twelve of twenty is nothing; the same shares of thousands are."""
        few = means({"accepted": 10, "judged": 20}, {"accepted": 12, "judged": 20})
        many = means({"accepted": 1000, "judged": 2000}, {"accepted": 1200, "judged": 2000})
        assert (few["accepted"], many["accepted"]) == ("chance", "worse")

    def test_what_is_stored_does_not_vary_by_chance(self) -> None:
        found = means({"stale": 3, "kept": 10}, {"stale": 2, "kept": 10})
        assert found["stale"] == "worse"

    def test_tokens_are_neither_better_nor_worse(self) -> None:
        assert means({"tokens": 300, "blocks": 1}, {"tokens": 200, "blocks": 1})["tokens"] == "moved"

    def test_the_same_is_the_same(self) -> None:
        counts = {"tokens": 300.0, "blocks": 2.0, "never": 3.0, "settled": 9.0, "accepted": 3.0, "judged": 9.0}
        found = means(counts, counts)
        assert {found["tokens"], found["never"], found["accepted"]} == {"same"}
        nothing_given = {"tokens": 0.0, "blocks": 2.0, "empty": 2.0}
        assert means(nothing_given, nothing_given)["tokens"] == "same"

    def test_what_is_missing_is_never_a_change(self) -> None:
        found = means({"accepted": 5, "judged": 9, "complete": 5, "retrievals": 9}, {"complete": 0, "retrievals": 0})
        assert (found["accepted"], found["coverage"], found["misled"]) == ("nothing", "nothing", "nothing")

    def test_what_has_no_past_says_so(self) -> None:
        every = {check.part: 1.0 for check in CHECKS} | {check.whole or "": 2.0 for check in CHECKS}
        found = compare(every, every)
        assert {each.measure.name for each in found if each.meaning == "present"} == PRESENT_ONLY
        assert all(each.before is None for each in found if each.measure.name in PRESENT_ONLY)


class TestNotKnown:
    """Of 100 observations some have a past that nobody kept: they count as they stand now, up to five of them."""

    @pytest.mark.parametrize(
        ("name", "part", "whole", "unknown"),
        [
            ("collapsed", "collapsed", "weighed", "unknown_weights"),
            ("never", "never", "settled", "unknown_never"),
            ("stale", "stale", "kept", "unknown_stale"),
        ],
    )
    def test_above_five_in_a_hundred_nothing_is_compared(self, name: str, part: str, whole: str, unknown: str) -> None:
        told = {}
        for lost in (0, 5, 6):
            found = compare({part: 30, whole: 100}, {part: 10, whole: 100, unknown: lost})
            told[lost] = next((each.meaning, each.before) for each in found if each.measure.name == name)
        assert told == {0: ("worse", 0.1), 5: ("worse", 0.1), 6: ("nothing", None)}


class TestNoticed:
    def test_a_point_is_noticed_and_less_only_with_a_worse_band(self) -> None:
        """Never retrieved: 29.5 to 30.2 % leaves the good band (30 %), 10 to 10.7 % stays in it."""
        stays = compare({"never": 107, "settled": 1000}, {"never": 100, "settled": 1000})
        leaves = compare({"never": 302, "settled": 1000}, {"never": 295, "settled": 1000})
        grows = compare({"never": 110, "settled": 1000}, {"never": 100, "settled": 1000})
        assert [[each.measure.name for each in worst_first(found)] for found in (stays, leaves, grows)] == [
            [], ["never"], ["never"],
        ]  # fmt: skip

    def test_a_point_to_the_worse_of_too_few_leaves_it_open_and_to_the_better_does_not(self) -> None:
        """Ten of twenty after twelve of twenty, and the other way round."""
        fell = compare({"accepted": 10, "judged": 20}, {"accepted": 12, "judged": 20})
        rose = compare({"accepted": 12, "judged": 20}, {"accepted": 10, "judged": 20})
        assert [(each.measure.name, each.of) for each in fell if each.unsure] == [("accepted", (20, 20))]
        assert not [each for each in rose if each.unsure]

    def test_of_a_part_of_the_log_only_what_was_read_counts(self) -> None:
        """A tenth was read: 90 of 100 after 95 of 100, though the counts stand for thousands."""
        now, before = {"complete": 900, "retrievals": 1000}, {"complete": 950, "retrievals": 1000}
        (coverage,) = (each for each in compare(now, before, Shares(log=0.1)) if each.measure.name == "coverage")
        assert (coverage.meaning, coverage.of) == ("chance", (100, 100))

    def test_how_sessions_were_served_comes_first_then_the_largest_change(self) -> None:
        now = {"accepted": 570, "judged": 1000, "stale": 30, "kept": 100, "never": 20, "settled": 100}
        before = {"accepted": 670, "judged": 1000, "stale": 5, "kept": 100, "never": 5, "settled": 100}
        assert [each.measure.name for each in worst_first(compare(now, before))] == ["accepted", "stale", "never"]

    def test_every_service_says_what_to_do(self) -> None:
        assert all(service.todo and service.formula for service in SERVICES)


class TestDrawn:
    """Of what was drawn only a share was seen: as few as that vary by chance, whatever they stand for."""

    NOW, BEFORE = {"collapsed": 220, "weighed": 1000}, {"collapsed": 200, "weighed": 1000}

    def test_what_is_stored_does_not_vary_by_chance_unless_it_was_drawn(self) -> None:
        meaning = {
            share: next(
                each.meaning
                for each in compare(self.NOW, self.BEFORE, Shares(stored=share))
                if each.measure.name == "collapsed"
            )
            for share in (1.0, 0.1)
        }
        assert meaning == {1.0: "worse", 0.1: "chance"}

    def test_each_count_has_its_own_share(self) -> None:
        shares = Shares(log=0.1, stored=0.2, given=0.3)
        assert [shares.of(name) for name in ("complete", "active", "lost", "accepted")] == [0.1, 0.2, 0.3, 1.0]

    def test_too_few_drawn_of_one_organization_say_nothing(self) -> None:
        counts = {"active": 299.0, "collapsed": 3.0, "retrievals": 600.0, "complete": 590.0, "accepted": 2.0}
        assert told(counts, Shares(log=0.05, stored=0.1)) == {"retrievals": 600, "complete": 590, "accepted": 2}
        assert FLOOR == 600 * 0.05
        assert told(counts, Shares()) == counts
