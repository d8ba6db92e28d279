"""Mechanisms with one planted bug each, beside the check that has to catch it."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np

from audit.right import AboveThreshold, Exponential, GridLaplace, IntegerGaussian, IntegerLaplace
from discreet.noise import bernoulli, current, sample_geometric, sample_laplace, uniform_below
from discreet.privacy.events import DiscreteLaplace
from discreet.privacy.guarantees import ApproximateDP, PureDP


class HalvedScale(IntegerLaplace):
    """Half the noise that epsilon asks for."""

    def draw(self, size):
        return sample_laplace(self.scale / 2, size, current())


class OffByOneSensitivity(IntegerLaplace):
    """Noise for a sensitivity of 1, where neighbors lie 2 apart."""

    def neighboring_inputs(self):
        return ((0, 2),)


class DoubledZero(IntegerLaplace):
    """A sign and a magnitude, so that 0 and -0 fall together."""

    def draw(self, size):
        source = current()
        signs = 2 * bernoulli(Fraction(1, 2), size, source) - 1
        return signs * sample_geometric(self.scale, size, source)


class WiderScale(IntegerLaplace):
    """Five percent more noise than the event says: private, and not the law that is stated."""

    def draw(self, size):
        return sample_laplace(self.scale * Fraction(105, 100), size, current())


class SharedArrayNoise(IntegerLaplace):
    """One noise for all entries of an array."""

    def draw(self, size):
        return np.repeat(super().draw(1), size)


class FloatLaplace:
    """The textbook's inverse distribution function, in floats."""

    guarantee = PureDP(epsilon=1)

    def neighboring_inputs(self):
        return ((0.0, 1.0),)

    def release(self, value):
        uniform = random.random() - 0.5
        return value - math.copysign(math.log(1 - 2 * abs(uniform)), uniform)


class TooFineGaussian:
    """Noise on a grid of 2^-53, which the sum with the input cannot hold."""

    guarantee = ApproximateDP(epsilon=1, delta=Fraction(1, 10**6))

    def neighboring_inputs(self):
        return ((0.0, 1.0),)

    def release(self, value):
        return value + round(random.gauss(0.0, 4.23) * 2.0**53) * 2.0**-53


class LeavesItsGrid(GridLaplace):
    """Adds the value unrounded to noise on the grid."""

    def neighboring_inputs(self):
        return ((0.0, 1.0), (1 / 3, 4 / 3))

    def release(self, value):
        source = current()
        noise = sample_laplace(self.event.scale / self.grid, 1, source)
        return source.mark(float(value + noise[0] * float(self.grid)))


class OwnGenerator:
    """A generator inside the mechanism: copies repeat it."""

    guarantee = PureDP(epsilon=1)

    def __init__(self):
        self._generator = random.Random()

    def neighboring_inputs(self):
        return ((0, 1),)

    def release(self, value):
        ratio = math.exp(-1)
        return value + self._geometric(ratio) - self._geometric(ratio)

    def _geometric(self, ratio):
        return int(math.log(1 - self._generator.random()) / math.log(ratio))


_module_generator = random.Random(7)


class ModuleSeed(OwnGenerator):
    """A generator of the module: every process repeats it."""

    def __init__(self):
        pass

    @property
    def _generator(self):
        return _module_generator


class SeededRelease(OwnGenerator):
    """A generator that is seeded again for every release."""

    def __init__(self):
        pass

    def release(self, value):
        self._generator = random.Random(repr(value))
        return super().release(value)


