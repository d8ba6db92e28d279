"""Frozen records: how their methods are written, and the one place that writes to one.

Most records of this package are frozen, slotted dataclasses, and a value typed by a user is seldom the value
that is kept: 0.1 becomes 1/10, a list a tuple, an epsilon the law that is drawn. Such a class
inherits from `Record`, converts and checks in its constructor, and ends it with `_set`. Where a
generated constructor is enough and only a few fields are converted, `__post_init__` ends with `_amend`.

`dataclass` is that of the standard library, except in when it does its work. The library compiles six methods
of every class when a module is loaded, and a session uses few of them: of some four hundred records that are
loaded for one answer, a sixth is ever built. Here a method is written when it is first looked up.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from copy import copy
from dataclasses import FrozenInstanceError, fields
from functools import cache
from types import FunctionType
from typing import TYPE_CHECKING, Any, Self, TypeVar

__all__ = ["Record", "dataclass"]

_Class = TypeVar("_Class", bound=type)


def _dataclass(
    *,
    frozen: bool,
    slots: bool,
    kw_only: bool = False,
    init: bool = True,
    repr: bool = True,
    eq: bool = True,
) -> Callable[[_Class], _Class]:
    """Return the decorator of frozen, slotted dataclasses whose methods are written when they are used.

    What it gives is in every respect a dataclass: `dataclasses.fields`, `replace`, patterns and pickles work.

    Parameters
    ----------
    frozen, slots : bool
        True: for other classes there is the standard library.
    kw_only, init, repr, eq : bool, optional
        As there.
    """
    if not (frozen and slots):
        raise TypeError("records are frozen and have slots; use dataclasses.dataclass for other classes")
    return lambda cls: _record(cls, _specimen(kw_only=kw_only, init=init, repr=repr, eq=eq))


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass


class Record:
    """The base of frozen, slotted dataclasses that convert or compute their fields.

    What is set here is not checked for its value: that is the constructor's task. But no record leaves
    its constructor half filled, and a name that is no field is refused, since there is no slot for it.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from discreet.records import dataclass
    >>> @dataclass(frozen=True, slots=True, init=False)
    ... class Share(Record):
    ...     part: Fraction
    ...
    ...     def __init__(self, text: str) -> None:
    ...         self._set(part=Fraction(text))
    >>> Share("1/3")
    Share(part=Fraction(1, 3))
    """

    __slots__ = ()

    def _set(self, **values: object) -> None:
        """Fill every field: the last line of a constructor."""
        names = _names(type(self))
        if len(values) != len(names):
            raise TypeError(f"{type(self).__name__} has the fields {names}, and is given {tuple(values)}")
        for name, value in values.items():
            _write(self, name, value)

    def _amend(self, **values: object) -> None:
        """Replace some fields that the generated constructor filled, or fill those it left out."""
        for name, value in values.items():
            _write(self, name, value)

    @classmethod
    def _made(cls, **values: object) -> Self:
        """Return a record of values that are known to be right, past the checks of its constructor."""
        made = object.__new__(cls)
        made._set(**values)
        return made

    def _with(self, **values: object) -> Self:
        """Return the same record with some other values that are known to be right."""
        made = object.__new__(type(self))
        for name in _names(type(self)):
            _write(made, name, getattr(self, name))
        made._amend(**values)
        return made


_write = object.__setattr__  # the only way into a frozen record
_known: dict[type, tuple[str, ...]] = {}


def _names(record_class: type) -> tuple[str, ...]:
    try:
        return _known[record_class]
    except KeyError:
        return _known.setdefault(record_class, tuple(field.name for field in fields(record_class)))


class _Later:
    """A method that the standard library writes when somebody looks it up, on the class or on a record."""

    __slots__ = ("_home", "_name")

    def __set_name__(self, owner: type, name: str) -> None:
        self._home, self._name = owner, name

    def __get__(self, instance: object, owner: type | None = None) -> object:
        found = _written(self._home, self._name)
        setattr(self._home, self._name, found)
        return found.__get__(instance, owner)


def _record(cls: _Class, specimen: type) -> _Class:
    """Return a class again with slots for its fields, and with methods that are written later."""
    wanted = specimen.__dataclass_params__  # type: ignore[attr-defined]
    known: dict[str, Any] = {}
    for base in reversed(cls.__mro__[1:]):
        known.update(vars(base).get("__dataclass_fields__", {}))
    known.update(_own_fields(cls, kw_only=any(field.kw_only for field in fields(specimen))))
    cls.__dataclass_fields__ = known  # type: ignore[attr-defined]
    shown = fields(cls)
    names = tuple(field.name for field in shown)
    inherited = {slot for base in cls.__mro__[1:-1] for slot in vars(base).get("__slots__", ())}
    dropped = {*names, "__dict__", "__weakref__"}
    body = {name: value for name, value in vars(cls).items() if name not in dropped}
    body["__slots__"] = tuple(name for name in names if name not in inherited)
    body["__dataclass_params__"] = wanted
    body["__setattr__"], body["__delattr__"] = _refuse_to_set, _refuse_to_delete
    # A body that defines == has no hash of its own: Python has written None there.
    hashed = body.get("__hash__") is not None
    body.setdefault(
        "__match_args__", tuple(field.name for field in shown if field.init and not field.kw_only)
    )
    body.setdefault("__getstate__", _state)
    body.setdefault("__setstate__", _set_state)
    for name in vars(specimen).keys() & {"__replace__"}:
        body.setdefault(name, vars(specimen)[name])
    if wanted.init:
        body.setdefault("__init__", _Later())
    if wanted.repr:
        body.setdefault("__repr__", _Later())
    if wanted.eq:
        body.setdefault("__eq__", _Later())
        if not hashed:
            body["__hash__"] = _Later()
    made = type(cls)(cls.__name__, cls.__bases__, body)
    made.__qualname__ = cls.__qualname__
    _rename_in_super(body, made)
    return made


def _rename_in_super(body: dict[str, Any], made: type) -> None:
    """Have ``super()`` in the methods of a class mean the class that was made, not the one without slots."""
    for member in body.values():
        function = member.fget if isinstance(member, property) else getattr(member, "__func__", member)
        if isinstance(function, FunctionType) and "__class__" in (free := function.__code__.co_freevars):
            (function.__closure__ or ())[free.index("__class__")].cell_contents = made
            return  # all methods of a class share this cell


def _own_fields(cls: type, *, kw_only: bool) -> dict[str, Any]:
    """Return the fields that a class adds to those of its bases, as the standard library reads them."""
    listed = cls.__annotations__
    body = {name: vars(cls)[name] for name in listed if name in vars(cls)}
    reading = dataclasses.dataclass(init=False, repr=False, eq=False, match_args=False, kw_only=kw_only)
    found: dict[str, Any] = vars(reading(_bare(cls, listed, body)))["__dataclass_fields__"]
    return found


def _written(home: type, name: str) -> Any:
    """Return a method of a record; all but constructors as the library writes them for the same fields."""
    if name == "__init__":
        return _constructor(home)
    shown = fields(home)
    body: dict[str, object] = {field.name: copy(field) for field in shown}
    writing = dataclasses.dataclass(
        init=False, repr=name == "__repr__", eq=name == "__eq__", unsafe_hash=name == "__hash__"
    )
    return vars(writing(_bare(home, {field.name: field.type for field in shown}, body)))[name]


def _constructor(home: type) -> FunctionType:
    """Return a constructor as the library writes it for frozen classes, which it does not write alone."""
    given: dict[str, Any] = {"_write": _write, "_absent": _ABSENT}
    placed: list[str] = []
    named: list[str] = []
    body: list[str] = []
    annotations: dict[str, Any] = {}
    for field in fields(home):
        name, value = field.name, field.name
        parameter = name
        if field.default_factory is not dataclasses.MISSING:
            given[f"_new_{name}"] = field.default_factory
            parameter = f"{name}=_absent"
            value = f"_new_{name}() if {name} is _absent else {name}" if field.init else f"_new_{name}()"
        elif field.default is not dataclasses.MISSING:
            given[f"_usual_{name}"] = field.default
            parameter = f"{name}=_usual_{name}"
            value = name if field.init else f"_usual_{name}"
        elif not field.init:
            continue
        if field.init:
            (named if field.kw_only else placed).append(parameter)
            annotations[name] = field.type
        body.append(f"_write(self, {name!r}, {value})")
    if hasattr(home, "__post_init__"):
        body.append("self.__post_init__()")
    parameters = ", ".join(["self", *placed, *(["*", *named] if named else [])])
    text = f"def _make({', '.join(given)}):\n  def __init__({parameters}):\n    "
    text += "\n    ".join(body or ["pass"]) + "\n  return __init__"
    made: dict[str, Any] = {}
    exec(text, vars(sys.modules[home.__module__]), made)  # noqa: S102 - of names of fields, which are code
    written: FunctionType = made["_make"](**given)
    written.__annotations__ = {**annotations, "return": None}
    written.__qualname__ = f"{home.__qualname__}.__init__"
    return written


class _Absent:
    """Stands, in a signature, for what is made anew for every record."""

    def __repr__(self) -> str:
        return "<factory>"


_ABSENT = _Absent()


def _bare(cls: type, annotations: dict[str, Any], body: dict[str, object]) -> type:
    """Return a class without bases, which stands for another while the library reads its annotations."""
    place = {"__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__name__}
    return type(cls.__name__, (), {**place, "__annotations__": annotations, **body})


@cache
def _specimen(*, kw_only: bool, init: bool, repr: bool, eq: bool) -> type:
    """Return a dataclass of one field that has the parameters of many others."""

    class Specimen:
        """A class that is never used."""

        one: int

    return dataclasses.dataclass(frozen=True, slots=True, kw_only=kw_only, init=init, repr=repr, eq=eq)(
        Specimen
    )


def _is_closed(record: object, name: str) -> bool:
    """Whether nobody may write to a name: everything of a record, and the fields in classes below one."""
    kind = type(record)
    return "__dataclass_params__" in vars(kind) or name in kind.__dataclass_fields__  # type: ignore[attr-defined]


def _refuse_to_set(record: object, name: str, value: object) -> None:
    if _is_closed(record, name):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    _write(record, name, value)


def _refuse_to_delete(record: object, name: str) -> None:
    if _is_closed(record, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(record, name)


def _state(record: object) -> list[object]:
    return [getattr(record, name) for name in _names(type(record))]


def _set_state(record: object, state: list[object]) -> None:
    for name, value in zip(_names(type(record)), state, strict=True):
        _write(record, name, value)
