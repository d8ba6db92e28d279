"""Lecture 2: many queries. Run the cells in an editor that knows them, or the whole file."""

# %% [markdown]
# # Many queries
#
# One person may be in many answers. What is measured, and what is calculated from it, decides the error.
#
# ## Four counts
#
# Men and women, each with a body mass index below 25 and in all. Four queries at Laplace(4/ε) have a total squared
# error of 128/ε². Under the relation that adds or removes a person nobody is in more than two of the four, so 4 is a slip: 2
# suffices, and 32/ε². Measured in disjoint cells, it is 12/ε².

# %% The worked example
from fractions import Fraction

import four_counts
import numpy as np

import discreet as dp

results = four_counts.squared_errors(0.1, runs=4000)
for words, (computed, measured) in results.items():
    print(f"{words:<26} computed {computed * 0.01:6.1f} / ε², measured {measured * 0.01:6.1f} / ε²")
assert four_counts.sensitivities() == (2, 4)
four_counts.plot(results, results["from cells"][0], 0.1)

# %% [markdown]
# ## Constrained inference
#
# The closest point of a convex set that contains the truth is never farther from the truth than the noisy answers.

# %% A projection is never farther from the truth
from discreet.workloads.inference import KnownTotal, NonNegative, project

truth = np.array([40, 25, 3, 0, 0, 0, 12, 20])
noisy = np.asarray(dp.Laplace(sensitivity=1, epsilon=0.2).release(truth)).astype(float)
fitted = project(noisy, NonNegative(), KnownTotal(int(truth.sum()))).constrained
print("noisy     ", noisy.round(1).tolist())
print("projected ", fitted.round(1).tolist())
print(
    f"distance from the truth: {np.linalg.norm(noisy - truth):.2f} before, {np.linalg.norm(fitted - truth):.2f} after"
)
assert np.linalg.norm(fitted - truth) <= np.linalg.norm(noisy - truth) + 1e-6

# %% [markdown]
# ## Ranges
#
# Over k cells there are k(k+1)/2 ranges. Measured directly the total squared error grows as k⁶ (k⁴ is that of one
# query, a slip that is easily made); cells give k³, trees and wavelets k² log³ k.

# %% Range strategies, computed and measured
import heights_by_range as ranges

sizes = (8, 16, 32)
for name in (ranges.DIRECTLY, *ranges.STRATEGIES):
    totals = {size: ranges.computed(name, size) for size in sizes}
    seen = ranges.measured(name, 16, releases=60)
    print(
        f"{name:<28} k = 16: computed {totals[16]:12,.0f}, measured {seen:12,.0f}; grows as k^{ranges.growth(totals):.1f}"
    )

# %% The best strategy, and a bound for all of them
planned = dp.workloads.plan(dp.workloads.AllRanges(64), rho=0.5)
print(planned.expected_error.rmse, planned.lower_bound)
assert planned.lower_bound <= planned.expected_error.rmse

# %% [markdown]
# ## Choosing
#
# **The exponential mechanism** draws output t with probability ∝ exp(ε u(t) / 2Δu); then OPT − u ≤ (2Δu/ε) log(|T|/β)
# with probability 1 − β, and half of it for monotone scores.

# %% The exponential mechanism and its statement
choice = dp.mechanisms.Exponential(sensitivity=1, epsilon=1)
scores = [12, 10, 7, 7]
weights = np.exp(np.array(scores) / 2)
print("probabilities", (weights / weights.sum()).round(4).tolist())
textbook = choice.error.textbook_bound(Fraction(19, 20), candidates=4)
exact = choice.error.quantile(Fraction(19, 20), candidates=4)
print(f"score lost at 95%: at most {textbook:.2f} by the statement, {exact:.2f} from the law")
assert exact <= textbook
choice.plot(scores, [11, 11, 8, 7])  # one person may move every score by one

# %% Voting, the best k, and the exact winner or nothing
votes = [4120, 3410, 1280, 1190]
print(
    "permute-and-flip:", dp.mechanisms.PermuteAndFlip(sensitivity=1, epsilon=1, monotone=True).release(votes)
)
print(
    "noisy max:       ", dp.mechanisms.ReportNoisyMax(sensitivity=1, epsilon=1, monotone=True).release(votes)
)
print("the best two:    ", dp.mechanisms.TopK(k=2, sensitivity=1, epsilon=1, monotone=True).release(votes))
print(
    "exact winner:    ",
    dp.mechanisms.StableArgmax(sensitivity=1, epsilon=1, delta=1e-6, monotone=True).release(votes),
)

# %% The number of outputs, and of optima
import many_outputs

for outputs in (4, 1024, 65536):
    lost = many_outputs.shortfalls(outputs)
    print(
        f"{outputs:>6} outputs: " + ", ".join(f"{name.strip()} {value:.0f}" for name, value in lost.items())
    )

# %% [markdown]
# ## Releasing data
#
# **SmallDB** chooses a small table by the exponential mechanism, so that max over queries |q(x) − q(x′)| ≤ α; it searches all
# of them. **Multiplicative weights** scale: ask where the estimate is most wrong, measure, correct.

# %% Small databases and multiplicative weights
from discreet.workloads.data_release import MultiplicativeWeights, SmallDatabase

small = SmallDatabase(queries=[[1, 1, 0, 0], [0, 1, 1, 0]], epsilon=1, records=6, total=500)
table = np.array([200, 100, 150, 50])
print(small.candidates, "candidate tables; answers", small.release(table).answers, "of", [300, 250])
prefixes = np.tril(np.ones((16, 16), int))
cells = np.array([5, 10, 30, 60, 120, 180, 200, 150, 90, 60, 40, 25, 15, 10, 4, 1])
weighted = MultiplicativeWeights(queries=prefixes, epsilon=1, rounds=4, total=int(cells.sum()))
estimate = weighted.release(cells).average
print(
    weighted.guarantee,
    "largest error of a prefix:",
    round(float(np.abs(prefixes @ (estimate - cells)).max()), 1),
    "of",
    cells.sum(),
)
