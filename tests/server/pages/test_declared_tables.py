"""Declarations in words."""

from __future__ import annotations

from discreet.server.pages.declared_tables import table_views


def test_tables_in_words():
    (found,) = table_views(
        {
            "visits": {
                "person": "patient_id",
                "limits": {"rows": 25, "groups": 3, "rows_per_group": None},
                "columns": {
                    "cost": {"node": "bounds", "lower": "0", "upper": "5000", "step": "1/100"},
                    'odd "name"': {"node": "keys", "values": ["a", None, 3]},
                    "third": {"node": "bounds", "lower": "-1/3", "upper": "2024-12-31", "step": None},
                    "long": {"sha256": "ab"},
                },
                "through": {"table": "patients"},
            }
        }
    )
    assert found.limits == "at most 25 rows and 3 groups of each person count"
    assert [(one.kind, one.words) for one in found.columns] == [
        ("bounds", "0 to 5,000, in steps of 0.01"),
        ("keys", "3 values"),
        ("bounds", "-1/3 to 2024-12-31"),
        ("", '{"sha256": "ab"}'),
    ]
    assert found.columns[1].keys == ("a", "no value", "3")
    assert found.columns[1].sql == '"odd ""name"""'
    assert (found.sql, found.columns[0].sql) == ("visits", "cost")
    assert found.others == (("through", '{"table": "patients"}'),)


def test_a_declaration_that_is_a_hash():
    (found,) = table_views({"visits": {"sha256": "ab"}})
    assert (found.person, found.limits, found.columns) == ("", "", ())
    assert found.others == (("sha256", "ab"),)
