"""Admissible noise for smooth sensitivity: pure, approximate and concentrated.

Pure: `Student`, `Cauchy`. Approximate: `LaplaceNoise`, `GaussianNoise`. Concentrated: `ArcsinhNormal`,
`LaplaceLogNormal`, `UniformLogNormal`. Each knows what a shift and a dilation cost (`budget`), which
shift a budget allows (`largest_shift`), its density, tail and moments, and certified bounds on its
distribution function, from which it is drawn exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.exports import publish

if TYPE_CHECKING:
    from discreet.mechanisms.admissible.arcsinh_normal import ArcsinhNormal
    from discreet.mechanisms.admissible.cauchy import Cauchy
    from discreet.mechanisms.admissible.gaussian import GaussianNoise
    from discreet.mechanisms.admissible.laplace import LaplaceNoise
    from discreet.mechanisms.admissible.laplace_log_normal import LaplaceLogNormal
    from discreet.mechanisms.admissible.noise import Admissible
    from discreet.mechanisms.admissible.student import Student
    from discreet.mechanisms.admissible.uniform_log_normal import UniformLogNormal

__all__ = [
    "Admissible",
    "ArcsinhNormal",
    "Cauchy",
    "GaussianNoise",
    "LaplaceLogNormal",
    "LaplaceNoise",
    "Student",
    "UniformLogNormal",
]

_HOMES = {
    "Admissible": "discreet.mechanisms.admissible.noise",
    "ArcsinhNormal": "discreet.mechanisms.admissible.arcsinh_normal",
    "Cauchy": "discreet.mechanisms.admissible.cauchy",
    "GaussianNoise": "discreet.mechanisms.admissible.gaussian",
    "LaplaceLogNormal": "discreet.mechanisms.admissible.laplace_log_normal",
    "LaplaceNoise": "discreet.mechanisms.admissible.laplace",
    "Student": "discreet.mechanisms.admissible.student",
    "UniformLogNormal": "discreet.mechanisms.admissible.uniform_log_normal",
}

publish(__name__, homes=_HOMES)
