"""Calculations with variances, covariances and correlations, such as the slope of a regression.

A slope is a covariance divided by a variance, both of them noisy; its error is of first order a combination
of all their noises, far less than what all of them may be off by at the worst. (Proof: delta_method,
lemma 4.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import count

import numpy as np

from discreet.curator.request.request import Draw, Part
from discreet.data import Expression, Measure
from discreet.data.facts.conditions.key_narrowing import replaced
from discreet.data.language.expressions import (
    Arithmetic,
    ArithmeticOperator,
    Call,
    Cast,
    Column,
    Literal,
    children,
    columns_of,
)
from discreet.data.language.functions.numeric import SQRT
from discreet.data.language.types import Type
from discreet.queries.outputs.answer_rows import possible_numbers
from discreet.queries.outputs.base import QueryOutput, of_several
from discreet.queries.outputs.calculation import Evaluated, Evaluation
from discreet.queries.outputs.delta_method import has_law, within_law
from discreet.queries.outputs.float_interval import FloatInterval
from discreet.queries.outputs.jets import Jet, difference, divided_by, public_number, root_of, total_of
from discreet.queries.outputs.moments import VarianceOutput
from discreet.queries.outputs.pairs import CorrelationOutput, CovarianceOutput
from discreet.queries.outputs.possible_numbers import PossibleNumbers
from discreet.records import dataclass

__all__ = ["MomentParts", "moment_parts"]

_PLAIN = Fraction(1, 8)
"""The part of the failure probability for what interval arithmetic gives, which the result is within."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MomentParts:
    """A calculation with its parts that are calculated from moments apart.

    Attributes
    ----------
    expression : Expression
        The calculation, with each such part as a column.
    parts : mapping of names to expressions
        What these columns are.
    outputs : mapping of names to outputs
        What they are made of.
    entering : int
        How many columns with noise enter the calculation, each of which needs its part of the confidence.
    """

    expression: Expression
    parts: Mapping[str, Expression]
    outputs: Mapping[str, QueryOutput]
    entering: int

    def numbers(self, draws: Mapping[Measure, Draw], confidence: Fraction) -> dict[str, Evaluated]:
        """Return what the parts can be, each at a confidence."""
        return {name: self._part(node, draws, confidence) for name, node in self.parts.items()}

    def _part(self, node: Expression, draws: Mapping[Measure, Draw], confidence: Fraction) -> PossibleNumbers:
        outputs = _read(node, self.outputs)
        plain = self._plain(node, outputs, draws, 1 - _PLAIN * (1 - confidence))
        read = {measure: draws[measure] for measure in _measures(outputs)}

        def ratio(of: Mapping[Measure, Jet]) -> tuple[Jet, Jet]:
            above, below = _ratio(node, self.outputs, of)
            return above, public_number(1, above) if below is None else below

        ends = FloatInterval(low=plain.low, value=plain.value, high=plain.high)
        found = within_law(ratio, read, 1 - (1 - _PLAIN) * (1 - confidence), ends)
        none = plain.low > plain.high
        return replace(
            plain, low=np.where(none, plain.low, found.low), high=np.where(none, plain.high, found.high)
        )

    @staticmethod
    def _plain(
        node: Expression, outputs: Sequence[QueryOutput], draws: Mapping[Measure, Draw], confidence: Fraction
    ) -> PossibleNumbers:
        """Return what interval arithmetic gives."""
        share = of_several(confidence, len(outputs))
        known: dict[str, Evaluated] = {}
        for output in outputs:
            column = output.finish([draws[measure] for measure in output.measures], share)
            known[output.name] = possible_numbers(output, column)
        groups = len(np.asarray(draws[outputs[0].measures[0]].steps))
        found = Evaluation(known, {}, groups).of(node)
        assert isinstance(found, PossibleNumbers)  # noqa: S101
        return found


