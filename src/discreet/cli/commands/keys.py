"""``discreet keys``: who may use the server of a declaration, and for what."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli import declared, rendering
from discreet.cli.command import Command
from discreet.cli.progress import note
from discreet.cli.runs import whole_number
from discreet.errors import ParameterError
from discreet.visible import visible

if TYPE_CHECKING:
    from discreet.server.keys import KeyFile

__all__ = ["KEYS"]

_LESSON = """\
examples:
  a key for an analyst, for 90 days; it is shown once
    discreet keys create ana --role analyst --days 90
  one that may look and never spend
    discreet keys create bea --role analyst --scope tables --scope preview
  all keys, without their secrets
    discreet keys list
  end one, or all of a name, at once
    discreet keys revoke ana --reason "left the project"

Charges are made in the name of the key, and two keys of one name share its cap. What is kept is a hash, in
clinic.keys beside clinic.toml: whoever may write that file may let themselves in.
"""


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    one = _action(actions, "create", "Create a key, and show it once.", _create)
    one.add_argument("name", metavar="NAME", help="whose it is; charges are made in this name")
    one.add_argument("--role", required=True, choices=("owner", "analyst", "auditor"), help="what it may do")
    one.add_argument("--days", type=whole_number, default=365, metavar="N", help="how long it is valid (365)")
    one.add_argument("--scope", action="append", metavar="WORD", help="only this; may be repeated")
    _action(actions, "list", "List all keys, without their secrets.", _list)
    one = _action(actions, "revoke", "End a key at once and for good.", _revoke)
    one.add_argument("which", metavar="PREFIX", help="of the key, or the name: then all keys of that name")
    one.add_argument("--reason", required=True, metavar="WORDS", help="why, for the record")


def _action(actions: object, name: str, summary: str, run: Callable[[Namespace], str]) -> ArgumentParser:
    one: ArgumentParser = actions.add_parser(  # type: ignore[attr-defined]
        name, help=summary, description=summary, allow_abbrev=False
    )
    declared.add_file_option(one)
    one.set_defaults(action=run)
    return one


def _run(options: Namespace) -> str:
    found: str = options.action(options)
    return found


def _keys(options: Namespace) -> KeyFile:
    from discreet.server.keys import KeyFile, keys_beside

    _check_declared(options.file)
    return KeyFile(keys_beside(options.file))


def _check_declared(file: str) -> None:
    """Refuse to keep keys for a declaration that is not there: they would be found by no server."""
    if not Path(file).is_file():
        raise ParameterError(file, "does not exist", "a declaration; --file names another")


def _create(options: Namespace) -> str:
    key, text = _keys(options).create(
        options.name, role=options.role, days=options.days, scopes=options.scope
    )
    note(f"this key is shown once; it is valid until {key.expires[:10]} and may: {', '.join(key.scopes)}")
    return text


def _list(options: Namespace) -> str:
    lines = [
        [one.prefix, visible(one.name), one.role, " ".join(one.scopes), one.expires[:10], one.revoked[:10]]
        for one in _keys(options).all()
    ]
    return rendering.grid([["prefix", "name", "role", "may", "until", "revoked"], *lines], left=6)


def _revoke(options: Namespace) -> str:
    found = _keys(options).revoke(options.which, reason=options.reason)
    return "\n".join(f"revoked {one.prefix} of {visible(one.name)}" for one in found)


KEYS = Command(
    name="keys",
    summary="Create, list and revoke the keys of a server.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
