"""Lecture 3: private learning. Run the cells in an editor that knows them, or the whole file."""

# %% [markdown]
# # Learning
#
# A fit is a release. Noise can go to the weights, to the objective, or to every gradient.
#
# ## Output and objective perturbation
#
# A regularized minimizer moves by at most 2/(λn) if one of n rows is replaced, so noise with density
# ∝ exp(−(λnε/2)‖z‖₂) makes it private. The factor is easily inverted, which gives noise that is far too small.

# %% Noise on the weights, noise on the objective
import numpy as np

import discreet as dp
from discreet.learning import LogisticRegression

some = np.random.default_rng(2)
design = some.uniform(-1, 1, (2000, 2))
labels = (some.random(2000) < 1 / (1 + np.exp(-4 * design[:, 0]))).astype(np.int64)
for method in ("output", "objective"):
    model = LogisticRegression(epsilon=1, columns=(-1, 1), classes=[0, 1], method=method, regularization=5.0)
    model.fit(design, labels)
    print(
        f"{method:<10} weights {model.coef_[0].round(2).tolist()}, right {np.mean(model.predict(design) == labels):.3f}"
    )
    assert model.guarantee_.epsilon == 1

# %% The inverted factor
n, strength, epsilon = 2000, 0.01, 1.0
right, inverted = 2 / (strength * n * epsilon), strength * n * epsilon / 2
print(
    f"mean length of the noise in two dimensions: {2 * right:.2f} as proven, {2 * inverted:.2f} with the factor inverted"
)
# In one dimension the noise is Laplace: its loss for a move of 2/(λn) is the move over the scale.
assert abs((2 / (strength * n)) / right - epsilon) < 1e-12
print("the loss of the inverted factor here:", (2 / (strength * n)) / inverted)

# %% The scale of objective perturbation
# With |l''| ≤ c = 1/4: ε' = ε − 2 log(1 + c/(nλ)), and the length of the noise is Gamma(d, 2/ε'); 1/ε is half of it.
curvature = 0.25
left = epsilon - 2 * np.log(1 + curvature / (n * strength))
print(
    f"epsilon' = {left:.4f}: scale {2 / left:.4f}, where a scale of 1/epsilon = {1 / epsilon:.4f} is quoted"
)
assert 2 / left > 2 / epsilon

# %% Why a support vector machine is not private
import steep_surfaces

points, groups = steep_surfaces.two_groups()
for kept in (12, 11):
    print(
        f"{kept} people: weights and intercept",
        steep_surfaces.support_line(points[:kept], groups[:kept]).round(2).tolist(),
    )
steep_surfaces.plot(steep_surfaces.fits(runs=20))

# %% [markdown]
# ## Private gradients
#
# Sample people, clip each one's gradient, add normal noise, step. One line around an optimizer does it ([deep learning](../deep_learning.md)).

# %% A private training run
import torch
from torch import nn
from torch.nn import functional

inputs = torch.randn(1000, 8)
targets = (inputs[:, 0] > inputs[:, 1]).long()
network = nn.Linear(8, 2)
optimizer = dp.learning.private(
    torch.optim.SGD(network.parameters(), lr=0.5),
    network,
    (inputs, targets),
    epsilon=3,
    delta=1e-5,
    batch=100,
    steps=20,
)
for sample, wanted in optimizer.batches():
    optimizer.step(functional.cross_entropy(network(sample), wanted, reduction="none"))
print("right:", float((network(inputs).argmax(1) == targets).float().mean()))

# %% [markdown]
# ## What a run costs: σ = 4, q = 0.01, T = 10,000, δ = 1e-5
#
# Slides quote basic ≈ (12,000, 0.1), strong ≈ (360, 0.1), sampled ≈ (10, 0.001) and moments ≈ (1.25, 1e-5). The strong
# composition's own formula gives 407, and its condition T < 1/ε² does not hold; the moments slide's 2qε√T gives 2.4.

# %% The ladder
run = dp.events.PoissonSampled(dp.events.Gaussian(noise_multiplier=4), rate=0.01) * 10_000
ladder = dp.accounting.ladder(run, delta=1e-5)
print(ladder)
tight = dp.accounting.epsilon(run, delta=1e-5)
print(tight)
assert tight.upper < 1.25
ladder.plot()

