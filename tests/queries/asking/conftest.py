"""Ledgers of these tests live where those of the curator's do."""

from __future__ import annotations

from curator.conftest import place as place  # noqa: PLC0414  (a fixture)
