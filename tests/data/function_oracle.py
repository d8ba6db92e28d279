"""What functions and conversions mean, in plain Python: integers, fractions and the calendar.

Values are those of a row: int, bool, float, Decimal, str, date, datetime or None. Literals are ints,
Fractions, texts and dates.
"""

from __future__ import annotations

import datetime
import math
import re
from decimal import Decimal
from fractions import Fraction

from discreet.data import Type

FIRST, LAST = -(2**63), 2**63 - 1


def is_integer(value):
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value):
    return is_integer(value) or isinstance(value, float | Decimal | Fraction)


def type_of_value(value):
    kinds = {bool: "boolean", int: "integer", float: "float", Decimal: "decimal", str: "text"}
    kinds |= {datetime.date: "date", datetime.datetime: "timestamp"}
    return Type(kinds.get(type(value), "null"))


def double(value):
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def fits(number):
    return number if FIRST <= number <= LAST else None


def order(value):
    """A key that sorts as SQL does: NaN above all."""
    if isinstance(value, float) and math.isnan(value):
        return (1, 0)
    return (0, value)


def call(function, values):
    """The value of a function."""
    name = function.name
    if name == "coalesce":
        return next((value for value in values if value is not None), None)
    if name in {"least", "greatest"}:
        present = [value for value in values if value is not None]
        if not present:
            return None
        return (min if name == "least" else max)(present, key=order)
    if values[0] is None or (name != "nullif" and None in values):
        return None
    return globals()[f"_{name}"](*values)


def _abs(x):
    return fits(abs(x)) if is_integer(x) else abs(double(x))


def within(number):
    return number if abs(number) < 2**63 else None


def _floor(x):
    if is_integer(x):
        return x
    x = double(x)
    return within(math.floor(Fraction(x))) if math.isfinite(x) else None


def _ceiling(x):
    if is_integer(x):
        return x
    x = double(x)
    return within(math.ceil(Fraction(x))) if math.isfinite(x) else None


def away(number):
    """The integer nearest to a fraction, halves away from zero."""
    size = math.floor(abs(number) + Fraction(1, 2))
    return -size if number < 0 else size


def _round(x, digits=0):
    if is_integer(x) and digits >= 0:
        return x
    x = double(x)
    if digits > 0:
        x = tame(x)
        return None if x is None else double(away(Fraction(x * 10.0**digits))) / 10.0**digits
    if not math.isfinite(x):
        return None
    if digits == 0:
        found = away(Fraction(x))
    else:
        scale = 10.0**-digits
        found = int(double(away(Fraction(x / scale))) * scale)
    return within(found)


def tame(x):
    if math.isnan(x) or abs(x) > 2.0**67:
        return None
    return 0.0 if abs(x) < 2.0**-67 else x


def _sign(x):
    x = x if is_integer(x) else double(x)
    return None if math.isnan(x) else (x > 0) - (x < 0)


def _sqrt(x):
    x = double(x)
    return None if x < 0 else math.sqrt(x)


def to_thirty_bits(number):
    """The nearest number of 30 bits, halves to even."""
    fraction, exponent = math.frexp(number)
    return math.ldexp(round(Fraction(fraction) * 2**30), exponent - 30)


def _ln(x):
    return _log(math.e, x)


def _log(base, x):
    x = tame(double(x))
    if x is None or x <= 0:
        return None
    return to_thirty_bits(math.log(x) if base == math.e else math.log(x) / math.log(base))


def _exp(x):
    x = double(x)
    if math.isnan(x) or x > 46:
        return None
    return 0.0 if x < -46 else to_thirty_bits(math.exp(x))


def _modulo(x, y):
    if y == 0:
        return None
    rest = abs(x) % abs(y)
    return -rest if x < 0 else rest


def _width_bucket(x, low, high, parts):
    if isinstance(x, float) and math.isnan(x):
        return None
    edges = [Fraction(low) + i * (Fraction(high) - Fraction(low)) / parts for i in range(parts + 1)]
    if isinstance(x, float):
        return sum(x >= double(edge) for edge in edges)
    return sum(Fraction(x) >= edge for edge in edges)


def _lower(s):
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in s)


def _upper(s):
    return "".join(chr(ord(c) - 32) if "a" <= c <= "z" else c for c in s)


def _trim(s):
    return s.strip(" ")


def _length(s):
    return len(s)


def _substring(s, start, length=None):
    return s[start - 1 :] if length is None else s[start - 1 : start - 1 + length]


def _right(s, length):
    return "".join(reversed("".join(reversed(s))[:length]))


def _lpad(s, length, fill):
    missing = length - len(s)
    return s[:length] if missing <= 0 else "".join(fill[i % len(fill)] for i in range(missing)) + s


