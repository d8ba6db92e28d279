"""A run that is killed at random moments and goes on forgets no step."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killed_runs.py")


def killed(folder: Path, kills: int, kind: str) -> tuple[int, int]:
    """Return how many steps ran, and how many are recorded."""
    command = [sys.executable, str(SCRIPT), str(folder), str(kills), kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    ran, recorded = done.stdout.split()
    return int(ran), int(recorded)


@pytest.mark.slow
def test_no_step_is_forgotten_by_fifty_kills(tmp_path):
    ran, recorded = killed(tmp_path, 50, "right")
    assert 50 <= ran <= recorded <= ran + 50


@pytest.mark.slow
def test_steps_that_are_recorded_late_are_forgotten(tmp_path):
    """Plant the fault, and see it."""
    ran, recorded = killed(tmp_path, 8, "late")
    assert recorded < ran
