"""Above-threshold: the rule, its guarantee on every short stream, known broken variants, sessions."""

from __future__ import annotations

import copy
import os
import pickle
import threading
import time
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy import stats

from discreet.errors import DiscreetError, ParameterError, RequestRefused
from discreet.mechanisms.selection import above_threshold
from discreet.mechanisms.selection.above_threshold import AboveThreshold
from discreet.noise import Source, is_private, replay, using
from discreet.privacy import events
from discreet.privacy.guarantees import PureDP
from significance import FALSE_ALARM, fit_p_value

REACH = 400


def at_least(bar, scale):
    """P(Y >= bar) of discrete Laplace noise, without cancellation in either tail."""
    ratio = np.exp(-1 / scale)
    return np.where(
        bar >= 1, ratio ** np.maximum(bar, 0) / (1 + ratio), 1 - ratio ** np.maximum(1 - bar, 0) / (1 + ratio)
    )


def law(values, positives, threshold_scale, value_scale):
    """The law of the answers (1 above, 0 below) to values measured from the threshold.

    By summation over the threshold's noise; all terms are positive, so the floats lose nothing.
    A scale of None means no noise.
    """
    rho = np.arange(-REACH, REACH + 1)
    if threshold_scale is None:
        weights = (rho == 0).astype(float)
    else:
        ratio = np.exp(-1 / threshold_scale)
        weights = (1 - ratio) / (1 + ratio) * ratio ** np.abs(rho)
    answers = {}

    def follow(given, weights):
        if len(given) == len(values) or sum(given) == positives:
            answers[given] = weights.sum()
            return
        bar = rho - values[len(given)]
        follow((*given, 1), weights * at_least(bar, value_scale))
        follow((*given, 0), weights * at_least(1 - bar, value_scale))

    follow((), weights)
    return answers


def largest_loss(positives, threshold_scale, value_scale, moves, *, length, values=(-12, 0, 12)):
    """The largest privacy loss over all streams of a length, all neighbors and all answers."""

    @cache
    def known(stream):
        return law(stream, positives, threshold_scale, value_scale)

    worst = 0.0
    for stream in product(values, repeat=length):
        for move in product(moves, repeat=length):
            moved = known(tuple(v + m for v, m in zip(stream, move, strict=True)))
            losses = [abs(np.log(p / moved[answers])) for answers, p in known(stream).items()]
            worst = max(worst, *losses)
    return worst


def scales(mechanism):
    return float(mechanism.threshold_scale), float(mechanism.value_scale)


class Unused(Source):
    def words(self, size):
        raise AssertionError("drew outside the noise")


@pytest.fixture
def noises(monkeypatch):
    """Give noise by script, and record what was asked for."""

    class Script:
        asked: list[tuple[Fraction, int]] = []  # noqa: RUF012
        given: list[list[int]] = []  # noqa: RUF012

    def sample(scale, size, source):
        Script.asked.append((scale, size))
        drawn = Script.given.pop(0)
        assert len(drawn) == size
        return np.array(drawn)

    monkeypatch.setattr(above_threshold, "sample_laplace", sample)
    Script.asked, Script.given = [], []
    with using(Unused()):
        yield Script


def test_three_faces():
    mechanism = AboveThreshold(threshold=100, sensitivity=1, epsilon=0.5, positives=3)
    assert mechanism.event == events.AboveThreshold(epsilon=Fraction(1, 2), positives=3)
    assert mechanism.guarantee == PureDP(epsilon=Fraction(1, 2))
    found = mechanism.release([0, 1, 2])
    assert found.dtype == np.int64
    assert found.ndim == 1


