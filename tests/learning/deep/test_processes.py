"""Several processes train one model as one process would."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from discreet.errors import ParameterError
from discreet.learning.deep.processes import Processes

SCRIPT = Path(__file__).with_name("connected_runs.py")


def trained(folder: Path, ranks: int, noise: str):
    """Run the processes, and return what each has in the end."""
    folder.mkdir()
    running = [
        subprocess.Popen([sys.executable, str(SCRIPT), str(folder), str(rank), str(ranks), noise])
        for rank in range(ranks)
    ]
    ended = [one.wait(timeout=300) for one in running]
    if noise == "differ":
        return ended
    assert ended == [0] * ranks
    return [torch.load(folder / f"weights{rank}") for rank in range(ranks)]


@pytest.mark.slow
def test_two_processes_add_up_to_one(tmp_path):
    """Without noise, and with everybody in every step, weights are those of one process with all people."""
    (alone,) = trained(tmp_path / "one", 1, "none")
    for account, weights in trained(tmp_path / "two", 2, "none"):
        assert account == alone[0]
        for one, other in zip(weights, alone[1], strict=True):
            torch.testing.assert_close(one, other, rtol=0, atol=1e-6)


@pytest.mark.slow
def test_all_processes_have_the_noise_of_the_first_and_one_record(tmp_path):
    (account, first), (same_account, second) = trained(tmp_path / "run", 2, "noise")
    assert account == same_account == (40, 6, account[2])
    assert 1.9 < account[2] <= 2
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))
    assert (tmp_path / "run" / "journal").read_text().count('{"taken"') == 6


@pytest.mark.slow
def test_epochs_of_two_processes_have_the_noise_of_the_first_and_one_record(tmp_path):
    (account, first), (same_account, second) = trained(tmp_path / "run", 2, "epochs")
    assert account == same_account == (40, 6, account[2])
    assert 1.9 < account[2] <= 2
    assert all(torch.equal(one, other) for one, other in zip(first, second, strict=True))
    assert (tmp_path / "run" / "journal").read_text().count('{"taken"') == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["replay", "slots"])
def test_a_process_that_replays_its_draws_makes_the_run_not_private_in_all(tmp_path, kind):
    """The first draws its noise and its own people privately."""
    for account, _ in trained(tmp_path / "run", 2, kind):
        assert account == (40, 6, math.inf)


@pytest.mark.slow
def test_processes_with_different_plans_are_refused_in_all(tmp_path):
    """One that clips at twice the bound would move the sum twice as far as the first adds noise for."""
    assert trained(tmp_path / "run", 2, "differ") == [3, 3]


def test_one_process_shares_with_nobody():
    ranks, values = Processes(), [torch.ones(2)]
    ranks.add_up(values)
    ranks.share(values)
    assert ranks.is_first
    assert ranks.total(3) == ranks.most(3) == 3
    assert ranks.ranks == {0}
    assert ranks.shared(2.5) == 2.5
    assert values[0].tolist() == [1, 1]


def test_processes_that_are_not_connected_are_refused():
    with pytest.raises(ParameterError, match="group"):
        Processes(object())
