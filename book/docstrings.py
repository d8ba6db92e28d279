"""Docstrings in the manner of numpydoc, as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator

__all__ = ["as_markdown", "signature"]

_LISTED = ("Parameters", "Returns", "Yields", "Raises", "Attributes", "Other Parameters")
_WIDEST = 88
_QUOTED = re.compile(r"`([^`\n]+)`")


class _Bare:
    """An annotation that prints without quotes."""

    def __init__(self, text: object) -> None:
        self.text = text if isinstance(text, str) else inspect.formatannotation(text)

    def __repr__(self) -> str:
        return self.text


def signature(name: str, value: object) -> str | None:
    """Return how a class or a function is called, on several lines if it is long; None for what cannot be."""
    if not callable(value) or not (inspect.isclass(value) or inspect.isroutine(value)):
        return None
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return None
    parameters = [
        one.replace(annotation=one.annotation if one.annotation is one.empty else _Bare(one.annotation))
        for one in found.parameters.values()
        if one.name not in ("self", "cls")
    ]
    result = found.return_annotation
    result = inspect.Signature.empty if inspect.isclass(value) or result is found.empty else _Bare(result)
    text = re.sub(
        r"<[^<>]* at 0x[0-9a-f]+>|<[^<>]*object>",
        "...",
        str(found.replace(parameters=parameters, return_annotation=result)),
    )
    if len(name + text) <= _WIDEST or not parameters:
        return name + text
    lines, kind = [], None
    for one in parameters:
        if one.kind is one.KEYWORD_ONLY and kind not in (one.KEYWORD_ONLY, one.VAR_POSITIONAL):
            lines.append("*")
        lines.append(re.sub(r"<[^<>]* at 0x[0-9a-f]+>|<[^<>]*object>", "...", str(one)))
        kind = one.kind
    ending = text[text.rindex(") ->") :] if ") ->" in text else ")"
    return f"{name}(\n" + "".join(f"    {line},\n" for line in lines) + ending


def _sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the title and the lines of each section; what comes first has no title."""
    title, held = "", []
    lines = text.split("\n")
    for place, line in enumerate(lines):
        follows = lines[place + 1] if place + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", line) and held == [] and title:
            continue
        if line and re.fullmatch(r"-{3,}", follows) and not line.startswith(" "):
            yield title, held
            title, held = line, []
        else:
            held.append(line)
    yield title, held


def _entries(lines: list[str]) -> Iterator[str]:
    """Yield the parameters of a section as items of a list."""
    head, held = "", []
    for line in [*lines, "\0"]:
        if line and not line.startswith(" "):
            if head:
                name, _, kind = head.partition(" : ")
                words = " ".join(one.strip() for one in held if one.strip())
                yield f"- **{name}**" + (f" (*{kind}*)" if kind else "") + (f": {words}" if words else "")
            head, held = line, []
        else:
            held.append(line)


def _prose(lines: list[str]) -> Iterator[str]:
    """Yield text, with examples of an interpreter, tables and shell commands as blocks."""
    fenced = ""
    for line in lines:
        if fenced == "pycon" and not line.strip():
            yield from ("```", "")
            fenced = ""
        if not fenced and line.lstrip().startswith(">>>"):
            yield from ("", "```pycon")
            fenced = "pycon"
        if not fenced and re.fullmatch(r"=+(\s+=+)+", line):
            yield from ("", "```text")
            fenced = "table"
        elif fenced == "table" and not line.strip():
            yield from ("```", "")
            fenced = ""
        yield line.strip() if fenced == "pycon" and not line.startswith("    ") else line
    if fenced:
        yield "```"


def as_markdown(text: str | None, link: Callable[[str], str | None]) -> str:
    """Return a docstring as Markdown.

    Parameters
    ----------
    text : str or None
        The docstring.
    link : function
        The address of a name that is quoted, or None if it has none.
    """
    if not text:
        return ""
    parts = []
    for title, lines in _sections(inspect.cleandoc(text)):
        body = "\n".join(_entries(lines)) if title in _LISTED else "\n".join(_prose(lines)).strip("\n")
        parts.append((f"**{title}**\n\n" if title else "") + body)
    return _linked("\n\n".join(part for part in parts if part.strip()), link)


def _linked(text: str, link: Callable[[str], str | None]) -> str:
    """Link proofs and quoted names, outside of blocks."""

    def named(found: re.Match[str]) -> str:
        address = link(found[1])
        return f"[`{found[1]}`]({address})" if address else found[0]

    pieces = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
    for place in range(0, len(pieces), 2):
        pieces[place] = "\n".join(
            line if line.startswith("    ") else _linked_line(line, named)
            for line in pieces[place].split("\n")
        )
    return "".join(pieces)


def _linked_line(line: str, named: Callable[[re.Match[str]], str]) -> str:
    """Link the names and proofs of one line."""
    quoted = re.sub(r"(?<![`\w/])``([^`]+)``", r"`\1`", line)
    return re.sub(r"docs/proofs/(\w+)\.md", r"[\1](../proofs/\1.md)", _QUOTED.sub(named, quoted))
