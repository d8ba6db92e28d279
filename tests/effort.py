"""How much a test does: a part of it in `make test`, more in `make test-slow`, all in `make test-all`.

`make test` is for every change, and takes less than eight minutes on two cores; `make test-slow` is for what
others get, and takes about three quarters of an hour; `make test-all` takes hours, before a release. No test
takes more than `SECONDS` of `make test`: of those that would, as many cases as fit are run, and the others by
`make test-slow`. `make measure` measures how long they take (`durations`). Tests that are long by nature come
in sizes, in one of several ways:

- `examples`: of its examples Hypothesis tries one in `SHARE`, and in the profile "thorough", as in `make
  test-slow`, which runs all tests of properties again, whether they are marked as slow or not, one in four;
- ``@pytest.mark.few(n, slow=m)``: of the cases of one test, n are run by `make test`, and m others by `make
  test-slow`; of whatever is slow and does not say m, `make test-slow` runs at most `MOST` cases of one test,
  chosen so that every value of every parameter is soon seen;
- `sizes`: one body is run with a small number, with a large one, which is slow, and with a huge one;
- `releases`: of the releases to simulate, `make test-slow` makes one in forty;
- ``@pytest.mark.exhaustive``: for `make test-all` alone;
- ``@pytest.mark.usual``: in `make test` however long it takes.

`EFFORT=few make test-slow` runs fewer cases of a test, and tries fewer examples: for machines on which all
would take too long.

Whatever needs Spark is slow, so that `make test` starts no Java.
"""

from __future__ import annotations

import os
from itertools import groupby

import pytest
from hypothesis import settings

from durations import SECONDS, name_of_test, seconds_per_case
from randomness import IS_FRESH

SHARE = 16
LEAST = 2
FEW = os.environ.get("EFFORT") == "few"
"""Whether all long tests would take too long on this machine."""
MOST = 2 if FEW else 6
ALL = os.environ.get("EFFORT") == "all"
"""Whether this is `make test-all`."""
UNCUT = os.environ.get("EFFORT") in ("all", "uncut")
"""Whether tests that are not marked as slow are run whole, as `make measure` and `make mutants` do."""


def register_profiles() -> None:
    """Register the two numbers of examples; the smaller is the usual one.

    There is no deadline: how long an example takes depends on the machine.
    """
    for name, many in (("thorough", _thorough(40)), ("usual", 6)):
        settings.register_profile(name, deadline=None, max_examples=many, derandomize=not IS_FRESH)
    settings.load_profile("usual")


def examples(full: int) -> int:
    """Return how many examples to try: one in four in the profile "thorough", else one in `SHARE`."""
    if settings.get_current_profile_name() == "thorough":
        return _thorough(full)
    return min(full, max(LEAST, full // SHARE))


def _thorough(full: int) -> int:
    return full if ALL else max(1, full // (SHARE if FEW else 4))


def releases(full: int) -> int:
    """Return how many releases to simulate: all of them in `make test-all`, else a few."""
    return full if ALL else full // 40


def sizes(small: object, *full: object, exhaustive: object = None) -> list[object]:
    """Return parameters of one test: the small one for `make test`, and the others for `make test-slow`.

    A tuple stands for several parameters. What is exhaustive is for `make test-all` alone.
    """
    huge = [] if exhaustive is None else [(exhaustive, pytest.mark.exhaustive)]
    spread = [*((one, pytest.mark.slow) for one in full), *huge]
    return [
        small,
        *(pytest.param(*(one if isinstance(one, tuple) else (one,)), marks=mark) for one, mark in spread),
    ]


def mark_all_but_a_few(items: list[pytest.Item]) -> None:
    """Mark all but a few cases of a test as slow, and all but some of those as exhaustive."""
    for cases in _cases_of_tests(items):
        asked = cases[0].get_closest_marker("few")
        usual = [item for item in cases if not _is(item, "slow") and not _is(item, "exhaustive")]
        kept = _spread(usual, asked.args[0]) if asked else range(len(usual))
        for place, item in enumerate(usual):
            if place not in kept:
                item.add_marker(pytest.mark.slow)
        slow = [item for item in cases if _is(item, "slow")]
        tried = _spread(slow, asked.kwargs.get("slow", MOST) if asked else MOST)
        for place, item in enumerate(slow):
            if place not in tried:
                item.add_marker(pytest.mark.exhaustive)


def keep_short(items: list[pytest.Item]) -> None:
    """Mark cases as slow that would make a test take longer than `SECONDS`."""
    measured = {} if UNCUT else seconds_per_case()
    usual = [item for item in items if not any(_is(item, mark) for mark in ("slow", "exhaustive", "usual"))]
    for name, group in groupby(usual, key=lambda item: name_of_test(item.nodeid)):
        if name in measured:
            cases = list(group)
            fit = int(SECONDS / measured[name])
            kept = _spread(cases, fit) if hasattr(cases[0], "callspec") else range(fit)
            for place, item in enumerate(cases):
                if place not in kept:
                    item.add_marker(pytest.mark.slow)


def _cases_of_tests(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    with_cases = [item for item in items if hasattr(item, "callspec")]
    return [list(cases) for _, cases in groupby(with_cases, key=lambda item: (item.path, item.originalname))]


def _is(item: pytest.Item, mark: str) -> bool:
    return item.get_closest_marker(mark) is not None


def leave_out_exhaustive(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep what is exhaustive for `make test-all`, where it is slow."""
    long = [item for item in items if _is(item, "exhaustive")]
    for item in long:
        item.add_marker(pytest.mark.slow)
    if long and not ALL:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not _is(item, "exhaustive")]


def mark_spark(items: list[pytest.Item]) -> None:
    """Mark every test of Spark as slow: starting it takes longer than most tests together."""
    for item in items:
        if "spark_engine" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.slow)


def _spread(cases: list[pytest.Function], many: int) -> set[int]:
    """Choose cases so that soon every value of every parameter has been seen, and else evenly."""
    values = [set(case.callspec.indices.items()) for case in cases]
    rest, seen, kept = list(range(len(cases))), set(), set()
    while rest and len(kept) < many:
        even = len(kept) * len(cases) // many
        chosen = max(rest, key=lambda place: (len(values[place] - seen), -((place - even) % len(cases))))
        rest.remove(chosen)
        kept.add(chosen)
        seen |= values[chosen]
    return kept
