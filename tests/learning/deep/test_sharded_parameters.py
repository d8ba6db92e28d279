"""Models that are sharded over processes are trained as models that are whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor import DTensor, Shard, distribute_tensor

from discreet.errors import ParameterError
from discreet.learning.deep.clipping import FlatClipping
from discreet.learning.deep.plan import TrainingPlan, places_of
from discreet.learning.deep.processes import Processes
from discreet.learning.deep.sharded_parameters import UNSHARDED, ShardedParameters, own_part
from discreet.noise import replay
from learning.deep.sharded_runs import KINDS, SAME, TEXTS, Gain
from learning.deep.training_runs import linear_data, losses_of, small_run, train

SCRIPT = Path(__file__).with_name("sharded_runs.py")


@pytest.fixture
def group():
    """A group of this process alone."""
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    yield distributed.group.WORLD
    distributed.destroy_process_group()


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What two processes have after all runs of the script."""
    folder = tmp_path_factory.mktemp("sharded")
    running = [subprocess.Popen([sys.executable, str(SCRIPT), str(folder), str(rank)]) for rank in (0, 1)]
    try:
        assert [one.wait(timeout=300) for one in running] == [0, 0]
    finally:
        for one in running:
            one.kill()
    return [torch.load(folder / f"found{rank}") for rank in (0, 1)]


def cut(model, *, shape=(1,)):
    """Shard a model over a mesh of one process."""
    names = ("copies", "shards")[-len(shape) :]
    return fully_shard(model, mesh=init_device_mesh("cpu", shape, mesh_dim_names=names))


def two_layers():
    """A model of two layers, always with the same weights."""
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))


@pytest.mark.slow
def test_weights_are_those_of_a_model_that_is_whole(found):
    """Every process has a shard of the noisy mean that the first has drawn, and gathers what it has."""
    for kind in SAME:
        for one in found:
            for shards, whole in zip(one[kind, True]["weights"], one[kind, False]["weights"], strict=True):
                torch.testing.assert_close(shards, whole, rtol=0, atol=1e-6, msg=kind)
            assert one[kind, True]["left out"] == one[kind, False]["left out"]
        assert kind in TEXTS or all(one[kind, True]["left out"] for one in found)


@pytest.mark.slow
def test_a_precision_in_which_parameters_are_gathered_is_that_of_all_layers(found):
    """Numbers of 16 bits have an error of 2^-9, which six steps of 0.05 make smaller than one of weights."""
    for one in found:
        pairs = zip(one["mixed", True]["weights"], one["mixed", False]["weights"], strict=True)
        apart = max(float((shards - whole).abs().max()) for shards, whole in pairs)
        assert 1e-6 < apart < 1e-3


@pytest.mark.slow
def test_a_process_keeps_its_shards_alone(found):
    for kind in set(KINDS) - {"ignored"}:
        own = [one[kind, True] for one in found]
        assert all(one["whole"] == one["gathered"] == one["gradients"] == 0 for one in own)
        assert sum(one["own"] for one in own) == own[0]["all"]
        states = 0 if kind in {"epochs", "mixed"} else 2  # of AdamW for each number
        assert sum(one["own of states"] for one in own) == states * own[0]["trained"]
        assert all(0 < one["own"] < 0.7 * one["all"] for one in own)
    assert all(one["ignored", True]["whole"] == 3 for one in found)  # a parameter with two states


@pytest.mark.slow
def test_no_gradient_is_reduced_over_processes(found):
    """Where the loop runs backward itself gradients are, and never used."""
    for one in found:
        assert {kind for kind in KINDS if one[kind, True]["reduced"]} == {"backward"}


