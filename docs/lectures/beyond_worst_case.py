"""Lecture 4: beyond the worst case. Run the cells in an editor that knows them, or the whole file."""

# %% [markdown]
# # Beyond the worst case
#
# A global sensitivity is that of the worst table. **Local sensitivity** LS(x) is how far this table can move;
# it is private itself. **Smooth sensitivity** SS_β(x) = max over x′ of LS(x′) exp(−β d(x, x′)) hides it.

# %% Local and smooth sensitivity of a median
from fractions import Fraction
from itertools import pairwise
from math import ceil, exp, log

import numpy as np

import discreet as dp

some = np.random.default_rng(4)
values = some.normal(500, 40, 501).astype(int)
profile = dp.stability.median(values, lower=0, upper=10_000)
print(
    "local:",
    float(profile.local_at(0)),
    " smooth at decay 0.1:",
    round(float(profile.smooth(0.1)), 2),
    " global: 10000",
)
# By the definition: the largest local sensitivity at each distance, less e^(-decay) for each step.
by_hand = max(float(profile.local_at(k)) * exp(-0.1 * k) for k in range(120))
assert abs(by_hand - float(profile.smooth(0.1))) < 1e-6 * by_hand
profile.plot(decay=0.1)

# %% [markdown]
# ## Admissible noise
#
# Noise in proportion to SS is private if its law changes little under a shift and under a dilation. Seven laws, each with its notion.

# %% The seven noises on a trimmed mean
import trimmed_mean

sample = trimmed_mean.made_up("normal", np.random.default_rng(1))
at = trimmed_mean.profile(sample, Fraction(1, 10))
for name, noises in trimmed_mean.NOISES.items():
    error, mechanism = trimmed_mean.best_mechanism(noises[:1], at)
    print(f"{name:<20} {noises[0].notion:<13} median error {error:.4f}")
print(f"noise for the global sensitivity: {trimmed_mean.global_error():.3f}")

# %% Laplace-log-normal noise is concentrated
noise = dp.mechanisms.admissible.LaplaceLogNormal(spread=0.25)
shift = float(noise.largest_shift(rho=0.5, dilation=0.1))
published = (1 - 0.1 / 0.25) / exp(3 * 0.25**2 / 2)  # ½ε² = ½ with ε = t/σ + e^(3σ²/2) s
print(f"largest shift at rho 1/2 and dilation 0.1: {shift:.4f}, by the published rule {published:.4f}")
assert shift >= published
# A shift alone is also pure, e^(3σ²/2) s.
print("pure loss of a shift of 1/2 alone:", round(float(noise.steepness) * 0.5, 4))

# %% One over a count, and the variance of a prediction
import reciprocal as one_over

global_error, smooth_error = one_over.relative_errors(one_over.reciprocal(1000), Fraction(1, 2), runs=60)
print(
    f"1/1000: median error as a part of the truth {global_error:.3g} with global, {smooth_error:.3g} with smooth sensitivity"
)
from discreet.stability.prediction_variance import prediction_variance

print("variance of a prediction:", prediction_variance([[3], [4]], [5], largest=10, ridge=1).value)

# %% [markdown]
# ## Tests of stability
#
# **Distance to instability**: release f(x) exactly if the noisy distance to the nearest *unstable* table exceeds a
# threshold. The distance is 0 if x itself is unstable; the distance to a different answer would not do.

# %% The exact answer or none
test = dp.mechanisms.DistanceToInstability(epsilon=1, delta=1e-6)
print("answers half of the time at distance", test.distance_for(0.5), "and always at", test.distance_for(1))
print(test.release("blue", 30), test.release("blue", 2))
noisy = dp.mechanisms.DistanceToInstability(epsilon=Fraction(1, 10), delta=1e-5).with_laplace_noise()
print(
    "threshold: quoted",
    ceil(log(1e5) / 0.1),
    "needed",
    noisy.test.threshold - 2,
    "since the tail there is δ/2",
)
test.plot()

# %% [markdown]
# **Which distance?** To the nearest data set that is *unstable*, one with a neighbor whose answer differs; not to
# the nearest with a different answer, as is sometimes written. Take two neighbors of which one says blue and the
# other red: both are unstable, at distance 0. Counted to the different answer, both would be at distance 1, and
# blue, which the other never says, would appear too often.

