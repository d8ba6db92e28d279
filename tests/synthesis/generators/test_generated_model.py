import numpy as np
import pytest

from discreet.synthesis.generators.generated_model import GeneratedModel, Layer

SHAPE = (3, 2, 4)


def some_model(total=100.0, seed=0):
    random = np.random.default_rng(seed)
    sizes = [(2, 5), (5, sum(SHAPE))]
    layers = tuple(Layer(weights=random.normal(size=one), bias=random.normal(size=one[1])) for one in sizes)
    return GeneratedModel(shape=SHAPE, layers=layers, total=total)


def plain_shares(model, latent):
    """The probabilities of each column, one number after the other."""
    first, last = model.layers
    hidden = [max(float(latent @ first.weights[:, unit]) + first.bias[unit], 0.0) for unit in range(5)]
    logits = [
        sum(one * last.weights[unit, cell] for unit, one in enumerate(hidden)) + last.bias[cell]
        for cell in range(sum(SHAPE))
    ]
    found, start = [], 0
    for cells in SHAPE:
        grown = np.exp(logits[start : start + cells])
        found.append(grown / grown.sum())
        start += cells
    return found


def test_tables_are_means_of_products():
    model = some_model()
    random = np.random.default_rng(1)
    wanted = np.zeros((3, 4))
    for latent in random.standard_normal((4000, 2)):
        held = plain_shares(model, latent)
        wanted += np.outer(held[0], held[2]) / 40
    found = model.table((0, 2))
    assert found.sum() == pytest.approx(100)
    assert np.abs(found - wanted).sum() / 200 < 0.05
    assert np.allclose(model.table((0,)), found.sum(axis=1))
    assert np.allclose(model.table((2, 0)), found.T)
    assert model.table((0, 1, 2)).shape == SHAPE


def test_rows_have_the_tables_of_the_model():
    model = some_model(total=1.0)
    rows = model.sample(20_000, np.random.default_rng(2))
    found = np.zeros((3, 4))
    np.add.at(found, (rows[:, 0], rows[:, 2]), 1 / 20_000)
    assert np.abs(found - model.table((0, 2))).sum() / 2 < 0.03
    assert (rows >= 0).all()
    assert (rows < np.array(SHAPE)).all()


def test_the_same_seed_gives_the_same_rows():
    one, other = (some_model().sample(50, np.random.default_rng(7)) for _ in range(2))
    assert (one == other).all()
    assert some_model().sample(0, np.random.default_rng(7)).shape == (0, 3)
