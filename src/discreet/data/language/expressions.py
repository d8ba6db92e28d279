"""Expressions: a closed tree of total functions over the columns of one row.

Total means that no row makes an expression fail, for any values: an error would be an
answer about the data. Where arithmetic has no result, the result is NULL.

Values and logic are those of SQL:

- A comparison with NULL is NULL. `And`, `Or` and `Not` are Kleene's: NULL stands for
  "unknown", so FALSE AND NULL is FALSE, TRUE OR NULL is TRUE, and NOT NULL is NULL. A filter keeps the rows
  for which its condition is TRUE.
- `IsNull` is TRUE or FALSE, never NULL. NaN is not NULL.
- NaN equals itself and is above every other number; minus zero equals zero.
- Text compares by code point, a date counts as the midnight it begins with.
- A number typed as a literal is exact. Compared with integers and decimals it is compared exactly; compared
  with floats it stands for the nearest float. Columns of integers and decimals are compared exactly, unless
  they have more than 38 digits together; those, and a column of floats with any other, as floats.
- `Arithmetic` is done in double precision, one rounding for each operation. An operand that is NaN or
  beyond 2^67 (about 1e20) in magnitude makes the result NULL, one nearer to 0 than 2^-67 counts as 0, and
  division by 0 is NULL. Arithmetic that could still overflow or underflow (from the seventh factor on) is
  refused by `data.facts.type_check`, so it never does, on any engine.
- Sums, differences and products of integers are integers: exact up to 2^53, NULL from 2^63 on where they
  leave arithmetic. The difference of two dates is a number of days.
- `data.language.functions` lists the functions, and says what each means where values are special.

Nodes are plain records that compare by structure, and hide literals when printed, since the
literals of a request may be sensitive. `data.language.formulas.formula` has the operators that users type;
`data.facts.type_check` gives an expression its type; `data.language.serialization` writes it as JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, fields
from fractions import Fraction
from typing import TypeAlias, cast

from discreet.data.language.functions import ScalarFunction, function_named
from discreet.data.language.literals import LiteralValue, literal_type, literal_value
from discreet.data.language.operators import ArithmeticOperator, Comparison
from discreet.data.language.types import Type
from discreet.errors import UnsupportedQuery
from discreet.records import Record, dataclass

__all__ = [
    "COLUMN_BITS",
    "LARGEST_DEPTH",
    "LARGEST_SIZE",
    "And",
    "Arithmetic",
    "ArithmeticOperator",
    "Call",
    "Case",
    "Cast",
    "Column",
    "Compare",
    "Comparison",
    "Expression",
    "IsIn",
    "IsNull",
    "Literal",
    "LiteralValue",
    "Not",
    "Or",
    "When",
    "children",
    "columns_of",
    "literal",
    "walk",
]

LARGEST_DEPTH = 64
"""How deep an expression may be nested; what is deeper is refused when it is built."""
LARGEST_SIZE = 10_000
"""How many nodes an expression may have, counted with repetition."""

COLUMN_BITS = 67
"""In arithmetic a column's value is NULL beyond 2^67 in magnitude, and 0 below 2^-67."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Node(Record):
    """What all nodes share: their measured depth and size, so that no later walk can run away."""

    depth: int = field(init=False, repr=False, compare=False)
    size: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _check_parts(self)
        below = tuple(children(self))
        depth = 1 + max((child.depth for child in below), default=0)
        size = 1 + sum(child.size for child in below)
        if depth > LARGEST_DEPTH:
            raise UnsupportedQuery(
                f"the expression is nested more than {LARGEST_DEPTH} levels deep; "
                "write it flatter, for instance with IN instead of many comparisons"
            )
        if size > LARGEST_SIZE:
            raise UnsupportedQuery(
                f"the expression has more than {LARGEST_SIZE} parts; shorten it, for instance with a range"
            )
        self._amend(depth=depth, size=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(_Node):
    """The value of a column in the row at hand. Names are exact, upper and lower case included."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Literal(_Node):
    """A constant that the request states. Make one with `literal`, which normalizes what was typed.

    Attributes
    ----------
    value : None, bool, int, Fraction, str, date or datetime
        A datetime without a zone is a `TIMESTAMP`; one in UTC is an `INSTANT`.
    type : Type
        Which of these it is; two literals are equal only if their types are.
    """

    value: LiteralValue = field(repr=False)
    type: Type = field(init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        value = self.value
        if isinstance(value, Fraction) and value.denominator == 1:
            value = value.numerator
        self._amend(value=value, type=literal_type(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare(_Node):
    """`left operator right`. A literal on the left is moved to the right, which mirrors the operator."""

    operator: Comparison
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        operator = Comparison(self.operator)
        if isinstance(self.left, Literal) and not isinstance(self.right, Literal):
            self._amend(left=self.right, operator=operator.mirrored, right=self.left)
        else:
            self._amend(operator=operator)
        super().__post_init__()


@dataclass(frozen=True, slots=True, kw_only=True)
class And(_Node):
    """TRUE if all operands are, FALSE if one is FALSE, else NULL. Nested `And`s are flattened."""

    operands: tuple[Expression, ...]

    def __post_init__(self) -> None:
        self._amend(operands=_flattened(And, self.operands))
        super().__post_init__()


@dataclass(frozen=True, slots=True, kw_only=True)
class Or(_Node):
    """TRUE if one operand is, FALSE if all are FALSE, else NULL. Nested `Or`s are flattened."""

    operands: tuple[Expression, ...]

    def __post_init__(self) -> None:
        self._amend(operands=_flattened(Or, self.operands))
        super().__post_init__()


@dataclass(frozen=True, slots=True, kw_only=True)
class Not(_Node):
    """TRUE for FALSE, FALSE for TRUE, NULL for NULL."""

    operand: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class IsNull(_Node):
    """Whether the operand is NULL; `Not` of it for IS NOT NULL."""

    operand: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class IsIn(_Node):
    """Whether the operand equals one of some literals; NULL if the operand is.

    The literals are sorted and repetitions are dropped, so that two lists of the same values
    make the same request. NULL is not a member: test for it with `IsNull`.
    """

    operand: Expression
    values: tuple[Literal, ...]

    def __post_init__(self) -> None:
        if not all(isinstance(value, Literal) for value in self.values):
            raise UnsupportedQuery("IN lists something that is not a constant; write x IN (1, 2), or x = y")
        if not self.values:
            raise UnsupportedQuery("IN needs at least one value; leave the condition out, or list a value")
        if any(value.type is Type.NULL for value in self.values):
            raise UnsupportedQuery("IN lists NULL, which equals nothing; write x IN (...) OR x IS NULL")
        distinct = {(value.type.value, str(value.value)): value for value in self.values}
        self._amend(values=tuple(distinct[key] for key in sorted(distinct)))
        super().__post_init__()


@dataclass(frozen=True, slots=True, kw_only=True)
class Arithmetic(_Node):
    """`left operator right` in double precision; NULL if there is no result (see the module)."""

    operator: ArithmeticOperator
    left: Expression
    right: Expression

    def __post_init__(self) -> None:
        self._amend(operator=ArithmeticOperator(self.operator))
        super().__post_init__()


@dataclass(frozen=True, slots=True, kw_only=True)
class When(_Node):
    """A branch of a `Case`: its value, if its condition is TRUE and that of no branch before it."""

    condition: Expression
    value: Expression


@dataclass(frozen=True, slots=True, kw_only=True)
class Case(_Node):
    """The value of the first branch whose condition is TRUE; `otherwise` if there is none."""

    branches: tuple[When, ...]
    otherwise: Expression

    def __post_init__(self) -> None:
        branches = isinstance(self.branches, tuple) and all(isinstance(part, When) for part in self.branches)
        if not branches or not self.branches:
            raise UnsupportedQuery(
                "CASE has no branch; write CASE WHEN age < 18 THEN 'child' ELSE 'adult' END"
            )
        super().__post_init__()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cast(_Node):
    """The operand as another type; NULL if its value has no counterpart (see `casts`)."""

    operand: Expression
    type: Type

    def __post_init__(self) -> None:
        self._amend(type=Type(self.type))
        super().__post_init__()


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(_Node):
    """A function of some operands."""

    function: ScalarFunction
    operands: tuple[Expression, ...]

    def __post_init__(self) -> None:
        self._amend(function=function_named(self.function))
        least, most = self.function.operands
        default = self.function.last_default
        if default is not None and self.operands[most - 1 :] == (Literal(value=default),):
            self._amend(operands=self.operands[:-1])
        if not isinstance(self.operands, tuple) or not least <= len(self.operands) <= most:
            raise UnsupportedQuery(
                f"{self.function.title} has too few or too many operands; write {self.function.example}"
            )
        super().__post_init__()


Expression: TypeAlias = (
    Column | Literal | Compare | And | Or | Not | IsNull | IsIn | Arithmetic | Case | Cast | Call
)
"""Any node. To add one: a class here, its type in `data.facts.type_check`, its meaning in `compile`."""


def literal(value: object) -> Literal:
    """Make a literal of what was typed, as `literal_value` normalizes it."""
    return Literal(value=literal_value(value))


def children(node: Expression | _Node) -> Iterator[Expression]:
    """Yield the expressions directly below a node, in order."""
    for place in fields(node):
        value = getattr(node, place.name, None)
        if isinstance(value, _Node):
            yield cast("Expression", value)
        elif isinstance(value, tuple):
            yield from (cast("Expression", item) for item in value if isinstance(item, _Node))


def _check_parts(node: _Node) -> None:
    """Refuse a node whose parts are not expressions, or whose name is not text."""
    for place in fields(node):
        if not place.init or isinstance(node, Literal) or place.name in {"operator", "function", "type"}:
            continue
        value = getattr(node, place.name)
        if place.name == "name":
            good = isinstance(value, str) and bool(value)
        elif place.name in {"operands", "values"}:
            good = isinstance(value, tuple) and all(_is_expression(item) for item in value)
        elif place.name == "branches":
            good = True  # checked by the node itself
        else:
            good = _is_expression(value)
        if not good:
            raise UnsupportedQuery("a part of an expression is not an expression; build it with col()")


def _is_expression(value: object) -> bool:
    return isinstance(value, _Node) and not isinstance(value, When)


def walk(node: Expression) -> Iterator[Expression]:
    """Yield a node and everything below it, parents first."""
    yield node
    for child in children(node):
        yield from walk(child)


def columns_of(node: Expression) -> frozenset[str]:
    """Return the names of the columns that an expression reads."""
    return frozenset(part.name for part in walk(node) if isinstance(part, Column))


def _flattened(kind: type[And] | type[Or], operands: tuple[Expression, ...]) -> tuple[Expression, ...]:
    if not operands:
        raise UnsupportedQuery("AND and OR need operands; leave the empty condition out")
    flat: list[Expression] = []
    for operand in operands:
        flat.extend(operand.operands if isinstance(operand, kind) else (operand,))
    return tuple(flat)
