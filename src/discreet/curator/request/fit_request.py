"""A request for the fit of a model: bounded rows in, the public numbers of a model out.

It is frozen before anything is charged, and goes through the door as any other: preview, pay, draw, store,
answer. What is drawn is kept as the answer, and the model is rebuilt from it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from discreet.curator.ledger import JsonValue
from discreet.curator.request.identity import (
    canonical_identity,
    check_versioned,
    check_versions,
    keyed_digest,
)
from discreet.curator.request.learner import Drawn, Learner
from discreet.curator.request.only_answer import drawn_once, read_drawn
from discreet.curator.request.own_parts import is_own
from discreet.curator.request.request import Expectation
from discreet.data import Table, fresh_salt, to_object
from discreet.data.language.plan import RowPlan
from discreet.data.row_values import check_row_plan, compute_rows
from discreet.errors import EngineFailed, LedgerTampered, ParameterError
from discreet.privacy.events import Event
from discreet.privacy.neighbors import ADD_REMOVE_PERSON

__all__ = ["FitRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FitRequest:
    """All that a fit depends on, except for the data and the noise.

    Attributes
    ----------
    plan : RowPlan
        Which rows are read, and what of them.
    versions : tuple of (table, version)
        Which data they are of.
    learner : Learner
        What reads them.

    Guarantee
    ---------
    What is drawn is as private as `event` says, under add/remove of a person: `check` refuses a learner that
    is made for fewer rows of a person than the plan takes (proof: docs/proofs/fits.md, theorem 2).
    """

    plan: RowPlan
    versions: tuple[tuple[str, str], ...]
    learner: Learner

    def __post_init__(self) -> None:
        if not isinstance(self.learner, Learner) or not is_own(self.learner):
            raise ParameterError(
                "learner",
                "is not one that was proven, or has a part that is not",
                "what a model of the library makes",
            )
        check_versioned(self.versions, self.plan.source)
        if (
            tuple(axis.column for axis in self.plan.columns) != self.learner.columns
            or self.plan.reader != self.learner.kind
            or self.learner.rows < self.plan.rows
            or self.learner.shards != self.plan.shards
            or self.learner.event.neighbors != ADD_REMOVE_PERSON
        ):
            raise ParameterError("learner", "does not cover the plan", "one made for its columns and limits")

    @property
    def plans(self) -> tuple[RowPlan, ...]:
        """What is read: one plan."""
        return (self.plan,)

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the output: the target, or what reads the rows."""
        return (self.plan.target or self.learner.kind,)

    @property
    def remark(self) -> str:
        """What is run, in words."""
        return self.learner.words

    @property
    def confidence(self) -> Fraction:
        """The confidence of what is stated about the noise."""
        return Fraction(95, 100)

    @property
    def event(self) -> Event:
        """The law of everything that is drawn: what the ledger records and the budget pays for."""
        return self.learner.event

    @property
    def identity(self) -> bytes:
        """Canonical bytes: equal for two requests exactly if they ask the same about the same data."""
        content = {
            "event": self.event.to_object(),
            "learner": self.learner.kind,
            "parameters": self.learner.parameters,
            "plan": to_object(self.plan),
        }
        return canonical_identity(content, self.versions)

    def digest(self, secret: bytes, declared: Mapping[str, JsonValue]) -> str:
        """Return a keyed hash of the identity and of what is declared about the tables that are read."""
        return keyed_digest(self.identity, secret, [name for name, _ in self.versions], declared)

    def check(self, tables: Mapping[str, Table]) -> None:
        """Refuse tables that it was not made for, before anything is charged."""
        check_versions(self.versions, tables)
        check_row_plan(self.plan, tables)

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return what the noise does, for a hypothetical number of rows."""
        return self.learner.expectations(rows)

    def draw(self, tables: Mapping[str, Table]) -> bytes:
        """Read the rows and fit. Exact values never leave this function, and neither do errors.

        Reading may fail, and be tried again; a learner that fails has given its one answer.
        """
        values = None
        with suppress(Exception):
            values = compute_rows(self.plan, tables, salt=fresh_salt())
        if values is None:
            raise EngineFailed
        return drawn_once(lambda: self.learner.draw(values))

    def drawn_of(self, content: bytes) -> tuple[Drawn, bool]:
        """Return what `draw` wrote for the same request, and whether its noise was private."""
        drawn, private = read_drawn(content)
        if not isinstance(drawn, dict):
            raise LedgerTampered("a stored fit is not one of its request")
        return drawn, private
