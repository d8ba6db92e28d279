"""What all selections of keys share: offers, events, releases, the best of them, the audit."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from discreet import accounting, audit
from discreet.accounting.filters import PureFilter, RenyiFilter, ZeroConcentratedFilter
from discreet.audit.enumeration import output_law
from discreet.audit.outputs import output_key
from discreet.errors import BudgetExceeded, ParameterError
from discreet.mechanisms import GaussianThreshold, LaplaceThreshold, TruncatedGeometric
from discreet.mechanisms.keys.key_selection import KeySelection
from discreet.noise import Source, is_private, replay, using
from discreet.privacy.events import Event
from discreet.privacy.guarantees import ApproximateDP
from mechanisms.key_selection_oracle import gap, neighbors, real
from noise.sources import Counting
from significance import FALSE_ALARM

KINDS = (TruncatedGeometric, LaplaceThreshold, GaussianThreshold)
OFFERS = [
    {"epsilon": 1, "delta": 0.01, "keys": 1},
    {"epsilon": 1, "delta": 0.01, "keys": 3},
    {"rho": 0.5, "delta": 0.01, "keys": 2},
    {"epsilon": 0.3, "delta": 1e-6, "keys": 2},
]
ALL = [(kind, offer) for kind in KINDS for offer in OFFERS]
LARGEST_DRAW = 100_000


class Silent(Source):
    def words(self, size):
        raise AssertionError("something was drawn")


def chances(mechanism, counts):
    return [real(mechanism.error.enclosed(n)[0]) if n else mpmath.mpf(0) for n in counts]


def interesting(mechanism):
    half = mechanism.size_for(Fraction(1, 2))
    return {0, 1, 2, half - 1, half, half + 3}


@pytest.mark.few(5)
@pytest.mark.parametrize(("kind", "offer"), ALL)
def test_the_guarantee_holds_for_all_neighbors(kind, offer):
    mechanism = kind(**offer)
    promise = mechanism.guarantee
    for before, after in neighbors(interesting(mechanism), mechanism.keys):
        p, q = chances(mechanism, before), chances(mechanism, after)
        for a, b in ((p, q), (q, p)):
            assert gap(a, b, real(promise.epsilon)) <= real(promise.delta)


@pytest.mark.few(4)
@pytest.mark.parametrize(("kind", "offer"), ALL)
def test_the_event_charges_enough_at_every_epsilon(kind, offer):
    mechanism = kind(**offer)
    listed = [0, 1, mechanism.size_for(Fraction(1, 2)) - 1, mechanism.size_for(Fraction(1, 2))]
    pairs = list(neighbors(listed, mechanism.keys))
    for epsilon in (0.0, 0.05, 0.2, 0.7):
        charged = accounting.delta(mechanism.event, epsilon=epsilon).upper
        for before, after in pairs:
            p, q = chances(mechanism, before), chances(mechanism, after)
            for a, b in ((p, q), (q, p)):
                assert gap(a, b, mpmath.mpf(epsilon)) <= charged


@pytest.mark.parametrize(("kind", "offer"), ALL)
def test_keys_of_one_person_are_shown_with_at_most_delta_in_all(kind, offer):
    mechanism = kind(**offer)
    chance = real(mechanism.error.enclosed(1)[1])
    assert 1 - (1 - chance) ** mechanism.keys <= real(mechanism.offer.delta)


@pytest.mark.parametrize("kind", KINDS)
def test_filters_charge_the_event_what_was_offered(kind):
    budget = ZeroConcentratedFilter(1, delta=0.1)
    spent = budget.spend(kind(rho=0.25, delta=1e-6, keys=7).event).spent
    assert Fraction(1, 4) * (1 - Fraction(1, 10**12)) < spent["rho"] <= Fraction(1, 4)
    assert spent["delta"] == Fraction(1, 10**6)
    mechanism = kind(epsilon=0.5, delta=1e-6, keys=7)
    assert RenyiFilter([2, 16], [1, 2], delta=0.1).spend(mechanism.event).spent["delta"] <= Fraction(1, 10**6)
    pure = PureFilter(1, delta=0.1)
    if kind is GaussianThreshold:
        with pytest.raises(BudgetExceeded):
            pure.spend(mechanism.event)
    else:
        assert dict(pure.spend(mechanism.event).spent) == {
            "epsilon": Fraction(1, 2),
            "delta": Fraction(1, 10**6),
        }
    assert Event.from_json(mechanism.event.to_json()) == mechanism.event


@pytest.mark.parametrize("kind", KINDS)
def test_without_room_for_a_delta_a_selection_is_refused(kind):
    with pytest.raises(BudgetExceeded):
        ZeroConcentratedFilter(10).spend(kind(rho=0.25, delta=1e-6).event)
    with pytest.raises(BudgetExceeded):
        PureFilter(10).spend(kind(epsilon=1, delta=1e-6).event)


def fit(mechanism, persons):
    shown = mechanism.release(np.full(LARGEST_DRAW, persons))
    return stats.binomtest(int(shown.sum()), LARGEST_DRAW, mechanism.shown(persons)).pvalue


@pytest.mark.parametrize(("kind", "offer"), ALL)
def test_releases_follow_the_law(kind, offer):
    mechanism = kind(**offer)
    for persons in sorted(interesting(mechanism) - {0}):
        assert fit(mechanism, persons) > FALSE_ALARM


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_law_does_not_fit(kind):
    mechanism = kind(epsilon=1, delta=0.01)
    half = mechanism.size_for(Fraction(1, 2))
    shown = mechanism.release(np.full(LARGEST_DRAW, half))
    assert stats.binomtest(int(shown.sum()), LARGEST_DRAW, mechanism.shown(half - 1)).pvalue < FALSE_ALARM


@pytest.mark.few(5)
@pytest.mark.parametrize(("kind", "offer"), ALL)
def test_the_implemented_law_is_the_promised_one(kind, offer):
    """Run the release along every path of its decisions."""
    mechanism = kind(**offer)
    for persons in sorted(interesting(mechanism)):
        found = output_law(mechanism.release, np.array([persons]))
        seen = float(found.masses.get(output_key(np.array([True])), 0))
        assert seen == pytest.approx(mechanism.shown(persons), rel=1e-9, abs=1e-15)
        assert float(found.unresolved) < 1e-12


def test_keys_are_shown_independently():
    mechanism = LaplaceThreshold(epsilon=1, delta=0.01, keys=2)
    at = mechanism.threshold
    rows = mechanism.release(np.full(2 * LARGEST_DRAW, at)).reshape(-1, 2)
    both = mechanism.shown(at) ** 2
    assert stats.binomtest(int(rows.all(axis=1).sum()), LARGEST_DRAW, both).pvalue > FALSE_ALARM


@pytest.mark.parametrize(("kind", "offer"), ALL)
def test_randomness_used_does_not_depend_on_counts(kind, offer):
    mechanism = kind(**offer)
    drawn = []
    for counts in ([0] * 50, [1] * 50, [10**6] * 50, list(range(50))):
        with using(Counting()) as source:
            mechanism.release(counts)
        drawn.append(source.drawn)
    assert len(set(drawn)) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_counts_below_one_are_never_shown_and_huge_ones_always(kind):
    mechanism = kind(epsilon=0.1, delta=0.9)
    assert mechanism.shown(1) > 0.2  # a threshold that zero would often pass
    assert not mechanism.release(np.zeros(10_000, np.int64)).any()
    assert not mechanism.release([-5, -(2**70), 0]).any()
    assert mechanism.release([2**80, 2**62, 10**9]).all()
    assert mechanism.release(np.array([2**64 - 1], np.uint64)).all()
    assert mechanism.shown(0) == 0.0
    assert mechanism.missed(0) == 1.0


@pytest.mark.parametrize("kind", KINDS)
def test_no_keys_are_no_error(kind):
    for nothing in ([], (), np.empty(0, np.int64)):
        shown = kind(epsilon=1, delta=1e-6).release(nothing)
        assert shown.shape == (0,)
        assert shown.dtype == np.bool_


@pytest.mark.parametrize("counts", [3, [[1, 2]], [1.5], "ab", None, [True], np.array([1.0]), {1: 2}, [[]]])
def test_what_is_no_vector_of_integers_is_refused_before_anything_is_drawn(counts):
    for kind in KINDS:
        with using(Silent()), pytest.raises(ParameterError, match="counts"):
            kind(epsilon=1, delta=1e-6).release(counts)


def test_replayed_selections_are_marked():
    with replay(3):
        shown = KeySelection.best(epsilon=1, delta=1e-6).release([1, 20, 300])
    assert not is_private(shown)
    assert is_private(KeySelection.best(epsilon=1, delta=1e-6).release([1, 20, 300]))


@pytest.mark.parametrize(
    ("offer", "name"),
    [
        ({"delta": 1e-6}, "epsilon"),
        ({"delta": 1e-6, "epsilon": 1, "rho": 1}, "epsilon"),
        ({"delta": 0, "epsilon": 1}, "delta"),
        ({"delta": 1, "epsilon": 1}, "delta"),
        ({"delta": 1e-200, "epsilon": 1}, "delta"),
        ({"delta": 1e-6, "epsilon": 0}, "epsilon"),
        ({"delta": 1e-6, "epsilon": 101}, "epsilon"),
        ({"delta": 1e-6, "rho": -1}, "rho"),
        ({"delta": 1e-6, "epsilon": 1, "keys": 0}, "keys"),
        ({"delta": 1e-6, "epsilon": 1, "keys": 1.5}, "keys"),
        ({"delta": 1e-6, "epsilon": 1, "keys": True}, "keys"),
    ],
)
def test_bad_offers_are_refused(offer, name):
    for build in (*KINDS, KeySelection.best):
        with pytest.raises(ParameterError) as refusal:
            build(**offer)
        assert refusal.value.parameter == name


@pytest.mark.parametrize(
    "offer",
    [
        {"epsilon": 1, "delta": 1e-6, "keys": 1},
        {"epsilon": 1, "delta": 1e-6, "keys": 3},
        {"epsilon": 1, "delta": 1e-6, "keys": 4},
        {"epsilon": 0.1, "delta": 1e-9, "keys": 100},
        {"epsilon": 8, "delta": 1e-6, "keys": 2},
        {"rho": 0.1, "delta": 1e-6, "keys": 1},
        {"rho": 10, "delta": 1e-6, "keys": 5},
    ],
)
def test_the_best_selection_shows_the_smallest_keys(offer):
    best = KeySelection.best(**offer)
    built = [kind(**offer) for kind in KINDS]
    assert best in built
    assert best.size_for(0.5) == min(other.size_for(0.5) for other in built)
    alike = [other for other in built if other.size_for(0.5) == best.size_for(0.5)]
    assert best.size_for(0.95) == min(other.size_for(0.95) for other in alike)


def test_few_keys_of_a_person_call_for_the_geometric_and_many_for_gaussian_noise():
    assert isinstance(KeySelection.best(epsilon=1, delta=1e-6, keys=1), TruncatedGeometric)
    assert isinstance(KeySelection.best(epsilon=1, delta=1e-6, keys=50), GaussianThreshold)


def test_a_kind_out_of_reach_is_passed_over():
    offer = {"rho": Fraction(1, 10**14), "delta": 1e-6}
    for kind in (TruncatedGeometric, GaussianThreshold):
        with pytest.raises(ParameterError, match="rho"):
            kind(**offer)
    assert isinstance(KeySelection.best(**offer), LaplaceThreshold)
    with pytest.raises(ParameterError):
        KeySelection.best(epsilon=Fraction(1, 10**30), delta=1e-6)


def test_a_guarantee_for_rho_follows_from_rho_and_delta():
    for rho in (Fraction(1, 100), Fraction(2)):
        promise = KeySelection.best(rho=rho, delta=1e-6).guarantee
        exact = real(rho) + 2 * mpmath.sqrt(real(rho) * mpmath.log(10**6))
        assert promise.delta == Fraction(2, 10**6)
        assert exact <= real(promise.epsilon) <= exact * (1 + mpmath.mpf(10) ** -12)
    assert KeySelection.best(epsilon=1, delta=1e-6).guarantee == ApproximateDP(epsilon=1, delta=1e-6)


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("keys", [1, 2])
def test_the_audit_passes(kind, keys):
    report = audit.check_mechanism(kind(epsilon=1, delta=0.05, keys=keys), draws=20_000)
    assert report.passed, report


@dataclasses.dataclass(frozen=True)
class LevelsShifted:
    """A selection whose keys are shown from one person fewer on."""

    inner: KeySelection

    def release(self, counts):
        return self.inner.release(np.where(np.asarray(counts) > 0, np.asarray(counts) + 1, 0))


@pytest.mark.parametrize("kind", KINDS)
def test_the_audit_catches_a_threshold_one_too_low(kind):
    mechanism = kind(epsilon=1, delta=0.05)
    report = audit.check_mechanism(
        LevelsShifted(mechanism), mechanism.guarantee, mechanism.neighboring_inputs(), draws=20_000
    )
    assert not report.passed


def test_neighboring_inputs_differ_by_one_person():
    for kind, offer in ALL:
        mechanism = kind(**offer)
        for before, after in mechanism.neighboring_inputs():
            assert before.min() >= 0
            assert set((after - before).tolist()) == {1}
            assert len(before) <= mechanism.keys


def test_the_best_of_an_offer_is_found_once_and_is_that_of_its_constructors():
    """Offers that are spelled otherwise are equal; what is refused is refused each time."""
    first = KeySelection.best(epsilon=0.5, delta=1e-6, keys=3)
    assert KeySelection.best(epsilon=Fraction(1, 2), delta="1e-6", keys=3) is first
    made = [kind(epsilon=0.5, delta=1e-6, keys=3) for kind in (TruncatedGeometric, LaplaceThreshold)]
    assert first == min(made, key=lambda one: (one.size_for(0.5), one.size_for(0.95)))
    assert KeySelection.best(epsilon=0.5, delta=1e-6, keys=4) != first
    for _ in range(2):
        with pytest.raises(ParameterError):
            KeySelection.best(epsilon=0.5, delta=0, keys=3)
