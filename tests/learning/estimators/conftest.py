"""Marks what chance decides among the expected failures of scikit-learn's checks."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let a check pass that fails only because two fits differ by their noise, which may be small."""
    for item in items:
        item.own_markers = [_lenient(mark) for mark in item.own_markers]


def _lenient(mark: pytest.Mark) -> pytest.Mark:
    if mark.name != "xfail" or not mark.kwargs["reason"].endswith("by their noise"):
        return mark
    return pytest.mark.xfail(reason=mark.kwargs["reason"], strict=False).mark
