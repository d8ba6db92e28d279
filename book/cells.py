"""Cells of code that are run, and what they printed and drew."""

from __future__ import annotations

import ast
import contextlib
import io
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["Output", "folder_of", "in_a_folder", "run_cell", "shown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a cell printed, and its pictures as SVG."""

    text: str
    pictures: list[bytes] = field(default_factory=list)


@contextlib.contextmanager
def in_a_folder() -> Iterator[None]:
    """Run in a new folder, since examples write ledgers where they are, and draw without a screen."""
    os.environ.setdefault("MPLBACKEND", "Agg")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        yield


def run_cell(code: str, namespace: dict[str, Any], where: str) -> Output:
    """Run a cell, print the value of its last expression, and take the pictures that it drew.

    Parameters
    ----------
    code : str
        Statements; the last may be an expression.
    namespace : dict
        Shared by the cells of a page.
    where : str
        What a traceback calls the cell.
    """
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, where, "exec"), namespace)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), where, "eval"), namespace)  # noqa: S307
            if value is not None and not _is_drawing(value):
                print(value)
    return Output(text=printed.getvalue().rstrip(), pictures=_pictures())


def _is_drawing(value: object) -> bool:
    """Tell whether a value is axes, or several of them, which show themselves as a picture."""
    held = value if isinstance(value, list | tuple) else [value]
    return bool(held) and all(hasattr(one, "get_xlim") for one in held)


def _pictures() -> list[bytes]:
    """Return the open figures as SVG, and close them."""
    from matplotlib import pyplot, rc_context

    drawn = []
    for number in pyplot.get_fignums():
        file = io.BytesIO()
        with rc_context({"svg.hashsalt": "discreet"}):
            pyplot.figure(number).savefig(file, format="svg", metadata={"Date": None})
        drawn.append(file.getvalue())
    pyplot.close("all")
    return drawn


def shown(output: Output, addresses: list[str], about: str) -> str:
    """Return the Markdown below a cell: what it printed, then its pictures at these addresses."""
    parts = [f'```text title="output"\n{output.text}\n```'] if output.text else []
    parts += [f"![{about}]({address})" for address in addresses]
    return "\n\n".join(parts)


def folder_of(page: str) -> Path:
    """Return the folder of the site in which the pictures of a page lie."""
    return Path("pictures") / Path(page).with_suffix("")