class TextbookLaplace(IntegerLaplace):
    """Rejection sampling in rationals (Canonne, Kamath & Steinke 2020): right, and slow for large noise."""

    def __init__(self):
        super().__init__(1, Fraction(1, 5))
        self.event = DiscreteLaplace(sensitivity=1, scale=self.scale, size=1)

    def draw(self, size):
        return np.array([self._one() for _ in range(size)])

    def _one(self):
        source = current()
        scale = int(self.scale)
        while True:
            remainder = int(uniform_below(scale, 1, source)[0])
            if not self._exponential_coin(Fraction(remainder, scale)):
                continue
            turns = 0
            while self._exponential_coin(Fraction(1)):
                turns += 1
            magnitude = remainder + scale * turns
            negative = bernoulli(Fraction(1, 2), 1, source)[0]
            if not (negative and magnitude == 0):
                return -magnitude if negative else magnitude

    @staticmethod
    def _exponential_coin(exponent):
        flips = 1
        while bernoulli(exponent / flips, 1, current())[0]:
            flips += 1
        return flips % 2 == 1


class HalvesToEven(GridLaplace):
    """Python's rounding: 1/2 goes to 0 and 3/2 goes to 2, two steps apart."""

    def __init__(self):
        super().__init__(Fraction(1))

    def neighboring_inputs(self):
        return ((0.5, 1.5),)

    def round(self, value):
        return round(value / float(self.grid))


class WrapsAround(IntegerLaplace):
    """A count that is kept in eight bits."""

    def neighboring_inputs(self):
        return ((127, 128),)

    def release(self, value):
        return super().release((value + 128) % 256 - 128)


class EagerExponential(Exponential):
    """The exponential mechanism with epsilon where epsilon / 2 belongs."""

    factor = Fraction(1)


class ReusedQueryNoise(AboveThreshold):
    """Sparse vector in which all queries share one noise."""

    def query_noise(self, size):
        return super().query_noise(1) * size


class SpareGaussian(IntegerGaussian):
    """A Gaussian whose variance was taken for its standard deviation's square root."""

    def draw(self, size):
        self.variance, right = self.variance / 2, self.variance
        drawn = super().draw(size)
        self.variance = right
        return drawn


class ForeignHalvedScale(OwnGenerator):
    """Half the noise, from a generator that no enumeration sees."""

    def __init__(self):
        pass

    _generator = random.SystemRandom()

    def release(self, value):
        ratio = math.exp(-2)
        return value + self._geometric(ratio) - self._geometric(ratio)


class RaisesAbove(IntegerLaplace):
    """Refuses inputs above a limit: the refusal is an answer."""

    def release(self, value):
        if np.max(value) > 0:
            raise ValueError("too large")
        return super().release(value)


class TypeTells(IntegerLaplace):
    """Gives a float where the input was positive."""

    def release(self, value):
        noisy = super().release(value)
        return noisy + 0.0 if np.max(value) > 0 else noisy


class PassesNaN(GridLaplace):
    """Lets NaN through."""

    def neighboring_inputs(self):
        return ((0.0, math.nan),)

    def release(self, value):
        return value if math.isnan(value) else super().release(value)


MUTANTS = (
    (HalvedScale(), "enumeration"),
    (HalvedScale(), "best event"),
    (HalvedScale(), "fit"),
    (OffByOneSensitivity(), "enumeration"),
    (DoubledZero(), "enumeration"),
    (WiderScale(), "fit"),
    (SharedArrayNoise(), "fit"),
    (FloatLaplace(), "precision"),
    (FloatLaplace(), "best event"),
    (TooFineGaussian(), "precision"),
    (TooFineGaussian(), "best event"),
    (LeavesItsGrid(), "precision"),
    (OwnGenerator(), "clones"),
    (ModuleSeed(), "clones"),
    (SeededRelease(), "best event"),
    (TextbookLaplace(), "timing"),
    (HalvesToEven(), "enumeration"),
    (WrapsAround(), "enumeration"),
    (EagerExponential(), "enumeration"),
    (ReusedQueryNoise(), "enumeration"),
    (SpareGaussian(), "enumeration"),
    (SpareGaussian(), "fit"),
    (ForeignHalvedScale(), "best event"),
    (RaisesAbove(), "enumeration"),
    (TypeTells(), "enumeration"),
    (TypeTells(), "best event"),
    (PassesNaN(), "best event"),
)
