"""Everything that discreet raises on purpose.

::

    DiscreetError
    ├── RequestRefused            a request that was refused before any charge
    │   ├── BudgetExceeded        it would cost more than is left
    │   ├── UnsupportedQuery      it uses a construct outside the language
    │   └── UndeclaredColumn      it names an unknown column, or needs an undeclared fact
    ├── EngineFailed              the engine did not finish; its own words are withheld
    ├── LedgerError               the ledger cannot be trusted or written
    │   ├── LedgerMismatch        it was opened with other declarations than it records
    │   ├── LedgerTampered        what it holds is not what was written
    │   └── LedgerUnavailable     it cannot be read or written now; nothing is answered
    ├── ParameterError            a parameter is outside its range (also a ValueError)
    ├── MissingExtra              an optional library is not installed (also an ImportError)
    ├── ServerRefused             a server let nobody in, or could not be reached
    └── audit.AuditFailed         a mechanism did not pass its audit (also an AssertionError)

Messages hold public facts only: the name of a parameter, what it may be, and what was
asked. No message ever holds a value from the data.
"""

from __future__ import annotations

from discreet.exports import publish

__all__ = [
    "BudgetExceeded",
    "DiscreetError",
    "EngineFailed",
    "LedgerError",
    "LedgerMismatch",
    "LedgerTampered",
    "LedgerUnavailable",
    "MissingExtra",
    "ParameterError",
    "RequestRefused",
    "ServerRefused",
    "UndeclaredColumn",
    "UnsupportedQuery",
]


class DiscreetError(Exception):
    """The root of every error that discreet raises on purpose.

    What to do
    ----------
    Catch it to catch everything below; its subclasses say what happened. Anything else that is raised is a
    fault of the program: please report it, without the data.
    """


class RequestRefused(DiscreetError):
    """A request was refused, before anything was charged or any data was read.

    What to do
    ----------
    Nothing was charged, so change the question and ask again: the message names what was refused and,
    where there is one, what would be accepted.
    """


class BudgetExceeded(RequestRefused):
    """A request would cost more than the budget that is left.

    What to do
    ----------
    Offer less: the message says what would still fit. `Curator.preview` with ``error=`` finds the least
    epsilon for the error that you can live with; `Curator.spent` shows what is gone. Asking a question
    again costs nothing. Only the owner can grant more, with a reason that the ledger
    records: ``discreet ledger amend``.
    """


class UnsupportedQuery(RequestRefused):
    """A request uses a construct for which no guarantee is known.

    What to do
    ----------
    Write what the message suggests; docs/language.md says what is in the language and why the rest is not.
    `Curator.explain` shows how a question was understood.
    """


class UndeclaredColumn(RequestRefused):
    """A request names a column that does not exist, or needs bounds or keys that were never declared.

    What to do
    ----------
    Check the spelling; the message says what there is. If bounds or keys are missing, ask the owner to
    declare them from public knowledge (never by looking at the data), or leave them to the question where it
    may buy them: undeclared keys with a ``delta=``, bounds and limits with ``AUTO``.
    """


class EngineFailed(DiscreetError):
    """The engine that holds the data did not finish.

    The message is always the same. What an engine says about a failure may hold values from
    the data, so its words, and the exception that carried them, go no further.

    What to do
    ----------
    Ask again: a charge that was made stays made, and the same question is not charged twice. If it fails
    again, the owner reads the log of the database, where the reason is: memory, a file that moved, a
    connection.
    """

    def __init__(self) -> None:
        super().__init__("the engine that holds the data did not finish; its owner can look into its own log")


class LedgerError(DiscreetError):
    """The ledger cannot be read, trusted or written.

    What to do
    ----------
    Stop answering until the ledger is whole; the subclasses say what happened. `discreet ledger verify`
    tells its state.
    """


class LedgerMismatch(LedgerError):
    """A ledger was opened with tables, limits or a budget other than it records.

    What to do
    ----------
    Open it with the declarations that it records, which the message names. If the data or the limits really
    changed, give the table another ``version=`` or begin a new ledger with a budget of its own: what the
    old one spent stays spent.
    """


class LedgerTampered(LedgerError):
    """What a ledger holds is not what was written, or an end of it is missing.

    Parameters
    ----------
    problem : str
        What is wrong, in words that hold nothing of what the ledger holds.
    sequence : int or None
        The entry where it shows; None if it is not a single entry.

    What to do
    ----------
    Stop answering, and keep the file as it is. Compare it with the anchor that is kept elsewhere and with the
    last backup; docs/operations.md says how to recover. An older copy forgets charges: whatever the lost
    entries may have spent counts as spent.
    """

    def __init__(self, problem: str, sequence: int | None = None) -> None:
        super().__init__(problem, sequence)
        self.problem = problem
        self.sequence = sequence

    def __str__(self) -> str:
        if self.sequence is None:
            return f"the ledger cannot be trusted: {self.problem}"
        return f"the ledger cannot be trusted at entry {self.sequence}: {self.problem}"


class LedgerUnavailable(LedgerError):
    """A ledger cannot be read or written now, so that nothing is granted and nothing answered.

    Where a charge was under way it may have been recorded: asking again with the same
    key never charges twice.

    What to do
    ----------
    Ask again when the disk, the lock or the database is back: a charge under way is found by its key and
    never made twice.
    """


class ParameterError(DiscreetError, ValueError):
    """A parameter is outside the range for which the guarantee is proven.

    Parameters
    ----------
    parameter : str
        The name of the parameter, as the caller typed it.
    problem : str
        What is wrong with it, in words that hold no private value.
    allowed : str
        What it may be instead.

    What to do
    ----------
    Give the parameter a value of those allowed, which the message names.
    """

    def __init__(self, parameter: str, problem: str, allowed: str) -> None:
        super().__init__(parameter, problem, allowed)
        self.parameter = parameter
        self.problem = problem
        self.allowed = allowed

    def __str__(self) -> str:
        return f"{self.parameter} {self.problem}; allowed: {self.allowed}"


class MissingExtra(DiscreetError, ImportError):
    """An optional library is needed and not installed.

    Parameters
    ----------
    library : str
        The library that could not be imported.
    extra : str
        The extra of discreet that brings it.

    What to do
    ----------
    Install what the message names, for example ``pip install 'discreet[plot]'``.
    """

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(library, extra)
        self.library = library
        self.extra = extra

    def __str__(self) -> str:
        return f"this needs {self.library}: pip install 'discreet[{self.extra}]'"


class ServerRefused(DiscreetError):
    """A server did not answer for a reason that a curator does not have: a key, a limit, or the network.

    Parameters
    ----------
    code : str
        Of the server's catalogue, such as "unauthorized"; or "unreachable", "unreadable".
    message : str
        In words.

    What to do
    ----------
    Look up ``code`` in the catalogue on this page: a key that is missing or withdrawn, a limit of the
    server, or a server that is not there.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


publish(__name__)
