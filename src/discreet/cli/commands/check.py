"""``discreet check``: how the tables compare with what is declared about them, for their owner alone."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from discreet.cli import declared, formatting
from discreet.cli.command import Command
from discreet.cli.progress import working
from discreet.front.shell_words import in_shell

__all__ = ["CHECK", "FOUND"]

FOUND = 6
"""The exit code of ``--strict`` if there is something to report."""

_LESSON = """\
examples:
  what is lost, clipped, outside the keys, over the limits, or looks wrong
    discreet check clinic.toml
  for a program
    discreet check clinic.toml --json

With --strict the exit code is 6 if there is anything to report.

The counts are exact. They are for the owner of the data alone: analysts must not see them. Nothing is
charged, and the ledger is neither read nor written.
"""


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        default=declared.DEFAULT,
        metavar="FILE",
        help=f"declares tables, budget and ledger ({declared.DEFAULT})",
    )
    parser.add_argument("--strict", action="store_true", help=f"exit with {FOUND} if anything is reported")
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def _run(options: Namespace) -> str:
    from discreet.data import PublicTable
    from discreet.data.tables.ownership import owned_tables

    read = declared.declaration(options)
    with working("counting"):
        opened = owned_tables(read.open_tables())
        found = {name: one.check() for name, one in opened.items() if not isinstance(one, PublicTable)}
    if options.strict and any(one.findings for one in found.values()):
        options.code = FOUND
    if options.json:
        return formatting.as_json({"tables": {name: one.to_object() for name, one in found.items()}})
    return "\n\n".join(f"table {name}\n{in_shell(str(one))}" for name, one in found.items())


CHECK = Command(
    name="check",
    summary="Compare the tables with what is declared about them; for their owner alone.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
