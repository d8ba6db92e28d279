"""Small mechanisms that keep what they promise, and the pieces that the mutants break."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from discreet.noise import bernoulli, choose, current, sample_gaussian, sample_laplace, uniform_below
from discreet.noise.grid import from_grid, steps_of
from discreet.privacy.events import DiscreteGaussian, DiscreteLaplace
from discreet.privacy.guarantees import ApproximateDP, PureDP, ZeroConcentratedDP


class IntegerLaplace:
    """An integer, or an array of integers, with discrete Laplace noise."""

    def __init__(self, sensitivity: int = 1, epsilon: Fraction = Fraction(1)) -> None:
        self.sensitivity = sensitivity
        self.guarantee = PureDP(epsilon=epsilon)
        self.scale = sensitivity / Fraction(epsilon)
        self.event = DiscreteLaplace(sensitivity=sensitivity, scale=self.scale)

    def neighboring_inputs(self):
        return ((0, self.sensitivity),)

    def draw(self, size: int) -> np.ndarray:
        return sample_laplace(self.scale, size, current())

    def release(self, value):
        source = current()
        array = np.asarray(value)
        noisy = array + self.draw(array.size).reshape(array.shape)
        return source.mark(noisy if array.ndim else int(noisy))


class IntegerGaussian(IntegerLaplace):
    """The same with discrete Gaussian noise."""

    def __init__(self, rho: Fraction = Fraction(1, 8)) -> None:
        self.sensitivity = 1
        self.guarantee = ZeroConcentratedDP(rho=rho)
        self.variance = 1 / (2 * Fraction(rho))
        self.event = DiscreteGaussian(squared_sensitivity=1, variance=self.variance)

    def draw(self, size: int) -> np.ndarray:
        return sample_gaussian(self.variance, size, current())


class GridLaplace:
    """A float, rounded to a grid that noise of scale 1 dwarfs."""

    def __init__(self, grid: Fraction = Fraction(1, 1 << 20), epsilon: Fraction = Fraction(1)) -> None:
        self.grid = grid
        self.guarantee = PureDP(epsilon=epsilon)
        self.event = DiscreteLaplace(sensitivity=1, scale=1 / Fraction(epsilon), grid=grid, size=1)

    def neighboring_inputs(self):
        return ((0.0, 1.0), (2.5, 3.5))

    def round(self, value: float) -> int:
        return int(steps_of(np.array([value]), self.grid)[0])

    def release(self, value):
        source = current()
        noise = sample_laplace(self.event.scale / self.grid, 1, source)
        return source.mark(float(from_grid(noise + self.round(value), self.grid)[0]))


class RandomizedResponse:
    """One of k answers: the true one with probability e^epsilon = 3 times any other's."""

    def __init__(self, answers: int = 3, odds: int = 3) -> None:
        self.answers, self.odds = answers, odds
        # log 3 rounded up: the odds are exactly 3.
        self.guarantee = PureDP(epsilon=Fraction("1.0986122886681098"))

    def neighboring_inputs(self):
        return ((0, 1), (1, 2))

    def release(self, value):
        source = current()
        truthful = Fraction(self.odds - 1, self.odds + self.answers - 1)
        other = int(uniform_below(self.answers, 1, source)[0])
        return source.mark(value if bernoulli(truthful, 1, source)[0] else other)


class Exponential:
    """A candidate, with probability proportional to exp(epsilon score / 2)."""

    factor = Fraction(1, 2)

    def __init__(self, epsilon: Fraction = Fraction(1)) -> None:
        self.guarantee = PureDP(epsilon=epsilon)

    def neighboring_inputs(self):
        return (((0, 0, 0), (1, 0, 1)), ((1, 0, 0), (0, 1, 1)))

    def release(self, value):
        source = current()
        scores = np.array(value, np.int64)
        return source.mark(choose(scores.max() - scores, self.guarantee.epsilon * self.factor, source))


class NoisyMax:
    """The index of the largest count after Laplace noise of scale 2 / epsilon."""

    def __init__(self, epsilon: Fraction = Fraction(4)) -> None:
        self.guarantee = PureDP(epsilon=epsilon)

    def neighboring_inputs(self):
        return ((np.array([0, 0, 1]), np.array([1, 1, 0])),)

    def release(self, value):
        source = current()
        noisy = value + sample_laplace(2 / self.guarantee.epsilon, len(value), source)
        return source.mark(int(np.argmax(noisy)))


class AboveThreshold:
    """The first of a few queries that is above a noisy threshold (sparse vector), or None."""

    threshold = 1

    def __init__(self, epsilon: Fraction = Fraction(4)) -> None:
        self.guarantee = PureDP(epsilon=epsilon)

    def neighboring_inputs(self):
        return (((0, 1), (1, 0)), ((1, 1), (0, 0)))

    def query_noise(self, size: int) -> list[int]:
        return sample_laplace(4 / self.guarantee.epsilon, size, current()).tolist()

    def release(self, value):
        source = current()
        threshold = self.threshold + int(sample_laplace(2 / self.guarantee.epsilon, 1, source)[0])
        for index, (query, noise) in enumerate(zip(value, self.query_noise(len(value)), strict=True)):
            if query + noise >= threshold:
                return source.mark(index)
        return None


class ApproximateCount(IntegerGaussian):
    """A Gaussian count that states epsilon and a delta which bounds the exact one from above."""

    def __init__(self) -> None:
        super().__init__(Fraction(1, 8))
        self.guarantee = ApproximateDP(epsilon=1, delta=Fraction(127, 1000))


RIGHT = (
    IntegerLaplace(),
    IntegerLaplace(3, Fraction(1, 2)),
    IntegerGaussian(),
    ApproximateCount(),
    GridLaplace(),
    GridLaplace(Fraction(1, 2)),
    RandomizedResponse(),
    Exponential(),
    NoisyMax(),
    AboveThreshold(),
)