@pytest.mark.slow
def test_all_processes_take_as_many_batches_as_the_one_with_the_most_people(found):
    """The second has three people, so that it has batches of padding, and steps without anybody."""
    first, second = found
    for kind in SAME:
        assert first[kind, True]["batches"] == second[kind, True]["batches"] == first[kind, False]["batches"]
        assert second[kind, False]["batches"] < first[kind, False]["batches"]
    plan = TrainingPlan(
        batch=20, population=60, steps=6, epsilon=8, delta=1e-5, size=1, clipping=FlatClipping(1.0)
    )
    for people, one in ((57, first), (3, second)):
        places = places_of(people, 1, plan.rate, plan.overflow)
        assert one["noise", False]["batches"] == 6 * -(-places // 4)


@pytest.mark.slow
def test_epsilon_is_that_of_one_process(found):
    for one in found:
        assert one["private", True]["account"] == one["private", False]["account"]
        assert 7.9 < one["private", True]["account"][2] <= 8


@pytest.mark.slow
def test_a_checkpoint_holds_shards_and_the_account(found):
    assert all(one["reloaded"] for one in found)


@pytest.mark.slow
def test_a_group_of_other_processes_is_refused_in_all(found):
    assert all("group has other processes" in one["refused"] for one in found)


def test_a_model_that_is_whole_has_no_shards():
    model, weights = nn.Linear(3, 1), torch.tensor([1.0, 0.0])
    shards = ShardedParameters(model, Processes())
    for none in (UNSHARDED, shards):
        none.let_go()
        assert not none.is_any
        assert none.batches(3) == 3
        assert none.tried(weights) is weights
        assert none.gathered(model.weight) is model.weight
        assert own_part(model.weight) is model.weight
        assert none.whole_everywhere(model)[0].data_ptr() == model.weight.data_ptr()
        assert none.shard(torch.ones(1, 3).double(), model.weight).dtype == torch.float32


def test_a_run_of_one_process_has_the_weights_of_a_model_that_is_whole(group):
    found = []
    for model in (two_layers(), cut(two_layers())):
        with replay(5):
            optimizer, _ = small_run(model, optimizer=torch.optim.AdamW, group=group, data=linear_data_of(1))
            train(optimizer, model)
        optimizer.close()
        found.append([UNSHARDED.whole(value) for value in model.parameters()])
    for whole, shards in zip(*found, strict=True):
        torch.testing.assert_close(shards, whole, rtol=0, atol=1e-6)


def linear_data_of(seed):
    """Examples, always the same ones."""
    torch.manual_seed(seed)
    return linear_data()


def test_a_run_in_one_call_is_the_same_loop_and_has_no_compiler(group):
    optimizer, model = small_run(cut(two_layers()), group=group)
    with pytest.raises(ParameterError, match="compiler cannot trace a model that is sharded"):
        next(optimizer.run(lambda *rows: losses_of(model, rows), compiler=torch.compile))
    assert list(optimizer.run(lambda *rows: losses_of(model, rows))) == [1, 2, 3]
    optimizer.close()


def test_what_is_gathered_stands_for_what_is_kept(group):
    model = cut(two_layers())
    kept = list(model.parameters())
    shards = ShardedParameters(model, Processes(group))
    assert shards.is_any
    model(torch.randn(2, 3))  # the outermost part stays gathered
    gathered = list(model.parameters())
    assert all(isinstance(value, DTensor) for value in kept)
    assert not any(isinstance(value, DTensor) for value in gathered)
    assert all(one is other for one, other in zip(shards.parameters(model), kept, strict=True))
    assert all(shards.gathered(one) is other for one, other in zip(kept, gathered, strict=True))
    assert shards.whole_everywhere(nn.Sequential(model, nn.Linear(2, 2)))[-1].shape == (2,)
    shards.let_go()
    assert all(one is other for one, other in zip(model.parameters(), kept, strict=True))
    assert all(value.untyped_storage().nbytes() == 0 for value in gathered)


def test_a_batch_is_tried_out_in_all_processes_or_in_none(group, monkeypatch):
    """Processes without two examples try out padding, if another has two."""
    shards = ShardedParameters(cut(two_layers()), Processes(group))
    one, two = torch.tensor([1.0, 0.0, 0.0]), torch.tensor([1.0, 0.5, 0.0])
    assert shards.tried(one) is one
    assert shards.tried(two) is two
    monkeypatch.setattr(Processes, "total", lambda self, number: number + 1)
    assert shards.tried(one).tolist() == [1, 1, 1]
    assert shards.tried(two) is two


def test_batches_are_as_many_as_the_process_with_the_most_has(group, monkeypatch):
    shards = ShardedParameters(cut(two_layers()), Processes(group))
    assert shards.batches(3) == 3
    monkeypatch.setattr(Processes, "most", lambda self, number: max(number, 7))
    assert shards.batches(3) == 7


def test_a_parameter_that_is_used_past_its_module_is_refused(group):
    """What the graph of the losses has is the gathered parameter, not the one that is trained."""
    optimizer, model = small_run(cut(two_layers()), group=group)
    batches = optimizer.batches()
    losses = losses_of(model, next(batches)) + model[0].weight.sum()
    with pytest.raises(ParameterError, match="uses a parameter outside of the module that owns it"):
        optimizer.step(losses)
    optimizer.close()


@pytest.mark.parametrize("is_gathered", [True, False])
def test_a_forward_pass_that_writes_to_a_parameter_is_refused(group, is_gathered):
    optimizer, model = small_run(cut(two_layers()), group=group)
    kept = list(model.parameters())
    batches = optimizer.batches()
    losses = losses_of(model, next(batches))
    with torch.no_grad():
        (model[2].bias if is_gathered else own_part(kept[3])).add_(losses.mean())
    with pytest.raises(ParameterError, match="changes a buffer or parameter"):
        optimizer.step(losses)
    optimizer.close()


def test_a_sharded_model_needs_its_group(group):
    with pytest.raises(ParameterError, match="group is missing"):
        small_run(cut(two_layers()))


def test_a_group_of_more_processes_than_have_shards_is_refused(group, monkeypatch):
    monkeypatch.setattr(Processes, "ranks", {0, 1})
    with pytest.raises(ParameterError, match="group has other processes"):
        small_run(cut(two_layers()), group=group)


def test_copies_of_shards_are_refused(group):
    with pytest.raises(ParameterError, match="mesh of one dimension"):
        small_run(cut(two_layers(), shape=(1, 1)), group=group)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="shards are on an accelerator")
