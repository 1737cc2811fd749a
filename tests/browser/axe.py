"""What axe finds on a page that someone could not see, reach or hear, less what is Streamlit's own and listed here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

GRAVE = ("serious", "critical")
RUN = """async selectors => {
    const found = await axe.run(document, {resultTypes: ["violations"]});
    return found.violations.map(({id, impact, nodes}) => ({rule: id, impact, nodes: nodes.map(node => {
        const element = document.querySelector(node.target.at(-1));
        return {
            target: node.target.join(" "),
            html: node.html.slice(0, 200),
            why: node.failureSummary,
            theirs: selectors.filter(selector => element && element.matches(selector)),
        };
    })}));
}"""


@dataclass(frozen=True)
class Theirs:
    """One finding in markup that Streamlit makes and we cannot reach: the rule, the element, the theme, the reason."""

    rule: str
    selector: str
    themes: tuple[str, ...]
    reason: str


STREAMLITS = (
    Theirs(
        "color-contrast",
        "[data-testid=stMultiSelect] span[title]",
        ("dark",),
        "what is chosen in a multiselect is written in white on the primary colour, whatever that is; one dark enough "
        "for white would be too dark for the words of a chosen button, which are written in it on a dark ground",
    ),
    Theirs(
        "color-contrast",
        "[data-testid=stWidgetLabel][disabled] p",
        ("light", "dark"),
        "the label of a slider that has no effect at present; contrast is not asked of what is inactive, but axe knows "
        "that only of the browser's own controls",
    ),
    Theirs(
        "svg-img-alt",
        "[data-testid=stMetric] g[class*=highlighted_points_marks]",
        ("light", "dark"),
        "an empty group that shows the point under the mouse in the line of a metric; its figures stand in words above",
    ),
)


@dataclass(frozen=True)
class Finding:
    """One element that breaks one rule."""

    rule: str
    target: str
    html: str
    why: str


@cache
def source() -> str:
    """axe-core itself, as the package ships it."""
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def look_at(page: Page, met: set[Theirs] | None = None) -> list[Finding]:
    """Every grave finding that is ours; those of Streamlit's own that were met are added to ``met``."""
    page.evaluate(source())
    theme = "dark" if page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") else "light"
    here = [known for known in STREAMLITS if theme in known.themes]
    violations: list[dict[str, Any]] = page.evaluate(RUN, [known.selector for known in here])
    ours = []
    for violation in violations:
        if violation["impact"] not in GRAVE:
            continue
        for node in violation["nodes"]:
            theirs = {k for k in here if k.rule == violation["rule"] and k.selector in node["theirs"]}
            if theirs:
                (met if met is not None else set()).update(theirs)
            else:
                ours.append(Finding(violation["rule"], node["target"], node["html"], node["why"]))
    return ours
