import numpy as np
import torch

from discreet.synthesis.generators.table_network import LATENT, TableNetwork, one_hot

SHAPE = (3, 2, 4)
SHARES = [np.array([0.5, 0.3, 0.2]), np.array([0.9, 0.1]), np.full(4, 0.25)]


def network(seed=0):
    return TableNetwork(SHAPE, SHARES, torch.Generator().manual_seed(seed))


def test_columns_begin_near_the_shares_that_are_given():
    rows = network().rows(network().latent(5000)).numpy()
    for column, shares in enumerate(SHARES):
        found = np.bincount(rows[:, column], minlength=len(shares)) / 5000
        assert np.abs(found - shares).max() < 0.06
    assert network().drift(network().latent(5000)) < 0.02


def test_it_is_the_model_that_is_released():
    held = network()
    latent = held.latent(6)
    model = held.model(10.0)

    class Given:
        def standard_normal(self, size):
            assert size == (6, LATENT)
            return latent.double().numpy()

    shares = np.concatenate(list(model._columns(6, Given())), axis=1)
    assert np.allclose(shares, held.probabilities(latent).detach().numpy(), atol=1e-5)
    assert (model.shape, model.total) == (SHAPE, 10.0)


def test_drawn_rows_are_zeros_and_ones_that_carry_gradients():
    held = network()
    drawn = held.drawn_one_hot(held.latent(8))
    ends = np.cumsum(SHAPE)
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        part = drawn[:, start:end].detach()
        assert torch.allclose(part.sum(dim=1), torch.ones(8))
        assert torch.allclose(part.max(dim=1).values, torch.ones(8))
    drawn[:, 0].sum().backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in held._weights)


def test_the_same_seed_gives_the_same_network_and_nothing_else_is_drawn_from():
    state = torch.get_rng_state()
    one, other = (network(3) for _ in range(2))
    assert torch.equal(one.rows(one.latent(40)), other.rows(other.latent(40)))
    assert torch.equal(torch.get_rng_state(), state)


def test_codes_as_zeros_and_ones():
    found = one_hot(torch.tensor([[2, 0, 1], [0, 1, 3]]), SHAPE)
    assert found.tolist() == [[0, 0, 1, 1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 0, 0, 0, 1]]
