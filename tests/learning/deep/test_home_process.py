"""A fork of a process that trains has a copy of the account, and takes no step of it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from discreet.errors import LedgerUnavailable
from discreet.learning.deep.home_process import HomeProcess

FORKED = """
import os, sys
import torch
from discreet.errors import LedgerUnavailable
from discreet.learning import private, private_epochs

torch.set_num_threads(1)
makers = {
    "private": lambda *given, **stated: private(*given, batch=8, **stated),
    "epochs": lambda *given, **stated: private_epochs(*given, epochs=2, **stated),
}
make = makers[sys.argv[1]]
record, moment = sys.argv[2] or None, sys.argv[3]
model, rows = torch.nn.Linear(3, 1), torch.randn(20, 3)
optimizer = make(
    torch.optim.SGD(model.parameters(), lr=0.1), model, (rows,), epsilon=2, delta=1e-5, steps=2, record=record
)
before, child, refusal = model.weight.detach().clone(), None, ""
try:
    if moment == "before":
        child = os.fork()
    for (some,) in optimizer.batches():
        losses = model(some)[:, 0]
        if child is None:
            child = os.fork()
        optimizer.step(losses)
except LedgerUnavailable as error:
    refusal = str(error)
if child == 0:
    is_as_it_was = torch.equal(model.weight, before)
    os._exit(0 if "after the fork" in refusal and is_as_it_was else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert refusal == "" and optimizer.taken == optimizer.plan.steps
"""


@pytest.mark.parametrize(
    ("kind", "has_record", "moment"),
    [
        ("private", True, "before"),
        ("private", False, "before"),
        ("private", True, "within a step"),
        ("epochs", False, "within a step"),
    ],
)
def test_a_fork_releases_nothing_and_its_parent_everything(tmp_path, kind, has_record, moment):
    record = str(tmp_path / "run") if has_record else ""
    command = [sys.executable, "-W", "ignore", "-c", FORKED, kind, record, moment]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    if has_record:
        assert (tmp_path / "run").read_text().count("taken") == 2


def test_only_the_process_that_made_it_goes_on(monkeypatch):
    home = HomeProcess()
    home.check()
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(LedgerUnavailable, match="a record of its own"):
        home.check()
