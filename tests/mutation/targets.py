"""Which modules are changed, and which tests are nearest to each.

The nearest tests are those of the same stem: for ``data/bounding/rows.py`` the files ``test_rows.py`` and
``test_rows_*.py`` under ``tests/data``, in the folder of the same name where there are any. A module
without a test of its stem is covered by what `COVERED_BY` says.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["ROOMS", "modules_of", "tests_of"]

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "discreet"
TESTS = ROOT / "tests"

ROOMS: dict[str, tuple[str, ...]] = {
    "noise": ("noise/*.py",),
    "mechanisms": ("mechanisms/**/*.py",),
    "privacy": ("privacy/**/*.py",),
    "bounding": (
        "data/bounding/*.py",
        "data/prepared/*.py",
        "data/lots.py",
        "data/salt.py",
        "data/compile/crowds.py",
        "data/facts/fanout.py",
        *(
            f"data/{n}.py"
            for n in "bounding kept sample arrangement prepared prepared_totals crowds fanout".split()
        ),
    ),
    "key facts": (
        "data/facts/group_keys.py",
        "data/facts/key_narrowing.py",
        "data/facts/monotone.py",
        "data/facts/condition_regions.py",
        *(f"queries/{n}.py" for n in "key_facts narrowing key_ranges regions".split()),
    ),
    "charging": (
        "curator/door.py",
        "curator/budget/*.py",
        "accounting/filters/*.py",
        *(f"curator/{n}.py" for n in "account fold budget period".split()),
    ),
}

COVERED_BY: dict[str, tuple[str, ...]] = {
    "data/salt.py": ("data/test_bounding.py",),
    "data/prepared.py": ("data/test_sample.py", "data/test_arrangement.py"),
    "data/prepared_totals.py": ("data/test_sample.py", "data/test_arrangement.py"),
    "queries/narrowing.py": ("queries/test_key_facts.py",),
    "curator/door.py": ("curator/test_door.py", "curator/test_door_bad_input.py"),
    "accounting/filters/filter.py": ("accounting/test_filters.py", "accounting/test_filters_charges.py"),
    "accounting/filters/kinds.py": ("accounting/test_filters.py", "accounting/test_filters_charges.py"),
    "accounting/filters/cost.py": ("accounting/test_filters.py", "accounting/test_filters_charges.py"),
    "accounting/filters/conversion.py": ("accounting/test_filters.py", "accounting/test_filters_charges.py"),
    "accounting/filters/renyi_filter.py": (
        "accounting/test_filters.py",
        "accounting/test_filters_charges.py",
    ),
    "accounting/filters/tight_filter.py": ("accounting/test_filters_union.py",),
    "accounting/filters/shares.py": ("accounting/test_filters_union.py",),
    "accounting/filters/union.py": ("accounting/test_filters_union.py",),
    "accounting/filters/odometer.py": ("accounting/test_filters_odometer.py",),
    "noise/normal_cells.py": ("noise/test_rounded_gaussian.py",),
    "noise/parameters.py": ("noise/test_bad_input.py",),
    "mechanisms/additive.py": ("mechanisms/test_laplace.py", "mechanisms/test_gaussian.py"),
    "mechanisms/bounded_answer.py": ("mechanisms/test_private_local_sensitivity.py",),
    "mechanisms/calibration.py": ("mechanisms/test_laplace.py",),
    "mechanisms/gaussian_calibration.py": ("mechanisms/test_gaussian.py",),
    "mechanisms/gaussian_privacy.py": ("mechanisms/test_gaussian.py",),
    "mechanisms/error/frequencies.py": ("mechanisms/test_frequencies.py",),
    "privacy/events/additive.py": ("privacy/events/test_additive.py", "privacy/events/test_composition.py"),
    "privacy/events/generic.py": ("privacy/events/test_generic.py", "privacy/events/test_composition.py"),
    "privacy/events/repeated.py": ("accounting/test_renyi_repeated.py",),
    "privacy/events/replaced_poisson.py": (
        "privacy/events/test_replaced_poisson.py",
        "accounting/loss/test_replaced_poisson.py",
    ),
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
    for folder in (TESTS / name.parent, TESTS / name.parts[0]):
        found = [*folder.glob(f"test_{name.stem}.py"), *folder.glob(f"test_{name.stem}_*.py")]
        if not found and folder == TESTS / name.parts[0]:
            found = sorted(folder.rglob(f"test_{name.stem}.py"))
        if found:
            return sorted(set(found))
    return []
