"""Orders and their lines, after TPC-H: a customer is protected; parts, suppliers and nations are public."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow
from tests.corpus.world import Private, World, days, decimals

import discreet as dp

CUSTOMERS, ORDERS, PARTS, SUPPLIERS = 1200, 5000, 160, 40
SEGMENTS = ["AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY"]
PRIORITIES = ["1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW"]
MODES = ["AIR", "FOB", "MAIL", "RAIL", "REG AIR", "SHIP", "TRUCK"]
INSTRUCTIONS = ["COLLECT COD", "DELIVER IN PERSON", "NONE", "TAKE BACK RETURN"]
REGIONS = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"]
NATIONS = [
    ("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0),
    ("FRANCE", 3), ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4), ("JAPAN", 2),
    ("JORDAN", 4), ("KENYA", 0), ("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1), ("CHINA", 2),
    ("ROMANIA", 3), ("SAUDI ARABIA", 4), ("VIETNAM", 2), ("RUSSIA", 3), ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
]  # fmt: skip
FIRST, LAST = datetime.date(1992, 1, 1), datetime.date(1998, 12, 31)


def world() -> World:
    """Make the tables; a line belongs to the customer of its order."""
    rows = tables()
    if hasattr(dp, "through"):
        rows["lineitem"] = rows["lineitem"].drop_columns(["l_custkey"])
        owner: object = dp.through("orders", on="l_orderkey", to="o_orderkey")
    else:
        owner = "l_custkey"
    return World("trade", rows, declarations(owner))


def declarations(owner: object) -> dict[str, Private]:
    """What is declared, if lines belong to `owner`."""
    dates = dp.Dates(FIRST, LAST)
    return {
        "customer": Private(
            "c_custkey",
            {
                "c_nationkey": dp.Keys(range(25)),
                "c_acctbal": dp.Bounds(-1000, 10000, step=0.01),
                "c_mktsegment": dp.Keys(SEGMENTS),
            },
        ),
        "orders": Private(
            "o_custkey",
            {
                "o_orderstatus": dp.Keys(["F", "O", "P"]),
                "o_totalprice": dp.Bounds(0, 600000, step=0.01),
                "o_orderdate": dates,
                "o_orderpriority": dp.Keys(PRIORITIES),
                "o_shippriority": dp.Keys([0]),
            },
        ),
        "lineitem": Private(
            owner,
            {
                "l_partkey": dp.Keys(range(1, PARTS + 1)),
                "l_suppkey": dp.Keys(range(1, SUPPLIERS + 1)),
                "l_linenumber": dp.Keys(range(1, 8)),
                "l_quantity": dp.Bounds(0, 50),
                "l_extendedprice": dp.Bounds(0, 100000, step=0.01),
                "l_discount": dp.Bounds(0, 0.1, step=0.01),
                "l_tax": dp.Bounds(0, 0.08, step=0.01),
                "l_returnflag": dp.Keys(["A", "N", "R"]),
                "l_linestatus": dp.Keys(["F", "O"]),
                "l_shipdate": dates,
                "l_commitdate": dates,
                "l_receiptdate": dates,
                "l_shipmode": dp.Keys(MODES),
                "l_shipinstruct": dp.Keys(INSTRUCTIONS),
            },
        ),
    }


def tables() -> dict[str, pyarrow.Table]:
    """Make all rows."""
    draw = np.random.default_rng(71)
    return public_tables(draw) | private_tables(draw)


def public_tables(draw: np.random.Generator) -> dict[str, pyarrow.Table]:
    """Parts, suppliers, nations, regions."""
    parts, suppliers = np.arange(1, PARTS + 1), np.arange(1, SUPPLIERS + 1)
    pairs = [(part, (part * 7 + k * 11) % SUPPLIERS + 1) for part in parts for k in range(3)]
    types = [
        f"{a} {b} {c}"
        for a in ("STANDARD", "SMALL", "PROMO", "ECONOMY")
        for b in ("ANODIZED", "POLISHED")
        for c in ("TIN", "STEEL", "BRASS")
    ]
    return {
        "region": pyarrow.table({"r_regionkey": np.arange(5), "r_name": REGIONS}),
        "nation": pyarrow.table(
            {
                "n_nationkey": np.arange(25),
                "n_name": [name for name, _ in NATIONS],
                "n_regionkey": [region for _, region in NATIONS],
            }
        ),
        "supplier": pyarrow.table(
            {
                "s_suppkey": suppliers,
                "s_name": [f"Supplier#{number:03d}" for number in suppliers],
                "s_nationkey": draw.integers(0, 25, SUPPLIERS),
                "s_acctbal": decimals(draw.integers(-99999, 999999, SUPPLIERS)),
                "s_comment": draw.choice(["quick", "Customer Complaints twice", "slow Äpfel"], SUPPLIERS),
            }
        ),
        "part": pyarrow.table(
            {
                "p_partkey": parts,
                "p_name": [f"{draw.choice(['green', 'forest', 'pink'])} part {number}" for number in parts],
                "p_mfgr": [f"Manufacturer#{number % 5 + 1}" for number in parts],
                "p_brand": [f"Brand#{number % 5 + 1}{number % 3 + 1}" for number in parts],
                "p_type": draw.choice(types, PARTS),
                "p_size": draw.integers(1, 51, PARTS),
                "p_container": draw.choice(["SM CASE", "MED BOX", "LG PACK", "JUMBO JAR"], PARTS),
                "p_retailprice": decimals(90000 + parts * 10),
            }
        ),
        "partsupp": pyarrow.table(
            {
                "ps_partkey": [part for part, _ in pairs],
                "ps_suppkey": [supplier for _, supplier in pairs],
                "ps_availqty": draw.integers(1, 10000, len(pairs)),
                "ps_supplycost": decimals(draw.integers(100, 100000, len(pairs))),
            }
        ),
    }


def private_tables(draw: np.random.Generator) -> dict[str, pyarrow.Table]:
    """Customers, their orders, and the lines of those."""
    custkey = np.arange(1, CUSTOMERS + 1)
    nation = draw.integers(0, 25, CUSTOMERS)
    ordered = draw.choice(custkey[custkey % 3 != 0], ORDERS)
    orderdate = draw.integers(0, 2405, ORDERS)
    order = np.repeat(np.arange(ORDERS), draw.integers(1, 6, ORDERS))
    count = len(order)
    number = np.concatenate([np.arange(1, k + 1) for k in np.bincount(order)])
    partkey = draw.integers(1, PARTS + 1, count)
    quantity = draw.integers(1, 51, count)
    price = quantity * (90000 + partkey * 10)
    ship = orderdate[order] + draw.integers(1, 122, count)
    commit = orderdate[order] + draw.integers(30, 91, count)
    receipt = ship + draw.integers(1, 31, count)
    discount, tax = draw.integers(0, 11, count), draw.integers(0, 9, count)
    paid = price * (100 - discount) * (100 + tax) // 10000
    total = np.bincount(order, paid).astype(np.int64)
    back = np.where(receipt <= 1263, draw.choice(["A", "R"], count), "N")
    return {
        "customer": pyarrow.table(
            {
                "c_custkey": custkey,
                "c_name": [f"Customer#{key:06d}" for key in custkey],
                "c_nationkey": nation,
                "c_phone": [
                    f"{n + 10}-{draw.integers(100, 999)}-{draw.integers(1000, 9999)}" for n in nation
                ],
                "c_acctbal": decimals(draw.integers(-99999, 999999, CUSTOMERS)),
                "c_mktsegment": draw.choice(SEGMENTS, CUSTOMERS),
            }
        ),
        "orders": pyarrow.table(
            {
                "o_orderkey": np.arange(ORDERS),
                "o_custkey": ordered,
                "o_orderstatus": draw.choice(["F", "O", "P"], ORDERS, p=[0.48, 0.48, 0.04]),
                "o_totalprice": decimals(total),
                "o_orderdate": days("1992-01-01", orderdate),
                "o_orderpriority": draw.choice(PRIORITIES, ORDERS),
                "o_shippriority": np.zeros(ORDERS, np.int64),
                "o_comment": draw.choice(
                    ["special deposits requests", "carefully", "no special wishes", "naïve café"], ORDERS
                ),
            }
        ),
        "lineitem": pyarrow.table(
            {
                "l_orderkey": order,
                "l_custkey": ordered[order],
                "l_partkey": partkey,
                "l_suppkey": (partkey * 7 + draw.integers(0, 3, count) * 11) % SUPPLIERS + 1,
                "l_linenumber": number,
                "l_quantity": quantity,
                "l_extendedprice": decimals(price),
                "l_discount": decimals(discount, 4),
                "l_tax": decimals(tax, 4),
                "l_returnflag": back,
                "l_linestatus": np.where(ship > 1263, "O", "F"),
                "l_shipdate": days("1992-01-01", ship),
                "l_commitdate": days("1992-01-01", commit),
                "l_receiptdate": days("1992-01-01", receipt),
                "l_shipinstruct": draw.choice(INSTRUCTIONS, count),
                "l_shipmode": draw.choice(MODES, count),
            }
        ),
    }
