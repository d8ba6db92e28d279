"""The program: finds the command, runs it, and turns refusals into one line and exit code 2."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import NoReturn

from discreet.cli.account import ACCOUNT
from discreet.cli.calibrate import CALIBRATE
from discreet.cli.declared import in_toml
from discreet.cli.demo import DEMO
from discreet.cli.explain import EXPLAIN
from discreet.cli.init import INIT
from discreet.cli.ledger import LEDGER
from discreet.cli.preview import PREVIEW
from discreet.cli.query import QUERY
from discreet.cli.terminal import let_go, make_printable
from discreet.errors import DiscreetError, LedgerError, ParameterError, UndeclaredColumn

__all__ = ["COMMANDS", "main"]

COMMANDS = (DEMO, INIT, PREVIEW, QUERY, EXPLAIN, LEDGER, ACCOUNT, CALIBRATE)

_REFUSED = 2
_LEDGER_TROUBLE = 3
_INTERRUPTED = 130
_NOBODY_READS = 141
_OPTION = re.compile(r"--?[a-z][a-z-]{,30}")
_REPEATED = re.compile(r""": (['"]).*\1(?= \(choose|$)""", re.DOTALL)
_OPTION_OF = {"times": "steps", "size": "group"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What was typed after the name of the program; that of the process if left out.

    Returns
    -------
    int
        0; 2 if the request was refused, or 3 if the ledger cannot be trusted or used: the reason is
        then on the error stream. 130 if it was interrupted, 141 if its output is no longer read.
    """
    make_printable(sys.stdout)
    try:
        try:
            return _run(_options(arguments))
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        let_go()
        return _NOBODY_READS


def _run(options: Namespace) -> int:
    try:
        print(options.command.run(options))
    except ParameterError as error:
        return _refuse(
            options, f"{_typed(error.parameter, options)} {error.problem}; allowed: {error.allowed}"
        )
    except LedgerError as error:
        return _refuse(options, str(error), _LEDGER_TROUBLE)
    except UndeclaredColumn as error:
        return _refuse(options, in_toml(error, options.file))
    except DiscreetError as error:
        return _refuse(options, str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        return _refuse(options, f"{error.filename}: {error.strerror}")
    except (ArithmeticError, MemoryError):
        return _refuse(options, "the numbers are too large or too small to compute with")
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def _options(arguments: Sequence[str] | None) -> Namespace:
    """Read the arguments. Unknown words are not repeated: they may be a question."""
    parser = _parser()
    options, rest = parser.parse_known_args(arguments)
    if rest:
        names = [one for word in rest if _OPTION.fullmatch(one := word.partition("=")[0])]
        parser.error(
            f"there is no option {', '.join(names)}"
            if names
            else "too many words; put the question in quotes"
        )
    return options


class _Parser(ArgumentParser):
    """A parser that does not repeat what was typed in the wrong place."""

    def error(self, message: str) -> NoReturn:
        super().error(_REPEATED.sub("", message))


def _parser() -> ArgumentParser:
    parser = _Parser(
        prog="discreet",
        description="Differential privacy from a shell.",
        epilog="Every command explains itself: discreet COMMAND --help",
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        one = commands.add_parser(
            command.name,
            help=command.summary,
            description=command.summary,
            epilog=command.lesson,
            formatter_class=RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        command.configure(one)
        one.set_defaults(command=command)
    return parser


def _typed(parameter: str, options: Namespace) -> str:
    """Return a parameter as it is written on the command line, if it is an option."""
    name = _OPTION_OF.get(parameter, parameter)
    return "--" + name.replace("_", "-") if hasattr(options, name) else parameter


def _refuse(options: Namespace, reason: str, code: int = _REFUSED) -> int:
    print(f"discreet {options.command.name}: error: {reason}", file=sys.stderr)
    return code