def moment_parts(
    expression: Expression,
    outputs: Sequence[QueryOutput],
    noises: Mapping[Measure, Part],
    entering: int,
    confidence: Fraction,
) -> MomentParts:
    """Return a calculation with what is calculated from moments apart, unless more would enter it.

    Parameters
    ----------
    expression : Expression
        A calculation.
    outputs : sequence of QueryOutput
        What it reads.
    noises : mapping of measures to parts
        Their noises.
    entering : int
        How many columns with noise it reads.
    confidence : Fraction
        Of the calculation.
    """
    by_name = {output.name: output for output in outputs}
    found: dict[str, Expression] = {}
    columns: dict[Expression, Expression] = {}
    names = columns_of(expression)

    def search(node: Expression) -> None:
        if _is_part(node, by_name, noises, of_several(confidence, max(entering, 1))):
            if node not in columns:
                name = next(one for one in _names() if one not in found and one not in names)
                found[name], columns[node] = node, Column(name=name)
            return
        for child in children(node):
            search(child)

    search(expression)
    rest = replaced(expression, columns) if columns else expression
    fewer = entering - len(names & by_name.keys() - columns_of(rest)) + len(found)
    if not found or fewer > entering:
        return MomentParts(expression=expression, parts={}, outputs={}, entering=entering)
    return MomentParts(expression=rest, parts=found, outputs=by_name, entering=fewer)


def _names() -> Iterator[str]:
    return (f"moments {number}" for number in count(1))


def _read(node: Expression, outputs: Mapping[str, QueryOutput]) -> list[QueryOutput]:
    names = columns_of(node)
    return [output for name, output in outputs.items() if name in names]


def _measures(outputs: Sequence[QueryOutput]) -> list[Measure]:
    return list(dict.fromkeys(measure for output in outputs for measure in output.measures))


def _is_part(
    node: Expression,
    outputs: Mapping[str, QueryOutput],
    noises: Mapping[Measure, Part],
    confidence: Fraction,
) -> bool:
    """Return whether a part is a smooth function of several outputs, with a moment among them, and a law."""
    if not isinstance(node, Arithmetic | Call) or not _is_smooth(node, outputs):
        return False
    read = _read(node, outputs)
    moments = any(isinstance(one, VarianceOutput | CovarianceOutput | CorrelationOutput) for one in read)
    if len(read) < 2 or not moments:
        return False
    law = 1 - (1 - _PLAIN) * (1 - confidence)
    return has_law([noises[measure] for measure in _measures(read)], law)


def _is_smooth(node: Expression, outputs: Mapping[str, QueryOutput]) -> bool:
    if isinstance(node, Literal):
        return isinstance(node.value, int | Fraction) and type(node.value) is not bool
    if isinstance(node, Column):
        return node.name in outputs and type(outputs[node.name]).jet is not QueryOutput.jet
    if isinstance(node, Cast):
        return node.type is not Type.INTEGER and _is_smooth(node.operand, outputs)
    if isinstance(node, Call):
        return node.function is SQRT and _is_smooth(node.operands[0], outputs)
    return isinstance(node, Arithmetic) and all(_is_smooth(one, outputs) for one in (node.left, node.right))


def _ratio(
    node: Expression, outputs: Mapping[str, QueryOutput], of: Mapping[Measure, Jet]
) -> tuple[Jet, Jet | None]:
    """Return a smooth part as what is divided and by what; None is 1."""
    if isinstance(node, Literal):
        return public_number(Fraction(node.value), next(iter(of.values()))), None  # type: ignore[arg-type]
    if isinstance(node, Column):
        jet = outputs[node.name].jet(of)
        assert jet is not None  # noqa: S101
        return jet, None
    if isinstance(node, Cast):
        return _ratio(node.operand, outputs, of)
    if isinstance(node, Call):
        above, below = _ratio(node.operands[0], outputs, of)
        return root_of(above if below is None else divided_by(above, below)), None
    assert isinstance(node, Arithmetic)  # noqa: S101
    one, below = _ratio(node.left, outputs, of)
    other, further = _ratio(node.right, outputs, of)
    if node.operator is ArithmeticOperator.DIVIDE:
        return one if further is None else one * further, _times(below, other)
    if node.operator is ArithmeticOperator.MULTIPLY:
        return one * other, _times(below, further)
    one = one if further is None else one * further
    other = other if below is None else other * below
    put_together = total_of if node.operator is ArithmeticOperator.ADD else difference
    return put_together(one, other), _times(below, further)


def _times(one: Jet | None, other: Jet | None) -> Jet | None:
    if one is None or other is None:
        return other if one is None else one
    return one * other
