"""The declaration with one thing changed: compared with what was meant, and written so that nothing is lost.

A change is made in the text, so that comments stay. Then both texts are read as TOML, and the new one must
hold exactly what the old one held, but for what was meant to change; otherwise nothing is written. A new file
is put in the place of the old one by one renaming, and a copy of the old one is kept beside it.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from discreet.curator.ledger.anchor_file import synchronize
from discreet.errors import ParameterError, RequestRefused
from discreet.front.declaring.toml_text import number_text
from discreet.noise.entropy import System

__all__ = ["budget_text", "digest_of", "locked", "put_in_place", "with_budget", "with_table"]

_HEADER = re.compile(r"[ \t]*\[[ \t]*budget[ \t]*\][ \t]*(#.*)?\r?")
_SECTION = re.compile(r"[ \t]*\[")
_CHANGED = "the declaration was changed meanwhile: look at it again, and repeat what you want to change"
_BY_HAND = "is written in a form that is not changed here", "a change by hand, and: discreet ledger amend"


def digest_of(content: bytes) -> str:
    """Return what tells one text of a declaration from another."""
    return hashlib.sha256(content).hexdigest()


def with_table(content: bytes, name: str, section: str) -> bytes:
    """Return a declaration with one more table at its end.

    Raises
    ------
    ParameterError
        If there is a table of this name.
    """
    before = _read(content)
    tables = before.get("tables")
    if isinstance(tables, dict) and name in tables:
        raise ParameterError("name", "is taken by a declared table", "another name")
    added = tomllib.loads(section, parse_float=Decimal)["tables"][name]
    text = content.decode("utf-8")
    changed = f"{text}{'' if text.endswith(chr(10)) else chr(10)}\n{section}".encode()
    return _as_meant(changed, {**before, "tables": {**(tables or {}), name: added}})


def with_budget(content: bytes, caps: Mapping[str, Any]) -> bytes:
    """Return a declaration with other caps.

    Parameters
    ----------
    content : bytes
        The declaration.
    caps : mapping
        ``epsilon``, ``delta`` or ``rho`` as texts, and ``per_analyst`` as a mapping of the same; what is not
        named stays as it is.
    """
    before = _read(content)
    meant = tomllib.loads(budget_text(caps), parse_float=Decimal)["budget"]
    lines = {name: _cap(one) for name, one in caps.items()}
    changed = _with_lines(content.decode("utf-8"), lines).encode()
    return _as_meant(changed, {**before, "budget": {**before["budget"], **meant}})


def budget_text(caps: Mapping[str, Any]) -> str:
    """Return the lines that state caps, in their section."""
    return "\n".join(["[budget]", *(f"{name} = {_cap(one)}" for name, one in caps.items())])


@contextmanager
def locked(file: Path) -> Iterator[bytes]:
    """Hold the declaration against others who change it in this way, and give its content.

    Raises
    ------
    ParameterError
        If it is a link: then the folder at which its paths begin is not the one that would be written to.
    """
    import fcntl

    if not stat.S_ISREG(os.lstat(file).st_mode):
        raise ParameterError(file.name, "is not a plain file", "a file, not a link to one")
    handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW)
    with os.fdopen(handle, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if os.fstat(held.fileno()).st_ino != os.lstat(file).st_ino:  # another one was put in its place
            raise RequestRefused(_CHANGED)
        yield held.read()


def put_in_place(file: Path, old: bytes, new: bytes) -> Path:
    """Write a declaration in the place of the old one, durably; return the copy of the old one."""
    about = os.lstat(file)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H%M%S.%fZ")
    copy = file.with_name(f"{file.name}.{now}")
    fresh = file.with_name(f".{file.name}.{System().bits(64):016x}")
    try:
        _write(copy, old, about)
        _write(fresh, new, about)
        if file.read_bytes() != old:
            raise RequestRefused(_CHANGED)
        os.replace(fresh, file)
        try:
            synchronize(file.absolute().parent)
        except BaseException:
            os.replace(copy, file)
            raise
    except BaseException:
        for one in (fresh, copy):
            with suppress(FileNotFoundError):
                one.unlink()
        raise
    return copy


def _write(path: Path, content: bytes, about: os.stat_result) -> None:
    """Write a new file that belongs to whom the other one belongs to, and is open to nobody else."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as file:
        with suppress(PermissionError):
            os.fchown(file.fileno(), about.st_uid, about.st_gid)
        os.fchmod(file.fileno(), stat.S_IMODE(about.st_mode))
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _read(content: bytes) -> dict[str, Any]:
    return tomllib.loads(content.decode("utf-8"), parse_float=Decimal)


def _as_meant(changed: bytes, meant: Mapping[str, Any]) -> bytes:
    """Return a changed text if it holds what was meant, and nothing else."""
    try:
        found = _read(changed)
    except ValueError:
        found = {}
    if found != meant:
        raise ParameterError("the declaration", *_BY_HAND)
    return changed


def _cap(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{name} = {number_text(one)}' for name, one in value.items())} }}"
    return number_text(str(value))


def _with_lines(text: str, lines: Mapping[str, str]) -> str:
    """Replace or add lines of the section of the budget; their comments stay."""
    written = text.split("\n")
    starts = [place for place, line in enumerate(written) if _HEADER.fullmatch(line)]
    if len(starts) != 1:
        raise ParameterError("[budget]", *_BY_HAND)
    start = starts[0] + 1
    rest = (place for place in range(start, len(written)) if _SECTION.match(written[place]))
    end = next(rest, len(written))
    for name, value in lines.items():
        known = re.compile(rf"([ \t]*{name}[ \t]*=[ \t]*)[^#\r]*?([ \t]*(#[^\r]*)?\r?)")
        for place in range(start, end):
            if found := known.fullmatch(written[place]):
                written[place] = f"{found[1]}{value}{found[2]}"
                break
        else:
            written.insert(start, f"{name} = {value}")
            end += 1
    return "\n".join(written)
