"""What courses of SQL use: employees with their pay, and students with their enrollments."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow
from tests.corpus.world import Private, World, days, gaps

import discreet as dp

EMPLOYEES, STUDENTS = 1100, 1300
TITLES = ["Analyst", "Clerk", "Engineer", "Manager", "Président"]
GRADES = ["A", "B", "C", "D", "F", None]


def world() -> World:
    """Make the tables."""
    draw = np.random.default_rng(77)
    hired = dp.Dates(datetime.date(1990, 1, 1), datetime.date(2024, 12, 31))
    private = {
        "employees": Private(
            "emp_no",
            {
                "dept_no": dp.Keys([10, 20, 30, 40, 50, None]),
                "job": dp.Keys(TITLES),
                "salary": dp.Bounds(0, 200000),
                "bonus": dp.Bounds(0, 50000),
                "gender": dp.Keys(["F", "M"]),
                "hire_date": hired,
                "birth_date": dp.Dates(datetime.date(1950, 1, 1), datetime.date(2005, 12, 31)),
            },
        ),
        "salaries": Private("emp_no", {"amount": dp.Bounds(0, 200000), "from_date": hired, "to_date": hired}),
        "students": Private(
            "student_id",
            {
                "major": dp.Keys(["Art", "Biology", "History", "Math"]),
                "gpa": dp.Bounds(0, 4, step=0.01),
                "birth_year": dp.Bounds(1990, 2010),
            },
        ),
        "enrollments": Private(
            "student_id",
            {
                "course_id": dp.Keys(range(1, 21)),
                "grade": dp.Keys(GRADES),
                "points": dp.Bounds(0, 100),
                "semester": dp.Keys(["2023F", "2024S", "2024F"]),
            },
        ),
    }
    return World("school", public_tables() | private_tables(draw), private)


def public_tables() -> dict[str, pyarrow.Table]:
    """Departments and courses."""
    return {
        "departments": pyarrow.table(
            {
                "dept_no": [10, 20, 30, 40, 50, 60],
                "dept_name": ["Accounting", "Research", "Sales", "Operations", "Qualität", "Archive"],
                "city": ["New York", "Dallas", "Chicago", "Boston", "Köln", "Boston"],
            }
        ),
        "courses": pyarrow.table(
            {
                "course_id": np.arange(1, 21),
                "title": [
                    f"{('Algebra', 'Painting', 'Genetics', 'Moyen Âge')[k % 4]} {k}" for k in range(20)
                ],
                "department": [("Math", "Art", "Biology", "History")[k % 4] for k in range(20)],
                "credits": [k % 3 + 2 for k in range(20)],
            }
        ),
    }


def private_tables(draw: np.random.Generator) -> dict[str, pyarrow.Table]:
    """Employees with their pay, students with their courses."""
    number = np.arange(1, EMPLOYEES + 1)
    hired = draw.integers(0, 12000, EMPLOYEES)
    pay = draw.integers(20, 180, EMPLOYEES) * 1000
    changes = np.repeat(np.arange(EMPLOYEES), draw.integers(1, 5, EMPLOYEES))
    step = np.concatenate([np.arange(k) for k in np.bincount(changes)])
    student = np.arange(1, STUDENTS + 1)
    who = np.repeat(student, draw.integers(0, 7, STUDENTS))
    taken = len(who)
    return {
        "employees": pyarrow.table(
            {
                "emp_no": number,
                "first_name": [f"{('Ana', 'Bob', 'Chloé', 'Dmitri')[k % 4]}" for k in number],
                "last_name": [f"Name{k}" for k in number],
                "gender": draw.choice(["F", "M"], EMPLOYEES),
                "job": draw.choice(TITLES, EMPLOYEES, p=[0.2, 0.3, 0.35, 0.1, 0.05]),
                "dept_no": gaps(draw, draw.choice([10, 20, 30, 40, 50], EMPLOYEES), 0.04),
                "salary": pay,
                "bonus": gaps(draw, draw.integers(0, 20000, EMPLOYEES), 0.5),
                "hire_date": days("1990-01-01", hired),
                "birth_date": days("1950-01-01", draw.integers(0, 20000, EMPLOYEES)),
                "manager_no": gaps(draw, draw.integers(1, 50, EMPLOYEES), 0.1),
            }
        ),
        "salaries": pyarrow.table(
            {
                "emp_no": number[changes],
                "amount": np.minimum(pay[changes] + step * 1500, 200000),
                "from_date": days("1990-01-01", np.minimum(hired[changes] + step * 300, 12400)),
                "to_date": days("1990-01-01", np.minimum(hired[changes] + step * 300 + 300, 12700)),
            }
        ),
        "students": pyarrow.table(
            {
                "student_id": [f"s{k}" for k in student],
                "name": [f"{('Zoë', 'Li', 'Omar')[k % 3]} {k}" for k in student],
                "major": draw.choice(["Art", "Biology", "History", "Math"], STUDENTS),
                "gpa": gaps(draw, draw.integers(100, 401, STUDENTS) / 100, 0.05),
                "birth_year": draw.integers(1995, 2007, STUDENTS),
            }
        ),
        "enrollments": pyarrow.table(
            {
                "student_id": [f"s{k}" for k in who],
                "course_id": draw.integers(1, 21, taken),
                "semester": draw.choice(["2023F", "2024S", "2024F"], taken),
                "grade": gaps(draw, draw.choice(["A", "B", "C", "D", "F"], taken), 0.1),
                "points": gaps(draw, draw.integers(20, 101, taken), 0.1),
            }
        ),
    }