@pytest.mark.parametrize("positives", [1, 2, 10])
@pytest.mark.parametrize("monotone", [False, True])
@pytest.mark.parametrize("sensitivity", [1, 3])
def test_the_scales_split_epsilon_as_proven_and_nearly_optimally(positives, monotone, sensitivity):
    epsilon = Fraction(3, 2)
    mechanism = AboveThreshold(
        threshold=0, sensitivity=sensitivity, epsilon=epsilon, positives=positives, monotone=monotone
    )
    factor = positives if monotone else 2 * positives
    threshold_loss = sensitivity / mechanism.threshold_scale
    value_loss = factor * sensitivity / mechanism.value_scale
    assert threshold_loss + value_loss == epsilon

    def variance(first):
        return (1 / first) ** 2 + (factor / (float(epsilon) - first)) ** 2

    best = min(variance(float(epsilon) * share / 1000) for share in range(1, 1000))
    assert variance(float(threshold_loss)) <= best * (1 + 1e-5)


@pytest.mark.parametrize("positives", [1, 2])
def test_one_noise_for_the_threshold_and_a_fresh_one_for_every_value(positives, noises):
    mechanism = AboveThreshold(threshold=1, sensitivity=1, epsilon=1, positives=positives)
    values = [0, 2, 1]
    for rho in range(-2, 3):
        for nu in product(range(-2, 3), repeat=3):
            noises.asked, noises.given = [], [[rho], list(nu)]
            found = mechanism.release(values)
            above = [i for i in range(3) if values[i] + nu[i] >= 1 + rho]
            assert found.tolist() == above[:positives]
            assert noises.asked == [(mechanism.threshold_scale, 1), (mechanism.value_scale, 3)]


@pytest.mark.parametrize("positives", [1, 2])
def test_a_session_follows_the_same_rule(positives, noises):
    mechanism = AboveThreshold(threshold=1, sensitivity=1, epsilon=1, positives=positives)
    values = [0, 2, 1]
    for rho in range(-2, 3):
        for nu in product(range(-2, 3), repeat=3):
            noises.asked, noises.given = [], [[rho], *([n] for n in nu)]
            session, found = mechanism.start(), []
            for index, value in enumerate(values):
                if session.halted:
                    break
                if session.test(value):
                    found.append(index)
            above = [i for i in range(3) if values[i] + nu[i] >= 1 + rho]
            assert found == above[:positives]
            assert session.halted == (len(above) >= positives)
            tested = above[positives - 1] + 1 if session.halted else 3
            assert noises.asked == [(mechanism.threshold_scale, 1)] + [(mechanism.value_scale, 1)] * tested


def test_real_values_and_thresholds_meet_on_the_grid(noises):
    mechanism = AboveThreshold(threshold=0.6, sensitivity=0.3, epsilon=1, grid=Fraction(1, 4))
    assert mechanism.threshold == Fraction(1, 2)
    assert mechanism.sensitivity == Fraction(1, 2)
    noises.given = [[1], [0, 0, 1]]
    assert mechanism.release([0.5, 0.62, 0.5]).tolist() == [2]
    assert noises.asked == [(mechanism.threshold_scale * 4, 1), (mechanism.value_scale * 4, 3)]


def test_a_fractional_threshold_on_integers_means_the_next_integer():
    assert AboveThreshold(threshold=2.5, sensitivity=1, epsilon=1).threshold == 3
    assert AboveThreshold(threshold=-2.5, sensitivity=1, epsilon=1).threshold == -2


@pytest.mark.few(4)
@pytest.mark.parametrize(
    ("positives", "monotone", "length", "attained"),
    [(1, False, 3, 0.9), (1, True, 3, 0.95), (2, False, 4, 0.6), (2, True, 4, 0.6), (3, True, 4, 0.5)],
)
@pytest.mark.parametrize("sensitivity", [1, 2])
def test_pure_epsilon_holds_on_every_short_stream(positives, monotone, length, attained, sensitivity):
    epsilon = Fraction(3, 2)
    mechanism = AboveThreshold(
        threshold=0, sensitivity=sensitivity, epsilon=epsilon, positives=positives, monotone=monotone
    )
    moves = (0, sensitivity) if monotone else (-sensitivity, sensitivity)
    far = 12 * sensitivity
    loss = largest_loss(positives, *scales(mechanism), moves, length=length, values=(-far, 0, far))
    assert attained * float(epsilon) < loss <= float(epsilon) * (1 + 1e-10)


