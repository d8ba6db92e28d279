"""Runs the command line inside the test and catches what it prints."""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass

from canary import WATCH
from discreet.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and its exit code."""

    code: int
    output: str
    errors: str


def discreet(command: str, *more: str) -> Outcome:
    """Run a command as typed; arguments with spaces in them follow on their own."""
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            code = main([*command.split(), *more])
        except SystemExit as stopped:
            code = int(stopped.code or 0)
    WATCH.saw("what a command printed", output.getvalue() + errors.getvalue())
    return Outcome(code, output.getvalue(), errors.getvalue())


def refused(command: str, *more: str, code: int = 2) -> str:
    """Run a command that must be refused: its exit code, nothing on the output, one reason, no traceback."""
    found = discreet(command, *more)
    assert found.code == code, found
    assert found.output == ""
    assert "Traceback" not in found.errors
    last = found.errors.strip().splitlines()[-1]
    assert ": error: " in last
    return last.split(": error: ", 1)[1]
