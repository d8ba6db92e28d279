"""One call that audits a model: canaries that took part by coins, and how well they can be told."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from discreet.array_types import Floats
from discreet.audit.claims import check_claim
from discreet.audit.guesses import least_parameter, parameter_of
from discreet.audit.membership import Bools, GuessedSide, Membership, likelihood_ratios
from discreet.audit.model_report import ModelReport
from discreet.errors import ParameterError
from discreet.noise import bernoulli, current
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.rational import Number, float_below, probability, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

__all__ = ["check_model", "numbers_of_guesses"]

Model = TypeVar("Model")

_HALVINGS = 7
_MOST_FLIPS = 10**6


def check_model(
    train: Callable[[Bools], Model],
    score: Callable[[Model], ArrayLike],
    claim: Guarantee,
    *,
    canaries: int,
    runs: int = 1,
    shadows: int = 0,
    sides: Sequence[GuessedSide] = ("both", "in", "out"),
    false_alarm: Number = Fraction(1, 1000),
) -> ModelReport:
    """Hold a way of training to its claim, by attacks on models that it trained.

    For every run, each canary takes part or not by a fair coin. The scores of the model rank the canaries,
    and the surest of them are guessed. More right guesses than the claim allows prove that it is false.

    Parameters
    ----------
    train : callable
        Trains anew, with the canaries for which the array of bools that it is given is true, and with
        whatever other rows; it returns everything that is released. Canaries are rows of your own making.
        Whether one of them takes part must be a step between neighbors in the relation of the claim: by
        default one person with all of their rows.
    score : callable
        Returns a finite number for each canary, given what `train` returned and nothing else: larger for
        one that seems to have taken part, such as minus its loss.
    claim : Guarantee
        What training is held to. Of `ApproximateDP` epsilon is bounded, at its delta; of `GaussianDP` mu,
        which can be proven more closely.
    canaries : int
        How many there are. One training run can be enough, with hundreds of them.
    runs : int
        How many models are trained and attacked; their guesses add up.
    shadows : int
        How many more models are trained for the attack to learn from, an even number: then scores are
        also turned into likelihood ratios (LiRA).
    sides : some of "both", "in", "out"
        Which guesses are made: the highest scores took part, the lowest did not, or half of each. A claim
        about one direction alone is checked with one side alone.
    false_alarm : number
        A bound on the probability that training which keeps the claim fails.

    Returns
    -------
    ModelReport
        A lower bound on epsilon (or mu, or rho) with its confidence, beside the claim, which fails if it is
        below.

    Raises
    ------
    ParameterError
        Also if so few canaries could not exceed the claim with all guesses right: such an audit would
        pass anything.

    Notes
    -----
    The bound is exact, for every score and any dependence between canaries, and is rounded down (proof:
    docs/proofs/guesses.md). Training that passes is not proven private: another attack may be better, and
    what an attacker knows or sees may be more than `score` does.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet import audit, guarantees, mechanisms
    >>> noise = mechanisms.Laplace(sensitivity=1, epsilon=1, size=1000)
    >>> def careful(included): return noise.release(included.astype(int))
    >>> report = audit.check_model(careful, np.asarray, guarantees.PureDP(epsilon=1), canaries=1000)
    >>> report.passed, report.bound <= 1
    (True, True)
    >>> audit.check_model(np.copy, np.asarray, guarantees.PureDP(epsilon=1), canaries=1000).passed
    False
    """
    held = check_claim(claim)
    count = whole(canaries, "canaries", least=1, most=_MOST_FLIPS)
    flips = count * whole(runs, "runs", least=1, most=_MOST_FLIPS)
    if whole(shadows, "shadows", least=0, most=_MOST_FLIPS) % 2 or shadows == 2:
        raise ParameterError("shadows", "cannot be halved for each canary", "0, or an even number from 4 on")
    if not sides or not set(sides) <= {"both", "in", "out"}:
        raise ParameterError("sides", "are not known", 'some of "both", "in" and "out"')
    alarm = probability(false_alarm, "false_alarm", zero=False, one=False)
    plans = [(guesses, side) for side in dict.fromkeys(sides) for guesses in numbers_of_guesses(flips, side)]
    share = alarm / (len(plans) * (2 if shadows else 1))
    reach = max(least_parameter(guesses, guesses, flips, held, share) for guesses, _ in plans)
    name, claimed = parameter_of(held)
    if reach <= claimed:
        raise ParameterError(
            "canaries", f"can prove at most {float(reach):.4g} as {name}", "more of them, or more runs"
        )
    attacks = list(_attacks(_played(train, score, count), count, runs, shadows))
    found = [
        (least_parameter(attack.right(guesses, side), guesses, flips, held, share), attack, guesses, side)
        for attack in attacks
        for guesses, side in plans
    ]
    best = max(found, key=lambda one: one[0])
    return ModelReport(
        claim=held,
        bound=float_below(best[0]),
        reach=float_below(reach),
        false_alarm=float(alarm),
        attack=best[1].name,
        guesses=best[2],
        right=best[1].right(best[2], best[3]),
        side=best[3],
        canaries=count,
        runs=runs,
        shadows=shadows,
        attacks=tuple(attacks),
    )


def numbers_of_guesses(flips: int, side: GuessedSide) -> list[int]:
    """Return how many guesses are tried, fixed before anything is trained: all, a half, a quarter, ...

    One side alone starts with a quarter: of more canaries, many are on the other side.
    """
    first = 0 if side == "both" else 2
    return list(dict.fromkeys(max(flips >> step, 1) for step in range(first, _HALVINGS)))


def _played(
    train: Callable[[Bools], Any], score: Callable[[Any], ArrayLike], canaries: int
) -> Callable[[Bools], Floats]:
    """Return what maps coins to the scores of one training run."""

    def play(included: Bools) -> Floats:
        found = np.asarray(score(train(included.copy())), np.float64)
        if found.shape != (canaries,) or not np.isfinite(found).all():
            raise ParameterError("score", "does not return a finite number for each canary", "such as -loss")
        return found

    return play


def _attacks(play: Callable[[Bools], Floats], canaries: int, runs: int, shadows: int) -> Iterator[Membership]:
    learned = []
    for _ in range(shadows // 2):
        coins = _coins(canaries)
        # Coins and their opposites, so that each canary has been in half of the shadow models.
        learned += [(play(side), side) for side in (coins, ~coins)]
    coins = np.array([_coins(canaries) for _ in range(runs)])
    scores = np.array([play(one) for one in coins])
    yield Membership(name="scores", scores=scores.ravel(), included=coins.ravel())
    if learned:
        ratios = likelihood_ratios(scores, *(np.array(side) for side in zip(*learned, strict=True)))
        yield Membership(name="likelihood ratios", scores=ratios.ravel(), included=coins.ravel())


def _coins(size: int) -> Bools:
    return np.asarray(bernoulli(Fraction(1, 2), size, current()), np.bool_)
