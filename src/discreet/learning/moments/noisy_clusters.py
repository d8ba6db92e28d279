"""Clusters by noisy counts and sums: Lloyd's steps in the plane of the first principal components."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt, sqrt
from statistics import NormalDist

import numpy as np

from discreet.array_types import Floats, Integers
from discreet.learning.design.row_blocks import blocks_of
from discreet.learning.design.row_grid import GridRows, rounded_rows
from discreet.learning.moments.box_grid import BoxGrid
from discreet.learning.moments.moments import Moments
from discreet.learning.moments.noisy_moments import NoisyMoments
from discreet.learning.training.budgets import PureBudget, TrainingBudget
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise import current
from discreet.privacy.events import Event
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.neighbors import ADD_REMOVE_PERSON
from discreet.privacy.rational import whole
from discreet.privacy.sensitivity import Sensitivity
from discreet.records import Record

__all__ = ["ClusterPlan", "NoisyClusters", "Plane"]

_AXIS_BITS = 20
_ROW_STEPS = 2**12
_STARTS = 64  # points of a spread for each cluster
_SPREAD = 2.5  # deviations from the mean at which rows are pulled in


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterPlan:
    """The public numbers of a run."""

    iterations: int
    """How often counts and sums are released."""
    moments_share: Fraction
    """The part of the budget that is for moments, which say where to look."""


_NORMAL = ClusterPlan(iterations=6, moments_share=Fraction(1, 4))
_PURE = ClusterPlan(iterations=3, moments_share=Fraction(1, 3))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plane:
    """Where clusters are looked for: a function of released moments and of public bounds."""

    origin: Floats
    """The mean, in half widths."""
    axes: Floats
    """The components, one in each column, in units in which the widest column has half width 1."""
    scales: Floats
    """The half width of each column in these units."""
    spread: Floats
    """The standard deviation along each component."""
    radius: float
    """How far from the mean a row counts; beyond, it is pulled in."""

    def rows(self, rows: GridRows, steps: int) -> Integers:
        """Return rows in the plane, as integers no longer than `_ROW_STEPS`: each row by itself."""
        turned = np.rint(self.axes * self.scales[:, None] * 2.0**_AXIS_BITS)
        middle = np.rint(self.origin * steps) @ turned
        unit = self.radius * steps * 2.0**_AXIS_BITS
        width = self.axes.shape[1]
        found = np.empty((len(rows), width), dtype=np.int16)
        for place, part in blocks_of(rows):
            found[place] = rounded_rows(
                part @ turned - middle,
                largest=unit,
                row_steps=_ROW_STEPS - (isqrt(width - 1) // 2 + 1),
                steps=_ROW_STEPS,
            )
        return found  # type: ignore[return-value]

    def lifted(self, centers: Floats) -> Floats:
        """Return centers of the plane, in radii, as points in half widths, within the box."""
        moved = (centers * self.radius) @ self.axes.T / self.scales
        return (self.origin + moved).clip(-1.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False)
class NoisyClusters(Record):
    """Find centers to which the rows of a box are near, privately.

    Noisy means and products of the columns are released first. They say where rows are: on the plane of as
    many principal components as there are clusters, about the mean, and hardly beyond a radius. Centers
    begin at a spread that fits these moments, and are improved a fixed number of times: each row goes to
    the nearest center, and the noisy count and sum of its rows move each center.

    Parameters
    ----------
    grid : BoxGrid
        The columns, at most 1,000, and their bounds.
    clusters : int
        How many centers there are, at most 1,000.
    budget : TrainingBudget
        What it costs, and with which noise.
    rows : int
        How many rows a person has at most. That the data keep to it is the caller's promise.
    plan : ClusterPlan, optional
        Its public numbers.

    Guarantee
    ---------
    That of the budget, under add/remove of a person. In the plane a row is an integer vector no longer than
    N = 2^12, whatever the released moments are, and it is in one cluster: so it moves counts (times N) and
    sums by at most N sqrt(2) in L2, and N (1 + sqrt(q)) in L1 with q components. The moments have their
    share of the budget, and the improvements share the rest (proof: docs/proofs/private_clusters.md).

    Finite precision
    ----------------
    Axes and centers are rounded to integers before they meet a row, so that places and distances are sums of
    integers below 2^53, exact in any order; a tie goes to the first center.

    Error
    -----
    A cluster of n rows has a center that noise moves by about s sqrt(q) / n radii, with s = `deviation`, that
    of the noise in a sum.
    """

    grid: BoxGrid
    clusters: int
    components: int
    rows: int
    plan: ClusterPlan
    moments: NoisyMoments
    noise: Laplace | Gaussian
    """The noise on counts and sums, each time."""
    guarantee: Guarantee

    def __init__(
        self,
        *,
        grid: BoxGrid,
        clusters: int,
        budget: TrainingBudget,
        rows: int = 1,
        plan: ClusterPlan | None = None,
    ) -> None:
        held = whole(rows, "rows", least=1, most=2**20)
        count = whole(clusters, "clusters", least=1, most=1000)
        chosen = plan or (_PURE if isinstance(budget, PureBudget) else _NORMAL)
        moments = NoisyMoments(
            columns=grid.width,
            budget=budget.share(chosen.moments_share),
            products=True,
            rows=held,
            steps=grid.steps,
        )
        components = min(grid.width, count)
        size = count * (components + 1)
        sensitivity = Sensitivity(
            l0=min(size, held * (components + 1)),
            l1=held * (_ROW_STEPS + isqrt(components * _ROW_STEPS**2)),
            squared_l2=2 * (held * _ROW_STEPS) ** 2,
            linf=held * _ROW_STEPS,
            neighbors=ADD_REMOVE_PERSON,
        )
        share = (1 - chosen.moments_share) / chosen.iterations
        self._set(
            grid=grid,
            clusters=count,
            components=components,
            rows=held,
            plan=chosen,
            moments=moments,
            noise=budget.share(share).noise(sensitivity, size),
            guarantee=budget.guarantee,
        )

    @property
    def event(self) -> Event:
        """The release of moments and those of all improvements, composed."""
        return self.moments.event + self.noise.event * self.plan.iterations

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise in a count, and in each coordinate of a sum in radii."""
        return sqrt(self.noise.error.variance) / _ROW_STEPS

    def release(self, rows: GridRows) -> Floats:
        """Return the centers of rows on the grid, in half widths."""
        plane = self.plane(self.moments.release(rows))
        places = plane.rows(rows, self.grid.steps)
        centers = self.starts(plane)
        for _ in range(self.plan.iterations):
            noisy = self.noise.release(self.measured(places, centers).ravel())
            parts = current().mark(np.asarray(noisy, dtype=np.float64)) / _ROW_STEPS
            centers = self._moved(centers, parts.reshape(self.clusters, -1))
        return plane.lifted(centers)

    def plane(self, moments: Moments) -> Plane:
        """Return the plane that released moments show."""
        scales = self.grid.half_widths / self.grid.half_widths.max()
        values, vectors = np.linalg.eigh(moments.covariances[0] * np.outer(scales, scales))
        kept = np.maximum(values[::-1][: self.components], 0.0)
        origin = moments.means[0]
        farthest = float(np.linalg.norm(scales * (1 + np.abs(origin))))
        radius = min(max(_SPREAD * sqrt(float(kept.sum())), farthest / 2**8), farthest)
        return Plane(
            origin=origin,
            axes=vectors[:, ::-1][:, : self.components],
            scales=scales,
            spread=np.sqrt(kept),
            radius=radius,
        )

    def starts(self, plane: Plane) -> Floats:
        """Return where centers begin, in radii: the centers of evenly spread points of a normal law.

        The points are a fixed sequence, so nothing is drawn; Lloyd's steps on them cost nothing.
        """
        points = _spread(self.clusters * _STARTS, self.components) * plane.spread / plane.radius
        points = _shortened(points)
        centers = points[::_STARTS].copy()
        for _ in range(20):
            nearest = _nearest(points, centers)
            for number in range(self.clusters):
                if (nearest == number).any():
                    centers[number] = points[nearest == number].mean(axis=0)
        return centers

    def measured(self, places: Integers, centers: Floats) -> Integers:
        """Return the count, times N, and the sum of the rows that are nearest to each center: private."""
        steps = np.rint(centers * _ROW_STEPS)
        found = np.zeros((self.clusters, self.components + 1), dtype=np.int64)
        for _, part in blocks_of(places):  # type: ignore[arg-type]
            own = np.zeros((len(part), self.clusters))
            own[np.arange(len(part)), _nearest(part, steps)] = 1.0
            found[:, 0] += _ROW_STEPS * own.sum(axis=0).astype(np.int64)
            found[:, 1:] += (own.T @ part).astype(np.int64)
        return found

    def _moved(self, centers: Floats, parts: Floats) -> Floats:
        """Return centers that released counts and sums move.

        A center counts for as many rows as there is noise: where few rows are near, it stays.
        """
        held = 2 * sqrt(self.components) * self.deviation
        totals = np.maximum(parts[:, :1], 0.0) + held
        return _shortened((parts[:, 1:] + held * centers) / np.maximum(totals, 2.0**-20))


def _nearest(points: Floats, centers: Floats) -> Integers:
    """Return the number of the center nearest to each point, the first one of several."""
    found: Integers = ((centers**2).sum(axis=1) - 2 * (points @ centers.T)).argmin(axis=1)
    return found


def _shortened(points: Floats) -> Floats:
    """Return points none of which is longer than 1."""
    lengths: Floats = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.maximum(lengths, 1.0)


def _spread(count: int, width: int) -> Floats:
    """Return evenly spread points of a standard normal law: multiples of powers of a root, modulo 1."""
    root = 2.0
    for _ in range(64):  # of x^(width + 1) = x + 1
        root = (1 + root) ** (1 / (width + 1))
    parts = (0.5 + np.arange(1, count + 1)[:, None] * root ** -np.arange(1.0, width + 1)) % 1.0
    law = NormalDist()
    quantiles = [law.inv_cdf(min(max(part, 1e-6), 1 - 1e-6)) for part in parts.ravel().tolist()]
    return np.array(quantiles).reshape(count, width)
