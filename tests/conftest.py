"""Settings for every test."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes depends on the machine; speed is measured in benchmarks.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
