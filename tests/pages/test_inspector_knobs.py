"""The Inspector's knobs: turned, written into the address, taken back, and what they do to the list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from controls.inspector.stages import KNOBS, PARTS, STARTS, shown
from ranking import fingerprints
from ranking.near_pairs import near_components
from tests.pages.application import application
from tests.pages.inspector_page import opened, param, said
from tests.retrieval.planted import QUESTION, plant

if TYPE_CHECKING:
    import psycopg
    from streamlit.testing.v1 import AppTest

    from controls.inspector.stages import Knob

    Owner = psycopg.Connection[Any]

pytestmark = pytest.mark.usefixtures("_weighted_notes")


def turnable(test: AppTest, key: str) -> Any:  # noqa: ANN401 - a control of any kind
    kinds = (test.slider, test.number_input, test.toggle, test.button_group)
    return next(control for kind in kinds for control in kind if control.key == key)


def other(knob: Knob, value: Any) -> Any:  # noqa: ANN401 - a number, a switch or an option
    """A value that the knob has not now, on its own steps."""
    if knob.switch:
        return not value
    if knob.options is not None:
        return next(option for option in knob.options if option != value)
    changed = value + knob.step if value + knob.step <= knob.high else value - knob.step
    return int(changed) if knob.whole else round(changed, 6)


class TestFigures:
    def test_a_knob_in_the_address_is_turned(self, address: str) -> None:
        test = opened(address, org="acme", q=QUESTION, fb="off", tokens="100", v="1")
        assert test.toggle("turn_fb").value is False
        assert test.number_input("turn_tokens").value == 100
        assert "2 changed" in said(test)
        assert test.dataframe[0].value["moved"].tolist() == ["="] * 5

    def test_a_slider_writes_the_address_and_a_reset_takes_it_back(self, address: str) -> None:
        with application(address, org="acme", q=QUESTION, preset="INTENDED", v="1", open="corroboration") as test:
            test.switch_page("inspector.py").run()
            test.slider("turn_boost").set_value(0.3).run()
            assert (param(test, "boost"), param(test, "v")) == ("0.3", "1")
            test.button("reset_boost").click().run()
            assert "boost" not in test.query_params
            assert not test.exception

    @pytest.mark.parametrize("start", ["routes", "scores"])
    def test_every_knob_of_every_stage_can_be_turned_and_none_undoes_another(self, address: str, start: str) -> None:
        """What was turned while a run went on comes all at once, each knob by its own callback."""
        link = {"preset": "FULL", "start": start, "with": ".".join(PARTS), "open": ".".join(("start", *PARTS))}
        with application(address, org="acme", q=QUESTION, v="1", **link) as test:
            test.switch_page("inspector.py").run()
            turned = {}
            for knob in KNOBS:
                if knob.stage in (*PARTS.values(), type(STARTS[start])):
                    control = turnable(test, f"turn_{knob.key}")
                    turned[knob.key] = other(knob, control.value)
                    control.set_value(turned[knob.key])
            assert {knob.key for knob in KNOBS} - set(turned) == ({"alpha"} if start == "routes" else {"k"})
            test.run()
            assert not test.exception
            assert {key: param(test, key) for key in turned} == {key: shown(value) for key, value in turned.items()}
            assert {key: turnable(test, f"turn_{key}").value for key in turned} == turned


class TestParts:
    def test_the_first_part_and_what_was_changed_are_open(self, address: str) -> None:
        test = opened(address, org="acme", q=QUESTION, head="7", v="1")
        assert {element.key for element in test.number_input} == {"turn_head"}
        assert "pick_start" in {element.key for element in test.selectbox}

    def test_what_the_address_opens_is_open_and_nothing_else(self, address: str) -> None:
        test = opened(address, org="acme", q=QUESTION, open="budget")
        assert {element.key for element in test.number_input} == {"turn_tokens"}
        assert "pick_start" not in {element.key for element in test.selectbox}


class TestThreshold:
    TEXTS = (
        "The null pointer in the auth middleware came from a missing session cookie in the browser of the user today.",
        "The null pointer in the auth middleware came from a missing session cookie in the browser of the user now.",
        "Auth middleware must check the token before it reads the user.",
    )

    def test_other_bits_count_voices_anew_as_the_library_does(self, address: str, owner: Owner) -> None:
        """Without any pass nobody is corroborated at 3 bits; at 16 the first two say the same, each with one voice."""
        plant(owner, "twins", self.TEXTS)
        hashes = fingerprints(list(self.TEXTS))[0]
        alone = near_components(hashes, 16)
        assert (alone[0] == alone[1], alone[0] == alone[2]) == (True, False)
        link = {"org": "twins", "q": QUESTION, "preset": "INTENDED", "v": "1", "open": "corroboration"}
        passed, counted = opened(address, **link), opened(address, **link, bits="16")
        assert "No aggregation pass has finished" in said(passed)
        assert "No aggregation pass has finished" not in said(counted)
        assert (passed.slider("pick_bits").value, counted.slider("pick_bits").value) == (3, 16)
        before, after = (
            dict(zip(test.dataframe[0].value["memory"], map(float, test.dataframe[0].value["score"]), strict=True))
            for test in (passed, counted)
        )
        assert {name: round(after[name] - before[name], 3) for name in before} == {
            "Note 0": pytest.approx(0.1, abs=0.002), "Note 1": pytest.approx(0.1, abs=0.002), "Note 2": 0.0
        }  # fmt: skip
        assert "Texts up to 16 of 64 bits apart count as saying the same" in said(counted)

    def test_the_slider_writes_the_address(self, address: str) -> None:
        with application(
            address, org="acme", q=QUESTION, preset="INTENDED", v="1", open="corroboration", bits="x"
        ) as test:
            test.switch_page("inspector.py").run()
            assert test.slider("pick_bits").value == 3
            test.slider("pick_bits").set_value(5).run()
            assert param(test, "bits") == "5"
            assert "1 changed" in said(test)
            test.button("reset_bits").click().run()
            assert "bits" not in test.query_params
            assert not test.exception


def fits(test: AppTest) -> str:
    """What the memory block says of the rows that are in it and of those that are not."""
    captions = [str(line.value) for line in test.caption]
    (found,) = [line for line in captions if line.startswith(("Every row fits", "First not to fit"))]
    return found


class TestLeftOutBeforeTheBlock:
    """Of five rows: whatever a stage drops is told beside the block, with the stage and its setting."""

    @pytest.mark.parametrize(
        ("turned", "told"),
        [
            ({}, "Every row fits."),
            ({"with": "mmr", "pick": "2"}, "Every row fits. 3 left out by MMR, which chose 2."),
            ({"head": "4"}, "Every row fits. 1 left out by best rows, which keeps 4."),
            (
                {"head": "4", "with": "mmr", "pick": "3"},
                "Every row fits. 1 left out by best rows, which keeps 4; 1 left out by MMR, which chose 3.",
            ),
            (
                {"with": "floor", "fmode": "relative_to_top", "floor": "1"},
                "Every row fits. 4 left out by the floor, which asks for 1 of the best score.",
            ),
        ],
    )
    def test_it_says_how_many_and_by_what(self, address: str, turned: dict[str, str], told: str) -> None:
        test = opened(address, org="acme", q=QUESTION, show="block", v="1", **turned)
        assert fits(test) == told

    def test_it_is_told_beside_what_does_not_fit_too(self, address: str) -> None:
        test = opened(address, org="acme", q=QUESTION, show="block", v="1", tokens="1", **{"with": "mmr", "pick": "2"})
        assert fits(test).startswith("First not to fit: № 2, ")
        assert fits(test).endswith(" are left. 3 left out by MMR, which chose 2.")