# %% Unstable, not merely different
for chosen in (0.1, 1, 3):
    test = dp.mechanisms.DistanceToInstability(epsilon=chosen, delta=1e-6)
    right, wrong = (1 - test.error_at(distance=distance) for distance in (0, 1))
    print(
        f"epsilon {chosen:>3}: blue appears with {right:.1e} at distance 0, with {wrong:.1e} at 1; allowed: 1e-06"
    )
    assert right <= 1e-6 * (1 + 1e-9) < wrong
    assert abs(wrong / right - (1 + exp(chosen))) < 1e-6 * wrong / right

# %% Propose, test, release
proposal = dp.mechanisms.ProposeTestRelease(sensitivity=2, epsilon=2, delta=1e-6)
print(proposal.event, proposal.guarantee)
print(proposal.release(1234, 40), proposal.release(1234, 1))
answered = [1 - proposal.error_at(distance=steps) for steps in range(30)]
for steps in (0, 5, 10, 15, 20, 29):
    print(f"{steps:>2} steps to a larger local sensitivity: answered with probability {answered[steps]:.2e}")
assert answered[0] <= 1e-6  # the proposal is wrong, and delta pays for it
# One step multiplies the probability by at most e, and adds delta: half of epsilon pays for the test.
assert all(after <= exp(1) * before + 1e-6 + 1e-12 for before, after in pairwise(answered))
assert answered[proposal.distance_for(0.95)] >= 0.95 > answered[proposal.distance_for(0.95) - 1]
proposal.plot()

# %% Triangles with a bought bound
import networkx

from discreet.stability.graphs import triangles

graph = networkx.karate_club_graph()
edges = np.array(graph.edges())
counted = triangles(edges[:, 0], edges[:, 1], nodes=34)
bought = dp.mechanisms.PrivateLocalSensitivity(
    change=1, global_sensitivity=32, epsilon=2, delta=1e-6, neighbors=dp.neighbors.ADD_REMOVE_ROW
)
answer = bought.release(int(counted.value), int(counted.local_at(0)))
print(
    "a real network of 34 people:",
    counted.value,
    "triangles; released",
    answer.answer,
    "with",
    answer.interval(0.95),
)
assert int(counted.value) == sum(networkx.triangles(graph).values()) // 3

# %% What is no number: sets and partitions
import sets_and_partitions

answers = sets_and_partitions.panel(2000)
mechanism, chosen, distance = sets_and_partitions.set_by_test(answers)
print(mechanism.guarantee, "| released:", mechanism.release(chosen, distance))

# %% [markdown]
# ## Per-instance losses
#
# What a release reveals about each person is often far less than the guarantee, which is the supremum over all of them.

# %% The loss of each person
payments = np.minimum(some.gamma(2, 30, 200), 500).round()
report = dp.stability.per_instance.laplace_losses(payments, scale=500)
print(report)  # it is private: it shows no number by itself
# The sum moves by what a person paid, so that the loss is that over the scale; the guarantee is for 500 of 500.
print(
    f"guaranteed: 1; the largest loss here: {max(report.losses):.3f}, that of half of them: {np.median(report.losses):.3f}"
)
assert np.allclose(sorted(report.losses), sorted(payments / 500))
assert max(report.losses) <= 1
report.plot()

# %% [markdown]
# ## Regression that adapts
#
# Noise in XᵀX asks for a ridge; how much depends on the smallest eigenvalue, which is released first.

# %% Adaptive ridge and posterior sampling
import private_regression

columns, response = private_regression.made_up(5000, 1.0, np.random.default_rng(3))
fit = dp.learning.AdaptiveRidge(columns=4, largest=2, response=4, rho=Fraction(1, 2)).release(
    columns, response
)
for true, guess, (low, high) in zip(private_regression.BETA, fit.coefficients, fit.intervals(), strict=True):
    print(f"true {true:5.2f}, private {guess:6.3f} in [{low:.3f}, {high:.3f}]")
sampled = dp.learning.PosteriorRegression(
    columns=2, largest=1.5, response=3, radius=2, epsilon=1, rounds=1, points=25
)
two = some.uniform(-1, 1, (2000, 2))
print("a posterior sample:", sampled.release(two, two @ [1.0, -0.7]).coefficients, "of", [1.0, -0.7])
