"""Settings for every test, and the search for canaries after each."""

from __future__ import annotations

from hypothesis import settings

from canary import (
    pytest_configure,
    pytest_runtest_makereport,
    pytest_runtest_protocol,
    pytest_warning_recorded,
)

__all__ = [
    "pytest_configure",
    "pytest_runtest_makereport",
    "pytest_runtest_protocol",
    "pytest_warning_recorded",
]

# How long an example takes depends on the machine; speed is measured in benchmarks.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
