"""What people ask of tables that refer to each other: in the manner of three well-known collections.

Wholesale reports group line items by what is public about them and their orders; film questions join many notes about
one film; pattern questions count matches over joins, with the customer or the supplier as the one to protect.
"""

# ruff: noqa: E501, S608
from __future__ import annotations

REVENUE = "l_extendedprice * (1 - l_discount)"

REPORTS = {
    "pricing": """SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS quantity, AVG(l_extendedprice) AS price, COUNT(*) AS n
        FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY GROUP BY l_returnflag, l_linestatus""",
    "unshipped": f"""SELECT SUM({REVENUE}) AS revenue, COUNT(*) AS n FROM customer, orders, lineitem
        WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
        AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'""",
    "late orders": """SELECT o_orderpriority, COUNT(*) AS n FROM orders SEMI JOIN lineitem
        ON l_orderkey = o_orderkey AND l_commitdate < l_receiptdate
        WHERE o_orderdate >= DATE '1995-01-01' GROUP BY o_orderpriority""",
    "local suppliers": f"""SELECT n_name, SUM({REVENUE}) AS revenue FROM customer, orders, lineitem, supplier, nation, region
        WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey AND c_nationkey = s_nationkey
        AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND r_name = 'EUROPE'
        AND o_orderdate >= DATE '1994-01-01' GROUP BY n_name ORDER BY revenue DESC""",
    "forecast": """SELECT SUM(l_extendedprice * l_discount) AS revenue FROM lineitem WHERE l_shipdate >= DATE '1994-01-01'
        AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR AND l_discount BETWEEN 0.03 AND 0.08 AND l_quantity < 24""",
    "between nations": f"""SELECT supp_nation, cust_nation, l_year, SUM(volume) AS revenue FROM (
        SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, EXTRACT(YEAR FROM l_shipdate) AS l_year, {REVENUE} AS volume
        FROM supplier, lineitem, orders, customer, nation n1, nation n2 WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey
        AND c_custkey = o_custkey AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
        AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') AS shipping GROUP BY supp_nation, cust_nation, l_year""",
    "market share": f"""SELECT o_year, SUM(CASE WHEN nation = 'CHINA' THEN volume ELSE 0 END) / SUM(volume) AS share FROM (
        SELECT EXTRACT(YEAR FROM o_orderdate) AS o_year, {REVENUE} AS volume, n2.n_name AS nation
        FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region WHERE p_partkey = l_partkey
        AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey AND c_nationkey = n1.n_nationkey
        AND n1.n_regionkey = r_regionkey AND r_name = 'ASIA' AND s_nationkey = n2.n_nationkey
        AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') AS all_nations GROUP BY o_year""",
    "profit": f"""SELECT nation, SUM(amount) AS profit FROM (SELECT n_name AS nation, {REVENUE} - ps_supplycost * l_quantity AS amount
        FROM part, supplier, lineitem, partsupp, orders, nation WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey
        AND ps_partkey = l_partkey AND p_partkey = l_partkey AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey
        AND p_type LIKE '%STEEL%') AS all_profit GROUP BY nation""",
    "returned": f"""SELECT n_name, SUM({REVENUE}) AS revenue FROM customer, orders, lineitem, nation WHERE c_custkey = o_custkey
        AND l_orderkey = o_orderkey AND l_returnflag = 'R' AND c_nationkey = n_nationkey GROUP BY n_name""",
    "ship modes": """SELECT l_shipmode, SUM(CASE WHEN o_orderpriority = '1-URGENT' THEN 1 ELSE 0 END) AS urgent,
        SUM(CASE WHEN o_orderpriority <> '1-URGENT' THEN 1 ELSE 0 END) AS others FROM orders, lineitem
        WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate GROUP BY l_shipmode""",
    "orders each": """SELECT c_count, COUNT(*) AS n FROM (SELECT c_custkey, LEAST(COUNT(o_orderkey), 10) AS c_count
        FROM customer LEFT JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
        GROUP BY c_custkey) AS each_customer GROUP BY c_count""",
    "promotion": f"""SELECT 100.00 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN {REVENUE} ELSE 0 END) / SUM({REVENUE}) AS promo
        FROM lineitem, part WHERE l_partkey = p_partkey AND l_shipdate >= DATE '1995-09-01'""",
    "top supplier": f"""SELECT s_name, SUM({REVENUE}) AS revenue FROM lineitem, supplier WHERE s_suppkey = l_suppkey
        AND l_shipdate >= DATE '1996-01-01' GROUP BY s_name""",
    "small quantities": """SELECT SUM(l_extendedprice) / 7.0 AS yearly FROM lineitem, part WHERE p_partkey = l_partkey
        AND p_brand = 'Brand#23' AND p_container = 'MED BOX' AND l_quantity < 15""",
    "large orders": """SELECT COUNT(*) AS n, SUM(l_quantity) AS quantity FROM customer, orders, lineitem,
        (SELECT l_orderkey AS large FROM lineitem GROUP BY l_orderkey HAVING SUM(l_quantity) > 90) AS big
        WHERE o_orderkey = big.large AND c_custkey = o_custkey AND o_orderkey = l_orderkey""",
    "discounted": f"""SELECT SUM({REVENUE}) AS revenue FROM lineitem, part WHERE (p_partkey = l_partkey AND p_brand = 'Brand#12'
        AND l_quantity BETWEEN 1 AND 20 AND l_shipmode IN ('AIR')) OR (p_partkey = l_partkey AND p_brand = 'Brand#23'
        AND l_quantity BETWEEN 10 AND 40 AND l_shipmode IN ('AIR', 'TRUCK'))""",
    "without orders": """SELECT COUNT(*) AS n, SUM(c_acctbal) AS balance FROM customer ANTI JOIN orders ON o_custkey = c_custkey
        WHERE SUBSTRING(c_phone FROM 1 FOR 2) IN ('10', '12')""",
}

