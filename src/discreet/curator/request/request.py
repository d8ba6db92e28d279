"""A request: what is computed, which noise it gets, and how the noisy numbers become an answer.

A request is frozen before anything is charged. The request path needs nothing else: SQL, dataframes, ranges
and marginals are all requests.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.curator.ledger import JsonValue
from discreet.curator.request.answer_keys import keys_of_levels
from discreet.curator.request.histogram import HistogramMechanism
from discreet.curator.request.identity import (
    canonical_identity,
    check_versioned,
    check_versions,
    keyed_digest,
)
from discreet.data import Measure, Plan, Statistic, Table, sensitivity, to_object
from discreet.errors import ParameterError, UnsupportedQuery
from discreet.mechanisms import Gaussian, Laplace
from discreet.privacy.events import Event, compose
from discreet.records import dataclass

__all__ = [
    "AnswerColumn",
    "AnswerValues",
    "Draw",
    "Expectation",
    "Mechanism",
    "Output",
    "Part",
    "Request",
    "column_names",
]

LARGEST_ANSWER = 12_000_000
"""How many noisy integers a request may draw, so that the ledger can keep them."""

Mechanism: TypeAlias = Laplace | Gaussian | HistogramMechanism
"""Noise on integers, or what releases a whole histogram."""

Numbers: TypeAlias = "NDArray[np.float64] | NDArray[np.int64]"
AnswerValues: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | NDArray[np.object_]"
"""Numbers, or keys of any type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A statistic and the mechanism that releases it, all groups together.

    The mechanism must be made for integers that move at least that far, under the same relation.
    """

    statistic: Statistic
    mechanism: Mechanism

    def __post_init__(self) -> None:
        if not _covered(self.statistic, self.mechanism):
            raise ParameterError(
                "mechanism", "does not cover the statistic", "one made for its sensitivity, or a larger one"
            )

    @property
    def measure(self) -> Measure:
        """What the statistic measures."""
        return self.statistic.measure


_composed = lru_cache(maxsize=256)(compose)  # a request is asked for its event at every step on its way


def _covered(statistic: Statistic, mechanism: Mechanism) -> bool:
    bound = statistic.sensitivity
    if isinstance(mechanism, HistogramMechanism):
        return mechanism.covers(statistic)
    return (
        isinstance(mechanism, Laplace | Gaussian)
        and mechanism.lattice.integers
        and mechanism.neighbors == bound.neighbors
        and (
            mechanism.event.sensitivity >= bound.l1
            if isinstance(mechanism, Laplace)
            else mechanism.event.squared_sensitivity >= bound.squared_l2
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Draw:
    """A part after noise was added. It is public.

    Attributes
    ----------
    part : Part
        What was released.
    steps : array of integers
        The noisy integers of the statistic, in units of its step; or what else the mechanism drew.
    """

    part: Part
    steps: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AnswerColumn:
    """One column of an answer: a value for each group, and an interval around it or another promise.

    Attributes
    ----------
    name : str
        The name of the output.
    values, lower, upper : arrays
        The interval covers the bounded statistic with at least the confidence of the request, each group on
        its own. Where nothing can be said, a value is NaN. Keys have no interval.
    offers : str
        What is promised if there is no interval, such as how many rows a key may be short of the most
        frequent.
    unknown : array of booleans, optional
        Where the noise leaves nothing to be said about a value: its interval is all that is possible.
    excess : float, optional
        Of counts alone: how far the expected value lies above a true count of 0, if negative values are
        raised to 0. Above larger counts it lies less far.
    bias : float
        How far the expected value may lie above the statistic: `excess` once that was done, else 0.
    """

    name: str
    values: AnswerValues
    lower: Numbers | None = None
    upper: Numbers | None = None
    offers: str = ""
    unknown: NDArray[np.bool_] | None = None
    excess: float | None = None
    bias: float = 0.0

    def at(self, places: NDArray[np.int64]) -> AnswerColumn:
        """Return the groups at some places."""
        return replace(
            self,
            values=self.values[places],
            lower=None if self.lower is None else self.lower[places],
            upper=None if self.upper is None else self.upper[places],
            unknown=None if self.unknown is None else self.unknown[places],
        )

    def nonnegative(self) -> AnswerColumn:
        """Return a count with negative values raised to 0; any other column as it is.

        For a true count c >= 0 and noise Z the expected value is c + E max(0, -Z - c), as
        max(0, c + Z) = c + Z + max(0, -Z - c) and E Z = 0. The excess falls as c grows, and is largest at
        c = 0.
        """
        if self.excess is None:
            return self
        return replace(self, values=np.maximum(self.values, 0), bias=self.excess)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """How wrong an output is expected to be, from public facts alone.

    Attributes
    ----------
    name : str
        The name of the output.
    margin : float
        Half the width of its interval, at the confidence of the request.
    standard_deviation : float
        Of the noise.
    assumes : str
        What the figures assume, such as a hypothetical count under a mean; empty if nothing.
    means : str
        What the margin is, if it is not half an interval; else empty.
    """

    name: str
    margin: float
    standard_deviation: float
    assumes: str = ""
    means: str = ""

    @property
    def note(self) -> str:
        """What to say next to the figures."""
        assumed = f"assuming {self.assumes}" if self.assumes else ""
        return "; ".join(words for words in (self.means, assumed) if words)


class Output(ABC):
    """How a column of the answer is computed from noisy parts: public arithmetic, stated in advance.

    Subclasses are frozen dataclasses with a `name` and the measures they read.
    """

    __slots__ = ()

    name: str

    @property
    @abstractmethod
    def measures(self) -> tuple[Measure, ...]:
        """The measures that are read, each once."""

    @abstractmethod
    def finish(self, draws: Sequence[Draw], confidence: Fraction) -> AnswerColumn:
        """Return the column, from the draws of `measures` in their order."""

    @abstractmethod
    def expect(self, parts: Sequence[Part], confidence: Fraction, rows: int) -> Expectation:
        """Return how wrong the column will be, if a group has a hypothetical number of rows."""

    @property
    @abstractmethod
    def identity(self) -> dict[str, object]:
        """What makes this output differ from others, except for its name, as plain JSON values."""

    def for_groups(self, keys: Mapping[str, Sequence[object]]) -> Output:
        """Return the output for groups that were chosen, by their keys; most do not look at keys."""
        del keys
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """All that an answer depends on, except for the data and the noise.

    Attributes
    ----------
    plan : Plan
        What is computed.
    versions : tuple of (table, version)
        Which data it is computed on.
    parts : tuple of Part
        One for each measure of the plan, in order.
    outputs : tuple of Output
        What is computed from the measures: the columns of the answer, after the keys, unless `shown` names
        others.
    confidence : Fraction
        Of every interval.
    repetition : int
        How often the same was measured before, on purpose: each time is another request.
    shown : tuple of Output
        The columns of the answer, if they are not the outputs themselves: some of them, and calculations with
        them. They read the same noisy integers, so that they are no part of the identity.
    levels : tuple of tuples of bool
        By which of the keys each part of the answer is grouped, if it has totals as well. Nor are they part
        of the identity.
    remark : str
        What to say about how it is measured, before it is asked; no part of the identity.
    """

    plan: Plan
    versions: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    outputs: tuple[Output, ...]
    confidence: Fraction = Fraction(95, 100)
    repetition: int = 0
    shown: tuple[Output, ...] = ()
    levels: tuple[tuple[bool, ...], ...] = ()
    remark: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if tuple(part.measure for part in self.parts) != self.plan.measures or not all(
            self._fits(part) for part in self.parts
        ):
            raise ParameterError("parts", "are not those of the plan", "one for each measure, in order")
        check_versioned(self.versions, self.plan.source)
        if {measure for output in self.outputs for measure in output.measures} != set(self.plan.measures):
            raise ParameterError(
                "outputs", "leave a measure unread or read another", "what the plan measures"
            )
        if not {measure for one in self.shown for measure in one.measures} <= set(self.plan.measures):
            raise ParameterError("shown", "reads what is not measured", "what the outputs read")
        if not 0 < self.confidence < 1:
            raise ParameterError("confidence", "is out of range", "above 0 and below 1, such as 95/100")
        if sum(self.sizes) > LARGEST_ANSWER:
            raise UnsupportedQuery(
                f"the answer would hold more than {LARGEST_ANSWER} numbers; ask for fewer groups or outputs"
            )
        names = [key.column for key in self.plan.keys]
        names += [name for column in self.columns for name in column_names(column.name)]
        if len({name.lower() for name in names}) != len(names):
            raise UnsupportedQuery(
                "two columns of the answer would have the same name; an output n also takes n_lower and "
                "n_upper for its interval, so give the outputs different names"
            )

    @property
    def columns(self) -> tuple[Output, ...]:
        """The columns of the answer, after the keys."""
        return self.shown or self.outputs

    @property
    def answer_keys(self) -> dict[str, list[object]]:
        """The keys of every group of the answer, by name."""
        return keys_of_levels(self.plan.keys, self.levels)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of these columns."""
        return tuple(column.name for column in self.columns)

    @property
    def plans(self) -> tuple[Plan, ...]:
        """What is computed: one plan."""
        return (self.plan,)

    @property
    def requests(self) -> tuple[Request, ...]:
        """What is measured: itself."""
        return (self,)

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return how wrong every column is expected to be, for a number of rows in each group."""
        return tuple(
            output.expect([self.part_of(measure) for measure in output.measures], self.confidence, rows)
            for output in self.columns
        )

    def _fits(self, part: Part) -> bool:
        if isinstance(part.mechanism, HistogramMechanism):
            return part.mechanism.cells == self.plan.cells
        return part.mechanism.size in (None, self.plan.size(part.measure))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many integers are drawn for each part."""
        return tuple(
            part.mechanism.size
            if isinstance(part.mechanism, HistogramMechanism)
            else self.plan.size(part.measure)
            for part in self.parts
        )

    def check(self, tables: Mapping[str, Table]) -> None:
        """Refuse tables that it was not made for, or in which one person can change more than it covers.

        Everything that can be wrong is found here, from public facts, before anything is charged.
        """
        check_versions(self.versions, tables)
        statistics = sensitivity(self.plan, tables).statistics
        covered = all(_covered(part.statistic, part.mechanism) for part in self.parts)
        if not covered or tuple(part.statistic for part in self.parts) != statistics:
            raise ParameterError(
                "request", "was made under other declarations than these", "one made for these tables"
            )

    @property
    def event(self) -> Event:
        """The law of everything that is drawn: what the ledger records and the budget pays for."""
        return _composed(tuple(part.mechanism.event for part in self.parts))

    @property
    def identity(self) -> bytes:
        """Canonical bytes: equal for two requests exactly if they ask the same about the same data.

        What the outputs are called is not part of it: an answer is kept as noisy integers, which get the
        names that the asker chose. Nor is what is calculated from them.
        """
        content = {
            "choices": [
                part.mechanism.identity if isinstance(part.mechanism, HistogramMechanism) else None
                for part in self.parts
            ],
            "confidence": str(self.confidence),
            "events": [part.mechanism.event.to_object() for part in self.parts],
            "outputs": [output.identity for output in self.outputs],
            "plan": to_object(self.plan),
            "repetition": self.repetition,
        }
        return canonical_identity(content, self.versions)

    def part_of(self, measure: Measure) -> Part:
        """Return the part that releases a measure."""
        return self.parts[self.plan.measures.index(measure)]

    def digest(self, secret: bytes, declared: Mapping[str, JsonValue]) -> str:
        """Return a keyed hash of the identity and of what is declared about the tables that are read."""
        return keyed_digest(self.identity, secret, [name for name, _ in self.versions], declared)


def column_names(output: str) -> tuple[str, str, str]:
    """Return the names of an output's columns: its values and the two ends of its intervals."""
    return output, f"{output}_lower", f"{output}_upper"
