"""Generators of fast tests take fewer steps between votes; what is charged and drawn stays the same."""

from __future__ import annotations

import pytest

from discreet.synthesis.generators import g_pate, pate_gan


@pytest.fixture(autouse=True)
def few_steps(request, monkeypatch):
    if request.node.get_closest_marker("slow") is None:
        for module in (g_pate, pate_gan):
            monkeypatch.setattr(module, "_POOL", 64)
            monkeypatch.setattr(module, "_TEACHER_STEPS", 2)
            monkeypatch.setattr(module, "_BATCH", 32)
        monkeypatch.setattr(pate_gan, "_STUDENT_STEPS", 5)
        monkeypatch.setattr(pate_gan, "_GENERATOR_STEPS", 2)
