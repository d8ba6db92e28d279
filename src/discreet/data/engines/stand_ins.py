"""Plans that differ in whole numbers only have one statement: with stand-ins where the numbers are.

A question that is asked again for another year or another threshold is another plan, and its statement
differs in a few digits. They are those of the literals that conditions compare with: for whole numbers below
10^14 the digits of a literal stand in a statement as they are, whatever the type of the column, and decide
nothing else. So the statement is written once for a plan of stand-ins, larger numbers that fit wherever the
others do, and gets the digits of each plan. (Proof: contribution_bounding, lemma 16.)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from discreet.data.language.expressions import And, Compare, Expression, Literal, Not, Or
from discreet.data.language.plan import Group, KeyCountPlan, KeyPlan
from discreet.data.language.relations import Derive, Filter, Project, Relation, Source

__all__ = ["has_every_stand_in", "has_stand_in", "with_numbers", "with_stand_ins"]

MOST_NUMBERS = 32
"""Plans with more constants keep a statement each."""
SMALLEST_STAND_IN = 10**14
"""Numbers from here on are left as they are: every stand-in is larger than what it stands for."""
_FIRST = 6120739451803
"""A stand-in is this number with two more digits, which say which one it is: fifteen, all told."""
_STAND_IN = re.compile(rf"{_FIRST}([0-9][0-9])")

AnyPlan = TypeVar("AnyPlan", Group, KeyPlan, KeyCountPlan)


def with_stand_ins(plan: AnyPlan) -> tuple[AnyPlan, tuple[int, ...]] | None:
    """Return a plan with stand-ins, and the numbers that they stand for; None if it has none or too many.

    Only plans over one table are taken, whose conditions are compiled without looking at any fact of columns.
    Equal numbers have one stand-in, different ones have several, so that what was alike stays alike.
    """
    numbers: dict[int, int] = {}
    source = _relation(plan.source, numbers)
    if source is None or not 0 < len(numbers) <= MOST_NUMBERS:
        return None
    return replace(plan, source=source), tuple(numbers)


def with_numbers(text: str, numbers: Sequence[int]) -> str:
    """Return a text with the digits of numbers where their stand-ins are."""
    return _STAND_IN.sub(lambda found: str(numbers[int(found[1])]), text)


def has_stand_in(text: str) -> bool:
    """Return whether a text has the digits of a stand-in anywhere."""
    return str(_FIRST) in text


def has_every_stand_in(text: str, numbers: Sequence[int]) -> bool:
    """Return whether a text has the stand-in of each number, and no other."""
    return {int(found) for found in _STAND_IN.findall(text)} == set(range(len(numbers)))


def _relation(relation: Relation, numbers: dict[int, int]) -> Relation | None:
    if isinstance(relation, Source):
        return relation
    if not isinstance(relation, Filter | Derive | Project):
        return None
    source = _relation(relation.source, numbers)
    if source is None:
        return None
    if isinstance(relation, Filter):
        return replace(relation, source=source, condition=_condition(relation.condition, numbers))
    return replace(relation, source=source)


def _condition(node: Expression, numbers: dict[int, int]) -> Expression:
    """Replace the literals that are compared with; what is within other expressions stays."""
    if isinstance(node, And | Or):
        return replace(node, operands=tuple(_condition(operand, numbers) for operand in node.operands))
    if isinstance(node, Not):
        return replace(node, operand=_condition(node.operand, numbers))
    if not isinstance(node, Compare) or not isinstance(node.right, Literal):
        return node
    number = node.right.value
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < SMALLEST_STAND_IN:
        return node
    place = numbers.setdefault(number, len(numbers))
    return replace(node, right=Literal(value=100 * _FIRST + place))