FILMS = {
    "ranked": """company_type AS ct, info_type AS it, movie_companies AS mc, movie_info_idx AS mi_idx, title AS t
        WHERE ct.kind = 'production companies' AND it.info = 'top 250 rank' AND mc.note NOT LIKE '%(as a studio)%'
        AND ct.id = mc.company_type_id AND t.id = mc.movie_id AND t.id = mi_idx.movie_id AND mc.movie_id = mi_idx.movie_id
        AND it.id = mi_idx.info_type_id""",
    "keyword and company": """company_name AS cn, keyword AS k, movie_companies AS mc, movie_keyword AS mk, title AS t
        WHERE cn.country_code = '[de]' AND k.keyword = 'hero' AND cn.id = mc.company_id AND mc.movie_id = t.id
        AND t.id = mk.movie_id AND mk.keyword_id = k.id AND mc.movie_id = mk.movie_id""",
    "voices": """cast_info AS ci, company_name AS cn, movie_companies AS mc, name AS n, role_type AS rt, title AS t
        WHERE ci.note = '(voice)' AND cn.country_code = '[us]' AND n.gender = 'f' AND rt.role = 'actress'
        AND n.id = ci.person_id AND ci.movie_id = t.id AND t.id = mc.movie_id AND mc.company_id = cn.id
        AND ci.role_id = rt.id AND ci.movie_id = mc.movie_id""",
    "sequels": """company_name AS cn, company_type AS ct, keyword AS k, link_type AS lt, movie_companies AS mc,
        movie_keyword AS mk, movie_link AS ml, title AS t WHERE cn.country_code <> '[us]' AND lt.link LIKE '%follow%'
        AND lt.id = ml.link_type_id AND ml.movie_id = t.id AND t.id = mk.movie_id AND mk.keyword_id = k.id
        AND t.id = mc.movie_id AND mc.company_type_id = ct.id AND mc.company_id = cn.id AND ml.movie_id = mk.movie_id
        AND ml.movie_id = mc.movie_id AND mk.movie_id = mc.movie_id""",
    "rated": """company_name AS cn, company_type AS ct, info_type AS it, info_type AS it2, kind_type AS kt,
        movie_companies AS mc, movie_info AS mi, movie_info_idx AS mi_idx, title AS t WHERE kt.kind = 'movie'
        AND mi.movie_id = t.id AND it2.id = mi.info_type_id AND kt.id = t.kind_id AND mc.movie_id = t.id
        AND cn.id = mc.company_id AND ct.id = mc.company_type_id AND mi_idx.movie_id = t.id AND it.id = mi_idx.info_type_id
        AND mi.movie_id = mi_idx.movie_id AND mi.movie_id = mc.movie_id AND mi_idx.movie_id = mc.movie_id""",
    "everything": """cast_info AS ci, info_type AS it, keyword AS k, movie_info AS mi, movie_info_idx AS mi_idx,
        movie_keyword AS mk, movie_companies AS mc, name AS n, title AS t WHERE it.info = 'votes' AND n.gender = 'm'
        AND t.id = mi.movie_id AND t.id = mi_idx.movie_id AND t.id = ci.movie_id AND t.id = mk.movie_id
        AND t.id = mc.movie_id AND ci.movie_id = mi.movie_id AND mi.movie_id = mk.movie_id AND n.id = ci.person_id
        AND it.id = mi_idx.info_type_id AND k.id = mk.keyword_id AND t.production_year > 1980""",
    "without the film": """movie_keyword AS mk, cast_info AS ci, keyword AS k WHERE mk.movie_id = ci.movie_id
        AND k.id = mk.keyword_id AND k.keyword = 'love'""",
    "a film and another note": """movie_info AS a, movie_info AS b, title AS t WHERE a.movie_id = b.movie_id
        AND a.movie_id = t.id AND a.info = 'USA' AND b.info = 'Drama'""",
}

SUPPLIERS = {
    "offers": """SELECT COUNT(*) AS n FROM supplier, partsupp, nation, part WHERE s_suppkey = ps_suppkey
        AND s_nationkey = n_nationkey AND p_partkey = ps_partkey AND n_name = 'FRANCE'""",
    "stock": """SELECT SUM(ps_supplycost) AS cost FROM partsupp, supplier, nation WHERE ps_suppkey = s_suppkey
        AND s_nationkey = n_nationkey""",
    "waiting": """SELECT COUNT(*) AS n FROM supplier, lineitem, orders, nation WHERE s_suppkey = l_suppkey
        AND o_orderkey = l_orderkey AND o_orderstatus = 'F' AND l_receiptdate > l_commitdate
        AND s_nationkey = n_nationkey""",
    "volume": f"""SELECT n_name, SUM({REVENUE}) AS revenue FROM customer, orders, lineitem, supplier, nation
        WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
        AND s_nationkey = n_nationkey GROUP BY n_name""",
    "offered and sold": """SELECT COUNT(*) AS n FROM lineitem, partsupp WHERE ps_suppkey = l_suppkey
        AND ps_partkey = l_partkey""",
}

MIXED = {
    "a path": "edges a, edges b WHERE a.target = b.source",
    "a triangle": "edges a, edges b, edges c WHERE a.target = b.source AND b.target = c.source AND c.target = a.source",
    "both ends": "nodes a, nodes b, edges e WHERE e.source = a.id AND e.target = b.id",
}
