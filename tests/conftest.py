"""Settings for every test, and the search for canaries after each."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest

from canary import (
    pytest_configure,
    pytest_runtest_makereport,
    pytest_runtest_protocol,
    pytest_warning_recorded,
)
from effort import keep_short, leave_out_exhaustive, mark_all_but_a_few, mark_spark, register_profiles
from randomness import install, pytest_fixture_setup, pytest_runtest_call, pytest_runtest_setup

__all__ = [
    "pytest_collection_modifyitems",
    "pytest_configure",
    "pytest_fixture_setup",
    "pytest_runtest_call",
    "pytest_runtest_makereport",
    "pytest_runtest_protocol",
    "pytest_runtest_setup",
    "pytest_warning_recorded",
]

register_profiles()
install()


def _high_precision(fraction: Fraction, *rounding: object) -> mpmath.mpf:
    return mpmath.mpf(fraction.numerator) / fraction.denominator


# mpmath reads fractions by itself from 1.4 on, which PyTorch does not take yet.
Fraction._mpmath_ = _high_precision


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow before anything is chosen by its marks."""
    mark_spark(items)
    mark_all_but_a_few(items)
    leave_out_exhaustive(config, items)
    keep_short(items)
