"""Linear combinations of counts and sums: their error is that of the combination of their noises.

A difference of two answers is off by the difference of two independent noises, which is far less than what
both may be off by at the worst. (Proof: windows, lemma 7.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from itertools import count
from math import ceil, floor, gcd, lcm

import numpy as np
from numpy.typing import NDArray

from discreet.curator.request.request import Part
from discreet.data import Expression, Measure
from discreet.data.facts.conditions.key_narrowing import replaced
from discreet.data.language.expressions import (
    Arithmetic,
    ArithmeticOperator,
    Cast,
    Column,
    Literal,
    children,
    columns_of,
)
from discreet.data.language.types import Type
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error.combined import CombinedError
from discreet.mechanisms.error.weighted import NoiseError
from discreet.privacy.rational import float_above, float_below
from discreet.queries.outputs.base import QueryOutput, margin_of
from discreet.queries.outputs.calculation import Evaluated, Evaluation
from discreet.queries.outputs.counts_sums_means import CountOutput, SumOutput
from discreet.queries.outputs.frame_noises import MOST_NOISES, FrameCells, FramedTerm, frame_margins
from discreet.queries.outputs.possible_numbers import PossibleNumbers, plus
from discreet.records import dataclass
from discreet.workloads.error.combined_noise import combined_half_width

__all__ = ["Combinations", "LinearForm", "Term", "independent", "linear_parts", "possible_combinations"]

_ROUNDING = 1e-9
"""Weights that are so much smaller than others are roundings of 0; estimates are off by less in doubles."""

_Places = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinearForm:
    """constant + the sum of coefficients times columns, none of which is 0."""

    coefficients: Mapping[str, Fraction] = field(default_factory=dict)
    constant: Fraction = Fraction(0)

    def times(self, factor: Fraction) -> LinearForm:
        """Return a multiple."""
        coefficients = {name: factor * one for name, one in self.coefficients.items() if factor}
        return LinearForm(coefficients=coefficients, constant=factor * self.constant)

    def plus(self, other: LinearForm) -> LinearForm:
        """Return the sum."""
        names = dict.fromkeys([*self.coefficients, *other.coefficients])
        summed = {name: self.coefficients.get(name, 0) + other.coefficients.get(name, 0) for name in names}
        coefficients = {name: Fraction(one) for name, one in summed.items() if one}
        return LinearForm(coefficients=coefficients, constant=self.constant + other.constant)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Term:
    """A column of noises: that of an output or, through a window, of another row of it.

    Attributes
    ----------
    output : QueryOutput
        Whose noises they are.
    places : array of integers, or None
        Which row of the output each row has; -1 for none. None: each its own.
    frames : FrameCells or None
        Of which rows a window takes the sum, for each row.
    """

    output: QueryOutput
    places: _Places | None = None
    frames: FrameCells | None = None

    @property
    def kind(self) -> object:
        """Terms of one kind can be combined: those with a noise for each cell, or measured together."""
        return None if isinstance(self.output, CountOutput | SumOutput) else self.output.measures


def independent(output: QueryOutput, parts: Sequence[Part]) -> Term | None:
    """Return an output as a term, if its noises in every row are known and independent of other rows'."""
    if output.measured_together is not None:
        return Term(output=output)
    if not isinstance(output, CountOutput | SumOutput):
        return None
    for part in parts:
        # Parts of another type are averages, totals, or counts that were shown because they are large.
        if type(part) is not Part or not isinstance(part.mechanism, Laplace | Gaussian):
            return None
        law = part.mechanism.error
        if law.step != 1 or law.rounding != 0:
            return None
    return Term(output=output)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Combinations:
    """A calculation with its linear parts apart.

    Attributes
    ----------
    expression : Expression
        The calculation, with each linear part as a column.
    parts : mapping of names to expressions and their linear forms
        What these columns are.
    terms : mapping of names to terms
        What they are made of.
    entering : int
        How many columns with noise enter the calculation, each of which needs its part of the confidence.
    """

    expression: Expression
    parts: Mapping[str, tuple[Expression, LinearForm]]
    terms: Mapping[str, Term]
    entering: int

    def numbers(
        self, known: Mapping[str, Evaluated], noises: Mapping[Measure, Part], confidence: Fraction
    ) -> dict[str, Evaluated]:
        """Return what the linear parts can be, given the released columns, each at a confidence."""
        found: dict[str, Evaluated] = {}
        for name, (node, form) in self.parts.items():
            exact = {column: _as_released(known[column]) for column in form.coefficients}
            released = Evaluation(exact, {}, len(next(iter(exact.values())).value)).of(node)
            assert isinstance(released, PossibleNumbers)  # noqa: S101
            found[name] = possible_combinations(form, self.terms, noises, released, confidence)
        return found


