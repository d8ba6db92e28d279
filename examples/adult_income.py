"""Who earns more than 50,000 dollars a year: models of census data, from declaration to comparison.

The Adult data: 30,162 people of the census of 1994, with age, education, work and income. A curator holds
four fifths of them. Bounds and keys are declared from the published list of answers, not from the rows; a
fit is previewed, paid for and stored, and the models are judged on the other fifth, beside a fit without
privacy.

Run with ``python examples/adult_income.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas
from picture import save

import discreet as dp
from discreet.figures import Axes, panels
from discreet.learning import AdditiveClassifier, LogisticRegression, plot

DATA = Path(__file__).parent / "data" / "adult.csv.gz"
NUMBERS = {
    "age": dp.Bounds(17, 90),
    "education_num": dp.Bounds(1, 16),
    "capital_gain": dp.Bounds(0, 100_000),
    "capital_loss": dp.Bounds(0, 5_000),
    "hr_per_week": dp.Bounds(1, 99),
}
KEYS = {
    "type_employer": "Private, Self-emp-not-inc, Self-emp-inc, Federal-gov, Local-gov, State-gov, "
    "Without-pay, Never-worked",
    "marital": "Married-civ-spouse, Divorced, Never-married, Separated, Widowed, Married-spouse-absent, "
    "Married-AF-spouse",
    "occupation": "Tech-support, Craft-repair, Other-service, Sales, Exec-managerial, Prof-specialty, "
    "Handlers-cleaners, Machine-op-inspct, Adm-clerical, Farming-fishing, Transport-moving, Priv-house-serv, "
    "Protective-serv, Armed-Forces",
    "relationship": "Wife, Own-child, Husband, Not-in-family, Other-relative, Unmarried",
    "race": "White, Asian-Pac-Islander, Amer-Indian-Eskimo, Other, Black",
    "sex": "Female, Male",
    "income": "<=50K, >50K",
}
FEATURES = [*NUMBERS, *(name for name in KEYS if name != "income")]
EPSILONS = (0.1, 0.3, 1.0, 3.0)
DELTA = 1e-6
MODELS = {"logistic regression": LogisticRegression, "additive model": AdditiveClassifier}


def people() -> tuple[pandas.DataFrame, pandas.DataFrame]:
    """Return four fifths of the people, and the others."""
    frame = pandas.read_csv(DATA, skipinitialspace=True)
    order = np.random.default_rng(0).permutation(len(frame))
    cut = len(frame) * 4 // 5
    return frame.iloc[order[:cut]], frame.iloc[order[cut:]]


def office(frame: pandas.DataFrame, folder: str) -> dp.Curator:
    """Return a curator of some people, each of whom has one row."""
    columns = NUMBERS | {name: dp.Keys(keys.split(", ")) for name, keys in KEYS.items()}
    census = dp.Table(frame[[*FEATURES, "income"]], person=dp.EACH_ROW, columns=columns)
    budget = dp.Budget(epsilon=20, delta=1e-5)
    return dp.Curator({"census": census}, budget=budget, ledger=Path(folder) / "census.ledger")


def share_right(model: LogisticRegression, frame: pandas.DataFrame) -> float:
    """Return how often a model is right."""
    return float((model.predict(frame[FEATURES]) == frame["income"]).mean())


def without_privacy(known: pandas.DataFrame, new: pandas.DataFrame) -> float:
    """Return how often logistic regression of scikit-learn is right, on the same coordinates."""
    from sklearn.linear_model import LogisticRegression as Plain

    def coordinates(frame: pandas.DataFrame) -> np.ndarray:
        parts = [
            (frame[[name]].to_numpy() - float(one.lower)) / float(one.upper - one.lower)
            for name, one in NUMBERS.items()
        ]
        keys = [(name, KEYS[name].split(", ")) for name in FEATURES if name in KEYS]
        parts += [frame[[name]].to_numpy() == np.array(listed) for name, listed in keys]
        return np.concatenate(parts, axis=1).astype(float)

    plain = Plain(max_iter=1000, C=100.0).fit(coordinates(known), known["income"])
    return float(plain.score(coordinates(new), new["income"]))


def fits(curator: dp.Curator, epsilons: Sequence[float] = EPSILONS) -> dict[str, list[LogisticRegression]]:
    """Pay for a fit of each model at each epsilon; those that were paid for are free."""
    return {
        name: [
            curator.fit(kind(), "census", features=FEATURES, target="income", epsilon=epsilon, delta=DELTA)
            for epsilon in epsilons
        ]
        for name, kind in MODELS.items()
    }


def picture(
    shares: dict[str, list[float]], without: float, model: AdditiveClassifier, epsilons: Sequence[float]
) -> list[Axes]:
    """Draw accuracy over epsilon, and what three columns add to the score of the better paid."""
    drawn = panels(None, 4)
    plot.accuracy(epsilons, shares, without=without, ax=drawn[0])
    plot.shapes(model, ["age", "education_num", "occupation"], ax=drawn[1:])
    return drawn


def main(folder: str | None = None, epsilons: Sequence[float] = EPSILONS) -> None:
    """Print the story."""
    known, new = people()
    with tempfile.TemporaryDirectory() as place:
        curator = office(known, place)
        asked = {"features": FEATURES, "target": "income", "epsilon": 1, "delta": DELTA}
        print("before paying, for 20,000 people if there were so many:")
        print(curator.preview_fit(AdditiveClassifier(), "census", rows=20_000, **asked))
        found = fits(curator, epsilons)
        shares = {name: [share_right(model, new) for model in row] for name, row in found.items()}
        without = without_privacy(known, new)
        print("\nright on new people " + "".join(f"{f'eps {epsilon:g}':>9}" for epsilon in epsilons))
        for name, row in shares.items():
            print(f"{name:<20}" + "".join(f"{share:>9.1%}" for share in row))
        print(f"{'without privacy':<20}{without:>9.1%}")
        print(f"\nleft: {curator.remaining}; the same fits again cost nothing:")
        fits(curator, epsilons)
        print(f"left: {curator.remaining}")
        best = found["additive model"][-1]
        assert isinstance(best, AdditiveClassifier)
        steps = best.shapes()["education_num"]
        print("\nwhat the years of education add to the score of more than 50,000 dollars:")
        for name, value in zip(steps.names, steps.values[:, 0], strict=True):
            print(f"  {name:<36}{value:+.2f}")
        curator.close()
    save(lambda: picture(shares, without, best, epsilons), "adult_income", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
