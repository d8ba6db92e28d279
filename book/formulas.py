"""Mathematics as it is typed in the pages, ``e^(−ε/2)`` and ``P_0``, with raised and lowered letters.

The site reaches for nothing on the network and the pages are read as text, too; so formulas are typed in
Unicode, and here only what is behind ``^`` and ``_`` is set.
"""

from __future__ import annotations

import html
import re

__all__ = ["set_formulas"]

_WORDS = "arg|argmax|argmin|delta|epsilon|inf|left|lim|log|max|min|rho|right|sigma|slope|sup"
_BASE = rf"(?:(?<![A-Za-z_])[A-Za-z]|[Α-Ωα-ωℓ∑∏∫]|\b(?:{_WORDS})|[)\]}}′])[̀-ͯ]?"
_PLAIN = r"[^{}()\n]*"
_WITHIN = rf"{_PLAIN}(?:(?:\({_PLAIN}\)|\{{{_PLAIN}\}}){_PLAIN})*"
_NESTED = rf"{_PLAIN}(?:(?:\({_WITHIN}\)|\{{{_WITHIN}\}}){_PLAIN})*"
_LOWERED = re.compile(rf"({_BASE})_(?:\{{({_NESTED})\}}|\(({_NESTED})\)|([^\W_¹²³⁰⁴-⁹]+|∞))")
_RAISED = re.compile(
    rf"(?<=\S)\^(?:\{{({_NESTED})\}}|\(({_NESTED})\)|(\|[^|\n]+\||[−\-±]?(?:[^\W_]|[½∞⊤])+(?:\.\d+)?|[*+]))"
)
_SMALL = 0.75
"""How wide a raised or lowered letter is, as in stylesheets/site.css."""


def set_formulas(markdown: str) -> str:
    """Return a page with its formulas set, outside of code, headings and addresses.

    Paragraphs that are indented are formulas of their own. Their lines stay aligned: a line that begins
    below a place of an earlier one begins there still.
    """
    pieces = re.split(r"(^```.*?^```$)", markdown, flags=re.MULTILINE | re.DOTALL)
    for place in range(0, len(pieces), 2):
        pieces[place] = _set_text(pieces[place])
    return "".join(pieces)


def _set_text(text: str) -> str:
    """Set the formulas of a text without fences."""
    paragraphs = re.split(r"(\n{2,})", text)
    in_list = False
    for place in range(0, len(paragraphs), 2):
        lines = paragraphs[place].split("\n")
        full = [line for line in lines if line.strip()]
        if full and all(line.startswith("    ") for line in full):
            if not in_list:
                paragraphs[place] = _display([line[4:] for line in lines])
            continue
        if full:
            in_list = bool(re.match(r"\s*([-*]|\d+\.) ", full[0])) or (in_list and full[0].startswith(" "))
        paragraphs[place] = "\n".join(line if line.startswith("#") else _inline(line) for line in lines)
    return "".join(paragraphs)


def _inline(line: str) -> str:
    """Set the formulas of a line of prose; quoted code and the addresses of links stay as they are."""
    pieces = re.split(r"(``.*?``|`[^`]*`|\]\([^)]*\)|</?[a-z][^<>]*>|\{#[^}]*\})", line)
    for place in range(0, len(pieces), 2):
        pieces[place] = _set(pieces[place])
    return "".join(pieces)


def _set(text: str) -> str:
    """Raise what is behind ``^`` and lower what is behind ``_``, also within each other."""

    def raised(found: re.Match[str]) -> str:
        return f"<sup>{_set(found[1] or found[2] or found[3] or '')}</sup>"

    def lowered(found: re.Match[str]) -> str:
        return f"{found[1]}<sub>{_set(found[2] or found[3] or found[4] or '')}</sub>"

    return _RAISED.sub(raised, _LOWERED.sub(lowered, text))


def _width(text: str) -> float:
    """Return how many letters wide a line is as it is set."""
    wide, depth = 0.0, 0
    for part in re.split(r"(</?su[bp]>)", text):
        if part.startswith("<su"):
            depth += 1
        elif part.startswith("</su"):
            depth -= 1
        else:
            wide += len(html.unescape(part)) * _SMALL**depth
    return wide


def _display(lines: list[str]) -> str:
    """Return a formula that stands alone, as a block of HTML."""
    done: list[tuple[int, str]] = []
    shown = []
    for line in lines:
        begin = len(line) - len(line.lstrip(" "))
        above = next((one for start, one in reversed(done) if start < begin <= len(one)), "")
        wide = _width(_set(html.escape(above[:begin], quote=False))) if above else begin
        pad = f'<span class="pad" style="width:{wide:g}ch"></span>' if begin else ""
        shown.append(pad + _set(html.escape(line[begin:].rstrip(), quote=False)))
        done.append((begin, line))
    return '<pre class="formula">' + "\n".join(shown).rstrip("\n") + "</pre>"