def linear_parts(expression: Expression, terms: Mapping[str, Term], entering: int) -> Combinations:
    """Return a calculation with its linear parts apart, unless more would enter it than without.

    Parameters
    ----------
    expression : Expression
        A calculation.
    terms : mapping of names to terms
        The columns that may be combined. A part has at least two of them.
    entering : int
        How many columns with noise it reads.
    """
    found: dict[str, tuple[Expression, LinearForm]] = {}
    columns: dict[Expression, Expression] = {}
    read = columns_of(expression)

    def search(node: Expression) -> None:
        form = _form(node, terms)
        alike = form is not None and len({terms[name].kind for name in form.coefficients}) == 1
        if form is not None and alike and 2 <= len(form.coefficients) <= MOST_NOISES // 2:
            if node not in columns:
                name = next(one for one in _names() if one not in found and one not in read)
                found[name], columns[node] = (node, form), Column(name=name)
            return
        for child in children(node):
            search(child)

    search(expression)
    rest = replaced(expression, columns) if columns else expression
    fewer = entering - len(columns_of(expression) & terms.keys() - columns_of(rest)) + len(found)
    if not found or fewer > entering:
        return Combinations(expression=expression, parts={}, terms={}, entering=entering)
    return Combinations(expression=rest, parts=found, terms=terms, entering=fewer)


def _names() -> Iterator[str]:
    return (f"combination {number}" for number in count(1))


def _as_released(one: Evaluated) -> PossibleNumbers:
    """Return numbers as they were released, as if they were exact."""
    assert isinstance(one, PossibleNumbers)  # noqa: S101
    missing = np.isnan(one.value)
    return replace(
        one,
        low=np.where(missing, np.inf, one.value),
        high=np.where(missing, -np.inf, one.value),
        null=missing,
    )


def _form(node: Expression, terms: Mapping[str, Term]) -> LinearForm | None:
    """Return an expression as a linear combination of terms, if it is one."""
    if isinstance(node, Literal):
        number = isinstance(node.value, int | Fraction) and type(node.value) is not bool
        return LinearForm(constant=Fraction(node.value)) if number else None  # type: ignore[arg-type]
    if isinstance(node, Column):
        return LinearForm(coefficients={node.name: Fraction(1)}) if node.name in terms else None
    if isinstance(node, Cast) and node.type is not Type.INTEGER:
        return _form(node.operand, terms)
    if not isinstance(node, Arithmetic):
        return None
    one, other = _form(node.left, terms), _form(node.right, terms)
    if one is None or other is None:
        return None
    if node.operator is ArithmeticOperator.ADD:
        return one.plus(other)
    if node.operator is ArithmeticOperator.SUBTRACT:
        return one.plus(other.times(Fraction(-1)))
    if node.operator is ArithmeticOperator.MULTIPLY and not one.coefficients:
        return other.times(one.constant)
    if node.operator is ArithmeticOperator.MULTIPLY and not other.coefficients:
        return one.times(other.constant)
    if node.operator is ArithmeticOperator.DIVIDE and not other.coefficients and other.constant:
        return one.times(1 / other.constant)
    return None


def possible_combinations(
    form: LinearForm,
    terms: Mapping[str, Term],
    parts: Mapping[Measure, Part],
    released: PossibleNumbers,
    confidence: Fraction,
) -> PossibleNumbers:
    """Return what a combination of the exact statistics can be, in every row at the confidence.

    Parameters
    ----------
    form : LinearForm
        What is combined.
    terms : mapping of names to terms
        Its columns.
    parts : mapping of measures to parts
        Their noises.
    released : PossibleNumbers
        The same combination of the released numbers, without any error but that of doubles.
    confidence : Fraction
        Of each row.
    """
    margin = np.zeros(len(released.value))
    if any(terms[name].frames is not None for name in form.coefficients):
        framed = [_framed(terms[name], factor) for name, factor in form.coefficients.items()]
        margin = frame_margins(framed, parts, len(margin), confidence)
    else:
        for rows, cells in _patterns(form, terms, len(margin)):
            margin[rows] = float_above(_margin(cells, parts, confidence))
    zero = np.zeros_like(margin)
    whole = released.whole and bool((margin == np.rint(margin)).all())
    around = PossibleNumbers(low=-margin, value=zero, high=margin, null=zero > 0, whole=whole)
    found = plus(released, around)
    counts = not any(isinstance(terms[name].output, SumOutput) for name in form.coefficients)
    if counts and all(one > 0 for one in form.coefficients.values()):  # counts are not negative
        least = float_below(form.constant)
        found = replace(
            found, low=np.where(found.null, found.low, np.maximum(found.low, least)),
            high=np.where(found.null, found.high, np.maximum(found.high, least)),
        )  # fmt: skip
    return found


