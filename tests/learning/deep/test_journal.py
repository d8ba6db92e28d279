"""No step that was begun is forgotten."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from discreet.errors import LedgerUnavailable, ParameterError
from discreet.learning.deep.journal import Journal
from discreet.privacy.events import Gaussian

STEP = Gaussian(noise_multiplier=2)


def test_steps_are_there_after_a_new_start(tmp_path):
    path = tmp_path / "run"
    journal = Journal(path, STEP)
    for _ in range(3):
        journal.charge(STEP)
    journal.close()
    assert Journal(path, STEP).taken == 3


def test_a_line_is_on_the_disk_before_charge_returns(tmp_path):
    """A process that dies at once after `charge` has been counted."""
    path = tmp_path / "run"
    script = (
        "import os, sys\n"
        "from discreet.learning.deep.journal import Journal\n"
        "from discreet.privacy.events import Gaussian\n"
        "step = Gaussian(noise_multiplier=2)\n"
        "journal = Journal(sys.argv[1], step)\n"
        "journal.charge(step)\n"
        "journal.charge(step)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, str(path)], check=False).returncode == -9
    assert Journal(path, STEP).taken == 2


@pytest.mark.parametrize("kept", [0, 1, 5, 30])
def test_a_line_that_was_cut_off_counts(tmp_path, kept):
    path = tmp_path / "run"
    journal = Journal(path, STEP)
    journal.charge(STEP)
    journal.close()
    whole = path.read_bytes()
    head = whole.index(b"\n") + 1
    path.write_bytes(whole[: head + kept])
    journal = Journal(path, STEP)
    assert journal.taken == (0 if kept == 0 else 1)
    journal.charge(STEP)
    journal.close()
    assert Journal(path, STEP).taken == journal.taken


def test_a_file_whose_first_line_was_cut_off_starts_anew(tmp_path):
    path = tmp_path / "run"
    Journal(path, STEP).close()
    path.write_bytes(path.read_bytes()[:7])
    journal = Journal(path, STEP)
    assert journal.taken == 0
    journal.charge(STEP)
    journal.close()
    assert Journal(path, STEP).taken == 1


def test_a_journal_of_other_noise_is_refused(tmp_path):
    Journal(tmp_path / "run", STEP).close()
    with pytest.raises(ParameterError, match="other noise"):
        Journal(tmp_path / "run", Gaussian(noise_multiplier=3))
    (tmp_path / "text").write_text("something else")
    with pytest.raises(ParameterError, match="something else"):
        Journal(tmp_path / "text", STEP)
    assert (tmp_path / "text").read_text() == "something else"


def test_two_runs_cannot_share_a_journal(tmp_path):
    held = Journal(tmp_path / "run", STEP)
    with pytest.raises(LedgerUnavailable, match="another process"):
        Journal(tmp_path / "run", STEP)
    held.close()


def test_a_journal_that_cannot_be_written_takes_no_step(tmp_path):
    with pytest.raises(LedgerUnavailable, match="opened"):
        Journal(tmp_path / "missing" / "run", STEP)
    journal = Journal(tmp_path / "run", STEP)
    os.close(journal._file)
    with pytest.raises(LedgerUnavailable, match="no step is taken"):
        journal.charge(STEP)
    assert journal.taken == 0


def test_a_fork_charges_nothing(tmp_path, monkeypatch):
    journal = Journal(tmp_path / "run", STEP)
    journal.charge(STEP)
    with monkeypatch.context() as fork:
        fork.setattr(os, "getpid", lambda: -1)
        with pytest.raises(LedgerUnavailable, match="forked"):
            journal.charge(STEP)
    journal.charge(STEP)
    journal.close()
    assert Journal(tmp_path / "run", STEP).taken == 2


def test_a_file_that_is_refused_is_closed(tmp_path, monkeypatch):
    def fail(number):
        raise OSError(28, "no space")

    with monkeypatch.context() as full:
        full.setattr(os, "fsync", fail)
        with pytest.raises(LedgerUnavailable, match="no space"):
            Journal(tmp_path / "run", STEP)
    Journal(tmp_path / "run", STEP).close()
    with pytest.raises(ParameterError, match="other noise"):
        Journal(tmp_path / "run", Gaussian(noise_multiplier=3))
    Journal(tmp_path / "run", STEP).close()
