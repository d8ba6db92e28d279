"""A linkage attack: a table without names names people, k-anonymous or not; noisy counts do not.

A hospital publishes its patients without names, but with birth year, sex and district. Whoever has a list of
names with the same three columns, such as a register of voters, joins the two: everybody who is alone in a
combination is found, with the diagnosis. *k-anonymity* makes the columns coarser, and leaves out a few rows,
until at least k patients share every combination. Nobody is alone any more, and still the attack goes on:
where all k share a diagnosis, the diagnosis of each of them is known; and a second table of the same
patients, k-anonymous in its own way, gives away everybody for whom the two classes have one diagnosis in
common. Noisy counts keep their promise against any register and any other table: what anybody believes about
one patient's diagnosis changes, in odds, by a factor of at most e^epsilon.

Run with ``python examples/linkage_attack.py``, and a folder for the picture if you like.
"""

from __future__ import annotations

import sys
from math import exp

import numpy as np
import pandas as pd
from picture import save

import discreet as dp
from discreet.figures import Axes, draw_curve, label_axes, next_style, panels
from discreet.privacy.neighbors import REPLACE_PERSON
from discreet.privacy.sensitivity import disjoint_counts

PEOPLE, DISTRICTS, DIAGNOSES = 5000, 16, 8
KNOWN = ["birth_year", "sex", "district"]
SIZES = (1, 2, 3, 5, 10, 20)
MOST_LEFT_OUT = 0.1


def made_up_people() -> pd.DataFrame:
    """Return made-up patients, whose diagnoses mostly go with age and district, as real ones do."""
    source = np.random.default_rng(8)  # made-up data: no privacy rests on it
    year, district = source.integers(1930, 2010, PEOPLE), source.integers(0, DISTRICTS, PEOPLE)
    usual = (year // 10 * 5 + district * 3) % DIAGNOSES
    other = source.integers(0, DIAGNOSES, PEOPLE)
    return pd.DataFrame(
        {
            "birth_year": year,
            "sex": source.integers(0, 2, PEOPLE),
            "district": district,
            "diagnosis": np.where(source.random(PEOPLE) < 0.6, usual, other),
        }
    )


def classes(people: pd.DataFrame, k: int, offset: int = 0) -> pd.DataFrame:
    """Return the rows that a k-anonymous table holds, each with the `cell` it is in.

    Birth years are put together, as few as possible, until at most a tenth of the rows are in classes of
    fewer than k; those are left out. The first class begins `offset` tenths of a class earlier.
    """
    for width in range(1, 81):
        year = (people["birth_year"] - 1930 + offset * width // 10) // width
        cell = people.assign(birth_year=year).groupby(KNOWN).ngroup()
        kept = cell.map(cell.value_counts()) >= k
        if kept.mean() >= 1 - MOST_LEFT_OUT:
            return people.assign(cell=cell)[kept]
    raise ValueError("k is too large for any classes of birth years")


def identified(published: pd.DataFrame) -> float:
    """Return the share of all people whom the join with a register finds alone in their class."""
    return float((published.groupby("cell")["sex"].transform("size") == 1).sum() / PEOPLE)


def disclosed(published: pd.DataFrame) -> float:
    """Return the share of all people whose diagnosis is that of everybody in their class."""
    return float((published.groupby("cell")["diagnosis"].transform("nunique") == 1).sum() / PEOPLE)


def disclosed_by_two(people: pd.DataFrame, k: int) -> float:
    """Return the share of all people whose classes, in two tables, have one diagnosis in common."""
    seen = []
    for offset in (0, 5):
        published = classes(people, k, offset)
        bits = published.assign(bit=2 ** published["diagnosis"]).groupby("cell")["bit"]
        seen.append(bits.transform(lambda one: np.bitwise_or.reduce(one.to_numpy())))
    both = pd.concat(seen, axis=1, join="inner").to_numpy(np.int64)
    common = both[:, 0] & both[:, 1]
    return float((common & (common - 1) == 0).sum() / PEOPLE)


def attacks() -> dict[int, tuple[float, float, float]]:
    """Return, for each k, what three attacks learn."""
    people = made_up_people()
    return {
        k: (identified(classes(people, k)), disclosed(classes(people, k)), disclosed_by_two(people, k))
        for k in SIZES
    }


def noisy_counts(epsilon: float) -> np.ndarray:
    """Return the number of people with each diagnosis, such that no diagnosis of one person shows."""
    counts = np.bincount(made_up_people()["diagnosis"], minlength=DIAGNOSES)
    sensitivity = disjoint_counts(DIAGNOSES, neighbors=REPLACE_PERSON)
    return np.asarray(dp.Laplace(sensitivity=sensitivity, epsilon=epsilon).release(counts))


def posterior(epsilon: float, prior: float) -> float:
    """Return what noisy counts let anybody believe at most, even one who knows everybody else's diagnosis."""
    odds = prior / (1 - prior) * exp(epsilon)
    return odds / (1 + odds)


def plot(found: dict[int, tuple[float, float, float]]) -> Axes:
    """Draw what is learned over k."""
    (ax,) = panels(None, size=(7.0, 5.0))
    for place, name in enumerate(("alone", "class of one diagnosis", "two tables")):
        line = [100 * figures[place] for figures in found.values()]
        draw_curve(ax, range(len(found)), line, next_style(ax), label=name, marked=True)
    ax.set_xticks(range(len(found)), [str(k) for k in found])
    ax.set_ylim(bottom=0)
    title = "A k-anonymous table without names, joined with a register"
    return label_axes(ax, x="k", y="people whose diagnosis is known, in percent", title=title)


def main(folder: str | None = None) -> None:
    """Attack, and count with noise instead."""
    found = attacks()
    print(
        f"{PEOPLE} patients, without names, joined with a register: whose diagnosis is known for certain?\n"
    )
    print(f"{'k':>4} {'alone in a class':>18} {'class of one diagnosis':>24} {'two tables':>12}")
    for k, (alone, one, two) in found.items():
        print(f"{k:>4} {alone:>18.1%} {one:>24.1%} {two:>12.1%}")
    print("\nInstead, the number of patients with each diagnosis, epsilon = 0.1:")
    print(f"  {noisy_counts(0.1).tolist()}")
    before, after = 1 / DIAGNOSES, posterior(0.1, 1 / DIAGNOSES)
    print(
        f"Who thought somebody's diagnosis {before:.1%} likely thinks so by at most {after:.1%} afterwards,"
    )
    print("with any register and any other table in hand.")
    save(lambda: plot(found), "linkage_attack", folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
