"""Every error has a page that says what to do, and pages lead to each other."""

from __future__ import annotations

import re

from book.error_pages import error_classes, error_pages

import discreet
from discreet.errors import DiscreetError


def written() -> dict[str, str]:
    return error_pages(lambda name: None)


def without_advice(pages: dict[str, str]) -> list[str]:
    """Errors whose page is absent, or does not say in at least five words what to do."""
    found = []
    for one in every_error():
        advice = re.search(r"\*\*What to do\*\*\n\n(.+?)(?:\n\n|\Z)", pages.get(f"{one}.md", ""), flags=re.S)
        if advice is None or len(advice[1].split()) < 5:
            found.append(one)
    return found


def every_error() -> set[str]:
    """The public classes below the root of errors, found by Python and not by the book."""
    held = [DiscreetError]
    for one in held:
        held += [below for below in one.__subclasses__() if below not in held]
    return {one.__name__ for one in held if one.__module__ in ("discreet.errors", "discreet.audit.report")}


def test_every_error_says_what_to_do():
    assert discreet.audit.AuditFailed in error_classes()
    assert {one.__name__ for one in error_classes()} == every_error()
    assert without_advice(written()) == []


def test_an_error_without_advice_is_found():
    pages = written()
    pages["BudgetExceeded.md"] = pages["BudgetExceeded.md"].replace("What to do", "Advice")
    del pages["EngineFailed.md"]
    assert sorted(without_advice(pages)) == ["BudgetExceeded", "EngineFailed"]


def test_links_lead_to_pages_and_codes_are_listed():
    pages = written()
    for text in pages.values():
        assert set(re.findall(r"\]\((\w+\.md)\)", text)) <= set(pages)
    assert "| `unauthorized` | 401 |" in pages["ServerRefused.md"]
