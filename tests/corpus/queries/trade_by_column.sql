-- The same questions where every private row names its customer, and in the manner of papers on joins:
-- counts and sums over chains, stars and cycles of tables.
-- world: trade_by_column

-- name: lines of orders
SELECT COUNT(*) AS n FROM orders, lineitem WHERE o_orderkey = l_orderkey AND o_custkey = l_custkey;

-- name: customers, orders and lines
SELECT COUNT(*) AS n
FROM customer, orders, lineitem
WHERE customer.c_custkey = orders.o_custkey AND orders.o_orderkey = lineitem.l_orderkey
  AND orders.o_custkey = lineitem.l_custkey;

-- name: revenue of a chain
SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer JOIN orders ON c_custkey = o_custkey
              JOIN lineitem ON o_orderkey = l_orderkey AND o_custkey = l_custkey
WHERE c_mktsegment = 'BUILDING' AND o_orderdate < '1995-03-15' AND l_shipdate > '1995-03-15';

-- name: priority by shipping mode
SELECT l_shipmode, COUNT(*) AS n
FROM orders JOIN lineitem ON o_orderkey = l_orderkey AND o_custkey = l_custkey
WHERE o_orderpriority IN ('1-URGENT', '2-HIGH')
GROUP BY l_shipmode ORDER BY n DESC;

-- name: supplier and customer in one nation
SELECT COUNT(*) AS n
FROM customer c, orders o, lineitem l, supplier s, nation n, region r
WHERE c.c_custkey = o.o_custkey AND o.o_custkey = l.l_custkey AND l.l_orderkey = o.o_orderkey
  AND l.l_suppkey = s.s_suppkey AND c.c_nationkey = s.s_nationkey AND s.s_nationkey = n.n_nationkey
  AND n.n_regionkey = r.r_regionkey AND r.r_name = 'EUROPE';

-- name: quantity by region of the supplier
SELECT r_name, SUM(l_quantity) AS quantity
FROM region, nation, supplier, lineitem
WHERE r_regionkey = n_regionkey AND n_nationkey = s_nationkey AND s_suppkey = l_suppkey
GROUP BY r_name;

-- name: count of orders with a returned line
SELECT COUNT(*) AS n
FROM orders o
WHERE EXISTS (SELECT 1 FROM lineitem l WHERE l.l_custkey = o.o_custkey AND l.l_orderkey = o.o_orderkey AND l.l_returnflag = 'R');

-- name: customers who never returned anything
SELECT COUNT(*) AS n
FROM customer
WHERE c_custkey NOT IN (SELECT l_custkey FROM lineitem WHERE l_returnflag = 'R');

-- name: pairs of lines of one order
SELECT COUNT(*) AS pairs
FROM lineitem a JOIN lineitem b ON a.l_custkey = b.l_custkey AND a.l_orderkey = b.l_orderkey
WHERE a.l_linenumber < b.l_linenumber;

-- name: triangle of lines and orders
SELECT COUNT(*) AS n
FROM orders o1, orders o2, lineitem l
WHERE o1.o_custkey = o2.o_custkey AND o1.o_custkey = l.l_custkey AND o1.o_orderkey = l.l_orderkey
  AND o1.o_orderdate < o2.o_orderdate AND l.l_quantity > 45;

-- name: pairs of customers of one nation
-- never: equate the persons of both sides, as in ON a.c_custkey =
SELECT COUNT(*) AS pairs FROM customer a, customer b WHERE a.c_nationkey = b.c_nationkey AND a.c_custkey < b.c_custkey;

-- name: lines of two customers with one part
-- never: equate the persons of both sides, as in ON a.l_custkey =
SELECT COUNT(*) AS pairs FROM lineitem a JOIN lineitem b ON a.l_partkey = b.l_partkey WHERE a.l_custkey <> b.l_custkey;

-- name: distinct parts per segment
SELECT c_mktsegment, COUNT(DISTINCT l_partkey) AS parts
FROM customer JOIN lineitem ON c_custkey = l_custkey
GROUP BY c_mktsegment;

-- name: sum of order totals in a nation
SELECT SUM(o_totalprice) AS total
FROM orders JOIN customer ON c_custkey = o_custkey JOIN nation ON n_nationkey = c_nationkey
WHERE n_name = 'JAPAN';

-- name: suppliers by lines of promoted parts
SELECT s_name, COUNT(*) AS n
FROM lineitem JOIN part ON p_partkey = l_partkey JOIN supplier ON s_suppkey = l_suppkey
WHERE p_type LIKE 'PROMO%'
GROUP BY s_name
ORDER BY n DESC
LIMIT 5;
