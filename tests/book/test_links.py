"""Links of the pages lead to pages and headings that exist, in the repository and in the site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from book.links import PROJECT, linked, page_for

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def headings(page: Path) -> set[str]:
    """The addresses of the headings of a page."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    slugs = set()
    for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE):
        kept = re.sub(r"[^\w\s-]", "", heading.lower()).strip()
        slugs.add(re.sub(r"[-\s]+", "-", kept))
    return slugs


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_to_headings_lead_to_one(page):
    for target, anchor in re.findall(r"\]\(([^)#\s]*\.md)?#([^)\s]+)\)", page.read_text()):
        at = page.parent / target if target else page
        assert anchor in headings(at), f"{page.name} links to {target}#{anchor}"


def test_links_are_those_of_the_site():
    assert linked("[a](proofs/laplace.md#x)", "glossary.md") == "[a](proofs/laplace.md#x)"
    assert linked("[a](../../SECURITY.md)", "guides/owner.md") == "[a](../project/security.md)"
    assert linked("[a](docs/proofs)", "project/changelog.md") == "[a](../proofs/index.md)"
    assert linked("[a](../../examples/survey.py)", "proofs/laplace.md") == "[a](../examples/survey.md)"
    assert linked("[a](foundations.py)", "lectures/index.md") == "[a](foundations.md)"
    assert linked("[data](data)", "examples/index.md") == "data"
    assert linked("[a](https://example.org)", "index.md") == "[a](https://example.org)"
    assert linked("```\n[a](data)\n```", "index.md") == "```\n[a](data)\n```"


def test_every_page_of_the_project_exists():
    assert all((ROOT / origin).is_file() for origin in PROJECT.values())
    assert page_for("src/discreet/version.py") is None
