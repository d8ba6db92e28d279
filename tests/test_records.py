"""Every record of the package is frozen, is filled whole, and survives a pickle."""

from __future__ import annotations

import copy
import dataclasses
import importlib
import pickle
import pkgutil
from abc import ABC, abstractmethod
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace
from inspect import isabstract, signature
from pathlib import Path
from types import FunctionType
from typing import ClassVar, get_type_hints

import pytest

import discreet
from discreet.records import Record, dataclass

SOURCE = Path(discreet.__file__).parent


def below(cls: type) -> list[type]:
    return [one for child in cls.__subclasses__() for one in (child, *below(child))]


def records() -> list[type[Record]]:
    """Every class that can be built; a slotted dataclass is made twice, and its first make is not found."""
    for module in pkgutil.walk_packages(discreet.__path__, "discreet."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found = {
        one
        for one in below(Record)
        if is_dataclass(one)
        and one.__module__.startswith("discreet.")
        and getattr(importlib.import_module(one.__module__), one.__name__, None) is one
        and not isabstract(one)
    }
    return sorted(found, key=lambda one: (one.__module__, one.__name__))


RECORDS = records()


def sample(cls: type[Record]) -> Record:
    """A record whose fields hold distinct numbers, past its constructor."""
    return cls._made(**{field.name: place for place, field in enumerate(fields(cls))})


def contents(record: Record) -> list[object]:
    return [getattr(record, field.name) for field in fields(record)]


def test_records_are_found():
    assert len(RECORDS) > 90


def test_a_frozen_record_is_written_in_one_place():
    writers = [path.name for path in SOURCE.rglob("*.py") if "object.__setattr__" in path.read_text()]
    assert writers == ["records.py"]


@pytest.mark.parametrize("cls", RECORDS, ids=lambda cls: f"{cls.__module__}.{cls.__name__}")
class TestEveryRecord:
    def test_is_frozen_and_slotted(self, cls):
        record = sample(cls)
        assert not hasattr(record, "__dict__")
        for name in (*(one.name for one in fields(cls)), "another"):
            with pytest.raises((FrozenInstanceError, TypeError, AttributeError)):
                setattr(record, name, None)
        assert contents(record) == list(range(len(fields(cls))))

    def test_is_filled_whole(self, cls):
        values = {field.name: 0 for field in fields(cls)}
        with pytest.raises(TypeError, match="has the fields"):
            cls._made(**values, another=0)
        with pytest.raises(AttributeError, match="another"):
            sample(cls)._amend(another=0)
        for name in values:
            rest = {other: 0 for other in values if other != name}
            with pytest.raises(TypeError, match="has the fields"):
                cls._made(**rest)
            with pytest.raises(AttributeError, match="another"):
                cls._made(**rest, another=0)

    def test_survives_a_pickle(self, cls):
        record = sample(cls)
        copied = pickle.loads(pickle.dumps(record))
        assert type(copied) is cls
        assert contents(copied) == contents(record)
        if cls.__eq__ is not object.__eq__:
            assert copied == record

    def test_changes_only_what_is_named(self, cls):
        record = sample(cls)
        for name in (one.name for one in fields(cls)):
            changed = record._with(**{name: "other"})
            differing = [
                field.name
                for field in fields(cls)
                if getattr(changed, field.name) != getattr(record, field.name)
            ]
            assert differing == [name]


@dataclass(frozen=True, slots=True)
class Halved(Record):
    number: int
    half: float = 0.0

    def __post_init__(self) -> None:
        self._amend(half=self.number / 2)


def test_a_generated_constructor_may_be_amended():
    assert Halved(3) == Halved(3, half=7.0)
    assert repr(Halved(3)) == "Halved(number=3, half=1.5)"
    assert Halved(3)._with(number=4).half == 1.5, "past the constructor: nothing is computed again"


def shapes(decorator):
    """The same classes, made by one of two decorators: what records of this package use of dataclasses."""

    @decorator(frozen=True, slots=True)
    class Point:
        """A point."""

        x: int
        y: int = 7
        unit: ClassVar[str] = "m"

        def moved(self, by: int) -> Point:
            return replace(self, x=self.x + by)

    @decorator(frozen=True, slots=True, kw_only=True)
    class Named(Point):
        name: str
        tags: list = field(default_factory=list, compare=False)
        hidden: int = field(default=3, repr=False)
        number: int = field(default=11, init=False)

    @decorator(frozen=True, slots=True, kw_only=True, repr=False)
    class Silent(Point):
        def __repr__(self) -> str:
            return "silent"

    @decorator(frozen=True, slots=True, eq=False)
    class Itself:
        x: int

    @decorator(frozen=True, slots=True)
    class Compared:  # noqa: PLW1641 - the decorator adds a hash
        x: int

        def __eq__(self, other: object) -> bool:
            return True

    @decorator(frozen=True, slots=True)
    class Checked:
        x: int

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError(self.x)

    @decorator(frozen=True, slots=True)
    class Empty:
        pass

    return Point, Named, Silent, Itself, Compared, Checked, Empty


OURS, THEIRS = shapes(dataclass), shapes(dataclasses.dataclass)
CALLS = [
    (0, (1,), {}),
    (0, (1, 2), {}),
    (0, (), {"y": 4, "x": 3}),
    (0, (), {}),
    (0, (1, 2, 3), {}),
    (0, (1,), {"z": 2}),
    (1, (1,), {"name": "a"}),
    (1, (1, 2), {"name": "b", "tags": [5]}),
    (1, (1, 2), {}),
    (1, (1,), {"number": 3, "name": ""}),
    (2, (4,), {}),
    (3, (4,), {}),
    (4, (4,), {}),
    (5, (4,), {}),
    (5, (-4,), {}),
    (6, (), {}),
]


def outcome(work):
    """What some work gives, or how it fails."""
    try:
        return work()
    except (TypeError, ValueError, FrozenInstanceError) as error:
        return type(error), str(error)


@pytest.mark.parametrize(("place", "given", "named"), CALLS)
def test_a_record_does_what_a_dataclass_does(place, given, named):
    """The library is the oracle: contents, text, comparison, hash, refusals."""
    ours, theirs = (
        outcome(lambda: OURS[place](*given, **named)),
        outcome(lambda: THEIRS[place](*given, **named)),
    )
    if isinstance(theirs, tuple):
        assert ours == theirs
        return
    names = [one.name for one in fields(theirs)]
    assert [one.name for one in fields(ours)] == names
    assert [getattr(ours, name) for name in names] == [getattr(theirs, name) for name in names]
    again = outcome(lambda: (OURS[place](*given, **named), THEIRS[place](*given, **named)))
    assert (ours == again[0]) == (theirs == again[1])
    assert ours != theirs or place == 4
    if place != 3:  # whose text and hash are those of one object
        assert repr(ours) == repr(theirs)
        assert hash(ours) == hash(theirs)
    assert type(ours).__match_args__ == type(theirs).__match_args__
    assert ours.__reduce_ex__(4)[2] == theirs.__reduce_ex__(4)[2]
    assert copy.deepcopy(ours).__reduce_ex__(4)[2] == ours.__reduce_ex__(4)[2]
    assert not hasattr(ours, "__dict__")
    for name in [*names, "another"]:
        with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
            setattr(ours, name, 1)
        with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
            delattr(ours, name)


@pytest.mark.parametrize("place", range(len(OURS)))
def test_a_record_is_described_as_a_dataclass_is(place):
    ours, theirs = OURS[place], THEIRS[place]
    assert str(signature(ours)) == str(signature(theirs))
    assert str(ours.__dataclass_params__) == str(theirs.__dataclass_params__)
    assert ours.__slots__ == theirs.__slots__
    assert get_type_hints(ours.__init__) == get_type_hints(theirs.__init__)
    for one, other in zip(fields(ours), fields(theirs), strict=True):
        assert repr(one) == repr(other)


def test_a_method_is_written_when_it_is_looked_up():
    point = shapes(dataclass)[0]
    written = {"__init__", "__repr__", "__eq__", "__hash__"}
    assert not any(isinstance(vars(point)[name], FunctionType) for name in written)
    made = point(1)
    assert isinstance(vars(point)["__init__"], FunctionType)
    assert not isinstance(vars(point)["__eq__"], FunctionType)
    assert made == point(1)
    assert isinstance(vars(point)["__eq__"], FunctionType)


def test_a_record_is_matched_and_replaced():
    kind = OURS[0]
    point = kind(1, 2)
    match point:
        case kind(first, second):
            assert (first, second) == (1, 2)
        case _:
            raise AssertionError
    assert point.moved(3) == OURS[0](4, 2)
    with pytest.raises(TypeError):
        replace(point, z=1)


def test_super_means_the_class_with_slots():
    class Base(ABC):
        __slots__ = ()

        @abstractmethod
        def told(self) -> str:
            """What it is."""

    @dataclass(frozen=True, slots=True)
    class Middle(Base):
        x: int

        @property
        def size(self) -> int:
            return self.x

        def told(self) -> str:
            return "middle"

    @dataclass(frozen=True, slots=True)
    class Last(Middle):
        y: int = 0

        @property
        def size(self) -> int:
            return super().size + self.y

        def told(self) -> str:
            return super().told() + " last"

    assert Last(1, 2).size == 3
    assert Last(1).told() == "middle last"
    assert not isabstract(Last)


def test_a_class_of_the_library_may_follow_and_come_before():
    @dataclasses.dataclass(frozen=True, slots=True)
    class After(OURS[0]):
        z: int = 1

    @dataclass(frozen=True, slots=True)
    class Later(After):
        w: int = 2

    assert repr(Later(1)).endswith("Later(x=1, y=7, z=1, w=2)")
    assert Later(1) == Later(1, 7, 1, 2)

    class Open(OURS[0]):
        pass

    opened = Open(1)
    opened.note = "a class below may hold more"
    with pytest.raises(FrozenInstanceError):
        opened.x = 2


def test_only_frozen_classes_with_slots_are_records():
    for options in ({"frozen": False, "slots": True}, {"frozen": True, "slots": False}):
        with pytest.raises(TypeError, match="frozen and have slots"):
            dataclass(**options)
