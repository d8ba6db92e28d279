"""The program: finds the command, runs it, and turns what went wrong into one line and an exit code.

====  ==========================================================================================
code  what it says
====  ==========================================================================================
0     done
1     an error of the program itself
2     the request or the command line was refused: write it differently
3     the ledger cannot be trusted, read or written
4     the budget is too small for what was asked
5     a file, a table or the engine that holds it could not be read
6     ``discreet check --strict`` found something
7     a file to be written exists already
130   interrupted
141   the output is no longer read
====  ==========================================================================================
"""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Sequence
from typing import NoReturn

from discreet.cli.commands.account import ACCOUNT
from discreet.cli.commands.calibrate import CALIBRATE
from discreet.cli.commands.check import CHECK
from discreet.cli.commands.cut import CUT
from discreet.cli.commands.demo import DEMO
from discreet.cli.commands.doctor import DOCTOR
from discreet.cli.commands.explain import EXPLAIN
from discreet.cli.commands.init import INIT
from discreet.cli.commands.keys import KEYS
from discreet.cli.commands.ledger import LEDGER
from discreet.cli.commands.preview import PREVIEW
from discreet.cli.commands.query import QUERY
from discreet.cli.commands.serve import SERVE
from discreet.cli.commands.synthesize import SYNTHESIZE
from discreet.cli.declared import in_toml
from discreet.cli.new_files import FileTaken
from discreet.cli.terminal import let_go, make_printable
from discreet.errors import (
    BudgetExceeded,
    DiscreetError,
    EngineFailed,
    LedgerError,
    ParameterError,
    UndeclaredColumn,
)
from discreet.front.shell_words import in_shell
from discreet.version import __version__
from discreet.visible import visible_lines

__all__ = ["COMMANDS", "main"]

COMMANDS = (
    DEMO,
    INIT,
    CHECK,
    PREVIEW,
    QUERY,
    CUT,
    SYNTHESIZE,
    EXPLAIN,
    LEDGER,
    SERVE,
    KEYS,
    DOCTOR,
    ACCOUNT,
    CALIBRATE,
)

_REFUSED = 2
_LEDGER_TROUBLE = 3
_NO_BUDGET = 4
_UNREADABLE = 5
_FILE_TAKEN = 7
_INTERRUPTED = 130
_NOBODY_READS = 141
_CODES = (
    "Exit codes: 0 done, 2 refused (write it differently), 3 ledger cannot be trusted or used, 4 budget too "
    "small,\n5 a file or the engine cannot be read, 6 check --strict found something,\n"
    "7 a file to be written exists already, 130 interrupted, 141 output no longer read."
)
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
        0, or one of the codes above: the reason is then on the error stream.
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
        return int(getattr(options, "code", 0))
    except ParameterError as error:
        code = _UNREADABLE if error.parameter.split()[-1] == "source" else _REFUSED
        code = _FILE_TAKEN if isinstance(error, FileTaken) else code
        return _refuse(
            options, f"{_typed(error.parameter, options)} {error.problem}; allowed: {error.allowed}", code
        )
    except LedgerError as error:
        return _refuse(options, str(error), _LEDGER_TROUBLE)
    except UndeclaredColumn as error:
        return _refuse(options, in_toml(error, options.file))
    except BudgetExceeded as error:
        return _refuse(options, str(error), _NO_BUDGET)
    except EngineFailed as error:
        return _refuse(options, str(error), _UNREADABLE)
    except DiscreetError as error:
        return _refuse(options, str(error))
    except BrokenPipeError:
        raise
    except FileExistsError as error:  # it appeared after it was looked for
        return _refuse(options, f"{error.filename} already exists, and is not overwritten", _FILE_TAKEN)
    except OSError as error:
        return _refuse(options, f"{error.filename}: {error.strerror}", _UNREADABLE)
    except (ArithmeticError, MemoryError):
        return _refuse(options, "the numbers are too large or too small to compute with")
    except KeyboardInterrupt:
        return _INTERRUPTED


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
        epilog="Every command explains itself: discreet COMMAND --help\n\n" + _CODES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"discreet {__version__}")
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
    print(
        visible_lines(f"discreet {options.command.name}: error: {in_shell(reason, vars(options))}"),
        file=sys.stderr,
    )
    return code
