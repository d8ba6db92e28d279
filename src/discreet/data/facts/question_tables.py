"""The declared tables as one question sees them, with what was found out about relations over them.

What is public about a relation follows from the relation and the declarations alone, and is needed many times
on the way of a question: its columns, whose they are, how many rows a person has. It is found once.

Nothing outlives the question: the next one sees the tables as they are then. The door makes its own view
of them and finds everything anew, since a request may come from anybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, TypeVar

__all__ = ["QuestionTables", "found_once"]

Subject = TypeVar("Subject")
Found = TypeVar("Found")
Finder = Callable[[Subject, Mapping[str, Any]], Found]


class QuestionTables(Mapping[str, Any]):
    """A copy of a mapping of names to tables, for one question.

    Parameters
    ----------
    tables : mapping of names to tables
        What is declared; later changes of the mapping are not seen.
    """

    __slots__ = ("_found", "_tables")

    def __init__(self, tables: Mapping[str, Any]) -> None:
        self._tables = dict(tables)
        self._found: dict[tuple[object, int], tuple[object, Any]] = {}

    def __getitem__(self, name: str) -> Any:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def once(self, find: Finder[Subject, Found], subject: Subject) -> Found:
        """Return what a function finds about a frozen object over these tables; refusals are raised anew.

        The object is known by its identity, and kept, so that no other one can have the same.
        """
        key = find, id(subject)
        if key not in self._found:
            self._found[key] = subject, find(subject, self)
        found: Found = self._found[key][1]
        return found


def found_once(find: Finder[Subject, Found]) -> Finder[Subject, Found]:
    """Make a function of an object and the tables find its result once a question; its result is frozen."""

    @wraps(find)
    def known(subject: Subject, tables: Mapping[str, Any]) -> Found:
        return tables.once(find, subject) if isinstance(tables, QuestionTables) else find(subject, tables)

    return known
