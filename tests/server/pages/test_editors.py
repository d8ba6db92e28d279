"""Two editors: what each sends comes back into its own fields, and a question finds its editor."""

from __future__ import annotations

import pytest

from discreet.server.pages.editors import COUNTS, SQL, editor_of


@pytest.mark.parametrize(
    ("editor", "typed"),
    [
        (SQL, {"question": "SELECT 1", "epsilon": "1"}),
        (COUNTS, {"kind": "cdf", "table": "visits", "columns": "age", "epsilon": "1"}),
    ],
    ids=["SQL", "counts"],
)
def test_an_editor_reads_what_it_wrote(editor, typed):
    fields = {**dict.fromkeys(editor.fields, ""), **typed}
    body = editor.body_of(fields)
    assert editor_of(body) is editor
    assert editor.fields_of(body) == fields
    assert {*editor.empty} <= {*editor.fields}