# %% Slips of the slides
step = 1.2
print("strong composition by its formula:", round(step * np.sqrt(10_000 * np.log(1e5)), 1), "(quoted 360)")
print("1/ε² =", round(1 / step**2, 2), "and T = 10,000: the condition does not hold")
print("2 q ε sqrt(T) =", 2 * 0.01 * step * 100, "(quoted 1.25)")
print("by moments:", round(dp.accounting.theorems.moments_epsilon(4, 0.01, 10_000, 1e-5), 3))

# %% A private decision tree
import private_tree

found = private_tree.accuracies(rows=1000, runs=2)
for depth, rates in found.items():
    print(f"depth {depth}, right on new data by epsilon:", [round(rate, 3) for rate in rates])
private_tree.plot(found)

# %% [markdown]
# ## Teachers, secrets and doses
#
# Teachers see disjoint people and vote; only noisy winners leave, so a student that learns from them costs
# nothing more. A person changes one teacher, and so two counts by one: an answer with Laplace noise of scale
# 1/γ costs 2γ. What a model remembers, and what it tells about people, can be measured, too.

# %% Teachers that vote
import private_teachers

for teachers, one, most, lead in private_teachers.agreement((2, 10, 40)):
    print(f"{teachers:3d} teachers: one is right {one:.2f}, most are {most:.2f}, by a lead of {lead:.2f}")
answered, learned = private_teachers.student(40)
print(f"answers that are right {answered:.2f}, of a student that learned from them {learned:.2f}")
votes = dp.learning.LNMax(gamma=0.05, teachers=40, classes=10)
print(votes)

# %% A generator behind teachers
from discreet.synthesis import GPATE, PateGAN, SpanningTree, fidelity

age = np.random.default_rng(0).integers(0, 10, 4000)
people = {"age": age, "city": np.array(list("abc"))[np.minimum(age // 3, 2)]}
facts = {"age": dp.Bounds(0, 9), "city": dp.Keys(list("abc"))}
for epsilon in (1, 10):
    for kind in (PateGAN, GPATE):
        mechanism = kind(columns=facts, epsilon=epsilon, delta="1e-5", teachers=50, rounds=10)
        apart = fidelity(people, mechanism.release(people), ways=2).mean(2)
        noise = float(mechanism.aggregation.noise.sigma)
        print(
            f"epsilon {epsilon:2d}, {kind.__name__:<8} 50 votes with noise of {noise:6.1f}: {apart:.3f} off"
        )
    tree = SpanningTree(columns=facts, epsilon=epsilon, delta="1e-5").release(people)
    print(f"epsilon {epsilon:2d}, a measured pair: {fidelity(people, tree, ways=2).mean(2):.3f} off")

# %% Digits by generators and by a measured tree
import generated_digits

print("guessing is right about a tenth of real digits; learned from synthetic ones:")
for name, values in generated_digits.compared((1.0, 10.0), teachers=30, rounds=3).items():
    print(f"{name:<14} epsilon 1: {values[0]:.2f}, epsilon 10: {values[1]:.2f}")

# %% What a table remembers of a planted row
import planted_secrets

for epsilon in (None, 8.0, 0.5):
    bits = [planted_secrets.table_exposure(epsilon, np.random.default_rng(seed)).bits for seed in range(5)]
    print(
        "without noise" if epsilon is None else f"epsilon {epsilon}", [round(one, 1) for one in bits], "bits"
    )

# %% Three of nine ways to train, and one planted code
for way, epsilon in (("RMSprop", None), ("SGD", np.inf), ("RMSprop", 5.26)):
    (bits,), (loss,) = planted_secrets.text_runs(way, epsilon, 1, epochs=10)
    row = planted_secrets.Row(planted_secrets.named(way, epsilon), bits[None], loss, 10**6)
    found = "can be extracted" if row.extracted else "cannot be extracted"
    print(f"{row.name:<24} {bits[-1]:5.2f} of 19.93 bits: {found}; loss of new lines {loss:.2f}")

# %% Doses and genotypes
import dosing_study

found = dosing_study.study(count=1500, runs=2, epsilons=(0.1, 1.0))
for name, measures in found.items():
    print(f"{name:<16}", {measure: round(float(values.mean()), 3) for measure, values in measures.items()})
dosing_study.plot(found)
