"""Where ledgers of tests live."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.ledger.backends import quick_directory


@pytest.fixture
def place() -> Iterator[Path]:
    """A quick directory for one test."""
    directory = Path(tempfile.mkdtemp(prefix="discreet-", dir=quick_directory()))
    yield directory
    shutil.rmtree(directory)
