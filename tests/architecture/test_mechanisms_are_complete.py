"""A mechanism is one record, one proof, one test, one battery, and its three faces."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from discreet import mechanisms

ROOT = Path(__file__).parents[2]
CLASSES = [one for name in mechanisms.__all__ if isinstance(one := getattr(mechanisms, name), type)]


def stem(mechanism: type) -> str:
    return mechanism.__module__.rsplit(".", 1)[1]


@pytest.mark.parametrize("mechanism", CLASSES, ids=lambda mechanism: mechanism.__name__)
def test_mechanism_has_proof_and_test(mechanism):
    page = ROOT / "docs" / "proofs" / f"{stem(mechanism)}.md"
    assert page.exists()
    assert mechanism.__name__ in page.read_text()
    place = ROOT.joinpath("tests", *mechanism.__module__.split(".")[1:-1])
    assert (place / f"test_{stem(mechanism)}.py").exists()


@pytest.mark.parametrize("mechanism", CLASSES, ids=lambda mechanism: mechanism.__name__)
def test_mechanism_states_its_promises(mechanism):
    text = inspect.getdoc(mechanism)
    for section in ("Guarantee", "Finite precision", "Error"):
        assert f"\n{section}\n{'-' * len(section)}\n" in text, f"{mechanism.__name__} lacks {section}"


@pytest.mark.parametrize("mechanism", CLASSES, ids=lambda mechanism: mechanism.__name__)
def test_mechanism_has_three_faces(mechanism):
    for face in ("event", "guarantee", "release", "neighboring_inputs"):
        assert hasattr(mechanism, face), f"{mechanism.__name__} lacks {face}"
    # What depends on the data has no error that is known in advance, only one at a supposed sensitivity.
    assert hasattr(mechanism, "error") != hasattr(mechanism, "error_at")


@pytest.mark.parametrize("mechanism", CLASSES, ids=lambda mechanism: mechanism.__name__)
def test_mechanism_passes_the_battery_somewhere(mechanism):
    battery = (ROOT / "tests" / "audit" / "test_battery.py").read_text()
    assert f"{mechanism.__name__}(" in battery or f"{mechanism.__name__}." in battery


def test_every_test_named_on_a_proof_page_exists():
    import re

    tests = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    for page in (ROOT / "docs" / "proofs").glob("*.md"):
        for name in re.findall(r"`(test_\w+)`", page.read_text()):
            assert f"def {name}(" in tests, f"{page.name} names {name}, which does not exist"
        for path in re.findall(r"`(tests/[\w/]+\.py)`", page.read_text()):
            assert (ROOT / path).exists(), f"{page.name} names {path}, which does not exist"
