"""Lecture 1: foundations. Run the cells in an editor that knows them, or the whole file."""

# %% [markdown]
# # Foundations
#
# A curator holds a table x, and releases a random M(x). Two tables are *neighbors* if they differ in one person.
# M is **(ε, δ)-private** if P(M(x) ∈ S) ≤ e^ε P(M(x′) ∈ S) + δ for all neighbors and all sets S of outcomes;
# with δ = 0 it is purely private. Everything here is computed with the package's own objects.

# %% The loss of one release
from fractions import Fraction
from math import exp, log, sqrt

import numpy as np

import discreet as dp

mechanism = dp.Laplace(sensitivity=1, epsilon=1)
print(mechanism.event, "|", mechanism.guarantee.statement)
mechanism.plot()  # the laws on two neighbors, and their ratio within e^±ε

# %% [markdown]
# **Definition.** The privacy loss is L(y) = log P(y)/Q(y), with y drawn from P. If P(L > ε) ≤ δ then (ε, δ) holds,
# but the exact δ(ε) is smaller: it is the *hockey-stick divergence*, Σ max(P(y) − e^ε Q(y), 0).

# %% The hockey stick against the tail of the loss
places = np.arange(-60, 62)
ratio = exp(-1)
first = (1 - ratio) / (1 + ratio) * ratio ** np.abs(places)
second = (1 - ratio) / (1 + ratio) * ratio ** np.abs(places - 1)
for epsilon in (0.25, 0.5, 0.9):
    exact = float(np.maximum(first - exp(epsilon) * second, 0).sum())
    tail = float(first[np.log(first / second) > epsilon].sum())
    accountant = dp.accounting.delta(mechanism.event, epsilon=epsilon)
    print(
        f"epsilon {epsilon}: delta {exact:.4f} (accountant {float(accountant):.4f}), P(L > epsilon) {tail:.4f}"
    )
    assert exact <= tail
    assert accountant.lower - 1e-9 <= exact <= accountant.upper + 1e-9

# %% [markdown]
# ## Sensitivity
#
# Noise must hide how far one person moves the statistic: Δ = max ‖f(x) − f(x′)‖ over neighbors. The relation matters.

# %% Sensitivities, per relation
replace = dp.neighbors.REPLACE_ROW
print("4 overlapping counts, add/remove:", dp.sensitivity.overlapping_counts(4).l1)
print("disjoint counts, add/remove:     ", dp.sensitivity.disjoint_counts(4).l1)
print("disjoint counts, replace-one:    ", dp.sensitivity.disjoint_counts(4, neighbors=replace).l1)
print("mean of 100 values in [0, 1]:    ", dp.sensitivity.mean(0, 1, 100, neighbors=replace).l1)
deviation = dp.sensitivity.standard_deviation(0, 1, 100, neighbors=replace).l1
print(f"standard deviation of them:       {float(deviation):.5f} (often quoted: 1/sqrt(n) = {1 / sqrt(100)})")
# By search: one of 100 zeros becomes 1.
moved = np.zeros(100)
moved[0] = 1
assert abs(moved.std() - float(deviation)) < 1e-9
assert abs(moved.std() - sqrt(99) / 100) < 1e-9

# %% [markdown]
# ## Laplace and Gaussian noise
#
# **Theorem.** Laplace noise of scale Δ1/ε is ε-private ([proof](../proofs/laplace.md)). Noise of variance
# 2 Δ2² log(2/δ)/ε² is (ε, δ)-private for ε ≤ 1; the least σ that suffices solves δ(ε) = δ ([proof](../proofs/gaussian.md)).

# %% A vector with Laplace noise
counts = dp.Laplace(sensitivity=dp.sensitivity.overlapping_counts(4), epsilon=1)
assert counts.event.scale == 4  # the slip: 2/ε² as the variance of each; it is 2k²/ε²
print("scale", counts.event.scale, "variance of each", round(counts.error.variance, 2), "and not", 2)
print(counts.release(np.array([310, 90, 140, 160])))

# %% Classical and analytic normal noise
for epsilon in (0.1, 0.5, 1.0):
    analytic = dp.Gaussian(sensitivity=1.0, epsilon=epsilon, delta=1e-6).sigma
    classical = sqrt(2 * log(2 / 1e-6)) / epsilon
    print(f"epsilon {epsilon}: classical sigma {classical:8.3f}, analytic {analytic:8.3f}")
    assert analytic < classical

# %% Where normal noise wins
import high_dimension

for answers in (1, 10, 15, 20, 100):
    laplace, normal = high_dimension.expected_errors(answers)
    print(f"{answers:>4} answers: Laplace {laplace:7.2f}, normal {normal:7.2f}")
