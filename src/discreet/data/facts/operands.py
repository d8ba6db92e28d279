"""The operands of a call as the rules of its function see them: what the request alone says."""

from __future__ import annotations

from discreet.data.language.expressions import Expression, Literal
from discreet.data.language.literals import LiteralValue
from discreet.data.language.types import Type
from discreet.records import dataclass

__all__ = ["Stated", "Typed"]


@dataclass(frozen=True, slots=True)
class Stated:
    """An operand of which nothing but its expression is known."""

    expression: Expression

    @property
    def constant(self) -> LiteralValue:
        """The value of a literal; None of anything else."""
        return self.expression.value if isinstance(self.expression, Literal) else None

    @property
    def size(self) -> int:
        """How many nodes its expression has."""
        return self.expression.size


@dataclass(frozen=True, slots=True)
class Typed(Stated):
    """An operand whose type is known."""

    type: Type
