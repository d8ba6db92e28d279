"""A bought bound on the local sensitivity: triangles of all small graphs, and bounds that are too low."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from itertools import combinations

import mpmath
import numpy as np
import pytest

from discreet.audit import check_mechanism
from discreet.audit.enumeration import output_law
from discreet.errors import ParameterError
from discreet.mechanisms import Laplace
from discreet.mechanisms.adaptive.private_local_sensitivity import PrivateLocalSensitivity
from discreet.noise import is_private, replay
from discreet.privacy.events import Approximate
from discreet.privacy.neighbors import ADD_REMOVE_ROW
from mechanisms.instability_oracle import Joined, worst
from mechanisms.key_selection_oracle import real

NODES = 5
EDGES = list(combinations(range(NODES), 2))
GRAPHS = {edges: [edges ^ (1 << place) for place in range(len(EDGES))] for edges in range(1 << len(EDGES))}
"""All graphs of five nodes, as sets of edges, with those that have one edge more or less."""


def has(edges, a, b):
    return edges >> EDGES.index((min(a, b), max(a, b))) & 1


def triangles(edges):
    return sum(
        has(edges, a, b) and has(edges, b, c) and has(edges, a, c)
        for a, b, c in combinations(range(NODES), 3)
    )


def local_sensitivity(edges):
    return max(abs(triangles(edges) - triangles(other)) for other in GRAPHS[edges])


FACTS = {edges: (triangles(edges), local_sensitivity(edges)) for edges in GRAPHS}
OFFERS = [
    {"epsilon": 4, "delta": Fraction(1, 20)},
    {"epsilon": 6, "delta": Fraction(1, 1000), "share": Fraction(1, 3)},
]
MADE = [PrivateLocalSensitivity(change=1, global_sensitivity=NODES - 2, **offer) for offer in OFFERS]


def changed(mechanism, **attributes):
    mutant = copy.copy(mechanism)
    for name, value in attributes.items():
        object.__setattr__(mutant, name, value)
    return mutant


def test_the_local_sensitivity_of_triangles_moves_by_one():
    """It is the largest number of common neighbors, and at most the number of nodes less 2."""
    for edges, around in GRAPHS.items():
        common = max(
            sum(bool(has(edges, a, c) and has(edges, b, c)) for c in range(NODES) if c not in (a, b))
            for a, b in EDGES
        )
        assert FACTS[edges][1] == common
        assert all(abs(FACTS[other][1] - common) <= 1 for other in around)
    assert max(local for _, local in FACTS.values()) == NODES - 2


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("mechanism", MADE, ids=repr)
def test_the_law_of_the_code_keeps_the_promise_on_all_graphs(mechanism):
    found = worst(mechanism, GRAPHS, FACTS.__getitem__)
    assert not found.violated, found.detail


class HalfTheNoise(PrivateLocalSensitivity):
    """Half the noise on the value."""

    def noise_for(self, steps):
        right = PrivateLocalSensitivity.noise_for(self, steps)
        return Laplace(sensitivity=steps, scale=right.event.scale / 2, size=1)


class HalfTheNoiseOnTheBound(PrivateLocalSensitivity):
    """Half the noise on the bound."""

    @property
    def bound_scale(self):
        return self.change / (2 * self.share * self.guarantee.epsilon)


@pytest.mark.slow
@pytest.mark.few(1)
@pytest.mark.parametrize("offer", OFFERS, ids=str)
def test_half_the_noise_is_caught(offer):
    halved = HalfTheNoise(change=1, global_sensitivity=NODES - 2, **offer)
    assert worst(halved, GRAPHS, FACTS.__getitem__).violated


@pytest.mark.slow
@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(2, 3)])
def test_half_the_noise_on_the_bound_is_caught(share):
    inputs = {(0, 2): [(2, 3)], (2, 3): [(0, 2)]}
    offer = {"change": 1, "global_sensitivity": 8, "epsilon": 6, "delta": Fraction(1, 1000), "share": share}
    assert not worst(PrivateLocalSensitivity(**offer), inputs, lambda given: given).violated
    assert worst(HalfTheNoiseOnTheBound(**offer), inputs, lambda given: given).violated


def test_a_bound_that_ignores_the_data_is_caught():
    """Noise for a sensitivity of 1 where it is 12."""
    mechanism = PrivateLocalSensitivity(change=1, global_sensitivity=12, epsilon=12, delta=0.001)
    inputs = {(0, 12): [(12, 12)], (12, 12): [(0, 12)]}
    assert not worst(mechanism, inputs, lambda given: given).violated
    assert worst(changed(mechanism, margin=-60), inputs, lambda given: given).violated


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 5)])
@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 10**6), Fraction(1, 10**20)])
@pytest.mark.parametrize("change", [1, 3])
def test_the_margin_is_the_least_that_keeps_delta(share, delta, change):
    mechanism = PrivateLocalSensitivity(
        change=change, global_sensitivity=1000, epsilon=2, delta=delta, share=share
    )
    ratio = mpmath.exp(-1 / real(mechanism.bound_scale))

    def too_low(margin):
        """P(noise < -margin) = P(noise > margin), summed."""
        terms = (ratio**k for k in range(margin + 1, margin + 3000))
        return mpmath.fsum(terms) * (1 - ratio) / (1 + ratio)

    assert mechanism.bound_scale == change / (2 * share)
    assert too_low(mechanism.margin) <= real(delta)
    assert too_low(mechanism.margin - 1) > real(delta)


@pytest.mark.parametrize("delta", [Fraction(1, 20), Fraction(1, 1000)])
def test_the_bound_fails_with_at_most_delta(delta):
    wide = PrivateLocalSensitivity(
        change=1, global_sensitivity=30, epsilon=62, delta=delta, share=Fraction(1, 31)
    )

    def failure(mechanism, local):
        law = output_law(lambda given: mechanism.release(*given).bound, (0, local))
        assert all(1 <= bound <= 30 for bound in law.masses)
        return sum(mass for bound, mass in law.masses.items() if bound < local)

    for local in (1, 7, 30):
        assert failure(wide, local) <= delta
        lower = failure(changed(wide, margin=wide.margin - 1), local)
        assert (lower > delta) == (local > 1)


@pytest.mark.slow
@pytest.mark.statistical
def test_the_audit_passes():
    report = check_mechanism(Joined(MADE[0]), draws=20_000, false_alarm=1e-9 * 5)
    assert report.passed, str(report)
    assert report.findings[0].verdict == "passed", str(report)


def test_intervals_cover_given_the_bound():
    mechanism = PrivateLocalSensitivity(change=1, global_sensitivity=100, epsilon=1, delta=1e-3)
    with replay(11):
        answers = [mechanism.release(500, 4) for _ in range(2000)]
    hit = [lower <= 500 <= upper for lower, upper in (answer.interval(0.9) for answer in answers)]
    assert 0.88 < np.mean(hit) < 0.94
    answer = answers[0]
    assert answer.noise.event.scale == 2 * answer.bound
    assert answer.interval()[1] - answer.interval()[0] == 2 * answer.noise.error.quantile(0.95)
    assert not is_private(answer.answer)
    assert not is_private(answer.bound)


def test_planning_uses_the_median_bound():
    mechanism = PrivateLocalSensitivity(change=1, global_sensitivity=10**6, epsilon=2, delta=1e-6)
    law = mechanism.error_at(local_sensitivity=20)
    assert law.scale == 20 + mechanism.margin
    assert mechanism.error_at(local_sensitivity=0).scale == mechanism.margin
    assert mechanism.error_at(local_sensitivity=10**9).scale == 10**6


def test_real_values_live_on_a_grid():
    mechanism = PrivateLocalSensitivity(
        change=0.5, global_sensitivity=64, epsilon=2, delta=1e-3, grid=0.25, neighbors=ADD_REMOVE_ROW
    )
    assert (mechanism.change, mechanism.largest) == (2, 256)
    for local in (0.0, 0.3, 1e300, float("inf"), float("nan"), Fraction(1, 3), -4, np.float64(2.0)):
        answer = mechanism.release(Fraction(7, 3), local)
        assert (answer.answer / 0.25).is_integer()
        assert (answer.bound / 0.25).is_integer()
        assert 0.25 <= answer.bound <= 64
    assert mechanism.neighbors == mechanism.event.neighbors == ADD_REMOVE_ROW
    assert mechanism.event == Approximate(epsilon=2, delta=1e-3, neighbors=ADD_REMOVE_ROW)
    fine = PrivateLocalSensitivity(change=0.5, global_sensitivity=64.0, epsilon=2, delta=1e-3)
    assert fine.lattice.step <= Fraction(1, 2**16)
    assert isinstance(fine.release(0.1, 0.2).answer, float)


def test_what_is_refused_depends_on_types_and_public_facts_alone():
    mechanism = MADE[0]
    for value, local, name in (("1", 1, "value"), (1.5, 1, "value"), (1, "1", "local"), (1, True, "local")):
        with pytest.raises(ParameterError, match=name):
            mechanism.release(value, local)
    for parameters in (
        {"change": 0},
        {"global_sensitivity": 0},
        {"delta": 0},
        {"delta": 1},
        {"share": 1},
        {"neighbors": None},
    ):
        with pytest.raises(ParameterError, match=next(iter(parameters))):
            PrivateLocalSensitivity(
                **{"change": 1, "global_sensitivity": 9, "epsilon": 1, "delta": 1e-6} | parameters
            )
    with pytest.raises(ParameterError, match="epsilon"):
        PrivateLocalSensitivity(change=1, global_sensitivity=2**50, epsilon=1, delta=1e-6)


def test_mechanisms_are_values():
    assert pickle.loads(pickle.dumps(MADE[0])) == MADE[0]
    assert hash(copy.deepcopy(MADE[0])) == hash(MADE[0])
    shown = repr(MADE[0].release(987_654, 2))
    assert shown.startswith("BoundedAnswer(answer=")


def test_intervals_of_fractions_cover_their_rounding():
    """With next to no noise, 1/2 is released as 0 or 1."""
    mechanism = PrivateLocalSensitivity(change=1, global_sensitivity=1, epsilon=20, delta=0.1)
    with replay(12):
        ends = [mechanism.release(Fraction(1, 2), 1).interval(0.95) for _ in range(300)]
        whole, integer = mechanism.release(Fraction(3), 1), mechanism.release(3, 1)
    assert np.mean([lower <= 0.5 <= upper for lower, upper in ends]) > 0.93
    assert whole.rounding == Fraction(1, 2)  # whether it is whole is private
    assert integer.rounding == 0
