"""Every example in the help runs as it is typed, those of one command one after another."""

from __future__ import annotations

import shlex
import tempfile

import pytest

from cli.folder import COUNT, answered, prepare
from cli.program import discreet
from discreet.cli.commands.check import FOUND
from discreet.cli.main import COMMANDS
from front.declared_clinic import DECLARATION


def examples(command):
    """The examples of a command's help, as typed."""
    joined = command.lesson.replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if line.strip().startswith("discreet ")]


PATIENTS = """
[tables.patients]
source = "patients.csv"
person = "patient_id"
limits = { rows = 1 }

[tables.patients.columns]
age = { lower = 0, upper = 110 }
sex = { keys = ["f", "m"] }
"""


@pytest.mark.few(0, slow=len(COMMANDS))
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_example_in_the_help_runs(command, tmp_path, monkeypatch):
    prepare(tmp_path, monkeypatch, DECLARATION + PATIENTS if command.name == "synthesize" else DECLARATION)
    lines = [f"{patient},{patient % 90},{'fm'[patient % 2]}" for patient in range(200)]
    (tmp_path / "patients.csv").write_text("\n".join(["patient_id,age,sex", *lines]))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    if command.name == "ledger":
        answered("query --epsilon 1", COUNT)
    (tmp_path / "data").mkdir(exist_ok=True)  # from which owners may declare tables
    found = examples(command)
    assert found
    for typed in found:
        if typed == "discreet demo --serve":  # it serves until it is told to stop: see the tests of the demo
            continue
        small = f"{typed} --rows 2000" if typed == "discreet demo" else typed
        small = f"{small} --port 0 --check" if command.name == "serve" else small
        done = discreet("", *shlex.split(small)[1:])
        assert done.code == (FOUND if command.name == "doctor" else 0), done.errors  # there is no ledger yet
        assert done.output
