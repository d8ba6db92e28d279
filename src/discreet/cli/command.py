"""What every command has: a name, a sentence, examples, its options, and what it does."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable

from discreet.records import dataclass

__all__ = ["Command"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command of the program.

    Attributes
    ----------
    name : str
        What is typed.
    summary : str
        What it does, in one sentence.
    lesson : str
        Examples, and what to know, below the options in ``--help``.
    configure : function of a parser
        Adds the options.
    run : function of the parsed options
        Returns what is printed. Refusals are raised as `DiscreetError`.
    """

    name: str
    summary: str
    lesson: str
    configure: Callable[[ArgumentParser], None]
    run: Callable[[Namespace], str]
