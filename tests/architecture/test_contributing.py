"""The how-tos name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
MADE_UP = ("staircase", "NAME")
"""What the how-tos let the reader write."""


def test_every_file_of_the_how_tos_exists():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:src|tests|docs)/[\w/.]+)`", text)
    assert len(paths) > 30
    missing = [path for path in paths if not (ROOT / path).exists()]
    assert all(any(word in path for word in MADE_UP) for path in missing), missing
