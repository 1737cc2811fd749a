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
    """One finding in markup that Streamlit makes and we cannot reach: the rule, the element, and the reason."""

    rule: str
    selector: str
    reason: str


STREAMLITS: tuple[Theirs, ...] = ()


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
    violations: list[dict[str, Any]] = page.evaluate(RUN, [known.selector for known in STREAMLITS])
    ours = []
    for violation in violations:
        if violation["impact"] not in GRAVE:
            continue
        for node in violation["nodes"]:
            theirs = {k for k in STREAMLITS if k.rule == violation["rule"] and k.selector in node["theirs"]}
            if theirs:
                (met if met is not None else set()).update(theirs)
            else:
                ours.append(Finding(violation["rule"], node["target"], node["html"], node["why"]))
    return ours
