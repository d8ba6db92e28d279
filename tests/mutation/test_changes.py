"""Planted faults are what they say: other code that parses, in one place, and none in what is only said."""

from __future__ import annotations

import ast

import pytest
from tests.mutation import targets
from tests.mutation.changes import changes_of

SOURCE = '''
"""A docstring with 3 < 4."""
__all__ = ["bounded"]
LIMIT = 8

@lru_cache(maxsize=64)
def bounded(x: int | None, low: int = 0) -> int:
    """Return x within 5."""
    if x is None or not x > low:
        raise ValueError(f"{x + 1} is too low")
    check(x)
    return min(floor(x / 2), LIMIT) if x else -1
'''


def changed():
    return {(change.line, change.shown) for change in changes_of(SOURCE)}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        (4, "8  ->  (4)"),
        (4, "8  ->  (9)"),
        (9, "x > low  ->  (x >= low)"),
        (9, "not x > low  ->  (x > low)"),
        (9, "x is None or not x > low  ->  (x is None and (not x > low))"),
        (9, "x is None or not x > low  ->  (False)"),
        (10, 'raise ValueError(f"{x + 1} is too low")  ->  pass'),
        (11, "check(x)  ->  pass"),
        (12, "x / 2  ->  (x * 2)"),
        (12, "floor(x / 2)  ->  (__import__('math').ceil(x / 2))"),
        (12, "min(floor(x / 2), LIMIT)  ->  (floor(x / 2))"),
        (12, "min(floor(x / 2), LIMIT)  ->  (max(floor(x / 2), LIMIT))"),
        (12, "-1  ->  (1)"),
    ],
)
def test_faults_of_every_kind_are_planted(line, shown):
    assert (line, shown) in changed()


def test_nothing_is_planted_in_words_types_and_decorators():
    lines = {line for line, _ in changed()}
    assert lines.isdisjoint({2, 3, 6, 8})
    assert not any("maxsize" in shown or "x + 1 " in shown.split("->")[-1] for _, shown in changed())


@pytest.mark.parametrize("module", ["noise/alias.py", "mechanisms/values.py"])
def test_every_fault_is_other_code_that_parses(module):
    source = (targets.PACKAGE / module).read_text()
    whole = ast.unparse(ast.parse(source))
    for change in changes_of(source)[::9]:
        assert ast.unparse(ast.parse(change.applied(source))) != whole


def test_every_module_has_tests_and_every_exception_a_module():
    for module in (module for room in targets.ROOMS for module in targets.modules_of(room)):
        found = targets.tests_of(module)
        assert found, f"{module} has no test of its stem, and no line in COVERED_BY"
        assert all(one.exists() for one in found)
    for module in targets.COVERED_BY:
        assert (targets.PACKAGE / module).exists()
