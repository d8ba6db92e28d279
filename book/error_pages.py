"""A page for every error: what it means and what to do, from the docstring of its class."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import discreet.errors
from book.docstrings import as_markdown, signature
from discreet.audit import AuditFailed
from discreet.server.catalogue import CATALOGUE

__all__ = ["error_classes", "error_pages"]


def error_classes() -> list[type[Exception]]:
    """Return all errors that discreet raises on purpose, a class before its subclasses."""
    found = [getattr(discreet.errors, name) for name in discreet.errors.__all__]
    return sorted([*found, AuditFailed], key=lambda one: (len(one.__mro__), one.__name__))


def _page(error: type[Exception], link: Callable[[str], str | None]) -> str:
    """Return the page of one error."""
    kinds = [one.__name__ for one in error.__mro__[1:] if one.__module__ != "builtins"]
    plain = [one.__name__ for one in error.__mro__[1:] if one.__module__ == "builtins"]
    above = [f"[{name}]({name}.md)" for name in kinds] + [f"`{name}`" for name in plain if name != "object"]
    below = sorted(one.__name__ for one in error_classes() if error in one.__bases__)
    lines = [f"# {error.__name__}", as_markdown(inspect.getdoc(error), link)]
    if "__init__" in vars(error):
        lines.append(f"```python\n{signature(error.__name__, error)}\n```")
    lines.append(f"It is also a {', '.join(above)}.")
    if below:
        lines.append("More exactly: " + ", ".join(f"[{name}]({name}.md)" for name in below) + ".")
    if error.__name__ == "ServerRefused":
        lines.append(_codes())
    return "\n\n".join(lines) + "\n"


def _codes() -> str:
    """Return the table of what a server says instead of an answer."""
    lines = ["**Codes**", "", "| code | status | meaning |", "|---|---|---|"]
    lines += [f"| `{one.code}` | {one.status} | {one.message} |" for one in CATALOGUE.values()]
    return "\n".join(lines)


def _first_line(error: type[Exception]) -> str:
    """Return the first sentence of a docstring."""
    return re.sub(r"\s+", " ", (inspect.getdoc(error) or "").split("\n\n")[0])


def error_pages(link: Callable[[str], str | None]) -> dict[str, str]:
    """Return the text of every page by its name, with a list of all errors first."""
    lines = [
        "# Errors",
        "",
        "Everything that discreet raises on purpose. Messages hold public facts only, and say what would be",
        "accepted; the pages say what to do.",
        "",
        "| error | means |",
        "|---|---|",
    ]
    classes = error_classes()
    lines += [f"| [{one.__name__}]({one.__name__}.md) | {_first_line(one)} |" for one in classes]
    return {"index.md": "\n".join(lines) + "\n"} | {f"{one.__name__}.md": _page(one, link) for one in classes}
