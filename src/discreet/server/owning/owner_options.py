"""What owners may do over the network, as the person who started the server said on the command line.

Tables may come from files below one folder and from databases whose addresses are in named variables of the
environment. A file is named by its path in the list of that folder, and nothing else names one: there is no
path to resolve, so none leads out of it. Links are not followed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from discreet.data.reading.csv_format import is_records
from discreet.errors import ParameterError
from discreet.front.declaring.ledger_place import is_database
from discreet.records import dataclass

__all__ = ["OwnerOptions", "is_csv"]

_MOST_FILES = 1000
_DEEPEST = 4
_STRANGE = frozenset("*?[]{}\\\"'")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerOptions:
    """What a server lets owners do.

    Attributes
    ----------
    declaration : str
        The file that declares what is served.
    folder : str or None
        Where files of tables are; None if no table is declared from a file.
    variables : tuple of str
        The variables of the environment that hold addresses of tables in PostgreSQL.
    may_amend : bool
        Whether owners may change the declaration and the ledger's record of it.
    """

    declaration: str = ""
    folder: str | None = None
    variables: tuple[str, ...] = ()
    may_amend: bool = False

    def __post_init__(self) -> None:
        if self.folder is not None and not Path(self.folder).is_dir():
            raise ParameterError("data-folder", "is not a folder", "a folder with CSV or Parquet files")
        for name in self.variables:
            address = os.environ.get(name, "")
            if not (is_database(address) and "#" in address):
                raise ParameterError(
                    "data-variable",
                    f"{name!r} does not hold the address of a table",
                    "a variable that holds postgresql://user@host/database#table",
                )

    @property
    def file_of_declaration(self) -> Path:
        """The file that declares what is served."""
        return Path(self.declaration)

    def files(self) -> list[str]:
        """Return the files of tables below the folder, by their paths in it."""
        if self.folder is None:
            return []
        found = []
        for name in _below(Path(self.folder), Path(), _DEEPEST):
            found.append(name)
            if len(found) == _MOST_FILES:
                break
        return sorted(found)

    def file(self, name: str) -> Path:
        """Return a file of the list.

        Raises
        ------
        ParameterError
            If the list does not have it.
        """
        if self.folder is None or name not in self.files():
            raise ParameterError("file", "is not in the folder of tables", "one that the server lists")
        return Path(os.path.realpath(self.folder)) / name

    def variable(self, name: str) -> str:
        """Return the address that a variable holds, if it is one of those that were named.

        Raises
        ------
        ParameterError
            If it is not.
        """
        if name not in self.variables:
            raise ParameterError("variable", "was not named to the server", "one that the server lists")
        return os.environ[name]


def is_csv(name: str) -> bool:
    """Return whether a file holds records as text, rather than columns with types."""
    return is_records(Path(name))


def _below(folder: Path, inside: Path, depth: int) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder), key=lambda one: one.name)
    except OSError:
        return
    for entry in entries:
        name = entry.name
        if name.startswith((".", "~")) or not name.isprintable() or _STRANGE & {*name}:
            continue
        if entry.is_file(follow_symlinks=False) and (name.lower().endswith(".parquet") or is_csv(name)):
            yield (inside / name).as_posix()
        elif depth > 1 and entry.is_dir(follow_symlinks=False):
            yield from _below(folder / name, inside / name, depth - 1)
