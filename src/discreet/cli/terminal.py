"""Characters that a terminal cannot show, and closed pipes: neither is an error of the program."""

from __future__ import annotations

import codecs
import os
import sys
from contextlib import suppress
from typing import TextIO

__all__ = ["let_go", "make_printable"]

_ESCAPED = "discreet-escaped"


def make_printable(stream: TextIO) -> None:
    r"""Let a stream write what its encoding lacks as ``\uXXXX``, which is right in JSON too."""
    reconfigure = getattr(stream, "reconfigure", None)
    if reconfigure is not None and stream.errors == "strict":
        reconfigure(errors=_ESCAPED)


def let_go() -> None:
    """Discard the rest of the output, after a reader such as ``head`` has closed the pipe."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place : place + 2].hex()}" for place in range(0, len(units), 2)), error.end


codecs.register_error(_ESCAPED, _escaped)
