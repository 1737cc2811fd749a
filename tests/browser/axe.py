"""What axe finds on a page that someone could not see, reach or hear."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

GRAVE = ("serious", "critical")
TALL = """() => Math.max(...[...document.querySelectorAll("[data-testid=stMain], [data-testid=stSidebarContent]")]
    .map(element => element.scrollHeight))"""
RUN = """async () => {
    const found = await axe.run(document, {resultTypes: ["violations"]});
    return found.violations.map(({id, impact, nodes}) => ({rule: id, impact, nodes: nodes.map(node => (
        {target: node.target.join(" "), html: node.html.slice(0, 200), why: node.failureSummary}
    ))}));
}"""


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


def unroll(page: Page) -> None:
    """Make the window as tall as all that it shows: axe judges no colour that lies below its edge."""
    width, height = page.evaluate("() => [innerWidth, innerHeight]")
    while (tall := page.evaluate(TALL)) > height:
        height = tall
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(300)  # what was out of sight is drawn


def look_at(page: Page) -> list[Finding]:
    """Every grave finding from top to bottom, whether the markup is ours or Streamlit's."""
    unroll(page)
    page.evaluate(source())
    violations: list[dict[str, Any]] = page.evaluate(RUN)
    return [
        Finding(violation["rule"], node["target"], node["html"], node["why"])
        for violation in violations
        if violation["impact"] in GRAVE
        for node in violation["nodes"]
    ]