def test_shards_on_an_accelerator_are_trained_as_a_whole_model():
    """In one process, in a loop and by `run`, which records nothing of them."""
    distributed.init_process_group("cpu:gloo,cuda:nccl", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        data, found = tuple(value.cuda() for value in linear_data()), []
        for is_cut, by_run in ((False, False), (True, False), (True, True)):
            model = two_layers().cuda()
            if is_cut:
                fully_shard(model, mesh=init_device_mesh("cuda", (1,)))
            with replay(3):
                optimizer, _ = small_run(model, data=data, steps=8, group=distributed.group.WORLD)
                if by_run:
                    list(optimizer.run(lambda *batch, model=model: losses_of(model, batch)))
                else:
                    train(optimizer, model)
            assert is_cut == all(isinstance(value, DTensor) for value in model.parameters())
            found.append([own_part(value.detach()) for value in model.parameters()])
        for one, other, by_run in zip(*found, strict=True):
            assert torch.equal(one, other)
            assert torch.equal(one, by_run)
    finally:
        distributed.destroy_process_group()


def test_shards_that_nobody_gathers_are_refused(group):
    """Those of layers that compute with shards."""
    model = two_layers()
    mesh = init_device_mesh("cpu", (1,))
    model[0].weight = nn.Parameter(distribute_tensor(model[0].weight.detach(), mesh, [Shard(0)]))
    with pytest.raises(ParameterError, match=r"not gathered when they are used; allowed: .*fully_shard"):
        small_run(model, group=group)


def test_the_older_wrapper_is_refused_by_name(group):
    wrapper = FullyShardedDataParallel.__new__(FullyShardedDataParallel)
    nn.Module.__init__(wrapper)
    with pytest.raises(ParameterError, match=r"wrapped in FullyShardedDataParallel.*fully_shard"):
        small_run(nn.Sequential(wrapper, nn.Linear(3, 1)), group=group)


def test_a_module_without_a_rule_is_not_sharded_by_itself(group):
    """It is run again with parameters of its own, in whose place it would gather others."""
    model = nn.Sequential(nn.Linear(3, 5), cut(Gain()), nn.Linear(5, 1))
    with pytest.raises(ParameterError, match=r"has a FSDPGain \(1\) that is sharded by itself"):
        small_run(cut(model), group=group)
    around = nn.Sequential(nn.Linear(3, 5), Gain(), nn.Linear(5, 1))
    optimizer, _ = small_run(cut(around), group=group)
    train(optimizer, around)
    optimizer.close()


def test_an_optimizer_of_the_parameters_before_they_were_sharded_is_refused(group):
    model = two_layers()
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(ParameterError, match="optimizer has parameters that are not the model's"):
        small_run(cut(model), optimizer=lambda *_, **__: inner, group=group)
