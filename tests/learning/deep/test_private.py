"""What `private` accepts, and what it refuses before anything is read."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import pytest
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset

import discreet as dp
from discreet.errors import ParameterError
from discreet.learning import AutomaticClipping, private, private_epochs
from discreet.learning.deep import optimizer as optimizer_module
from discreet.noise import replay
from learning.deep.training_runs import linear_data, small_run, train

STATED = {"epsilon": 2, "delta": 1e-5, "batch": 20, "steps": 3}


def refused(message, optimizer=None, model=None, data=None, **options):
    model = model or nn.Linear(3, 1)
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(ParameterError, match=message):
        private(optimizer, model, linear_data() if data is None else data, **STATED | options)


def test_only_deep_learning_loads_pytorch_and_says_what_to_install():
    script = (
        "import sys\n"
        "import discreet, discreet.learning\n"
        "assert 'torch' not in sys.modules\n"
        "sys.modules['torch'] = None\n"
        "try:\n"
        "    discreet.learning.private\n"
        "except discreet.errors.MissingExtra as missing:\n"
        "    print(missing)\n"
    )
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "pip install 'discreet[learn-torch]'" in output


def test_models_and_optimizers_that_do_not_fit_are_refused():
    model, other = nn.Linear(3, 1), nn.Linear(3, 1)
    refused("not a module", torch.optim.SGD(model.parameters(), lr=0.1), model="model")
    refused("not an optimizer", optimizer="SGD")
    refused("several times a step", torch.optim.LBFGS(model.parameters()), model)
    refused("not the model's", torch.optim.SGD(other.parameters(), lr=0.1), model)
    refused("lacks parameters", torch.optim.SGD([model.weight], lr=0.1), model)
    frozen = nn.Linear(3, 1).requires_grad_(False)
    refused("no parameters to train", torch.optim.SGD(frozen.parameters(), lr=0.1), frozen)
    refused("GroupNorm", model=nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Linear(4, 1)))


class Turned(nn.Module):
    """A complex matrix, kept as real numbers or as it is."""

    def __init__(self, *, is_real):
        super().__init__()
        value = torch.randn(3, 1, dtype=torch.cfloat)
        self.value = nn.Parameter(torch.view_as_real(value).clone() if is_real else value)

    def forward(self, rows):
        value = self.value if self.value.is_complex() else torch.view_as_complex(self.value)
        return (rows.to(value.dtype) @ value).abs().square()


def test_complex_parameters_are_refused_and_the_mend_trains_both_parts():
    """Gradients are real numbers: of complex parameters the imaginary part would stay where it was."""
    refused("view_as_real", model=Turned(is_real=False))
    optimizer, model = small_run(Turned(is_real=True))
    before = model.value.detach().clone()
    train(optimizer, model)
    assert (model.value != before).all()
    frozen = nn.ModuleList([nn.Linear(3, 1), Turned(is_real=False).requires_grad_(False)])
    trained = torch.optim.SGD(frozen[0].parameters(), lr=0.1)
    private(trained, frozen, linear_data(), **STATED).close()


def test_a_loader_that_does_not_sample_is_refused():
    refused("loader.dataset", data=DataLoader(TensorDataset(*linear_data()), batch_size=20, shuffle=True))


def test_people_in_a_list_are_not_taken_for_columns():
    """300 people of 128 words each would be 128 people, all of whom had read a word of everybody."""
    words, model = [torch.randint(0, 50, (128,)) for _ in range(300)], nn.Embedding(50, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    stated = {"epsilon": 3, "delta": 1e-5, "batch": 32, "steps": 1}
    for data in (words, [word.numpy() for word in words]):
        for run in (
            partial(private, **stated),
            partial(dp.learning.private_epochs, epsilon=3, delta=1e-5, epochs=1, steps=2),
        ):
            with pytest.raises(ParameterError, match=r"torch.stack\(data\) of examples"):
                run(optimizer, model, data)
    assert private(optimizer, model, torch.stack(words), **stated).plan.population == 300


@pytest.mark.parametrize("compiler", [None, lambda graph: graph], ids=["plain", "compiled"])
def test_a_run_does_not_depend_on_how_columns_are_given(compiler):
    torch.manual_seed(1)
    rows, targets = linear_data()
    whole = TensorDataset(torch.cat([rows, rows]), torch.cat([targets, targets]))
    found = []
    for data in (
        (rows, targets),
        (rows.numpy(), targets),
        {"rows": rows, "targets": targets.numpy()},
        Subset(Subset(whole, range(10, 400)), range(190, 390)),
    ):
        model = nn.Linear(3, 1)
        nn.init.zeros_(model.weight), nn.init.zeros_(model.bias)

        def losses(*batch, model=model):
            held = batch[0] if len(batch) == 1 else {"rows": batch[0], "targets": batch[1]}
            return (model(held["rows"])[:, 0] - held["targets"]) ** 2

        with replay(5):
            optimizer, _ = small_run(model, data)
            list(optimizer.run(losses, compiler=compiler))
        found.append(model.weight.detach())
    assert all(torch.equal(weight, found[0]) for weight in found)
    assert found[0].any()


def test_two_private_optimizers_on_one_model_are_refused():
    optimizer, model = small_run()
    refused("private already", optimizer, model)
    refused("another private optimizer", torch.optim.SGD(model.parameters(), lr=0.1), model)
    optimizer.close()
    small_run(model)


def test_numbers_that_do_not_fit_are_refused():
    refused("people are missing", examples_per_person=2)
    refused("population", population=100)
    refused("batch", batch=201)
    refused("physical", physical=1)
    refused("physical is so small", physical=2, population=2**22, batch=1000)
    refused("record", record=7)
    refused("clip", clip=0)


class Rows(Dataset):
    """Data without a public shape."""

    def __len__(self):
        return 200

    def __getitem__(self, place):
        return torch.ones(3)


@pytest.mark.parametrize("make", [private, private_epochs])
def test_a_refusal_leaves_no_journal_locked(tmp_path, make, monkeypatch):
    """Nor does a failure after the journal was opened."""
    model, stated = nn.Linear(3, 1), {"epsilon": 2, "delta": 1e-5, "steps": 3, "record": tmp_path / "run"}
    stated |= {"batch": 20} if make is private else {"epochs": 2}
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(ParameterError, match="blank"):
        make(inner, model, Rows(), **stated)
    with monkeypatch.context() as failing:
        failing.setattr(optimizer_module, "Book", None)
        with pytest.raises(TypeError):
            make(inner, model, Rows(), blank=torch.zeros(3), **stated)
    make(inner, model, Rows(), blank=torch.zeros(3), **stated).close()
    make(inner, model, Rows(), blank=torch.zeros(3), **stated).close()


def test_a_public_bound_on_the_people_sets_the_rate():
    optimizer, _ = small_run(population=400)
    assert optimizer.rate == 20 / 400


def test_frozen_parameters_get_no_noise():
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 1))
    model[0].requires_grad_(False)
    before = model[0].weight.clone()
    optimizer = private(
        torch.optim.SGD(model[1].parameters(), lr=0.1),
        model,
        linear_data(),
        **STATED,
        clip=AutomaticClipping(),
    )
    train(optimizer, model)
    assert optimizer.plan.size == 5
    assert torch.equal(before, model[0].weight)


def test_a_permit_of_a_curator_is_charged(tmp_path):
    rows, targets = linear_data(30)
    table = dp.Table(
        {"id": list(range(30)), "x": rows[:, 0].tolist()}, person="id", limits=dp.Limits(rows=1), columns={}
    )
    clinic = dp.Curator(
        {"people": table}, budget=dp.Budget(epsilon=3, delta=1e-5), ledger=tmp_path / "ledger"
    )
    model = nn.Linear(3, 1)
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    with clinic.permit("training", epsilon=2, delta="1e-6") as permit:
        stated = STATED | {"delta": "1e-7", "epsilon": 1, "record": permit}
        optimizer = private(inner, model, (rows, targets), **stated)
        train(optimizer, model)
    assert optimizer.taken == 3
    assert clinic.spent.epsilon > 0
