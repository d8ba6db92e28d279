"""``discreet ledger``: show the record of what was spent, check it, and change declarations."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli import charge_lines, declared, ledger_readings, questions
from discreet.cli.command import Command
from discreet.cli.new_files import refuse_declared, refuse_taken
from discreet.cli.progress import working
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.curator.ledger import Anchor

__all__ = ["LEDGER"]

_LESSON = """\
examples:
  recompute every hash, from the first entry on
    discreet ledger verify
  what was spent, and what is left
    discreet ledger spent
  every entry, one line each
    discreet ledger show
  today's accountant over everything that was run
    discreet ledger replay --delta 1e-6
  a copy for an auditor, who can check it without the ledger
    discreet ledger export entries.jsonl
    discreet ledger verify --export entries.jsonl
  the head, to keep elsewhere: an older copy of the ledger does not contain it
    discreet ledger anchor
  after an old copy had to be restored: count what its last entries may have cost
    discreet ledger recover --epsilon 0.5 --reason "disk failed on Monday; restored from Sunday night"
  after clinic.toml was changed: record the change
    discreet ledger amend --reason "bounds of cost agreed with the board"
"""


def _configure(parser: ArgumentParser) -> None:
    actions = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    one = _action(actions, "verify", "Recompute every hash, of entries and of answers.", _verify)
    one.add_argument("--anchor", metavar="TEXT", help="an earlier head, as 'SEQUENCE HASH'; it must be there")
    one.add_argument("--anchor-file", metavar="FILE", help="the file that holds an earlier head")
    one.add_argument("--export", metavar="FILE", help="check this exported file instead")
    one = _action(actions, "show", "List the entries.", ledger_readings.show_entries)
    one.add_argument("--json", action="store_true", help="as lines of JSON, as they are hashed")
    one = _action(actions, "spent", "Show what was spent, and what is left.", ledger_readings.spent)
    one.add_argument("--analyst", default="", metavar="NAME", help="show what is left for this analyst")
    one.add_argument("--json", action="store_true", help="answer as JSON")
    one = _action(
        actions,
        "replay",
        "Compute the cost of all that was run, by today's accountant.",
        ledger_readings.replay_ledger,
    )
    one.add_argument("--delta", metavar="D", help="show the epsilon at this delta (that of the budget)")
    one.add_argument("--json", action="store_true", help="answer as JSON")
    one = _action(actions, "export", "Write all entries to a file, one line of JSON each.", _export)
    one.add_argument("output", metavar="FILE", help="a new file")
    one.add_argument("--overwrite", action="store_true", help="the file may exist, and is replaced")
    _action(actions, "anchor", "Print the head, to keep elsewhere.", _anchor)
    one = _action(actions, "recover", "Count as spent what an accident may have lost.", _recover)
    one.add_argument("--reason", required=True, metavar="WORDS", help="what happened, for the record")
    one.add_argument("--epsilon", metavar="E", help="the most that may have been lost (all that is left)")
    one.add_argument("--delta", metavar="D", help="its delta")
    one.add_argument("--rho", metavar="R", help="instead: the most in rho")
    one.add_argument("--analyst", default="", metavar="NAME", help="whose share pays")
    charge_lines.add_log_option(one)
    one = _action(actions, "amend", "Record that the declarations are now those of the file.", _amend)
    one.add_argument("--reason", required=True, metavar="WORDS", help="why, for the record")
    one.add_argument(
        "--owner-key",
        action="append",
        default=[],
        metavar="FILE",
        help="holds the key of an owner who agrees; may be repeated",
    )
    one.add_argument(
        "--two-owners",
        choices=("yes", "no"),
        help="whether two owners must agree to this amendment and to all after it",
    )


def _action(actions: object, name: str, summary: str, run: Callable[[Namespace], str]) -> ArgumentParser:
    one: ArgumentParser = actions.add_parser(  # type: ignore[attr-defined]
        name,
        help=summary,
        description=summary,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    declared.add_file_option(one)
    one.add_argument("--ledger", metavar="FILE", help="the file of the ledger, where there is no declaration")
    one.set_defaults(action=run)
    return one


def _run(options: Namespace) -> str:
    found: str = options.action(options)
    return found


def _verify(options: Namespace) -> str:
    from discreet.curator.ledger import verify_export
    from discreet.curator.ledger.anchor_file import AnchorFile

    anchor = _anchor_of(options)
    if options.export is not None:
        with working("verifying"):
            return str(verify_export(options.export, anchor))
    place = declared.ledger_place(options)
    is_declared = anchor is None and place.anchor is not None
    if anchor is None and place.anchor is not None:
        anchor = AnchorFile(place.anchor).read()  # before the ledger is opened, which moves it on
    with declared.ledger(options) as ledger, working("verifying"):
        found = str(ledger.verify(anchor))
    missing = "the declared anchor file was missing, and is written now"
    return found.replace("no anchor was given", missing) if is_declared else found


def _anchor_of(options: Namespace) -> Anchor | None:
    from discreet.curator.ledger import Anchor

    if options.anchor is not None and options.anchor_file is not None:
        raise ParameterError("anchor", "and --anchor-file are both given", "one of them")
    if options.anchor_file is not None:
        try:
            return Anchor.from_text(Path(options.anchor_file).read_text(encoding="ascii"))
        except ValueError:
            raise ParameterError(
                "anchor_file", "holds no anchor", "a file of one line, 'SEQUENCE HASH'"
            ) from None
    return None if options.anchor is None else Anchor.from_text(options.anchor)


def _export(options: Namespace) -> str:
    refuse_taken("FILE", options.output, overwrite=options.overwrite)
    if options.overwrite and Path(options.output).exists():
        known = [Path(options.ledger)] if options.ledger else []
        known += [] if options.ledger else declared.files(options, declared.declaration(options))
        refuse_declared("FILE", options.output, known)
    with declared.ledger(options) as ledger, working("writing"):
        head = ledger.export(options.output)
    return f"wrote {options.output}: {head.sequence} entries; head {head}"


def _anchor(options: Namespace) -> str:
    with declared.ledger(options) as ledger:
        return str(ledger.anchor())


def _recover(options: Namespace) -> str:
    from discreet.curator.budget.budget import offered
    from discreet.front.opening import recover_ledger

    amount = {name: getattr(options, name) for name in ("epsilon", "delta", "rho")}
    event = None if all(one is None for one in amount.values()) else offered(**amount)
    place = declared.ledger_place(options)
    kept = [one for one in (Path(options.file), place.file, place.anchor) if one is not None]
    refuse_declared("log", options.log, kept)
    with working("reading the ledger"), declared.remedies(place), charge_lines.logging_charges(options.log):
        head, lost = recover_ledger(place, reason=options.reason, event=event, analyst=options.analyst)
    return f"wrote off {questions.cost(lost)}; head {head}"


def _amend(options: Namespace) -> str:
    from discreet.front.opening import amend_file

    if options.ledger is not None:
        raise ParameterError("ledger", "declares nothing", "--file, the declaration as it is now")
    read = declared.declaration(options)
    with working("opening the tables"), declared.remedies(read.ledger):
        curator = amend_file(
            options.file,
            reason=options.reason,
            agreed=_owners(options),
            two_owners=None if options.two_owners is None else options.two_owners == "yes",
        )
    head = curator.ledger.anchor()
    curator.close()
    return f"recorded; head {head}"


def _owners(options: Namespace) -> list[str]:
    """Return the names of the owners whose keys are given."""
    from discreet.server.keys import KeyFile, keys_beside

    names = []
    for file in options.owner_key:
        found = KeyFile(keys_beside(Path(options.file))).find(Path(file).read_text(encoding="utf-8").strip())
        if found is None or found.role != "owner":
            raise ParameterError("owner-key", "is not the valid key of an owner", "a file with such a key")
        names.append(found.name)
    return names


LEDGER = Command(
    name="ledger",
    summary="Show and check what was spent: verify, show, spent, replay, export, anchor, amend, recover.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
