"""Links between files of the repository, as links between pages of the site."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

__all__ = ["PROJECT", "linked", "page_for"]

ROOT = Path(__file__).parents[1]
PROJECT = {
    "project/changelog.md": "CHANGELOG.md",
    "project/architecture.md": "ARCHITECTURE.md",
    "project/contributing.md": "CONTRIBUTING.md",
    "project/security.md": "SECURITY.md",
}
"""Pages of the site that are files beside README."""
_ORIGINS = {**PROJECT, "examples/index.md": "examples/README.md"}
_PAGES = {origin: uri for uri, origin in _ORIGINS.items()} | {"README.md": "index.md"}
_LINK = re.compile(r"(?<!!)\[([^\]\n]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def page_for(path: str) -> str | None:
    """Return the page that shows a file of the repository, or None if none does."""
    if path in _PAGES:
        return _PAGES[path]
    if path == "docs/proofs":
        return "proofs/index.md"
    if path == "docs/lectures/README.md":
        return "lectures/index.md"
    if path.startswith("docs/"):
        inside = path.removeprefix("docs/")
        return inside.removesuffix(".py") + ".md" if inside.endswith(".py") else inside
    if path.startswith("examples/") and path.endswith(".py"):
        return path.removesuffix(".py") + ".md"
    return None


def linked(markdown: str, uri: str) -> str:
    """Return a page whose links lead to pages of the site; a link to what the site does not show is text.

    Parameters
    ----------
    markdown : str
        The text, with links as they are in the repository.
    uri : str
        The page's own place in the site.
    """
    origin = _ORIGINS.get(uri, f"docs/{uri}")
    if uri.startswith("examples/") and uri != "examples/index.md":
        return markdown

    def led(found: re.Match[str]) -> str:
        words, target, part = found[1], found[2], found[3] or ""
        if re.match(r"[a-z]+:", target):
            return found[0]
        page = page_for(posixpath.normpath(posixpath.join(posixpath.dirname(origin), target)))
        if page is None:
            return words
        return f"[{words}]({posixpath.relpath(page, posixpath.dirname(uri) or '.')}{part})"

    pieces = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    for place in range(0, len(pieces), 2):
        pieces[place] = _LINK.sub(led, pieces[place])
    return "".join(pieces)
