"""Privacy-loss distributions go out pessimistic, and come back from another accountant."""

from __future__ import annotations

import numpy as np
import pytest
from dp_accounting.pld import pld_pmf, privacy_loss_distribution

from accounting.loss.profiles import of_masses
from discreet import accounting
from discreet.accounting import LossDistribution, loss_distributions, read_losses
from discreet.errors import ParameterError
from discreet.privacy import events
from discreet.privacy.neighbors import REPLACE_ROW

STEP = events.PoissonSampled(events.Gaussian(noise_multiplier=1), rate=0.1)
EVENTS = {
    "two directions": STEP,
    "few steps": STEP * 5,
    "closed form": events.Gaussian(noise_multiplier=2) * 3,
    "atoms": events.Approximate(epsilon=1, delta=1e-6) * 2,
    "mixed": events.Laplace(epsilon=0.3) * 3 + STEP,
    "profile": events.Laplace(epsilon=0.3) + events.Gaussian(noise_multiplier=1),
    "pure only": events.NoisyMax(epsilon=0.5),
    "Rényi only": events.Renyi(curve=[(2, 0.1), (8, 0.3)]),
    "parallel": events.Parallel(events.Laplace(epsilon=1), events.Gaussian(noise_multiplier=2)),
}


def _theirs(found):
    return privacy_loss_distribution.PrivacyLossDistribution(
        *(
            pld_pmf.DensePLDPmf(one.spacing, one.lowest, np.array(one.masses), one.infinity, True)
            for one in found
        )
    )


def _ours(sparse_or_dense):
    pmf = sparse_or_dense.to_dense_pmf()
    return LossDistribution(
        spacing=pmf._discretization, lowest=pmf._lower_loss, masses=pmf._probs, infinity=pmf._infinity_mass
    )


@pytest.mark.parametrize("kind", EVENTS)
def test_what_is_written_is_pessimistic_and_close(kind):
    event = EVENTS[kind]
    found = loss_distributions(event, spacing=0.2 if kind == "Rényi only" else 0.02)
    for one in found:
        assert (one.masses >= 0).all()
        assert one.masses.sum() + one.infinity <= 1 + 1e-15
        # P e^-loss is the Q-mass, which may fall short of 1 and not exceed it.
        assert (one.masses * np.exp(-one.losses)).sum() <= 1 + 1e-11
    theirs = _theirs(found)
    for epsilon in (0.0, 0.137, 0.5, 1.0):
        known = accounting.delta(event, epsilon=epsilon)
        charged = theirs.get_delta_for_epsilon(epsilon)
        assert charged == pytest.approx(max(one.delta(epsilon) for one in found), rel=1e-9, abs=1e-15)
        assert charged >= known.lower * (1 - 1e-9)
        assert charged <= known.upper * 1.02 + 1e-4 or kind == "Rényi only"
        if known.certified:
            assert charged >= known.upper * (1 - 1e-3) - 1e-12


def test_both_orders_are_pessimistic_at_negative_epsilons_too():
    """Where a pair of arrays takes the place of an event in a composition, all epsilons count."""
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    mixed = 0.3 * p + 0.7 * q
    event = events.PoissonSampled(
        events.FiniteLaws(outcomes=list(zip(p.tolist(), q.tolist(), strict=True))), rate=0.3
    )
    removed, added = loss_distributions(event, spacing=0.1)
    for epsilon in np.linspace(-1.5, 1.5, 31):
        assert removed.delta(epsilon) >= of_masses(mixed, q, epsilon) - 1e-15
        assert added.delta(epsilon) >= of_masses(q, mixed, epsilon) - 1e-15


def test_steps_composed_by_the_other_accountant_cover_the_run():
    theirs = _theirs(loss_distributions(STEP, spacing=1e-3)).self_compose(50)
    known = accounting.epsilon(STEP * 50, delta=1e-5)
    assert known.lower <= theirs.get_epsilon_for_delta(1e-5) <= known.upper * 1.001


def test_the_other_accountants_distribution_is_read_and_composed():
    theirs = privacy_loss_distribution.from_gaussian_mechanism(
        1.0, value_discretization_interval=1e-2, sampling_prob=0.1
    )
    event = read_losses(_ours(theirs._pmf_remove), _ours(theirs._pmf_add))
    assert events.Event.from_json(event.to_json()) == event
    for steps in (1, 40):
        found = accounting.epsilon(event * steps, delta=1e-5)
        whole = theirs.self_compose(steps).get_epsilon_for_delta(1e-5)
        assert found.certified
        assert found.upper == pytest.approx(whole, rel=1e-4)
    assert accounting.filters.RenyiFilter([8], [5], delta=1e-6).fits(event)


def test_long_arrays_are_read_on_a_coarser_grid_that_charges_more():
    theirs = privacy_loss_distribution.from_gaussian_mechanism(1.0, value_discretization_interval=1e-3)
    fine = _ours(theirs._pmf_remove)
    event = read_losses(fine)
    assert len(event.outcomes) < 5000 < len(fine.masses)
    for epsilon in (0.0, 0.5, 1.0, 3.0):
        charged = accounting.delta(event, epsilon=epsilon).upper
        assert fine.delta(epsilon) <= charged * (1 + 1e-9) <= fine.delta(epsilon) * 1.001


def test_what_is_written_reads_back():
    event = events.DiscreteLaplace(sensitivity=2, scale=3, neighbors=REPLACE_ROW)
    written = loss_distributions(event, spacing=1 / 3)
    again = read_losses(written.removed, neighbors=REPLACE_ROW)
    for epsilon in (0.0, 0.3, 0.6):
        truth = accounting.delta(event, epsilon=epsilon).upper
        assert truth <= accounting.delta(again, epsilon=epsilon).upper * (1 + 1e-9) <= truth * 1.001 + 1e-9


@pytest.mark.parametrize(
    "bad",
    [
        {"spacing": 0},
        {"spacing": float("nan")},
        {"masses": [0.5, float("nan")]},
        {"masses": [-0.1, 0.5]},
        {"masses": []},
        {"masses": [0.7, 0.7]},
        {"infinity": 0.5},
        {"infinity": -1},
        {"lowest": 10**6},
    ],
    ids=str,
)
def test_what_is_no_distribution_is_refused(bad):
    with pytest.raises(ParameterError):
        LossDistribution(**{"spacing": 0.1, "lowest": -1, "masses": [0.3, 0.3, 0.4], **bad})


def test_losses_that_belong_to_no_two_laws_are_refused():
    with pytest.raises(ParameterError, match="not losses of two laws"):
        read_losses(LossDistribution(spacing=1, lowest=-3, masses=[1.0]))


def test_a_spacing_too_small_is_refused():
    with pytest.raises(ParameterError, match="spacing"):
        loss_distributions(events.Gaussian(noise_multiplier=1), spacing=1e-9)
