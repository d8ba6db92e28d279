"""A progress line, only for people at a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["note", "working"]


@contextmanager
def working(words: str) -> Iterator[None]:
    """Show what is being done on the error stream while it is done, if that is a terminal."""
    shown = sys.stderr.isatty()
    if shown:
        print(f"{words} …", end="", file=sys.stderr, flush=True)
    try:
        yield
    finally:
        if shown:
            print(f"\r{' ' * (len(words) + 2)}\r", end="", file=sys.stderr, flush=True)


def note(words: str) -> None:
    """Print something on the error stream: only the answer goes to the output."""
    print(words, file=sys.stderr)