def test_every_move_in_between_is_covered_too():
    mechanism = AboveThreshold(threshold=0, sensitivity=2, epsilon=1)
    loss = largest_loss(1, *scales(mechanism), range(-2, 3), length=2, values=(-9, -1, 0, 3, 10))
    assert loss <= 1 + 1e-10


BROKEN = {
    "the values' noise lacks its factor of two": lambda t, v: (1, t, v / 2, 3),
    "the values' noise does not grow with the positives": lambda t, v: (2, t, v / 2, 5),
    "it goes on after its positives": lambda t, v: (5, t, v, 5),
    "the threshold has no noise": lambda t, v: (1, None, v, 8),
}


@pytest.mark.slow
@pytest.mark.few(2)
@pytest.mark.parametrize("variant", BROKEN.values(), ids=BROKEN.keys())
def test_broken_variants_of_the_literature_exceed_epsilon(variant):
    """The check above can tell (Lyu, Su & Li 2017 list published variants with these faults)."""
    positives = variant(1.0, 1.0)[0] if variant is not BROKEN["it goes on after its positives"] else 1
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=1, positives=positives)
    found, threshold_scale, value_scale, length = variant(*scales(mechanism))
    values = (0,) if threshold_scale is None else (-12, 12)
    moves = (0, 1) if threshold_scale is None else (-1, 1)
    assert largest_loss(found, threshold_scale, value_scale, moves, length=length, values=values) > 1.05


@pytest.mark.few(1)
@pytest.mark.statistical
@pytest.mark.parametrize("interactive", [False, True])
def test_answers_follow_the_law(interactive):
    mechanism = AboveThreshold(threshold=10, sensitivity=1, epsilon=2, positives=2)
    values = [9, 12, 8, 10]

    def run():
        if not interactive:
            return sum(1 << i for i in mechanism.release(values).tolist())
        session, code = mechanism.start(), 0
        for i, value in enumerate(values):
            if not session.halted and session.test(value):
                code |= 1 << i
        return code

    drawn = np.array([run() for _ in range(20_000)])
    for factor, right in ((1, True), (2, False), (0.5, False)):
        expected = np.zeros(16)
        answers = law([v - 10 for v in values], 2, *(factor * scale for scale in scales(mechanism)))
        for answer, probability in answers.items():
            expected[sum(1 << i for i, above in enumerate(answer) if above)] += probability
        p_value = fit_p_value(drawn, lambda a, b, law=expected: float(law[a:b].sum()), np.arange(17))
        assert (p_value > FALSE_ALARM) == right


@pytest.mark.statistical
def test_noise_is_fresh_for_every_value():
    """Under one noisy threshold, equal values at the threshold still get different answers."""
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=1, positives=10**6)
    found = mechanism.release(np.zeros(1000, np.int64))
    assert 0 < len(found) < 1000


@pytest.mark.statistical
def test_the_threshold_keeps_its_noise():
    """Two equal values agree more often than independent thresholds would let them."""
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=1, positives=2, monotone=True)
    both = sum(len(mechanism.release([0, 0])) == 2 for _ in range(20_000))
    expected = law([0, 0], 2, *scales(mechanism))
    assert stats.binomtest(both, 20_000, expected[1, 1]).pvalue > FALSE_ALARM
    assert stats.binomtest(both, 20_000, law([0], 1, *scales(mechanism))[(1,)] ** 2).pvalue < FALSE_ALARM


