"""What all outputs of queries share: weights of their measures, and margins of noise."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from fractions import Fraction
from math import ceil, nan, sqrt

from discreet.curator.release.averaging import Averaged
from discreet.curator.request.coarse_noise import CoarseNoise
from discreet.curator.request.request import Output, Part
from discreet.data import Measure, to_object
from discreet.mechanisms import Gaussian, Laplace
from discreet.mechanisms.error.sums import SumError
from discreet.mechanisms.error.weighted import WeightedError
from discreet.queries.outputs.jets import Jet
from discreet.queries.outputs.summed import Summed

__all__ = ["QueryOutput", "excess_of", "margin_of", "of_several", "variance_of"]


class QueryOutput(Output):
    """An output of a query, which also knows the weight of each of its measures."""

    __slots__ = ()

    @property
    @abstractmethod
    def weights(self) -> tuple[Fraction, ...]:
        """How far a noise of one step in each measure moves the output, in units of what one row can move it.

        One row moves a count by 1, a sum by R, the largest magnitude within the bounds, and a mean of n
        values by about H / n, where H is half the width of the bounds. Measured so, all outputs are
        alike: an error of k means "as if k rows were off".
        """

    @property
    @abstractmethod
    def formula(self) -> str:
        """How it is calculated, in words."""

    @property
    def empty_is_null(self) -> bool:
        """Whether a group without a value has no answer, rather than 0."""
        return True

    def supposed(self, rows: int) -> float:
        """Return a plausible value for a number of rows, for the expected error of calculations with it.

        NaN if no value is more plausible than others.
        """
        del rows
        return nan

    @property
    def measured_together(self) -> tuple[Laplace | Gaussian, tuple[float, ...]] | None:
        """The noise, and by what that of each measurement is multiplied, of a rounded count of several."""
        return None

    def jet(self, of: Mapping[Measure, Jet]) -> Jet | None:
        """Return it as a function of the integers of its measures; None where it is not a smooth one."""
        del of
        return None

    @property
    def identity(self) -> dict[str, object]:
        """What kind of output it is, and the measures it reads."""
        measures = [to_object(measure) for measure in self.measures]
        return {"kind": type(self).__name__, "measures": measures}


def margin_of(part: Part, confidence: Fraction) -> int:
    """Return the least t, in steps, such that the noise exceeds t with at most the failure probability."""
    return ceil(_noise(part).error.quantile(confidence))


def variance_of(part: Part) -> float:
    """Return the variance of the noise, in squared steps."""
    return _noise(part).error.variance


def excess_of(part: Part) -> float:
    """Return E max(0, N) of the noise, in steps, or more: what raising negative values to 0 adds to nothing.

    It is E abs(N) / 2, the noise being symmetric, and what rounding adds. That of an average or a sum is at
    most half its standard deviation (Jensen), and what rounding it to a whole step adds.
    """
    law = _noise(part).error
    if isinstance(law, WeightedError | SumError):
        return sqrt(law.variance) / 2 + float(law.rounding)
    return law.mean_absolute / 2 + float(law.rounding)


def _noise(part: Part) -> Laplace | Gaussian | CoarseNoise | Averaged | Summed:
    assert isinstance(part.mechanism, Laplace | Gaussian | CoarseNoise | Averaged | Summed)  # noqa: S101
    return part.mechanism


def of_several(confidence: Fraction, count: int) -> Fraction:
    """Return the confidence at which this many noises together keep the one that is wanted (union bound)."""
    return 1 - (1 - confidence) / count
