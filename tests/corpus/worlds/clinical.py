"""Health records after the OMOP model: what belongs to a patient is private, the vocabulary public."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow
from tests.corpus.world import Private, World, days, decimals, gaps

import discreet as dp

PERSONS = 1600
GENDERS = {8507: "MALE", 8532: "FEMALE", 0: "No matching concept"}
RACES = {8527: "White", 8515: "Asian", 8516: "Black or African American"}
VISITS = {9201: "Inpatient Visit", 9202: "Outpatient Visit", 9203: "Emergency Room Visit"}
CONDITIONS = {
    192671: "Gastrointestinal hemorrhage",
    201820: "Diabetes mellitus",
    201826: "Type 2 diabetes mellitus",
    255573: "Chronic obstructive lung disease",
    313217: "Atrial fibrillation",
    316866: "Hypertensive disorder",
    432867: "Hyperlipidemia",
    4329847: "Heart failure",
}
DRUGS = {
    1112807: "aspirin",
    1118084: "celecoxib",
    1124300: "diclofenac",
    1310149: "warfarin",
    1503297: "metformin",
    1545958: "atorvastatin",
}
MEASURES = {
    3004249: "Systolic blood pressure",
    3012888: "Diastolic blood pressure",
    3004410: "Hemoglobin A1c",
}
FIRST, LAST, SPAN = datetime.date(2008, 1, 1), datetime.date(2013, 12, 31), 2100


def world() -> World:
    """Make the tables."""
    draw = np.random.default_rng(75)
    dates = dp.Dates(FIRST, LAST)
    places = dp.Keys(range(1, 13))
    private = {
        "person": Private(
            "person_id",
            {
                "gender_concept_id": dp.Keys(GENDERS),
                "year_of_birth": dp.Bounds(1920, 2012),
                "month_of_birth": dp.Keys([*range(1, 13), None]),
                "race_concept_id": dp.Keys(RACES),
                "location_id": dp.Keys([*range(1, 7), None]),
                "care_site_id": places,
                "birth_date": dp.Dates(datetime.date(1920, 1, 1), LAST),
            },
        ),
        "observation_period": Private(
            "person_id", {"observation_period_start_date": dates, "observation_period_end_date": dates}
        ),
        "visit_occurrence": Private(
            "person_id",
            {
                "visit_concept_id": dp.Keys(VISITS),
                "visit_start_date": dates,
                "visit_end_date": dates,
                "care_site_id": places,
            },
        ),
        "condition_occurrence": Private(
            "person_id",
            {
                "condition_concept_id": dp.Keys(CONDITIONS),
                "condition_start_date": dates,
                "condition_end_date": dates,
                "condition_type_concept_id": dp.Keys([38000183, 38000199]),
            },
        ),
        "drug_exposure": Private(
            "person_id",
            {
                "drug_concept_id": dp.Keys(DRUGS),
                "drug_exposure_start_date": dates,
                "drug_exposure_end_date": dates,
                "days_supply": dp.Bounds(0, 120),
                "quantity": dp.Bounds(0, 400, step=0.5),
                "refills": dp.Bounds(0, 12),
                "route_concept_id": dp.Keys([4132161, 4171047, None]),
            },
        ),
        "measurement": Private(
            "person_id",
            {
                "measurement_concept_id": dp.Keys(MEASURES),
                "measurement_date": dates,
                "value_as_number": dp.Bounds(0, 300, step=0.01),
            },
        ),
        "death": Private(
            "person_id", {"death_date": dates, "cause_concept_id": dp.Keys([*CONDITIONS, None])}
        ),
    }
    return World("clinical", public_tables() | person_tables(draw) | event_tables(draw), private)


def public_tables() -> dict[str, pyarrow.Table]:
    """The vocabulary, and the places of care."""
    families = {
        "Gender": GENDERS,
        "Race": RACES,
        "Visit": VISITS,
        "Condition": CONDITIONS,
        "Drug": DRUGS,
        "Measurement": MEASURES,
    }
    concepts = [(key, name, family) for family, names in families.items() for key, name in names.items()]
    ancestors = [(key, key) for key, _, _ in concepts] + [(201820, 201826), (316866, 313217)]
    return {
        "concept": pyarrow.table(
            {
                "concept_id": [key for key, _, _ in concepts],
                "concept_name": [name for _, name, _ in concepts],
                "domain_id": [family for _, _, family in concepts],
                "vocabulary_id": [
                    "SNOMED" if family == "Condition" else "RxNorm" for _, _, family in concepts
                ],
                "standard_concept": ["S" if key else None for key, _, _ in concepts],
            }
        ),
        "concept_ancestor": pyarrow.table(
            {
                "ancestor_concept_id": [above for above, _ in ancestors],
                "descendant_concept_id": [below for _, below in ancestors],
            }
        ),
        "location": pyarrow.table(
            {
                "location_id": np.arange(1, 7),
                "state": ["CA", "IL", "MA", "NY", "NY", "TX"],
                "zip": ["90210", "60601", "02138", "10001", "10027", "75001"],
            }
        ),
        "care_site": pyarrow.table(
            {
                "care_site_id": np.arange(1, 13),
                "place_of_service_concept_id": np.arange(1, 13) % 3 + 8716,
                "care_site_name": [f"Klinik {k}" for k in range(1, 13)],
                "location_id": np.arange(1, 13) % 6 + 1,
            }
        ),
    }


def person_tables(draw: np.random.Generator) -> dict[str, pyarrow.Table]:
    """Patients, when they were observed, and who died."""
    person = np.arange(1, PERSONS + 1)
    born = draw.integers(1920, 2012, PERSONS)
    month = draw.integers(1, 13, PERSONS)
    begin = draw.integers(0, 900, PERSONS)
    dead = draw.choice(person, 150, replace=False)
    return {
        "person": pyarrow.table(
            {
                "person_id": person,
                "gender_concept_id": draw.choice([8507, 8532, 0], PERSONS, p=[0.48, 0.48, 0.04]),
                "year_of_birth": born,
                "month_of_birth": gaps(draw, month, 0.05),
                "birth_date": [datetime.date(int(y), int(m), 15) for y, m in zip(born, month, strict=True)],
                "race_concept_id": draw.choice(list(RACES), PERSONS),
                "location_id": gaps(draw, draw.integers(1, 7, PERSONS), 0.05),
                "care_site_id": draw.integers(1, 13, PERSONS),
                "person_source_value": [f"µ{k:05d}" for k in person],
            }
        ),
        "observation_period": pyarrow.table(
            {
                "observation_period_id": person + 10000,
                "person_id": person,
                "observation_period_start_date": days("2008-01-01", begin),
                "observation_period_end_date": days(
                    "2008-01-01", np.minimum(begin + draw.integers(30, 1400, PERSONS), 2190)
                ),
            }
        ),
        "death": pyarrow.table(
            {
                "person_id": dead,
                "death_date": days("2008-01-01", draw.integers(900, SPAN, 150)),
                "cause_concept_id": gaps(draw, draw.choice(list(CONDITIONS), 150), 0.3),
            }
        ),
    }


def event_tables(draw: np.random.Generator) -> dict[str, pyarrow.Table]:
    """Visits, diagnoses, drugs and measurements."""
    person = np.arange(1, PERSONS + 1)
    visits, conditions, drugs, measures = 4000, 5000, 5500, 4500
    visit, sick, took = (draw.integers(0, SPAN, count) for count in (visits, conditions, drugs))
    supply = draw.choice([7, 14, 30, 60, 90], drugs)
    kind = draw.choice(list(MEASURES), measures)
    typical = np.select([kind == 3004249, kind == 3012888], [12500, 8000], 620)
    return {
        "visit_occurrence": pyarrow.table(
            {
                "visit_occurrence_id": np.arange(1, visits + 1),
                "person_id": draw.choice(person, visits),
                "visit_concept_id": draw.choice(list(VISITS), visits, p=[0.2, 0.7, 0.1]),
                "visit_start_date": days("2008-01-01", visit),
                "visit_end_date": days("2008-01-01", visit + draw.integers(0, 20, visits)),
                "care_site_id": draw.integers(1, 13, visits),
            }
        ),
        "condition_occurrence": pyarrow.table(
            {
                "condition_occurrence_id": np.arange(1, conditions + 1),
                "person_id": draw.choice(person, conditions),
                "condition_concept_id": draw.choice(list(CONDITIONS), conditions),
                "condition_start_date": days("2008-01-01", sick),
                "condition_end_date": gaps(
                    draw, days("2008-01-01", sick + draw.integers(1, 60, conditions)), 0.3
                ),
                "condition_type_concept_id": draw.choice([38000183, 38000199], conditions),
            }
        ),
        "drug_exposure": pyarrow.table(
            {
                "drug_exposure_id": np.arange(1, drugs + 1),
                "person_id": draw.choice(person, drugs),
                "drug_concept_id": draw.choice(list(DRUGS), drugs),
                "drug_exposure_start_date": days("2008-01-01", took),
                "drug_exposure_end_date": days("2008-01-01", np.minimum(took + supply, 2190)),
                "days_supply": gaps(draw, supply, 0.1),
                "quantity": gaps(draw, draw.integers(1, 300, drugs) / 2, 0.1),
                "refills": draw.integers(0, 6, drugs),
                "route_concept_id": gaps(draw, draw.choice([4132161, 4171047], drugs), 0.2),
            }
        ),
        "measurement": pyarrow.table(
            {
                "person_id": draw.choice(person, measures),
                "measurement_concept_id": kind,
                "measurement_date": days("2008-01-01", draw.integers(0, SPAN, measures)),
                "value_as_number": gaps(draw, decimals(typical + draw.integers(-200, 200, measures)), 0.05),
            }
        ),
    }
