"""Every record of the package is frozen, is filled whole, and survives a pickle."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
from dataclasses import FrozenInstanceError, dataclass, fields, is_dataclass
from inspect import isabstract
from pathlib import Path

import pytest

import discreet
from discreet.records import Record

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
        for name in (*(field.name for field in fields(cls)), "another"):
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
        for name in (field.name for field in fields(cls)):
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
