"""The documents against the code: what they link to is there, and what they tell to type can be typed."""

from __future__ import annotations

import argparse
import re

import pytest

from jobs.__main__ import JOBS
from tests.app_server import ROOT

DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "benchmarks" / "README.md",
    *(ROOT / "docs").rglob("*.md"),
]
TEXTS = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in DOCUMENTS}
COMMAND = re.compile(r"python -m jobs ([a-z-]+)([^`\n]*)")
OPTION = re.compile(r"--[a-z][a-z-]+")


def options(job: str) -> set[str]:
    """The options that a job takes."""
    taken = argparse.ArgumentParser()
    JOBS[job].arguments(taken)
    return set(OPTION.findall(taken.format_help()))


@pytest.mark.parametrize("name", TEXTS)
def test_every_link_leads_somewhere(name: str) -> None:
    linked = re.findall(r"\]\(([^)#\s]+)[^)]*\)", TEXTS[name])
    folder = (ROOT / name).parent
    assert [each for each in linked if not each.startswith("http") and not (folder / each).exists()] == []


def anchors(text: str) -> set[str]:
    """The headings of a document as links name them: small letters, digits, underscores and hyphens alone."""
    return {
        re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    }


@pytest.mark.parametrize("name", TEXTS)
def test_every_link_into_a_document_names_a_heading(name: str) -> None:
    folder = (ROOT / name).parent
    linked = re.findall(r"\]\(([^)#\s:]*)#([^)\s]+)\)", TEXTS[name])
    there = {to: (folder / to if to else ROOT / name).read_text(encoding="utf-8") for to, _ in linked}
    assert [(to, anchor) for to, anchor in linked if anchor not in anchors(there[to])] == []


@pytest.mark.parametrize("name", TEXTS)
def test_every_command_is_a_job_with_such_options(name: str) -> None:
    for job, rest in COMMAND.findall(TEXTS[name]):
        assert job in JOBS
        assert set(OPTION.findall(rest)) <= options(job), job


def test_every_option_that_is_named_alone_is_some_commands() -> None:
    """Also those of the benchmarks."""
    known = set.union(*(options(job) for job in JOBS), {"--quick"})
    named = {each for text in TEXTS.values() for each in re.findall(r"`(--[a-z][a-z-]+)", text)}
    assert named <= known
    assert named


def test_every_job_is_documented() -> None:
    told = {job for text in TEXTS.values() for job, _ in COMMAND.findall(text)}
    assert told == set(JOBS)
