"""``discreet doctor``: whether a server of a declaration would be in good order; for the owner alone."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from pathlib import Path

from discreet.cli import declared, formatting
from discreet.cli.command import Command
from discreet.cli.commands.check import FOUND
from discreet.errors import ParameterError
from discreet.visible import visible

__all__ = ["DOCTOR"]

_LESSON = """\
examples:
  ledger, tables, keys, files that others may write, the clock, libraries
    discreet doctor clinic.toml
  for a program
    discreet doctor clinic.toml --json

The exit code is 6 if something has to be done. Nothing is charged or created, and no row is read. What it
says is for the owner of the data: it names files and people.
"""


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default=declared.DEFAULT, metavar="FILE", help="the declaration")
    parser.add_argument("--json", action="store_true", help="answer as JSON")


def _run(options: Namespace) -> str:
    from discreet.server.checkup import examine

    if not Path(options.file).is_file():
        raise ParameterError(options.file, "does not exist", "a declaration; discreet init writes one")
    found = examine(Path(options.file))
    if any(one.is_wrong for one in found):
        options.code = FOUND
    if options.json:
        listed = [{"about": one.about, "wrong": one.is_wrong, "said": one.said} for one in found]
        return formatting.as_json({"findings": listed})
    return "\n".join(f"{'!' if one.is_wrong else ' '} {one.about}: {visible(one.said)}" for one in found)


DOCTOR = Command(
    name="doctor",
    summary="Say whether a server would be in good order; for the owner alone.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
