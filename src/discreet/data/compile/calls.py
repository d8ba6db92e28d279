"""The operands of a call in Ibis, and the line of a function that says which of them it wants and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from ibis.expr.types import Value

from discreet.data.language.expressions import Expression, Literal, literal
from discreet.data.language.types import Type
from discreet.records import dataclass

__all__ = ["CallLine", "Operands", "of_moment", "of_numbers", "of_one_type", "of_texts"]


@dataclass(frozen=True, slots=True)
class Operands:
    """The operands of one call.

    Attributes
    ----------
    nodes : tuple of Expression
        Their expressions.
    kind : Type
        The type that the call gives.
    value : callable
        Returns the value of an expression, in the type that it has by itself.
    typed : callable
        Returns the value of an expression as a type that it shares with others.
    type_of : callable
        Returns the type of an expression.
    """

    nodes: tuple[Expression, ...]
    kind: Type
    value: Callable[[Expression], Value]
    typed: Callable[[Expression, Type], Value]
    type_of: Callable[[Expression], Type]

    def shared(self, node: Expression) -> Value:
        """Return an operand as the type that the call gives."""
        return self.typed(node, self.kind)

    def null(self) -> Value:
        """Return NULL of the type that the call gives."""
        return self.typed(literal(None), self.kind)

    def number(self, node: Expression) -> Value:
        """Return an operand as a 64-bit integer if it is one, else as a double."""
        whole = self.type_of(node) is Type.INTEGER
        return self.typed(node, Type.INTEGER if whole else Type.FLOAT)

    def text(self, node: Expression) -> Value:
        """Return an operand as text."""
        return self.typed(node, Type.TEXT)

    def others(self, value: Callable[[Expression], Value]) -> Iterator[Any]:
        """Yield the operands after the first: constants as they are, anything else as a value."""
        for node in self.nodes[1:]:
            yield node.value if isinstance(node, Literal) else value(node)


CallLine: TypeAlias = Callable[[Operands], Value]
"""What a function is on an engine."""


def of_numbers(function: Callable[..., Value]) -> CallLine:
    """Return the line of a function of a number, and of constants or further numbers."""
    return lambda operands: function(operands.number(operands.nodes[0]), *operands.others(operands.number))


def of_texts(function: Callable[..., Value]) -> CallLine:
    """Return the line of a function of a text, and of constants or further texts."""
    return lambda operands: function(operands.text(operands.nodes[0]), *operands.others(operands.text))


def of_moment(function: Callable[[Value], Value]) -> CallLine:
    """Return the line of a function of one date or time."""
    return lambda operands: function(operands.value(operands.nodes[0]))


def of_one_type(function: Callable[..., Value]) -> CallLine:
    """Return the line of a function of values that share the type that it gives."""
    return lambda operands: function(*map(operands.shared, operands.nodes))
