"""A request for keys with their counts: what passes a threshold is shown with the noisy count that passed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.curator.request.identity import check_versioned, check_versions
from discreet.curator.request.key_request import KeyRequest
from discreet.curator.request.request import AnswerColumn, Draw, Expectation, Output, Part
from discreet.data import Statistic, Table, fresh_salt
from discreet.data.combination_counts import check_combinations, compute_combination_counts
from discreet.data.language.declarations import KeyValue
from discreet.data.language.plan import KeyCountPlan
from discreet.errors import EngineFailed, LedgerTampered, ParameterError
from discreet.mechanisms.keys.counted_keys import CountedKeys, Reach
from discreet.noise import is_private
from discreet.noise.replayed import mark_replayed
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.records import dataclass

__all__ = ["CountedKeysRequest", "CountedPart", "KeysWithCounts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedPart(Part):
    """A count of every key that was shown, with the mechanism that decided."""

    mechanism: CountedKeys  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """The request checks that the mechanism covers its plan."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class KeysWithCounts:
    """Combinations of keys, sorted, and the noisy count of each. They are public.

    Attributes
    ----------
    columns : tuple of tuples
        The keys of each column.
    counts : array of integers
        The noisy counts.
    private : bool
        Whether the noise came from the operating system, not from a replay for tests.
    """

    columns: tuple[tuple[KeyValue, ...], ...]
    counts: NDArray[np.int64]
    private: bool = True

    @property
    def values(self) -> tuple[KeyValue, ...]:
        """The keys of the first column: none, if nothing was shown."""
        return self.columns[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class CountedKeysRequest(KeyRequest):
    """Which combinations of keys to show, with which counts.

    Attributes
    ----------
    plan : KeyCountPlan
        What is counted.
    mechanism : CountedKeys
        What is added, and from which noisy count on a key is shown.
    statistics : tuple of Statistic
        The statistics that are all equal to that count.
    outputs : tuple of Output
        The columns of the answer, which read these. They are no part of the identity.
    level : Fraction
        The confidence of their intervals, which is no part of it either.
    """

    plan: KeyCountPlan  # type: ignore[assignment]
    mechanism: CountedKeys  # type: ignore[assignment]
    statistics: tuple[Statistic, ...]
    outputs: tuple[Output, ...]
    level: Fraction = Fraction(95, 100)

    def __post_init__(self) -> None:
        reach = Reach(keys=self.plan.keys, rows=self.plan.rows, total=self.plan.total)
        if self.mechanism.reach != reach or self.mechanism.neighbors != ADD_REMOVE_PERSON:
            raise ParameterError("mechanism", "does not cover the plan", "one made for what a person adds")
        check_versioned(self.versions, self.plan.source)

    def check(self, tables: Mapping[str, Table]) -> None:
        """Refuse tables that it was not made for, before anything is charged."""
        check_versions(self.versions, tables)
        check_combinations(self.plan, tables)

    @property
    def confidence(self) -> Fraction:
        """The confidence of intervals."""
        return self.level

    @property
    def columns(self) -> tuple[Output, ...]:
        """The columns of the answer, after the keys."""
        return self.outputs

    def part_of(self, measure: object) -> CountedPart:
        """Return the part that releases a measure."""
        return next(part for part in self._parts if part.measure == measure)

    def expectations(self, rows: int) -> tuple[Expectation, ...]:
        """Return how wrong every column is expected to be, for a number of rows in each group."""
        return tuple(
            output.expect([self.part_of(measure) for measure in output.measures], self.confidence, rows)
            for output in self.columns
        )

    @property
    def _parts(self) -> tuple[CountedPart, ...]:
        return tuple(CountedPart(statistic=one, mechanism=self.mechanism) for one in self.statistics)

    def draw(self, tables: Mapping[str, Table]) -> bytes:
        """Count, add noise and choose; return what is shown, as the ledger keeps it.

        Exact values never leave this function, and neither do errors.
        """
        content = None
        try:
            counted = compute_combination_counts(self.plan, tables, salt=fresh_salt())
            noisy = self.mechanism.release(counted.counts)
            content = _packed(counted.chosen(noisy), len(self.plan.columns), private=is_private(noisy))
        except Exception:  # noqa: S110
            pass
        if content is None:
            raise EngineFailed
        return content

    def read(self, content: bytes) -> KeysWithCounts:  # type: ignore[override]
        """Read what `draw` wrote for the same request."""
        shown = _unpacked(content, len(self.plan.columns))
        if (shown.counts < self.mechanism.threshold).any():
            raise LedgerTampered("stored keys are not those of their request")
        return shown

    def keys_of(self, chosen: KeysWithCounts) -> dict[str, list[KeyValue]]:  # type: ignore[override]
        """Return the keys that are shown, by column."""
        return {name: list(values) for name, values in zip(self.plan.columns, chosen.columns, strict=True)}

    def columns_for(self, chosen: KeysWithCounts) -> tuple[AnswerColumn, ...]:  # type: ignore[override]
        """Return the columns of the answer for what was shown, by public arithmetic."""
        steps = chosen.counts if chosen.private else mark_replayed(chosen.counts)
        draws = {part.measure: Draw(part=part, steps=steps) for part in self._parts}
        groups = self.keys_of(chosen)
        return tuple(
            output.for_groups(groups).finish([draws[one] for one in output.measures], self.level)
            for output in self.outputs
        )

    def showing(self, names: Sequence[str]) -> CountedKeysRequest:
        """Return the request with some of its columns."""
        by_name = {output.name: output for output in self.outputs}
        return replace(self, outputs=tuple(by_name[name] for name in names))


def _packed(chosen: Sequence[tuple[tuple[KeyValue, ...], int]], width: int, *, private: bool) -> bytes:
    columns = []
    for place in range(width):
        values = [row[place] for row, _ in chosen]
        days = any(isinstance(value, date) for value in values)
        columns.append({"days": days, "keys": [str(one) if days and one else one for one in values]})
    content = {"columns": columns, "counts": [count for _, count in chosen], "private": private}
    return json.dumps(content, separators=(",", ":")).encode()


def _unpacked(content: bytes, width: int) -> KeysWithCounts:
    try:
        found = json.loads(content)
        columns = tuple(
            tuple(date.fromisoformat(one) if column["days"] and one else one for one in column["keys"])
            for column in found["columns"]
        )
        counts = np.array(found["counts"], np.int64)
        if len(columns) == width and all(len(column) == len(counts) for column in columns):
            return KeysWithCounts(columns=columns, counts=counts, private=found["private"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        pass
    raise LedgerTampered("stored keys are not those of their request") from None
