"""A TOML file, section by section: every key must be known, and every refusal says where it is.

An unknown key is refused, because a misspelled rule would not be applied. Refusals
name the file, the section and the key; they never repeat a value.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import NoReturn

from discreet.errors import ParameterError

__all__ = ["BLANK", "Section", "parse_toml"]

BLANK = "FILL IN"
"""What is in a file where its owner has still to say something."""

_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse_toml(file: Path, content: bytes) -> object:
    """Return what a file of TOML holds; decimal numbers are kept exactly as written.

    Raises
    ------
    ParameterError
        If it is not TOML, with the line and the column.
    """
    place = ""
    try:
        return tomllib.loads(content.decode("utf-8"), parse_float=Decimal)
    except ValueError as error:
        found = re.search(r"at line \d+, column \d+", str(error))
        place = f" {found[0]}" if found else ""
    except RecursionError:
        pass
    raise ParameterError(f"{file.name}:", f"this is not TOML{place}", "see https://toml.io, or discreet init")


class Section:
    """A place in a file. Used in a ``with``, refusals raised inside name it.

    Parameters
    ----------
    file : Path
        The file.
    *path : str
        The keys that lead there.
    """

    __slots__ = ("file", "path")

    def __init__(self, file: Path, *path: str) -> None:
        self.file = file
        self.path = path

    def of(self, *path: str) -> Section:
        """Return a section inside."""
        return Section(self.file, *self.path, *path)

    def beside(self, path: str) -> Path:
        """Return a path that starts at the directory of the file, unless it is absolute."""
        return self.file.absolute().parent / Path(path).expanduser()

    def refuse(self, key: str, problem: str, allowed: str) -> NoReturn:
        """Refuse what is under a key."""
        raise self._named(ParameterError(key, problem, allowed))

    def content(
        self, found: object, needed: tuple[str, ...] = (), optional: tuple[str, ...] | None = None
    ) -> dict[str, object]:
        """Return the keys and values of the section, which must have all that are needed and no others.

        Parameters
        ----------
        found : object
            What is there.
        needed : tuple of str
            Keys that must be there.
        optional : tuple of str or None
            Keys that may be there; None if the keys are names that the owner chose.
        """
        known = (*needed, *(optional or ()))
        if not isinstance(found, dict):
            example = ", ".join(f"{key} = …" for key in (needed or known)[:2])
            self.refuse("it", "is not a section", f"{{ {example} }}" if example else "keys with values")
        for key in found if optional is not None else ():
            if key not in known:
                near = get_close_matches(key, known, n=2, cutoff=0.7)
                self.refuse(
                    _shown(key), "is not a key of this section", " or ".join(near) or ", ".join(known)
                )
        for key in needed:
            if key not in found:
                self.refuse(key, "is missing", ", ".join(needed))
        return found

    def text(self, content: Mapping[str, object], key: str) -> str | None:
        """Return the text under a key, or None if there is none."""
        value = content.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value or "\0" in value:
            self.refuse(key, "is not text", 'text in quotes, such as "visits"')
        return value

    def refuse_blanks(self, content: Mapping[str, object]) -> None:
        """Refuse everything that must still be filled in, here or deeper, in one message."""
        blanks = list(_blanks(content))
        if not blanks:
            return
        allowed = "what is known without looking at the data"
        section = self.of(*blanks[0][:-1])
        if len(blanks) == 1:
            section.refuse(_shown(blanks[0][-1]), "must still be filled in", allowed)
        self.refuse(", ".join(_dotted(path) for path in blanks), "must still be filled in", allowed)

    def _named(self, error: ParameterError) -> ParameterError:
        name = _dotted(self.path)
        where = f"{self.file.name}, [{name}]:" if name else f"{self.file.name}:"
        return ParameterError(f"{where} {error.parameter}", error.problem, error.allowed)

    def __enter__(self) -> Section:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ParameterError):
            raise self._named(error) from None


def _blanks(content: Mapping[str, object]) -> Iterator[tuple[str, ...]]:
    """Iterate over the paths of all that must still be filled in."""
    for key, value in content.items():
        if isinstance(value, dict):
            yield from ((key, *rest) for rest in _blanks(value))
        elif value == BLANK or (isinstance(value, list) and BLANK in value):
            yield (key,)


def _dotted(path: Sequence[str]) -> str:
    return ".".join(_shown(key) for key in path)


def _shown(key: str) -> str:
    return key if _BARE.fullmatch(key) else repr(key)
