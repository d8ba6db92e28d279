"""A request of several measurements: one statement that is made of several answers, paid for as a whole.

The measurements are ordinary requests. Together they have one event, one identity, one charge and one stored
answer, so that a statement is paid or not: no crash and no race for the last budget can leave it half paid.
A statement of one measurement has the identity of that request, and shares its stored answer.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from fractions import Fraction

from discreet.curator.ledger import JsonValue
from discreet.curator.request.identity import keyed_digest
from discreet.curator.request.request import (
    LARGEST_ANSWER,
    AnswerColumn,
    Draw,
    Expectation,
    Request,
    column_names,
)
from discreet.data import Plan, Table
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.privacy.events import Event, compose
from discreet.records import dataclass

__all__ = ["Assembly", "CompoundRequest"]


class Assembly(ABC):
    """How several answers become one: public arithmetic on noisy integers, stated in advance.

    Subclasses are frozen dataclasses.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def keys(self) -> tuple[str, ...]:
        """The names of the columns that no noise enters and that name the rows."""

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """The names of the other columns."""

    @abstractmethod
    def finish(
        self, requests: Sequence[Request], draws: Sequence[Sequence[Draw]], confidence: Fraction
    ) -> tuple[Mapping[str, Sequence[object]], tuple[AnswerColumn, ...]]:
        """Return the keys and the other columns, from what was drawn for each request."""

    @abstractmethod
    def expect(self, requests: Sequence[Request], confidence: Fraction, rows: int) -> tuple[Expectation, ...]:
        """Return how wrong every column will be, if a group has a hypothetical number of rows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompoundRequest:
    """Several requests that are charged, computed and stored together, and what is made of their answers.

    Guarantee
    ---------
    The event is the composition of the events of all requests. Their noises are independent, and none of
    them depends on what another one drew: the composition is that of fixed mechanisms, and what `assembly`
    makes of it is post-processing (proof: statements, lemma 1).

    Attributes
    ----------
    requests : tuple of Request
        What is measured; each once.
    assembly : Assembly
        What is made of it. It reads nothing but what was drawn, so that it is no part of the identity.
    confidence : Fraction
        Of every interval of the answer.
    """

    requests: tuple[Request, ...]
    assembly: Assembly
    confidence: Fraction = Fraction(95, 100)

    def __post_init__(self) -> None:
        if not self.requests or not all(isinstance(one, Request) for one in self.requests):
            raise ParameterError("requests", "are missing or of another type", "one Request or more")
        if sum(size for one in self.requests for size in one.sizes) > LARGEST_ANSWER:
            raise UnsupportedQuery(
                f"the answer would hold more than {LARGEST_ANSWER} numbers; ask for fewer groups or outputs"
            )
        names = [*self.assembly.keys]
        names += [name for column in self.assembly.names for name in column_names(column)]
        if len({name.lower() for name in names}) != len(names):
            raise UnsupportedQuery(
                "two columns of the answer would have the same name; an output n also takes n_lower and "
                "n_upper for its interval, so give the columns different names with AS"
            )

    @property
    def plans(self) -> tuple[Plan, ...]:
        """What is computed."""
        return tuple(one.plan for one in self.requests)

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """Which data they are computed on."""
        return tuple(dict.fromkeys(version for one in self.requests for version in one.versions))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns after the keys."""
        return self.assembly.names

    @property
    def remark(self) -> str:
        """What to say about how the parts are measured."""
        return "; ".join(dict.fromkeys(one.remark for one in self.requests if one.remark))

    def check(self, tables: Mapping[str, Table]) -> None:
        """Refuse tables that one of them was not made for, before anything is charged."""
        for one in self.requests:
            one.check(tables)

    @property
    def event(self) -> Event:
        """The law of everything that is drawn: what the ledger records and the budget pays for."""
        return compose(part.mechanism.event for one in self.requests for part in one.parts)

    @property
    def in_order(self) -> tuple[int, ...]:
        """The places of the requests in the order in which they are stored: that of their identities."""
        return tuple(sorted(range(len(self.requests)), key=lambda place: self.requests[place].identity))

    @property
    def identity(self) -> bytes:
        """Canonical bytes: equal for two statements exactly if they measure the same of the same data."""
        if len(self.requests) == 1:
            return self.requests[0].identity
        listed = [self.requests[place].identity.decode("ascii") for place in self.in_order]
        return json.dumps({"measured": listed}, separators=(",", ":"), ensure_ascii=True).encode()

    def digest(self, secret: bytes, declared: Mapping[str, JsonValue]) -> str:
        """Return a keyed hash of the identity and of what is declared about the tables that are read."""
        return keyed_digest(self.identity, secret, [name for name, _ in self.versions], declared)

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return how wrong every column will be."""
        return self.assembly.expect(self.requests, self.confidence, rows)
