"""Which modules are changed, and which tests are nearest to each.

The nearest tests are those of the same stem: for ``data/bounding/rows.py`` the files ``test_rows.py`` and
``test_rows_*.py`` of ``tests/data/bounding``. A module without a test of its stem is covered by what
`COVERED_BY` says.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["COVERED_BY", "PACKAGE", "ROOMS", "ROOT", "modules_of", "tests_of"]

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "discreet"
TESTS = ROOT / "tests"

ROOMS: dict[str, tuple[str, ...]] = {
    "noise": ("noise/**/*.py",),
    "mechanisms": ("mechanisms/**/*.py",),
    "privacy": ("privacy/**/*.py",),
    "bounding": (
        "data/bounding/*.py",
        "data/prepared/*.py",
        "data/lots.py",
        "data/salt.py",
        "data/compile/join_limits.py",
        "data/facts/fanout.py",
    ),
    "key facts": (
        "data/facts/conditions/group_keys.py",
        "data/facts/conditions/key_narrowing.py",
        "data/facts/conditions/monotone.py",
        "data/facts/conditions/compared_values.py",
        "data/facts/conditions/condition_regions.py",
    ),
    "other relations": (
        "curator/request/statistic_request.py",
        "curator/request/statistics/*.py",
        "data/bounding/coded_rows.py",
    ),
    "charging": ("curator/door.py", "curator/budget/*.py", "accounting/filters/*.py"),
}

_FILTERS = ("accounting/test_filters.py", "accounting/test_filters_charges.py")
_PREPARED = ("data/prepared/test_sample.py", "data/prepared/test_groups.py")

COVERED_BY: dict[str, tuple[str, ...]] = {
    "accounting/filters/base.py": _FILTERS,
    "accounting/filters/cost.py": _FILTERS,
    "accounting/filters/odometer.py": ("accounting/test_filters_odometer.py",),
    "accounting/filters/renyi.py": _FILTERS,
    "accounting/filters/scalar.py": _FILTERS,
    "accounting/filters/shares.py": ("accounting/test_filters_union.py",),
    "accounting/filters/tight.py": ("accounting/test_filters_union.py",),
    "accounting/filters/union.py": ("accounting/test_filters_union.py",),
    "curator/budget/charge_words.py": ("curator/request/test_statistic_request.py",),
    "curator/budget/wording.py": ("curator/budget/test_account.py",),
    "curator/door.py": ("curator/test_door.py", "curator/test_door_bad_input.py"),
    "curator/request/statistics/base.py": ("curator/request/test_statistic_request.py",),
    "curator/request/statistics/known.py": ("curator/request/test_statistic_request.py",),
    "curator/request/statistics/noisy_integers.py": (
        "curator/request/statistics/test_graph_counts.py",
        "curator/request/statistics/test_fixed_counts.py",
    ),
    "curator/request/statistics/profiled.py": ("curator/request/statistics/test_by_profile.py",),
    "data/facts/conditions/key_narrowing.py": (
        "data/facts/conditions/test_group_keys.py",
        "data/facts/conditions/test_key_narrowing.py",
    ),
    "data/lots.py": ("data/bounding/test_totals.py", "data/bounding/test_rows.py"),
    "data/prepared/base.py": _PREPARED,
    "data/salt.py": ("data/bounding/test_totals.py",),
    "mechanisms/additive/base.py": ("mechanisms/additive/test_laplace.py",),
    "mechanisms/additive/bounded_answer.py": ("mechanisms/adaptive/test_private_local_sensitivity.py",),
    "mechanisms/additive/gaussian_calibration.py": ("mechanisms/additive/test_gaussian.py",),
    "mechanisms/additive/gaussian_privacy.py": ("mechanisms/additive/test_gaussian.py",),
    "mechanisms/adaptive/plot.py": ("mechanisms/test_plot.py",),
    "mechanisms/additive/laws.py": ("mechanisms/test_plot.py",),
    "mechanisms/keys/plot.py": ("mechanisms/test_plot.py",),
    "mechanisms/selection/plot.py": ("mechanisms/test_plot.py",),
    "mechanisms/calibration.py": ("mechanisms/additive/test_laplace.py",),
    "mechanisms/local/frequency_error.py": ("mechanisms/local/test_frequencies.py",),
    "mechanisms/selection/choice_law.py": ("mechanisms/selection/test_exponential.py",),
    "noise/normal_cells.py": ("noise/test_rounded_gaussian.py",),
    "noise/parameters.py": ("noise/test_bad_input.py",),
    "privacy/decimals.py": ("privacy/test_decimals.py", "curator/release/test_cell_text.py"),
    "privacy/events/additive.py": ("privacy/events/test_additive.py", "privacy/events/test_composition.py"),
    "privacy/events/generic.py": ("privacy/events/test_generic.py", "privacy/events/test_composition.py"),
    "privacy/events/repeated.py": ("accounting/renyi/test_repeated.py",),
    "privacy/events/replaced_poisson.py": (
        "privacy/events/test_replaced_poisson.py",
        "accounting/loss/test_replaced_poisson.py",
    ),
    "privacy/offer.py": ("workloads/planning/test_noise.py", "queries/noise/test_build_request.py"),
    "privacy/events/selection.py": ("privacy/events/test_selection.py", "privacy/events/test_composition.py"),
}


def modules_of(room: str) -> list[Path]:
    """Return the modules of a room that hold code, sorted."""
    found = {path for pattern in ROOMS[room] for path in PACKAGE.glob(pattern)}
    return sorted(path for path in found if path.name != "__init__.py")


def tests_of(module: Path) -> list[Path]:
    """Return the test files nearest to a module."""
    name = module.relative_to(PACKAGE)
    if str(name) in COVERED_BY:
        return [TESTS / one for one in COVERED_BY[str(name)]]
    folder = TESTS / name.parent
    return sorted({*folder.glob(f"test_{name.stem}.py"), *folder.glob(f"test_{name.stem}_*.py")})
