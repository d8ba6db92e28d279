"""Files that a command writes: new ones, unless it was told to overwrite; what was declared never is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from discreet.errors import ParameterError

__all__ = ["FileTaken", "refuse_declared", "refuse_taken", "write"]


class FileTaken(ParameterError):
    """A file that was to be written already exists; such a refusal has an exit code of its own."""


def refuse_taken(option: str, path: str | None, *, overwrite: bool) -> None:
    """Refuse a file that exists, or whose directory does not."""
    if path is None:
        return
    if Path(path).exists() and not (overwrite and Path(path).is_file()):
        raise FileTaken(option, "names a file that already exists", "a new file, or --overwrite")
    if not Path(path).absolute().parent.is_dir():
        raise ParameterError(
            option, "is in a directory that does not exist", "a file in an existing directory"
        )


def refuse_declared(option: str, path: str | None, declared: Iterable[Path]) -> None:
    """Refuse to overwrite a table, the ledger, its anchor or the declaration itself."""
    if path is None or not Path(path).exists():
        return
    if any(one.exists() and Path(path).samefile(one) for one in declared):
        raise FileTaken(option, "names a file that is declared or declares it", "another file")


def write(path: str, content: bytes, *, overwrite: bool = False) -> None:
    """Write a file; an existing one is changed only to overwrite it."""
    with Path(path).open("wb" if overwrite else "xb") as file:
        file.write(content)