def _framed(term: Term, factor: Fraction) -> FramedTerm:
    """Return a term with what it multiplies the noise of each of its measures by."""
    output = term.output
    assert isinstance(output, CountOutput | SumOutput)  # noqa: S101
    factors = {measure: factor * one for measure, one in zip(output.measures, output.factors, strict=True)}
    return FramedTerm(factors=factors, places=term.places, frames=term.frames)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cell:
    """A released number: an output in some row, and what it is multiplied by."""

    output: QueryOutput
    place: int
    factor: Fraction


def _patterns(
    form: LinearForm, terms: Mapping[str, Term], size: int
) -> Iterable[tuple[NDArray[np.bool_], list[_Cell]]]:
    """Return which rows have the same terms of the same cells, and the cells of one of them.

    The factors of a cell that occurs several times are added up.
    """
    named = [(terms[name], factor) for name, factor in form.coefficients.items()]
    own = np.arange(size)
    places = np.stack([own if term.places is None else term.places[:size] for term, _ in named])
    same = (places[:, None, :] == places[None, :, :]).reshape(len(named) ** 2, size).T
    for pattern in np.unique(same, axis=0):
        rows = (same == pattern).all(axis=1)
        cells: dict[tuple[str, int], _Cell] = {}
        for (term, factor), place in zip(named, places[:, int(np.argmax(rows))].tolist(), strict=True):
            key = (term.output.name, place)
            more = factor + cells[key].factor if key in cells else factor
            cells[key] = _Cell(output=term.output, place=place, factor=more)
        yield rows, [cell for cell in cells.values() if cell.factor]


def _margin(cells: Sequence[_Cell], parts: Mapping[Measure, Part], confidence: Fraction) -> Fraction:
    """Return what a combination is off by at most, except for the failure probability."""
    if any(cell.output.measured_together is not None for cell in cells):
        return _margin_together(cells, confidence)
    noises: dict[tuple[Measure, int], Fraction] = {}
    for cell in cells:
        assert isinstance(cell.output, CountOutput | SumOutput)  # noqa: S101
        for measure, one in zip(cell.output.measures, cell.output.factors, strict=True):
            before = noises.get((measure, cell.place), Fraction(0))
            noises[measure, cell.place] = before + cell.factor * one
    noises = {noise: one for noise, one in noises.items() if one}
    if not noises:
        return Fraction(0)
    if len(noises) == 1:
        (((measure, _), factor),) = noises.items()
        return abs(factor) * margin_of(parts[measure], confidence)
    unit = Fraction(
        gcd(*(factor.numerator for factor in noises.values())),
        lcm(*(factor.denominator for factor in noises.values())),
    )
    law = CombinedError(
        laws=tuple(_law(parts[measure]) for measure, _ in noises),
        coefficients=tuple(int(abs(factor) / unit) for factor in noises.values()),
    )
    return unit * ceil(law.quantile(confidence))


def _margin_together(cells: Sequence[_Cell], confidence: Fraction) -> Fraction:
    """Return the same for counts that are measured together, each rounded to an integer."""
    weights: dict[int, NDArray[np.float64]] = {}
    for cell in cells:
        together = cell.output.measured_together
        assert together is not None  # noqa: S101
        noise, own = together
        weights[cell.place] = weights.get(cell.place, 0.0) + float(cell.factor) * np.array(own)
    combined_weights = np.concatenate(list(weights.values()))
    largest = float(np.abs(combined_weights).max())
    combined_weights[np.abs(combined_weights) < _ROUNDING * largest] = 0
    factors = sum(abs(cell.factor) for cell in cells)
    found = factors * (Fraction(1, 2) + Fraction(_ROUNDING))
    if largest > _ROUNDING * float(factors):
        found += Fraction(combined_half_width(noise, combined_weights.tolist(), confidence))
    whole = all(cell.factor.denominator == 1 for cell in cells)
    return Fraction(floor(found)) if whole else found


def _law(part: Part) -> NoiseError:
    assert isinstance(part.mechanism, Laplace | Gaussian)  # noqa: S101
    return part.mechanism.error