def _rpad(s, length, fill):
    missing = length - len(s)
    return s[:length] if missing <= 0 else s + "".join(fill[i % len(fill)] for i in range(missing))


def _position(s, other):
    return next((i + 1 for i in range(len(s) + 1) if s[i : i + len(other)] == other), 0)


def _concat(*parts):
    return "".join(parts)


def _starts_with(s, other):
    return s[: len(other)] == other


def _ends_with(s, other):
    return other == "" or s[-len(other) :] == other


def _contains(s, other):
    return other in s


def _like(s, pattern):
    written = "".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in pattern)
    return re.fullmatch(written, s, re.DOTALL) is not None


def _replace(s, old, new):
    return new.join(s.split(old))


def plain(moment):
    """Points in time as those of UTC, without a zone."""
    if isinstance(moment, datetime.datetime) and moment.tzinfo is not None:
        return moment.astimezone(datetime.UTC).replace(tzinfo=None)
    return moment


def day_of(moment):
    moment = plain(moment)
    return moment.date() if isinstance(moment, datetime.datetime) else moment


def _year(d):
    return day_of(d).year


def _quarter(d):
    return {1: 1, 2: 1, 3: 1, 4: 2, 5: 2, 6: 2, 7: 3, 8: 3, 9: 3}.get(day_of(d).month, 4)


def _month(d):
    return day_of(d).month


def _day(d):
    return day_of(d).day


def _day_of_week(d):
    # 2001-01-01 was a Monday.
    return (day_of(d).toordinal() - datetime.date(2001, 1, 1).toordinal()) % 7 + 1


def _day_of_year(d):
    return day_of(d).toordinal() - datetime.date(day_of(d).year, 1, 1).toordinal() + 1


def _hour(d):
    return plain(d).hour


def _minute(d):
    return plain(d).minute


def _second(d):
    return plain(d).second


def _week(d):
    # The week of a day is that of its Thursday, counted in the Thursday's year.
    day = day_of(d)
    thursday = day.toordinal() - (_day_of_week(day) - 4)
    year = datetime.date.fromordinal(thursday).year
    return (thursday - datetime.date(year, 1, 1).toordinal()) // 7 + 1


def _epoch(d):
    d = plain(d)
    if not isinstance(d, datetime.datetime):
        d = datetime.datetime.combine(d, datetime.time())
    return (d - datetime.datetime(1970, 1, 1)) // datetime.timedelta(seconds=1)


def _date_add(unit, amount, d):
    if unit == "month":
        months = 12 * d.year + d.month - 1 + amount
        year, month = months // 12, months % 12 + 1
        for day in range(d.day, d.day - 4, -1):
            try:
                return d.replace(year=year, month=month, day=day)
            except ValueError:
                continue
        return None
    try:
        return d + datetime.timedelta(*((amount, 0) if unit == "day" else (0, amount)))
    except OverflowError:
        return None


def _date_trunc(unit, d):
    if unit == "hour":
        return d.replace(minute=0, second=0, microsecond=0)
    day = day_of(d)
    if unit == "week":
        return datetime.date.fromordinal(day.toordinal() - _day_of_week(day) + 1)
    if unit == "quarter":
        return datetime.date(day.year, 3 * _quarter(day) - 2, 1)
    return {"year": day.replace(month=1, day=1), "month": day.replace(day=1), "day": day}[unit]


def _date_difference(a, b):
    return day_of(a).toordinal() - day_of(b).toordinal()


def cast(value, kind):
    """A value as another type, by the name of the type."""
    if value is None:
        return None
    if isinstance(value, str) and kind != "text":
        text = value.strip(" ")
        if kind == "integer":
            return int(text) if re.fullmatch("[+-]?[0-9]{1,18}", text) else None
        if kind == "float":
            good = re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)", text) and len(text.lstrip("+-")) <= 40
            return float(text) if good else None
        if not re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
            return None
        try:
            return datetime.date(int(text[:4]), int(text[5:7]), int(text[8:]))
        except ValueError:
            return None
    if kind == "text":
        if isinstance(value, bool):
            return "true" if value else "false"
        return value.isoformat() if isinstance(value, datetime.date) else str(value)
    if kind == "integer":
        return int(value) if isinstance(value, bool) else _round(value)
    if kind == "float":
        return double(value)
    if kind == "date":
        return day_of(value)
    if kind == "timestamp":
        value = plain(value)
        if not isinstance(value, datetime.datetime):
            value = datetime.datetime.combine(value, datetime.time())
        return value
    assert kind == {bool: "boolean"}.get(type(value), kind)
    return value
