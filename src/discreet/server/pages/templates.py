"""How pages are written: every value is escaped, and shows no character that a reader could not see."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from math import isfinite
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from discreet.server.pages.glossary import TERMS
from discreet.version import __version__
from discreet.visible import visible_lines

__all__ = ["STATIC", "rendered"]

_PLACE = Path(__file__).parent
_TYPES = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}

STATIC = {
    path.name: (_TYPES[path.suffix], path.read_bytes())
    for path in sorted((_PLACE / "static").iterdir())
    if path.suffix in _TYPES
}
"""Type and content of every file that pages load."""


def rendered(name: str, **values: object) -> str:
    """Return a page."""
    return _environment().get_template(name).render(**values)


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_PLACE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters["exact"] = _exact
    made.filters["figure"] = figure
    made.filters["fraction"] = _fraction
    made.globals.update(terms=TERMS, version=__version__)
    return made


def _shown(value: object) -> object:
    """Return what is shown of a value; what a template itself wrote stays as it is."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else visible_lines(value)


def _exact(text: str) -> Markup:
    """Return a text for a field, which sends it back as it is: escaped, and otherwise unchanged."""
    return escape(text)


def _fraction(text: str) -> str:
    """Return an exact number that a worker wrote, such as 5/2, for a reader."""
    return figure(float(Fraction(text)))


def figure(value: object) -> str:
    """Return a number for a reader, with four digits at least."""
    if value is None:
        return "unknown"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or (isfinite(value) and value == round(value) and abs(value) < 1e15):
        return f"{int(value):,}"
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:.4g}"
