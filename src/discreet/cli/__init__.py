"""The command line: ``discreet COMMAND …``, one file for each command.

- `account`: what a run costs, as epsilon or delta, or by every theorem.
- `calibrate`: the noise, rate or number of steps that keeps a promise.

A new command is a file with a `Command` and a line in `main.COMMANDS`.
"""

from __future__ import annotations

from discreet.cli.main import main

__all__ = ["main"]
