"""Whether a server would be in good order: what its owner should know before, and while, others ask.

For the owner alone: what is said names files and people. No row is read, nothing is charged or created.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from discreet.errors import DiscreetError, LedgerError
from discreet.front.declaring.declaration import Declaration, read_declaration
from discreet.records import dataclass
from discreet.server.keys import KeyFile, keys_beside

__all__ = ["Examined", "examine"]

_SOON = timedelta(days=14)
_LATER = timedelta(minutes=5)
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_READ = stat.S_IRGRP | stat.S_IROTH


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What was looked at, and what is wrong with it.

    Attributes
    ----------
    about : str
        What was looked at.
    is_wrong : bool
        Whether something has to be done.
    said : str
        What was found, and what to do.
    """

    about: str
    is_wrong: bool
    said: str


def examine(file: Path, *, now: datetime | None = None) -> list[Examined]:
    """Look at a declaration, its ledger, its tables, its keys, the files' owners and the clock.

    Parameters
    ----------
    file : Path
        The declaration.
    now : datetime, optional
        What the clock says.
    """
    time = datetime.now(UTC) if now is None else now
    read = read_declaration(file)
    return [
        *_libraries(),
        *_files(file, read),
        *_tables(read),
        *_ledger(read, time),
        *_keys(file, time),
    ]


def _good(about: str, said: str) -> Examined:
    return Examined(about=about, is_wrong=False, said=said)


def _wrong(about: str, said: str) -> Examined:
    return Examined(about=about, is_wrong=True, said=said)


def _libraries() -> Iterator[Examined]:
    from importlib import metadata

    for name in ("fastapi", "uvicorn", "h11", "pydantic"):
        try:
            yield _good("libraries", f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            yield _wrong("libraries", f"{name} is not installed: pip install 'discreet[serve]'")


def _files(file: Path, read: Declaration) -> Iterator[Examined]:
    """Say which files others may write, and thereby decide about data, budget or keys."""
    ledger = read.ledger.file
    secret = [keys_beside(file), *([] if ledger is None else [ledger])]
    for path in [file, *secret]:
        if not path.exists():
            continue
        mode = os.stat(path).st_mode
        if mode & _OTHERS_WRITE:
            yield _wrong("files", f"{path.name} may be written by others: chmod go-w {path.name}")
        elif path in secret and mode & _OTHERS_READ:
            yield _wrong("files", f"{path.name} may be read by others: chmod go-r {path.name}")
        else:
            yield _good("files", f"{path.name} is its owner's alone to write")


def _tables(read: Declaration) -> Iterator[Examined]:
    try:
        yield _good("tables", f"{', '.join(read.open_tables())}: opened")
    except (DiscreetError, OSError) as error:
        yield _wrong("tables", f"cannot be opened: {error}")


def _ledger(read: Declaration, time: datetime) -> Iterator[Examined]:
    place = read.ledger
    if place.file is not None and not place.file.exists():
        yield _good("ledger", "there is none yet: the first start of a server makes it")
        return
    try:
        with closing(place.open()) as ledger:
            found = ledger.verify()
            latest = max((entry.time for entry in ledger.entries()), default="")
    except (LedgerError, OSError) as error:
        yield _wrong("ledger", f"cannot be trusted or used: {error}")
        return
    yield _good("ledger", f"{found.entries} entries, each in its place")
    if latest > _written(time + _LATER):
        yield _wrong("clock", f"is behind the last entry of the ledger, {latest}: set it")
    else:
        yield _good("clock", f"{_written(time)[:19]}Z, not before the last entry")
    if place.anchor is None:
        yield _wrong("ledger", "has no anchor: that an old copy was restored would not be noticed")


def _keys(file: Path, time: datetime) -> Iterator[Examined]:
    try:
        known = KeyFile(keys_beside(file)).all()
    except LedgerError as error:
        yield _wrong("keys", str(error))
        return
    valid = [one for one in known if one.is_valid(_written(time))]
    if not valid:
        yield _wrong("keys", "none is valid: nobody can ask; discreet keys create NAME --role ROLE")
    for one in valid:
        if not one.is_valid(_written(time + _SOON)):
            yield _wrong("keys", f"{one.prefix} of {one.name} ends on {one.expires[:10]}")
    if valid:
        yield _good("keys", f"{len(valid)} of {len(known)} are valid")


def _written(time: datetime) -> str:
    return f"{time.astimezone(UTC).isoformat(timespec='microseconds')[:26]}Z"
