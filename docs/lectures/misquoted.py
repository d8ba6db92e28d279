"""Lecture 5: what is easily got wrong. Run the cells in an editor that knows them, or the whole file."""

# %% [markdown]
# # What is easily got wrong
#
# Numbers that are often misquoted, each beside the one that holds; definitions that are equivalent only if pure; attacks that noise stops.

# %% Misquoted numbers
import often_misquoted

said = often_misquoted.statements()
for one in said:
    print(f"{one.about:<32} written {one.written:>12,.6g}   holds {one.holds:>12,.6g}   {one.why}")
often_misquoted.plot(said)

# %% [markdown]
# ## Three definitions
#
# By events, by outcomes, by the loss: the same if δ = 0. With a δ, outcomes promise nothing and the loss asks for too much.

# %% Definitions by enumeration
import three_definitions

epsilons = (0.25, 0.5, 0.75, 0.99)
table = three_definitions.deltas(*three_definitions.laplace_pair(1.0), epsilons)
for name, line in table.items():
    print(f"{name:<10}", [round(max(value, 0), 4) for value in line])
for low, exact, high in zip(*table.values(), strict=True):
    assert low <= exact + 1e-12
    assert exact <= high + 1e-12
three_definitions.plot()

# %% The Gaussian tail lemma
from math import erfc, exp, pi, sqrt

for t in (1.0, 2.0, 4.0):
    tail = erfc(t / sqrt(2)) / 2
    bound = exp(-t * t / 2) / (t * sqrt(2 * pi))
    print(f"P(Z > {t:g}) = {tail:.3e} <= {bound:.3e}")
    assert tail <= bound

# %% [markdown]
# ## Attacks

# %% Linkage against k-anonymity
import linkage_attack

found = linkage_attack.attacks()
for k, shares in found.items():
    print(
        f"k = {k}: named {shares[0]:.1%}, diagnosis known {shares[1]:.1%}, with a second release {shares[2]:.1%}"
    )
linkage_attack.plot(found)

# %% Averaging fresh noise
import averaged_noise

means = averaged_noise.errors_of_means(runs=100)
for times, error in means.items():
    print(
        f"{times:>5} fresh answers: error {error:7.2f}, expected {averaged_noise.expected(times):7.2f}; one answer for the same price {averaged_noise.error_of_one(times):.2f}"
    )
averaged_noise.plot(means)
