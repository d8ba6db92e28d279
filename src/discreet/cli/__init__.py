"""The command line: ``discreet COMMAND …``, one file for each command.

- `demo`: a clinic with a million invented visits, from declaration to ledger.
- `init`: a declaration file to fill in; `preview`, `query`, `explain`: questions about what it declares.
- `ledger`: verify, show, spent, replay, export, anchor, amend.
- `serve`, `keys`: the same questions over HTTP, and who may ask them.
- `account`: what a run costs, as epsilon or delta, or by every theorem.
- `calibrate`: the noise, rate or number of steps that keeps a promise.

A new command is a file with a `Command` and a line in `main.COMMANDS`.
"""

from __future__ import annotations

from discreet.cli.main import main
from discreet.exports import publish

__all__ = ["main"]

publish(__name__)
