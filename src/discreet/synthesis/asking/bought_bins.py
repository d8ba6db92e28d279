"""Cells between bought quantiles: fine counts of a column are measured first; cells hold as many rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.curator import Door, Release
from discreet.curator.request.tabulated_request import TabulatedRequest
from discreet.data import Bounds, Table
from discreet.errors import ParameterError
from discreet.privacy.offer import Offer
from discreet.synthesis.asking.question import SynthesisQuestion
from discreet.synthesis.asking.table_synthesis import TableSynthesis
from discreet.synthesis.columns.coded_column import CodedColumn
from discreet.synthesis.models.measured import MeasuredTable
from discreet.synthesis.models.simplex import nearest_whole_counts, whole_rows_counted

__all__ = ["BIN_SHARE", "BoughtBins", "cut_points", "divided_offer", "supposed_cuts"]

BIN_SHARE = Fraction(1, 10)
"""The share of an offer that buys quantiles."""
_FINE_CELLS = 1 << 14
"""How many cells a column has at most of which quantiles are bought."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoughtBins:
    """What is bought first, and how many cells it is for.

    Attributes
    ----------
    request : TabulatedRequest
        Fine counts of the columns, each by itself.
    wanted : mapping of columns to int
        How many cells each column gets.
    """

    request: TabulatedRequest
    wanted: Mapping[str, int]

    @classmethod
    def of(
        cls, question: SynthesisQuestion, tables: Mapping[str, Table], offer: Offer, confidence: Fraction
    ) -> BoughtBins:
        """Return what buys the quantiles of a question, for an offer."""
        mapped = sorted(question.mapped_columns(tables) & set(question.bins))
        if mapped:
            raise ParameterError(
                "bins",
                f"are wanted of {mapped[0]!r}, which follows from another column by a mapping",
                "columns that are counted, such as the one that it follows from",
            )
        fine = replace(
            question,
            columns=tuple(question.bins),
            method="independent",
            widths={},
            bins={},
            facts=None,
            workload=None,
            most=_FINE_CELLS,
        )
        request = fine.request(tables, offer, confidence)
        for column in _columns(request):
            if not isinstance(column.axis.values, Bounds):
                raise ParameterError(
                    "bins", f"are wanted of {column.name!r}, which has keys", "numbers or days"
                )
        return cls(request=request, wanted=dict(question.bins))

    def cuts(self, content: bytes) -> dict[str, tuple[int, ...]]:
        """Return where cells begin, by the noisy counts that the ledger keeps."""
        drawn, _ = self.request.read(content)
        assert isinstance(self.request.mechanism, TableSynthesis)  # noqa: S101
        measured = self.request.mechanism.measured(drawn)
        return {
            column.name: cut_points(column, one, self.wanted[column.name])
            for column, one in zip(_columns(self.request), measured, strict=True)
        }

    def supposed(self, edges: Mapping[str, Collection[int]]) -> dict[str, tuple[int, ...]]:
        """Return what stands for cuts that are not bought yet, beside the edges of facts in each column."""
        return {
            column.name: supposed_cuts(column, self.wanted[column.name], edges.get(column.name, ()))
            for column in _columns(self.request)
        }

    @property
    def words(self) -> list[str]:
        """What is bought, in words."""
        return [
            f"cells of {name} are bought: {many} of about as many rows" for name, many in self.wanted.items()
        ]

    def labelled(self, answer: Release, bought: Release) -> Release:
        """Return an answer whose cells were bought, with what was charged for that."""
        charge = {name: bought.label[name] for name in ("loss", "event", "charge")}
        listed = [{"what": "; ".join(self.words), **charge}]
        private = bool(answer.label["private"]) and bool(bought.label["private"])
        return replace(
            answer,
            bought=(self.request,),  # type: ignore[arg-type]
            label={**answer.label, "bought": listed, "private": private},
        )

    def bought(self, door: Door, *, analyst: str) -> tuple[Release, dict[str, tuple[int, ...]]]:
        """Pay for the quantiles, unless they were paid for, and return where cells begin."""
        answer = door.answer(self.request, analyst=analyst)
        content = door.stored(self.request)
        assert content is not None  # noqa: S101
        return answer, self.cuts(content)


def cut_points(column: CodedColumn, measured: MeasuredTable, many: int) -> tuple[int, ...]:
    """Return the grid points, from the lower bound on, at which cells of about equal counts begin.

    All of it is in integers: a stored answer is read by this rule again, perhaps on another machine. Missing
    values have a cell of their own, and are not among the counts.
    """
    starts = column.axis.starts
    whole = nearest_whole_counts(measured.counts, whole_rows_counted([measured]))[: len(starts)]
    reached = np.cumsum(whole)
    total = max(int(reached[-1]), 1)
    places = [int(np.searchsorted(reached, -(-total * part // many))) + 1 for part in range(1, many)]
    return tuple(sorted({starts[place] for place in places if place < len(starts)}))


def supposed_cuts(column: CodedColumn, many: int, edges: Collection[int]) -> tuple[int, ...]:
    """Return the grid points at which cells of equal counts on every number begin, but for edges of facts.

    Facts cut cells at their edges, too. A cut at such an edge is moved to where there is none, so that no
    cuts that may be bought leave more cells: what is too large is refused before anything is paid.
    """
    level = MeasuredTable(columns=(0,), counts=np.full(column.cells, 1000, np.int64), variance=1.0)
    kept = set(cut_points(column, level, many)).difference(edges)
    free = [start for start in column.axis.starts[1:] if start not in kept.union(edges)]
    return tuple(sorted(kept.union(free[: many - 1 - len(kept)])))


def divided_offer(offer: Offer, share: Fraction) -> tuple[Offer, Offer]:
    """Return a share of an offer, and the rest: of epsilon or rho; delta beside epsilon in halves."""
    if offer.rho is not None:
        rest = Offer.concentrated(offer.rho * (1 - share), offer.delta)
        return Offer.concentrated(offer.rho * share), rest
    assert offer.epsilon is not None  # noqa: S101
    half = None if offer.delta is None else offer.delta / 2
    return (
        Offer(epsilon=offer.epsilon * share, delta=half),
        Offer(epsilon=offer.epsilon * (1 - share), delta=half),
    )


def _columns(request: TabulatedRequest) -> tuple[CodedColumn, ...]:
    assert isinstance(request.mechanism, TableSynthesis)  # noqa: S101
    return request.mechanism.synthesizer.domain.columns
