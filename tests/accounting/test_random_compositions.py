"""Random compositions of all kinds: the interval holds the reference, is narrow, and stays true when shaken.

Epsilons from 1e-4 to 60, deltas from 1e-12 to 0.1, up to ten million steps, one kind or up to four. The
references are independent of the package; how they were found is in `random_compositions`.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import islice
from math import isfinite, log
from random import Random

import mpmath
import pytest

from accounting import exact_accountant, fft_accountant
from accounting.loss_laws import Laplace
from accounting.random_compositions import KINDS, LEAST, MOST, WIDEST, Case, drawn, laws, stored
from discreet.accounting import delta, epsilon
from discreet.accounting.contour import contour, convolution
from discreet.accounting.laplace_runs import run as laplace_run
from discreet.accounting.runs import composed_run
from discreet.privacy import events
from discreet.privacy.neighbors import ADD_REMOVE_PERSON, REPLACE_PERSON

CASES = stored()
EXACT = {"gaussian", "laplace"}
STORED = 1e-12
"""Intervals of Gaussian runs are as narrow as floats; the references are floats, found by floats."""
# exact to all digits, at the deltas 1e-12, 1e-6 and 0.01
LAPLACE = {
    ("1", 2): (1.999999999996, 1.999996, 1.9599973593195276),
    ("1", 3): (2.999999999992, 2.9999920000159999, 2.921500621653003),
    ("1", 4): (3.999999999984, 3.9999840001279976, 3.8508469201994196),
    ("0.5", 10): (4.999999998976, 4.9989780894472198, 3.6492750598379984),
    ("2", 20): (39.999998951428948, 39.670920161644649, 33.670948071206029),
    ("0.1", 40): (3.7951469431571505, 2.7323820233563086, 1.2193950304478201),
    ("0.3", 100): (22.123672186204817, 16.501169134961091, 9.8958189757603429),
    ("0.1", 250): (11.526475458553172, 8.0636294298878707, 4.2136953613434009),
    ("0.1", 1_000): (26.02130125636673, 18.950287367539559, 11.320044857039941),
    ("0.05", 4_000): (26.411007106551047, 19.201562483695067, 11.468737452888266),
    ("0.02", 10_000): (15.573061900910018, 10.949913490760348, 5.9693581199408206),
    ("0.01", 100_000): (26.664715908058202, 19.381667353593809, 11.585126682251822),
    ("0.002", 1_000_000): (15.635085871133571, 10.992691071828423, 5.9950723830072885),
    ("0.001", 10_000_000): (26.714444306193393, 19.419513496628337, 11.610973917575761),
}


def kinds(case: Case) -> set[str]:
    return {kind for kind, _, _ in case.parts}


def event_of(kind, values, neighbors):
    relation = {"neighbors": neighbors}
    if kind == "laplace":
        return events.Laplace(epsilon=values[0], **relation)
    if kind == "gaussian":
        return events.Gaussian(noise_multiplier=values[0], **relation)
    if kind == "sampled":
        inner = events.Gaussian(noise_multiplier=values[0], **relation)
        return events.PoissonSampled(inner, rate=values[1])
    if kind == "discrete_laplace":
        return events.DiscreteLaplace(sensitivity=int(values[0]), scale=values[1], size=1, **relation)
    if kind == "randomized_response":
        return events.RandomizedResponse(truth=values[0], categories=int(values[1]), **relation)
    return events.Pure(epsilon=values[0], **relation)


def neighbors_of(case: Case):
    return REPLACE_PERSON if "randomized_response" in kinds(case) else ADD_REMOVE_PERSON


def composition(case: Case):
    parts = [event_of(kind, values, neighbors_of(case)) * times for kind, values, times in case.parts]
    return sum(parts[1:], parts[0])


def agreement(exact: float) -> float:
    """How far a bound of Laplace or Gaussian steps may be off: 1e-9 of epsilon."""
    return 1e-9 * exact


def number(case: Case) -> str:
    return f"draw {case.number}"


def one_in(several: int):
    """All cases, of which all but one in several are exhaustive."""
    marks = [() if i % several == 0 else pytest.mark.exhaustive for i in range(len(CASES))]
    return [pytest.param(case, marks=mark, id=number(case)) for case, mark in zip(CASES, marks, strict=True)]


@pytest.mark.few(60, slow=60)
@pytest.mark.parametrize("case", CASES, ids=number)
def test_intervals_hold_the_reference_and_are_narrow(case):
    least, most = case.reference
    found = epsilon(composition(case), delta=case.delta)
    assert found.certified
    assert 0 <= found.lower <= found.upper
    assert isfinite(found.upper)
    assert found.lower <= most * (1 + STORED), str(case)
    assert found.upper >= least * (1 - STORED), str(case)
    assert found.width <= 1e-4 * found.upper, str(case)
    if kinds(case) <= EXACT:
        assert found.lower >= least - agreement(least), str(case)
        assert found.upper <= most + agreement(most), str(case)


@pytest.mark.parametrize(("loss", "times"), LAPLACE)
@pytest.mark.parametrize(("place", "target"), [(0, "1e-12"), (1, "1e-6"), (2, "0.01")])
def test_laplace_steps_agree_with_the_exact_answer(loss, times, place, target):
    exact = LAPLACE[loss, times][place]
    found = epsilon(events.Laplace(epsilon=loss) * times, delta=target)
    assert found.lower <= exact * (1 + 1e-15)
    assert found.upper >= exact * (1 - 1e-15)
    assert found.lower >= exact - agreement(exact)
    assert found.upper <= exact + agreement(exact)


@pytest.mark.few(24, slow=24)
@pytest.mark.parametrize("case", one_in(3))
def test_delta_at_the_reference_is_the_delta(case):
    least, most = case.reference
    run_, target = composition(case), float(case.delta)
    above, below = (delta(run_, epsilon=at) for at in case.reference)
    assert above.certified
    assert above.lower <= above.upper <= 1
    assert above.upper >= target * (1 - STORED), str(case)
    assert below.lower <= target * (1 + STORED), str(case)
    # where the reference is exact, one narrow interval holds the delta itself
    if least == most:
        assert above.width <= 2e-3 * above.upper, str(case)


@pytest.fixture
def shaken(monkeypatch):
    """Let every free choice of the computation be a random one, from a seed."""

    def shake(seed: int) -> None:
        uniform = Random(seed)

        def between(low: float, high: float) -> float:
            return low * (high / low) ** uniform.random()

        choose = contour.choose_line

        def choose_badly(*arguments, **named):
            line = choose(*arguments, **named)
            order = line.order * between(0.7, 1.5)
            return replace(
                line,
                order=order,
                second=max(line.second * between(0.7, 1.5), 1.05 * order),
                period=line.period * between(0.6, 2.5),
                smoothing=min(1.0, line.smoothing * between(0.5, 20)),
            )

        for module in (composed_run, laplace_run):
            monkeypatch.setattr(module, "choose_line", choose_badly)
        monkeypatch.setattr(laplace_run, "_MOST_ATOMS", int(between(1, 1e6)))
        monkeypatch.setattr(laplace_run, "_ENOUGH", between(1e-13, 1.0))
        monkeypatch.setattr(laplace_run, "_FINE", between(1e-12, 1e-2))
        monkeypatch.setattr(contour, "_ALIAS", log(between(1e-12, 1e-4)))
        monkeypatch.setattr(contour, "_TAIL", between(1e-13, 1.0))
        monkeypatch.setattr(contour, "_NEARBY", between(1, 6))
        monkeypatch.setattr(
            composed_run, "_MANY_STEPS_DETAIL", (int(between(200, 3000)), between(1e-7, 1e-4))
        )
        monkeypatch.setattr(composed_run, "_FEW_STEPS_DETAIL", (int(between(200, 6000)), between(1e-6, 1e-3)))
        monkeypatch.setattr(composed_run, "_SPARE", between(1e-9, 0.5))
        monkeypatch.setattr(composed_run, "_ROUNDS", 1 + int(2 * uniform.random()))
        monkeypatch.setattr(convolution, "_MOST_PRODUCTS", int(between(1, 1e6)))

    return shake


@pytest.mark.few(60, slow=60)
@pytest.mark.parametrize("case", CASES, ids=number)
def test_any_line_and_any_cells_give_true_bounds(case, shaken):
    shaken(case.number)
    least, most = case.reference
    found = epsilon(composition(case), delta=case.delta)
    assert 0 <= found.lower <= found.upper
    assert found.lower <= most * (1 + STORED), str(case)
    assert found.upper >= least * (1 - STORED), str(case)


@pytest.mark.few(24, slow=24)
@pytest.mark.parametrize("case", one_in(3))
def test_any_line_and_any_cells_give_true_bounds_on_delta(case, shaken):
    shaken(-case.number)
    target = float(case.delta)
    above, below = (delta(composition(case), epsilon=at) for at in case.reference)
    assert above.upper >= target * (1 - STORED), str(case)
    assert below.lower <= target * (1 + STORED), str(case)


PURE = [case for case in CASES if "pure" in kinds(case)][:30]


@pytest.mark.few(10)
@pytest.mark.parametrize("case", PURE, ids=number)
def test_a_chance_of_failure_adds_to_delta(case):
    """(epsilon, d) steps fail apart: 1 - (1 - d)^n (1 - delta) is their delta at the reference."""
    least, most = case.reference
    ((_, values, times),) = (part for part in case.parts if part[0] == "pure")
    others = replace(case, parts=tuple(part for part in case.parts if part[0] != "pure"))
    with mpmath.workdps(50):
        each = mpmath.mpf(case.delta) / (2 * times)
        chance = mpmath.nstr(each, 8)
        total = -mpmath.expm1(
            times * mpmath.log1p(-mpmath.mpf(chance)) + mpmath.log1p(-mpmath.mpf(case.delta))
        )
        target = mpmath.nstr(total, 40)
    failing = events.Approximate(epsilon=values[0], delta=chance, neighbors=neighbors_of(case)) * times
    found = epsilon(failing + composition(others) if others.parts else failing, delta=target)
    assert found.certified
    assert found.lower <= most * (1 + 1e-9), str(case)
    assert found.upper >= least * (1 - 1e-9), str(case)
    assert found.width <= 1e-4 * found.upper, str(case)


@pytest.mark.few(7)
@pytest.mark.parametrize("case", CASES[:20], ids=number)
def test_what_has_no_pair_is_bounded_from_above_and_says_so(case):
    unknown = events.ZeroConcentrated(rho="1e-9", neighbors=neighbors_of(case))
    found = epsilon(composition(case) + unknown, delta=case.delta)
    assert not found.certified
    assert found.lower == 0
    assert found.upper >= case.reference[0]
    assert isfinite(found.upper)


def test_the_grid_is_the_draws_of_its_seed():
    draws = list(islice(drawn(), CASES[-1].number + 1))
    assert [replace(case, reference=draws[0].reference) for case in CASES] == [
        draws[case.number] for case in CASES
    ]


def test_the_grid_reaches_all_corners():
    assert len(CASES) >= 200
    for kind in KINDS:
        assert sum(kind in kinds(case) for case in CASES) >= 40
        assert sum(kinds(case) == {kind} for case in CASES) >= 8
    assert sum(len(case.parts) >= 3 for case in CASES) >= 40
    totals = [sum(times for _, _, times in case.parts) for case in CASES]
    assert sum(total == 1 for total in totals) >= 3
    assert sum(2 <= total <= 30 for total in totals) >= 20
    assert sum(total > 3e6 for total in totals) >= 15
    assert sum(Fraction(case.delta) <= Fraction(1, 10**11) for case in CASES) >= 15
    assert sum(Fraction(case.delta) >= Fraction(1, 100) for case in CASES) >= 15
    assert all(LEAST <= case.reference[0] <= case.reference[1] <= MOST for case in CASES)
    assert sum(case.reference[0] < 1e-3 for case in CASES) >= 20
    assert sum(case.reference[1] > 10 for case in CASES) >= 20
    assert max(case.reference[1] / case.reference[0] - 1 for case in CASES) <= WIDEST


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "times"), LAPLACE)
@pytest.mark.parametrize(("place", "target"), [(0, 1e-12), (1, 1e-6), (2, 0.01)])
def test_exact_answers_are_found_again(loss, times, place, target):
    if times <= 250:
        found, error = float(exact_accountant.laplace_epsilon(loss, times, target)), 1e-15
    else:
        found, error = exact_accountant.exact_epsilon([(Laplace(float(loss)), times)], target)
    assert LAPLACE[loss, times][place] == pytest.approx(found, rel=max(error, 1e-15))
    assert error < 1e-12


@pytest.mark.few(0, slow=30)
@pytest.mark.parametrize("case", CASES, ids=number)
def test_references_are_found_again(case):
    """The bounds of the Fourier transform alone, coarse enough to take seconds."""
    lower, upper = fft_accountant.epsilon(laws(case), float(case.delta), 1e-3)
    assert lower <= case.reference[1] * (1 + 1e-9)
    assert upper >= case.reference[0] * (1 - 1e-9)
    assert upper - lower <= 1e-3 * upper
