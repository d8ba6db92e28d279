"""Plans and expressions as JSON with exactly one spelling, so that bytes identify a request.

`to_object` turns a plan into plain JSON values, with every number as text ("5/2", "40"), and `from_object`
turns them back. `to_json` writes them with sorted keys, no spaces, ASCII only; `from_json` reads nothing
else. `outline` is `to_object` with every literal replaced by its type, for logs and ledgers that must not
contain what a request stated; if literals are used in calculated columns, keys and bounds may depend on them,
and only their number and their kind are written.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.data.language import expressions, measures, plan, public_rows, relations
from discreet.data.language.declarations import Bounds, Dates, Keys, Limits
from discreet.data.language.expressions import LARGEST_DEPTH, Expression, Literal
from discreet.data.language.functions import ScalarFunction
from discreet.data.language.measures import Axis, Factor, Measure
from discreet.data.language.plan import Group, GroupKey, KeyCountPlan, KeyPlan, RowPlan
from discreet.data.language.relations import LATER, Equality, Named, Order, Personal, Relation
from discreet.errors import DiscreetError, ParameterError

__all__ = ["from_json", "from_object", "outline", "to_json", "to_object"]

JSON: TypeAlias = bool | int | str | list["JSON"] | dict[str, "JSON"] | None
Node: TypeAlias = (
    Expression
    | Relation
    | Named
    | Equality
    | Order
    | Personal
    | Group
    | GroupKey
    | KeyPlan
    | KeyCountPlan
    | RowPlan
    | Measure
    | Factor
    | Axis
)
Serializable: TypeAlias = Node | Bounds | Keys | Dates | Limits

LARGEST_BYTES = 1 << 26

_KINDS: dict[str, type] = {
    "column": expressions.Column,
    "compare": expressions.Compare,
    "and": expressions.And,
    "or": expressions.Or,
    "not": expressions.Not,
    "is_null": expressions.IsNull,
    "is_in": expressions.IsIn,
    "arithmetic": expressions.Arithmetic,
    "case": expressions.Case,
    "when": expressions.When,
    "cast": expressions.Cast,
    "call": expressions.Call,
    "source": relations.Source,
    "filter": relations.Filter,
    "project": relations.Project,
    "derive": relations.Derive,
    "named": relations.Named,
    "join_public": relations.JoinPublic,
    "public_rows": public_rows.PublicRows,
    "public_column": public_rows.PublicColumn,
    "join_persons": relations.JoinPersons,
    "equality": relations.Equality,
    "union": relations.Union,
    "per_person": relations.PerPerson,
    "personal": relations.Personal,
    "distinct": relations.Distinct,
    "window": relations.Window,
    "order": relations.Order,
    "group": plan.Group,
    "group_key": plan.GroupKey,
    "key_plan": plan.KeyPlan,
    "key_count_plan": plan.KeyCountPlan,
    "row_plan": plan.RowPlan,
    "count_rows": measures.CountRows,
    "count_persons": measures.CountPersons,
    "count_non_null": measures.CountNonNull,
    "count_distinct": measures.CountDistinct,
    "sum_distinct": measures.SumDistinct,
    "sum": measures.Sum,
    "moment": measures.Moment,
    "factor": measures.Factor,
    "histogram": measures.Histogram,
    "contingency_table": measures.ContingencyTable,
    "axis": measures.Axis,
    "whole_axis": measures.WholeAxis,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}
_HIDDEN = {
    "sum": {"center"},
    "factor": {"center"},
    "moment": {"shift"},
    "axis": {"width", "cuts"},
    "whole_axis": {"width", "cuts"},
}
"""What is chosen by looking at bounds."""
_ALLOWED = "what to_json writes"


def to_json(node: Node) -> bytes:
    """Write a plan, an expression or a part of one; equal nodes give equal bytes, others do not."""
    written = json.dumps(to_object(node), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return written.encode("ascii")


def outline(node: Node, *, declared: Collection[Keys] | None = None) -> JSON:
    """Return a node as `to_object` does, with the types of literals in place of their values.

    Keys and bounds that a calculation with literals implies are left out. If it is given which keys were
    declared, so are the others: the request listed them.
    """
    written = to_object(node, literals=False)
    if calculates(node) or (declared is not None and not _lists_only(node, declared)):
        return _without_ends(written)
    return written


def _lists_only(value: object, declared: Collection[Keys]) -> bool:
    """Return whether all keys of a plan are among some."""
    if isinstance(value, Keys):
        return value in declared
    if isinstance(value, tuple):
        return all(_lists_only(item, declared) for item in value)
    if not is_dataclass(value) or isinstance(value, Expression):
        return True
    return all(_lists_only(getattr(value, place.name), declared) for place in fields(value))


def calculates(value: object) -> bool:
    """Return whether a column is calculated with a literal, which its bounds and keys may then reveal.

    Bounds that a question brings along are literals, too.
    """
    if isinstance(value, relations.Source):
        return bool(value.bounds)
    if isinstance(value, Keys):  # many values, and no column
        return False
    if isinstance(value, tuple):
        return any(calculates(item) for item in value)
    if isinstance(value, Named):
        return any(isinstance(part, Literal) for part in expressions.walk(value.expression))
    if not is_dataclass(value) or isinstance(value, Expression):
        return False
    return any(calculates(getattr(value, place.name)) for place in fields(value))


def _without_ends(value: JSON) -> JSON:
    """Leave out the ends of bounds and the values of keys."""
    if isinstance(value, list):
        return [_without_ends(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("node") == "bounds":
        return {"node": "bounds"}
    if value.get("node") == "keys":
        return {"node": "keys", "type": value["type"], "count": len(value["values"])}  # type: ignore[arg-type]
    hidden = _HIDDEN.get(value.get("node"), set())  # type: ignore[arg-type]
    return {name: _without_ends(item) for name, item in value.items() if name not in hidden}


def from_json(text: bytes) -> Node:
    """Read what `to_json` wrote; anything else is refused."""
    if not isinstance(text, bytes) or len(text) > LARGEST_BYTES:
        raise ParameterError("text", "is not canonical JSON", _ALLOWED)
    try:
        node = _node(json.loads(text))
        good = to_json(node) == text
    except (DiscreetError, ValueError, TypeError, KeyError, RecursionError, OverflowError, AttributeError):
        good = False
    if not good:
        raise ParameterError("text", "is not canonical JSON", _ALLOWED)
    return node


def _node(value: JSON) -> Node:
    node = from_object(value)
    if type(node) not in _NAMES and not isinstance(node, Literal):
        raise TypeError
    return node  # type: ignore[return-value]


def to_object(value: object, *, literals: bool = True) -> JSON:
    """Turn a node, bounds or keys into plain JSON values."""
    if isinstance(value, Literal):
        encoded: dict[str, JSON] = {"node": "literal", "type": value.type.value}
        if literals:
            encoded["value"] = _scalar(value.value)
        return encoded
    if isinstance(value, Bounds):
        names = ("lower", "upper", "step", "nan", "infinity", "null")
        return {"node": "bounds", **{name: str(getattr(value, name)) for name in names}}
    if isinstance(value, Keys):
        return {
            "node": "keys",
            "type": value.type.value,
            "values": [None if item is None else _scalar(item) for item in value.values],
        }
    if isinstance(value, Dates):
        return {"node": "dates", "first": value.first.isoformat(), "last": value.last.isoformat()}
    if isinstance(value, Limits):
        named = {name: getattr(value, name) for name in ("rows", "groups", "rows_per_group")}
        return {"node": "limits", **{name: one for name, one in named.items() if one is not None}}
    if isinstance(value, tuple):
        return [to_object(item, literals=literals) for item in value]
    if type(value) in _NAMES:
        places = {
            place.name: to_object(getattr(value, place.name), literals=literals)
            for place in fields(value)  # type: ignore[arg-type]
            if place.init and not (place.metadata == LATER and getattr(value, place.name) == place.default)
        }
        return {"node": _NAMES[type(value)], **places}
    if isinstance(value, ScalarFunction):
        return value.name
    if value is None or isinstance(value, str):
        return None if value is None else str(value)
    if isinstance(value, bool | int):
        return value
    if isinstance(value, Fraction):
        return str(value)
    raise ParameterError("value", "cannot be written", "a plan, an expression or a part of one")


def from_object(value: JSON) -> Serializable:
    """Turn plain JSON values back into a node, bounds or keys."""
    return _value(value, 0)  # type: ignore[no-any-return]


def _value(value: Any, depth: int) -> Any:
    if depth > 4 * LARGEST_DEPTH:
        raise ValueError
    if isinstance(value, list):
        return tuple(_value(item, depth + 1) for item in value)
    if not isinstance(value, dict):
        return value
    kind = value["node"]
    places = {name: item for name, item in value.items() if name != "node"}
    if kind in _SPECIAL:
        return _SPECIAL[kind](places)
    return _KINDS[kind](**{name: _value(item, depth + 1) for name, item in places.items()})


def _literal(places: Mapping[str, Any]) -> Literal:
    return Literal(value=_READERS[places["type"]](places["value"]))


def _bounds(places: Mapping[str, Any]) -> Bounds:
    numbers = {name: Fraction(places[name]) for name in ("lower", "upper", "step")}
    rules = {
        name: rule if rule.isalpha() else Fraction(rule)
        for name in ("nan", "infinity", "null")
        for rule in [places[name]]
    }
    return Bounds(numbers["lower"], numbers["upper"], step=numbers["step"], **rules)


def _keys(places: Mapping[str, Any]) -> Keys:
    read = _READERS[places["type"]]
    return Keys([None if item is None else read(item) for item in places["values"]])


def _dates(places: Mapping[str, Any]) -> Dates:
    return Dates(*(datetime.date.fromisoformat(places[end]) for end in ("first", "last")))


_SPECIAL: dict[str, Callable[[Mapping[str, Any]], Serializable]] = {
    "limits": lambda places: Limits(**places),
    "literal": _literal,
    "bounds": _bounds,
    "keys": _keys,
    "dates": _dates,
}


def _boolean(text: str) -> bool:
    return {"true": True, "false": False}[text]


def _null(text: str) -> None:
    if text != "null":
        raise ValueError


_READERS: dict[str, Callable[[str], Any]] = {
    "null": _null,
    "boolean": _boolean,
    "integer": int,
    "decimal": Fraction,
    "text": str,
    "date": datetime.date.fromisoformat,
    "timestamp": datetime.datetime.fromisoformat,
    "instant": datetime.datetime.fromisoformat,
}


def _scalar(value: expressions.LiteralValue) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return value.isoformat() if isinstance(value, datetime.date) else str(value)