print(f"they cross at {high_dimension.crossing():.2f} answers")
high_dimension.plot({d: high_dimension.expected_errors(d) for d in (1, 3, 10, 30, 100)}, {})

# %% [markdown]
# ## The error, before anything runs
#
# P(|N| ≥ t) = exp(−tε/Δ) for continuous Laplace noise. So a tolerated error t with failure β needs ε = Δ log(1/β)/t.

# %% The smallest epsilon for an error of 10
wanted = dp.Laplace.for_error(10, confidence=1 - 1e-5, sensitivity=1)
print(f"continuous {log(1e5) / 10:.4f}, discrete noise on a count {wanted.epsilon:.4f}")
assert wanted.error.tail(10) <= 1e-5 < dp.Laplace(sensitivity=1, epsilon=wanted.epsilon * 0.99).error.tail(10)

# %% The L1 error of a vector is known
vector = dp.Laplace(sensitivity=20, epsilon=1, size=20)
exact = vector.error.l1.quantile(0.99)
union = next(t for t in range(10_000) if vector.error.l1.union_bound(t) <= 0.01)
print(f"total error of 20 counts at 99%: exactly {exact:.0f}; the union bound says {union}")
assert all(vector.error.l1.tail(t) <= vector.error.l1.union_bound(t) for t in range(0, 2000, 100))
whole = dp.Laplace.for_error(1000, norm="l1", sensitivity=20, size=20).epsilon
print(f"the smallest epsilon for a total error of 1000 at 95%: {whole:.4f}")

# %% [markdown]
# ## Post-processing, groups, composition

# %% Post-processing is free
event = mechanism.event
assert dp.events.post_process(event) == event
rounded = {}
for place, mass, other in zip(places, first, second, strict=True):
    held = rounded.setdefault(place // 5, [0.0, 0.0])
    held[0] += mass
    held[1] += other
before = float(np.maximum(first - exp(0.5) * second, 0).sum())
after = sum(max(p - exp(0.5) * q, 0) for p, q in rounded.values())
print(f"delta at epsilon 0.5: {before:.4f} before rounding to fives, {after:.4f} after")
assert after <= before + 1e-12

# %% Groups
print(dp.guarantees.PureDP(epsilon=0.5).group(3))
print(dp.guarantees.ApproximateDP(epsilon=0.5, delta=1e-6).group(3))
print(dp.guarantees.ZeroConcentratedDP(rho=0.1).group(3))
larger = dp.guarantees.ApproximateDP(epsilon=0.5, delta=1e-6).group(3)
assert abs(float(larger.delta) - 1e-6 * (exp(1.5) - 1) / (exp(0.5) - 1)) < 1e-12
assert dp.guarantees.ZeroConcentratedDP(rho=0.1).group(3).rho == Fraction(9, 10)

# %% Composition is tight for Laplace noise, and parallel parts cost their maximum
half = dp.Laplace(sensitivity=1, epsilon=Fraction(1, 2)).event
print("three releases:", dp.accounting.epsilon(half * 3, delta=0))
quarter = dp.Laplace(sensitivity=1, epsilon=Fraction(1, 4)).event
print("two parts, each person in one:", dp.events.Parallel(half, quarter).pure_epsilon)
steps = [dp.Laplace(sensitivity=1, epsilon=0.1).guarantee.epsilon for _ in range(10)]
assert sum(steps) == 1  # a budget over ten steps adds up exactly

# %% The variance of each of several counts
for k in (2, 4, 10):
    counts = dp.Laplace(sensitivity=dp.sensitivity.overlapping_counts(k), epsilon=Fraction(1, 10))
    variance = counts.error.variance
    print(
        f"{k:>2} counts, epsilon 0.1 for all: variance {variance:10,.0f} each; 2k²/ε² = {200 * k * k:,}, not 2/ε² = 200"
    )
    assert abs(variance / (200 * k * k) - 1) < 0.01

# %% [markdown]
# ## Two coins
#
# Heads: tell the truth. Tails: toss again and say yes on heads. This happens on the *client's* side (it is
# sometimes called server-side, which is wrong): the server never sees a true answer. It loses ln 3.

# %% Randomized response
coins = dp.mechanisms.RandomizedResponse.two_coins()
assert abs(coins.epsilon - log(3)) < 1e-12
reports = coins.release([True] * 300 + [False] * 700)
found = coins.estimate(reports)
interval = found.interval(0.95)
print(
    f"epsilon {coins.epsilon:.4f}; yes: {found.proportions[1]:.3f} in [{interval.lower[1]:.3f}, {interval.upper[1]:.3f}]"
)
coins.plot()
