"""The scalar functions of the language: a closed list of records, by family.

Every function is total and means the same on every engine. Numbers that are not integers are taken as
doubles; a number is "beyond 64 bits" from 2^63 in magnitude on. Text counts code points. Dates and times lie
in the years 1 to 9999, others are NULL. Operands called a constant are literals, so that they are part of the
request and not of the data.

To add a function: its record in the file of its family here, and its line in the file of the same name in
`data.compile`.
"""

from __future__ import annotations

from discreet.data.language.functions.record import ScalarFunction
from discreet.data.language.functions.registry import FUNCTIONS, function_named
from discreet.exports import publish

__all__ = ["FUNCTIONS", "ScalarFunction", "function_named"]

publish(__name__)
