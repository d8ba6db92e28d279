"""A request whose mechanism reads several exact tables of counts at once, and draws for itself.

Which table it measures may depend on what it drew before: adaptivity lives within the request, and its event
is that of all steps. It is frozen before anything is charged, and goes through the door as any other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from discreet.array_types import Integers
from discreet.curator.ledger import JsonValue
from discreet.curator.request.identity import canonical_identity, check_versions, keyed_digest
from discreet.curator.request.only_answer import drawn_once, read_drawn
from discreet.curator.request.own_parts import is_own
from discreet.curator.request.request import AnswerColumn, Expectation
from discreet.curator.request.statistics.base import AnswerKeys
from discreet.data import Plan, Statistics, Table, compute, fresh_salt, sensitivity, to_object
from discreet.data.language.relations import public_tables, sources_of
from discreet.errors import EngineFailed, LedgerTampered, ParameterError
from discreet.privacy.events import Event
from discreet.privacy.rational import confidence_level
from discreet.privacy.sensitivity import Sensitivity

__all__ = ["TableMechanism", "TabulatedRequest"]


class TableMechanism(ABC):
    """What reads exact tables and draws. Subclasses are frozen dataclasses of public numbers."""

    __slots__ = ()

    @property
    @abstractmethod
    def event(self) -> Event:
        """The law of everything that is drawn."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, JsonValue]:
        """What makes it differ from others of the same event."""

    @property
    @abstractmethod
    def remark(self) -> str:
        """What is measured and chosen, in words, before it is asked."""

    @property
    def output(self) -> str:
        """What its values are called."""
        return "n"

    @abstractmethod
    def covers(self, bound: Sensitivity) -> bool:
        """Return whether it is made for tables of which one person moves each at least that far."""

    def covers_all(self, found: Sequence[Statistics]) -> bool:
        """Return whether it is made for the tables of all plans, in their order."""
        return all(self.covers(one.sensitivity) for each in found for one in each.statistics)

    @abstractmethod
    def draw(self, tables: Sequence[Integers]) -> JsonValue:
        """Choose and measure, from the exact counts of every table of all plans, in order."""

    @abstractmethod
    def finish(self, drawn: object, confidence: Fraction) -> tuple[AnswerKeys, AnswerColumn]:
        """Return the keys and noisy counts of what was drawn; a `ValueError` if it cannot have been."""

    @abstractmethod
    def expectations(self, confidence: Fraction, rows: int) -> tuple[Expectation, ...]:
        """Return how wrong the answer will be, for a hypothetical number of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TabulatedRequest:
    """All that an answer depends on, except for the data and the noise.

    Attributes
    ----------
    plan : Plan
        The tables of counts.
    versions : tuple of (table, version)
        Which data they are counted in.
    mechanism : TableMechanism
        What reads them.
    confidence : Fraction
        Of every interval.
    further : tuple of Plan
        More tables of counts, of other rows of the same persons. All are counted before anything is drawn.
    """

    plan: Plan
    versions: tuple[tuple[str, str], ...]
    mechanism: TableMechanism
    confidence: Fraction = Fraction(95, 100)
    further: tuple[Plan, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.mechanism, TableMechanism):
            raise ParameterError("mechanism", "does not read tables of counts", "a TableMechanism")
        if not is_own(self.mechanism):
            raise ParameterError(
                "mechanism",
                "is not one that was proven, or has a part that is not",
                "what a question of the library makes",
            )
        sources = [one.source for one in self.plans]
        read = [name for one in sources for name in sources_of(one)]
        read += [name for one in sources for name in public_tables(one)]
        if tuple(name for name, _ in self.versions) != tuple(dict.fromkeys(read)):
            raise ParameterError("versions", "are not those of the plans' tables", "one for each table")
        confidence_level(self.confidence)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """What is counted: one plan, or several of the same persons."""
        return (self.plan, *self.further)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the noisy values."""
        return (self.mechanism.output,)

    @property
    def remark(self) -> str:
        """What is measured and chosen, in words."""
        return self.mechanism.remark

    @property
    def event(self) -> Event:
        """The law of everything that is drawn: what the ledger records and the budget pays for."""
        return self.mechanism.event

    @property
    def identity(self) -> bytes:
        """Canonical bytes: equal for two requests exactly if they ask the same about the same data."""
        content: dict[str, object] = {
            "confidence": str(self.confidence),
            "event": self.event.to_object(),
            "mechanism": type(self.mechanism).__name__,
            "parameters": self.mechanism.parameters,
            "plan": to_object(self.plan),
        }
        if self.further:
            content["further"] = [to_object(one) for one in self.further]
        return canonical_identity(content, self.versions)

    def digest(self, secret: bytes, declared: Mapping[str, JsonValue]) -> str:
        """Return a keyed hash of the identity and of what is declared about the tables that are read."""
        return keyed_digest(self.identity, secret, [name for name, _ in self.versions], declared)

    def check(self, tables: Mapping[str, Table]) -> None:
        """Refuse tables that it was not made for, or in which one person can change more than it covers."""
        check_versions(self.versions, tables)
        if not self.mechanism.covers_all([sensitivity(one, tables) for one in self.plans]):
            raise ParameterError(
                "request", "was made under other declarations than these", "one made for these tables"
            )

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return how wrong the answer is expected to be, for a hypothetical number of rows."""
        return self.mechanism.expectations(self.confidence, rows)

    def draw(self, tables: Mapping[str, Table]) -> bytes:
        """Count, choose and measure. Exact values never leave this function, and neither do errors.

        Counting may fail, and be tried again; a mechanism that fails has given its one answer.
        """
        exact = None
        with suppress(Exception):
            salt = fresh_salt()
            exact = [compute(one, tables, salt=salt) for one in self.plans]
        if exact is None:
            raise EngineFailed
        values = [table for one in exact for table in one.values]
        return drawn_once(lambda: self.mechanism.draw(values))

    def opened(self, content: bytes) -> tuple[AnswerKeys, tuple[AnswerColumn, ...], bool]:
        """Return keys, columns, and whether they are private, of what `draw` wrote for the same request."""
        drawn, private = self.read(content)
        try:
            keys, column = self.mechanism.finish(drawn, self.confidence)
        except (ValueError, KeyError, TypeError, IndexError):
            raise LedgerTampered("a stored answer is not one of its request") from None
        return keys, (column,), private

    def read(self, content: bytes) -> tuple[object, bool]:
        """Return what was drawn, as the mechanism wrote it, and whether it is private; or `EngineFailed`."""
        return read_drawn(content)
