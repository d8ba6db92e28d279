"""The program: finds the command, runs it, and turns refusals into one line and exit code 2."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence

from discreet.cli.account import ACCOUNT
from discreet.cli.calibrate import CALIBRATE
from discreet.cli.demo import DEMO
from discreet.cli.explain import EXPLAIN
from discreet.cli.init import INIT
from discreet.cli.ledger import LEDGER
from discreet.cli.preview import PREVIEW
from discreet.cli.query import QUERY
from discreet.errors import DiscreetError, LedgerError, ParameterError

__all__ = ["COMMANDS", "main"]

COMMANDS = (DEMO, INIT, PREVIEW, QUERY, EXPLAIN, LEDGER, ACCOUNT, CALIBRATE)

_REFUSED = 2
_LEDGER_TROUBLE = 3
_INTERRUPTED = 130
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
        0; 2 where the request was refused, or 3 where the ledger cannot be trusted or used: the reason is
        then on the error stream.
    """
    options = _parser().parse_args(arguments)
    try:
        print(options.command.run(options))
    except ParameterError as error:
        return _refuse(
            options, f"{_typed(error.parameter, options)} {error.problem}; allowed: {error.allowed}"
        )
    except LedgerError as error:
        return _refuse(options, str(error), _LEDGER_TROUBLE)
    except DiscreetError as error:
        return _refuse(options, str(error))
    except OSError as error:
        return _refuse(options, f"{error.filename}: {error.strerror}")
    except (ArithmeticError, MemoryError):
        return _refuse(options, "the numbers are too large or too small to compute with")
    except KeyboardInterrupt:
        return _INTERRUPTED
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
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
    """Return a parameter as it is typed on the command line, if it is."""
    name = _OPTION_OF.get(parameter, parameter)
    return "--" + name.replace("_", "-") if hasattr(options, name) else parameter


def _refuse(options: Namespace, reason: str, code: int = _REFUSED) -> int:
    print(f"discreet {options.command.name}: error: {reason}", file=sys.stderr)
    return code
