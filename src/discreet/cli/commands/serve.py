"""``discreet serve``: the curator of a declaration as a service."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path

from discreet.cli import declared
from discreet.cli.command import Command
from discreet.cli.runs import whole_number
from discreet.errors import LedgerMismatch, ParameterError

__all__ = ["SERVE"]

_LESSON = """\
examples:
  for programs on this machine, until it is told to stop
    discreet serve clinic.toml
  lines for a log collector, four questions at a time, each for at most a minute
    discreet serve clinic.toml --log-format json --workers 4 --seconds 60
  with pages on which owners declare tables from files of a folder, and change caps
    discreet serve clinic.toml --data-folder data --owners-may-amend

Other machines are served only with TLS: --host 0.0.0.0 --certificate FILE --private-key FILE. Who may ask is
in clinic.keys: see discreet keys --help. From Python: dp.connect(URL, key=KEY). SIGTERM stops it; a question
that is being answered is finished, and one that was charged is answered again at no cost.
"""


def _configure(parser: ArgumentParser) -> None:
    parser.add_argument("file", nargs="?", default=declared.DEFAULT, metavar="FILE", help="the declaration")
    where = parser.add_argument_group("where")
    where.add_argument("--host", default="127.0.0.1", metavar="NAME", help="where to listen (127.0.0.1)")
    where.add_argument("--port", type=whole_number, default=8080, metavar="N", help="0 for a free one (8080)")
    where.add_argument("--certificate", metavar="FILE", help="of TLS, for other machines")
    where.add_argument("--private-key", metavar="FILE", help="of TLS")
    limits = parser.add_argument_group("what questions may take")
    limits.add_argument("--workers", type=whole_number, default=4, metavar="N", help="processes (4)")
    limits.add_argument("--seconds", default="300", metavar="S", help="for one question (300)")
    limits.add_argument("--job-seconds", default="7200", metavar="S", help="for one job (7200)")
    limits.add_argument("--memory", type=whole_number, default=8192, metavar="MIB", help="of a worker (8192)")
    limits.add_argument("--groups", type=whole_number, default=1_000_000, metavar="N", help="of one question")
    limits.add_argument("--slot", default="0.5", metavar="S", help="answers leave at multiples of this (0.5)")
    owners = parser.add_argument_group("what owners may do in a browser")
    owners.add_argument("--data-folder", metavar="DIR", help="declare tables from files below this folder")
    owners.add_argument(
        "--data-variable",
        action="append",
        default=[],
        metavar="NAME",
        help="declare a table from the address in this variable of the environment; may be repeated",
    )
    owners.add_argument(
        "--owners-may-amend", action="store_true", help="write FILE and the ledger's record of it"
    )
    parser.add_argument("--log-format", choices=("text", "json", "none"), default="text", help="of the log")
    parser.add_argument("--check", action="store_true", help="open everything, say so, and stop")


def _run(options: Namespace) -> str:
    from discreet.server.owning.owner_options import OwnerOptions
    from discreet.server.request_log import RequestLog
    from discreet.server.service_limits import ServiceLimits
    from discreet.server.serving import Address, serve

    if not Path(options.file).is_file():
        raise ParameterError(options.file, "does not exist", "a declaration; discreet init writes one")
    limits = ServiceLimits(
        workers=options.workers,
        seconds=_seconds(options, "seconds"),
        job_seconds=_seconds(options, "job_seconds"),
        memory=options.memory,
        groups=options.groups,
        slot=_seconds(options, "slot"),
    )
    address = Address(
        host=options.host,
        port=options.port,
        certificate=None if options.certificate is None else Path(options.certificate),
        private_key=None if options.private_key is None else Path(options.private_key),
    )
    try:
        serve(
            Path(options.file),
            address,
            limits,
            log=RequestLog(sys.stderr, options.log_format),
            said=_say,
            check_only=options.check,
            options=OwnerOptions(
                declaration=str(Path(options.file).absolute()),
                folder=None if options.data_folder is None else str(Path(options.data_folder).absolute()),
                variables=tuple(dict.fromkeys(options.data_variable)),
                may_amend=options.owners_may_amend,
            ),
        )
    except LedgerMismatch as error:
        with declared.remedies(declared.declaration(options).ledger):
            raise error from None
    return "stopped"


def _say(line: str) -> None:
    print(line, flush=True)


def _seconds(options: Namespace, name: str) -> float:
    try:
        return float(getattr(options, name))
    except ValueError:
        raise ParameterError(name, "is not a number", "seconds, such as 0.5") from None


SERVE = Command(
    name="serve",
    summary="Answer over HTTP, for people with keys; data and budget stay on this side.",
    lesson=_LESSON,
    configure=_configure,
    run=_run,
)
