"""Which rows of a person enter a join, decided slowly in plain Python."""

from __future__ import annotations

from collections import Counter, defaultdict

from data import oracle
from data.relation_oracle import ordered
from discreet.data.compile import join_limits
from discreet.data.facts import fanout
from discreet.data.facts.fanout import is_crowded
from discreet.data.facts.relation_facts import columns_of_relation
from discreet.data.language.relations import JoinPersons
from discreet.data.language.types import Type


def smaller(monkeypatch, root):
    """Let joins take few rows of a person, so that small tables have crowds."""
    monkeypatch.setattr(fanout, "SMALL_FAN_OUT", root)
    for module in (join_limits, fanout):
        monkeypatch.setattr(module, "LARGEST_MEETING", root**2)


SPELLED = {Type.INTEGER, Type.TEXT, Type.BOOLEAN, Type.DATE}


def entering(tables, salt, most):
    """What `relation_oracle.rows` asks: the rows of both sides that enter a join."""

    def thin(relation, left, right):
        if not is_crowded(relation, tables):
            return left, right
        is_private = isinstance(relation, JoinPersons)
        sides = (left, right if is_private else [(None, row) for row in right])
        facts = columns_of_relation(relation.left if is_private else relation.source, tables)
        return thinned(relation, sides, facts, salt, most), right

    return thin


def thinned(relation, sides, facts, salt, most):
    (left, right), is_public = sides, not isinstance(relation, JoinPersons)
    sizes = Counter(cell(who, row, relation, "right") for who, row in right)

    def found(who, row):
        values = cell(who, row, relation, "left")
        if None in values[1:]:
            return 0
        return sizes[(None, *values[1:]) if is_public else values]

    outcome = Counter()
    for who, row in left:
        outcome[who] += found(who, row)
    crowded = {who for who, many in outcome.items() if many > most}
    staying = [one for one in left if one[0] not in crowded]
    for who in crowded:
        total = 0
        for row in turns(who, [row for owner, row in left if owner == who], facts, salt):
            many, before = found(who, row), total
            total += many
            if many == 0 or before == 0 or total <= most:
                staying.append((who, row))
    return staying


def cell(who, row, relation, side):
    """The person and what a join equates; None, which equals nothing, stays None."""
    names = [getattr(part, side) for part in relation.on]
    return (who, *(None if row[name] is None else ordered(row[name]) for name in names))


def turns(who, rows, facts, salt):
    """A person's rows in the order of their lots."""
    alike = defaultdict(list)
    for row in rows:
        texts = [whole(row[name]) for name, one in facts.items() if one.type in SPELLED]
        alike["".join(oracle.spelled(text) for text in texts)].append(row)
    lots = []
    for texts, group in alike.items():
        group.sort(
            key=lambda row: [
                (row[name] is None, row[name] is not None and ordered(row[name]))
                for name, one in facts.items()
                if one.type not in SPELLED
            ]
        )
        for number, row in enumerate(group):
            lots.append((oracle.digest(f"{salt.value}|row|{number}|{texts}{who}"), row))
    return [row for _, row in sorted(lots, key=lambda one: one[0])]


def whole(value):
    return int(value) if isinstance(value, float) else value
