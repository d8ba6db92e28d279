"""Docstrings become Markdown: sections, parameters, examples, links."""

from __future__ import annotations

from book.docstrings import as_markdown, signature


def example(first: int, *, second: str = "two", third: float | None = None) -> bool:
    """Tell something.

    More about `Laplace` and ``code``; proof: docs/proofs/laplace.md.

    Parameters
    ----------
    first : int
        What comes first,
        on two lines.
    second : str
        Other.

    Guarantee
    ---------
    It holds.

    Examples
    --------
    >>> 1 + 1
    2
    """
    return bool(first)


def test_sections_become_markdown():
    text = as_markdown(example.__doc__, {"Laplace": "mechanisms.md#dp.mechanisms.Laplace"}.get)
    assert "[`Laplace`](mechanisms.md#dp.mechanisms.Laplace)" in text
    assert "[laplace](../proofs/laplace.md)" in text
    assert "- **first** (*int*): What comes first, on two lines.\n- **second** (*str*): Other." in text
    assert "**Guarantee**\n\nIt holds." in text
    assert "```pycon\n>>> 1 + 1\n2\n```" in text
    assert "----" not in text


def test_names_within_code_stay_as_they_are():
    text = as_markdown(
        "See:\n\n    `Laplace` is code\n\n>>> print('`Laplace`')\n`Laplace`", lambda name: name
    )
    assert "](" not in text


def test_signatures_are_written_without_quotes_and_on_several_lines_if_long():
    assert signature("example", example) == (
        "example(first: int, *, second: str = 'two', third: float | None = None) -> bool"
    )
    long = signature("a_name_that_is_so_long_that_the_line_is_too_long", example)
    assert long.endswith(
        "(\n    first: int,\n    *,\n    second: str = 'two',\n    third: float | None = None,\n) -> bool"
    )
    assert signature("number", 3) is None