def test_a_session_halts_and_then_refuses():
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=1, positives=2)
    session = mechanism.start()
    assert not session.halted
    assert session.test(10**9) is True
    assert session.test(-(10**9)) is False
    assert "1 to be found" in repr(session)
    assert session.test(10**9) is True
    assert session.halted
    with pytest.raises(RequestRefused, match="start another") as refusal:
        session.test(-(10**9))
    assert isinstance(refusal.value, DiscreetError)
    assert not mechanism.start().halted


def test_a_session_never_shows_or_lends_its_noise():
    session = AboveThreshold(threshold=0, sensitivity=1, epsilon=1).start()
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="copied"):
            attempt(session)
    assert "noise" not in repr(session)
    with pytest.raises(AttributeError):
        session.note = 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_session_does_not_continue_in_a_forked_process():
    session = AboveThreshold(threshold=0, sensitivity=1, epsilon=1).start()
    child = os.fork()
    if child == 0:
        try:
            session.test(0)
        except RequestRefused:
            os._exit(42)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 42
    session.test(-(10**9))


def test_threads_together_find_no_more_than_the_guarantee_pays_for(monkeypatch):
    session = AboveThreshold(threshold=0, sensitivity=1, epsilon=1, positives=2).start()
    found = []

    def slow(scale, size, source):
        time.sleep(0.02)  # so that the threads meet between the check and the count
        return np.zeros(size, np.int64)

    def ask():
        try:
            found.append(session.test(10**9))
        except RequestRefused:
            return

    monkeypatch.setattr(above_threshold, "sample_laplace", slow)
    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(found) == 2


def test_answers_under_replayed_noise_are_marked():
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=1)
    with replay(3):
        session = mechanism.start()
        assert not is_private(session.test(-(10**9)))
    assert not is_private(session.test(-(10**9)))  # its threshold was replayed
    assert is_private(mechanism.start().test(-(10**9)))


@pytest.mark.parametrize("value", [None, "1", float("nan"), [1], np.array([1, 2]), [], 1.5, 1j])
def test_a_bad_value_is_refused_and_the_session_goes_on(value):
    session = AboveThreshold(threshold=0, sensitivity=1, epsilon=1).start()
    with using(Unused()), pytest.raises(ParameterError, match="value"):
        session.test(value)
    assert session.test(10**30) is True


@pytest.mark.parametrize("threshold", [float("nan"), float("inf"), None, "x", True, 2**62, -(2**62)])
def test_bad_thresholds_are_refused(threshold):
    with pytest.raises(ParameterError, match="threshold"):
        AboveThreshold(threshold=threshold, sensitivity=1, epsilon=1)


@pytest.mark.parametrize("positives", [0, -1, 1.5, True, None, "2", 2**50])
def test_bad_positives_are_refused(positives):
    with pytest.raises(ParameterError, match="positives"):
        AboveThreshold(threshold=0, sensitivity=1, epsilon=1, positives=positives)


@pytest.mark.parametrize("epsilon", [1000, Fraction(1, 10**13)])
def test_noise_out_of_range_is_refused_by_name(epsilon):
    with pytest.raises(ParameterError, match="epsilon"):
        AboveThreshold(threshold=0, sensitivity=1, epsilon=epsilon)


def test_epsilon_for_a_tolerated_error():
    mechanism = AboveThreshold.for_error(20, candidates=100, confidence=0.99, positives=2)
    assert mechanism.error.tail(20, candidates=100) <= 0.01
    assert mechanism.error.quantile(0.99, candidates=100) == 20
    cheaper = AboveThreshold(threshold=0, sensitivity=1, epsilon=mechanism.epsilon * (1 - 1e-6), positives=2)
    assert cheaper.error.tail(20, candidates=100) > 0.01


def test_no_answer_hides_behind_the_result():
    """A view would carry every later comparison along."""
    mechanism = AboveThreshold(threshold=0, sensitivity=1, epsilon=8)
    result = mechanism.release([100, -100, 100, 100])
    assert result.base is None
    assert len(result) <= 1
