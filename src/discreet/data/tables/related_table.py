"""Tables that protect something else than a person with all rows: a neighbor relation goes with them."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, NoReturn

from discreet.data.language.serialization import JSON
from discreet.data.tables.table import Table
from discreet.errors import ParameterError
from discreet.privacy.neighbors import Neighbors

__all__ = ["RelatedTable"]


class RelatedTable(Table):
    """Private rows under a neighbor relation of their own.

    Only a ledger of the same relation takes such a table, and only the questions that were proven for this
    relation may be asked about it; SQL, which is about persons, is refused.
    """

    __slots__ = ()

    relation: ClassVar[Neighbors]
    """What a guarantee about the table compares."""
    named: ClassVar[str]
    """The name of the relation in a budget."""
    unit: ClassVar[str]
    """What is protected, in words."""

    @property
    @abstractmethod
    def shape(self) -> dict[str, JSON]:
        """What is declared beyond the columns, as plain JSON values."""

    @property
    def declaration(self) -> dict[str, JSON]:
        """What was declared, as plain JSON values: for ledgers and labels. The version is not part of it."""
        return {**super().declaration, "neighbors": str(self.relation), **self.shape}

    def check(self) -> NoReturn:
        """Refuse: what a table of persons is compared with was not declared; see `broken`."""
        raise ParameterError("check", "compares rows with limits of persons", "broken(), for this table")
