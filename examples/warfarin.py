"""Made-up patients who take warfarin, with published effects and frequencies, for the dosing study.

No row is a person. The effects are those of the dosing algorithm of the International Warfarin
Pharmacogenetics Consortium (2009): coefficients for the square root of the weekly dose in milligrams. Shares
of groups, allele frequencies, and means of age, height and weight are rounded from what has been published;
the error of the dose is such that the effects explain about half of its variance, as they do there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["BOUNDS", "GENOTYPES", "NAMES", "Patients", "patients", "prior", "with_genotype"]

GENOTYPES = ("G/G", "A/G", "A/A")
"""Of VKORC1 -1639, by the number of A alleles."""
CYP2C9 = ("*1/*1", "*1/*2", "*1/*3", "*2/*2", "*2/*3", "*3/*3")
NAMES = (
    "age in decades",
    "height",
    "weight",
    "VKORC1 A/G",
    "VKORC1 A/A",
    *(f"CYP2C9 {one}" for one in CYP2C9[1:]),
    "Asian",
    "Black",
    "enzyme inducer",
    "amiodarone",
)
BOUNDS = [(1, 10), (120, 220), (30, 200), *[(0, 1)] * 11]
"""What is declared about each column: clinical common sense, never read from data."""
CONSTANT = 5.6044
EFFECTS = np.array(
    [
        *(-0.2614, 0.0087, 0.0128, -0.8677, -1.6974),
        *(-0.5211, -0.9357, -1.0616, -1.9206, -2.3312),
        *(-0.1092, -0.2760, 1.1816, -0.5503),
    ]
)
ERROR = 0.9
"""The deviation of the square root of a dose from what the effects say."""

_GROUPS = np.array([0.58, 0.32, 0.10])  # White, Asian, Black
_VKORC1 = np.array([0.39, 0.88, 0.10])  # frequency of A
_TWO, _THREE = np.array([0.13, 0.00, 0.03]), np.array([0.07, 0.04, 0.02])  # of CYP2C9 *2 and *3
_HEIGHT, _WEIGHT = np.array([171.0, 161.0, 171.0]), np.array([84.0, 63.0, 88.0])


@dataclass(frozen=True)
class Patients:
    """Rows of patients.

    Attributes
    ----------
    design : array (patients, columns)
        One column for each of `NAMES`.
    root_dose : array
        The square root of the weekly dose in milligrams that was found to be right.
    group, genotype : arrays of int
        White, Asian or Black; the number of A alleles of VKORC1.
    """

    design: np.ndarray
    root_dose: np.ndarray
    group: np.ndarray
    genotype: np.ndarray


def prior() -> np.ndarray:
    """Return the probability of each genotype (columns) in each group (rows): two independent alleles."""
    return np.stack([(1 - _VKORC1) ** 2, 2 * _VKORC1 * (1 - _VKORC1), _VKORC1**2], axis=1)


def patients(count: int, source: np.random.Generator) -> Patients:
    """Make patients up."""
    group = source.choice(3, size=count, p=_GROUPS)
    genotype = source.binomial(2, _VKORC1[group])
    alleles = np.sort(_alleles(group, source), axis=1)
    design = np.zeros((count, len(NAMES)))
    design[:, 0] = np.clip(np.floor(source.normal(65, 14, count) / 10), 1, 9)
    design[:, 1] = np.clip(source.normal(_HEIGHT[group], 9), 130, 210)
    design[:, 2] = np.clip(source.normal(_WEIGHT[group], 16), 35, 190)
    for place, name in enumerate(CYP2C9[1:], 5):
        pair = [int(name[1]) - 1, int(name[4]) - 1]
        design[:, place] = (alleles == pair).all(axis=1)
    design[:, 10], design[:, 11] = group == 1, group == 2
    design[:, 12], design[:, 13] = source.random(count) < 0.015, source.random(count) < 0.06
    design = with_genotype(design, genotype)
    root = CONSTANT + design @ EFFECTS + source.normal(0, ERROR, count)
    return Patients(design, np.clip(root, 1.5, 12), group, genotype)


def with_genotype(design: np.ndarray, genotype: np.ndarray | int) -> np.ndarray:
    """Return the rows as they would be with a genotype of VKORC1."""
    changed = design.copy()
    changed[:, 3], changed[:, 4] = np.asarray(genotype) == 1, np.asarray(genotype) == 2
    return changed


def _alleles(group: np.ndarray, source: np.random.Generator) -> np.ndarray:
    """Draw two alleles of CYP2C9: 0 for *1, 1 for *2, 2 for *3."""
    uniform = source.random((len(group), 2))
    three, two = _THREE[group][:, None], _TWO[group][:, None]
    return np.where(uniform < three, 2, np.where(uniform < three + two, 1, 0))
