"""Advice that is written for Python, as it is written in a shell, on a page or in the declaration file."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Container

from discreet.front.declaring.toml_text import quoted

__all__ = ["in_shell"]

_NUMBER = "a number with a point, such as 0.1, or a ratio, such as 1/3"
_BOUNDS = "{ lower = …, upper = …, step = … }"
_DATES = "{ dates = { first = 2020-01-01, last = 2024-12-31 } }"
_TEXT = r"'(?:[^'\\]|\\.)*'|\"[^\"]*\""
_GIVEN = re.compile(rf"(\w+)=({_TEXT}|\[…\]|\{{(?:{_TEXT}): (?:{_TEXT})\}}|[^,\s]+)")
_CSV = re.compile(r"Csv\((?:'[^']*'|…), ([^()]*)\)")
_LIMITS = re.compile(r"(?:limits=)?Limits\(([^()]*)\)")
_DECLARED = re.compile(rf"columns=\{{({_TEXT}): ((?:Bounds|Keys|Dates)\([^()]*\))\}}")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_FIXED = (
    (re.compile(r"a finite number: an int, a float, a Fraction, a Decimal or text such as '1/3'"), _NUMBER),
    (re.compile(r"\b(bounds|limits)=AUTO\b"), r"--\1 auto"),
    (re.compile(r"nonnegative\(\) raises them to 0"), "read them as 0"),
    (re.compile(r"Bounds\((?:lower, upper(?:, step=(?:\.\.\.|…))?|…)\)"), _BOUNDS),
    (re.compile(r"Keys\(\[(?:\.\.\.|…)\]\)"), '{ keys = ["…"] }'),
    (re.compile(r"Dates\((?:first, last|…)\)"), _DATES),
    (re.compile(r"\bTrue or False\b"), "true or false"),
)


def in_shell(text: str, options: Container[str] = ()) -> str:
    """Return a message with options for parameters of calls, and TOML for declarations.

    Parameters
    ----------
    text : str
        The message.
    options : container of str
        The options of the command: what says how a CSV file is written is an option where there is one.
    """
    text = _DECLARED.sub(lambda found: f"{_key(found[1])} = {found[2]}", text)
    for pattern, words in _FIXED:
        text = pattern.sub(words, text)
    text = _CSV.sub(lambda found: _form(found[1], options), text)
    return _LIMITS.sub(lambda found: f"limits = {_section(found[1])}", text)


def _form(arguments: str, options: Container[str]) -> str:
    given = {one[1]: one[2] for one in _GIVEN.finditer(arguments)}
    if all(name in options for name in given):
        return " ".join(f"--{name} {shlex.quote(value[1:-1])}" for name, value in given.items())
    return f"csv = {_section(arguments)}"


def _section(arguments: str) -> str:
    """Write the arguments of a call as an inline section of TOML."""
    pairs = ", ".join(f"{one[1]} = {_value(one[2])}" for one in _GIVEN.finditer(arguments))
    return f"{{ {pairs} }}"


def _key(written: str) -> str:
    name = str(ast.literal_eval(written))
    return name if _BARE.fullmatch(name) else quoted(name)


def _value(written: str) -> str:
    if written == "AUTO":
        return quoted("auto")
    if written[0] == "{" and written[-1] == "}":
        [(name, value)] = ast.literal_eval(written).items()
        return f"{{ {quoted(name)} = {quoted(value)} }}"
    if written[0] in "'\"":
        return quoted(written[1:-1].replace("\\t", "\t"))
    return written
