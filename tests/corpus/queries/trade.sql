-- Orders and lines as in TPC-H, where a line belongs to the customer of its order.
-- world: trade

-- name: q01 pricing summary
SELECT l_returnflag, l_linestatus, SUM(l_quantity) AS sum_qty, SUM(l_extendedprice) AS sum_base_price,
       SUM(l_extendedprice * (1 - l_discount)) AS sum_disc_price,
       SUM(l_extendedprice * (1 - l_discount) * (1 + l_tax)) AS sum_charge,
       AVG(l_quantity) AS avg_qty, AVG(l_extendedprice) AS avg_price, AVG(l_discount) AS avg_disc,
       COUNT(*) AS count_order
FROM lineitem
WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY
GROUP BY l_returnflag, l_linestatus
ORDER BY l_returnflag, l_linestatus;

-- name: q02 bought from the cheapest supplier
-- refused: give every column a name of its own with AS, compare
SELECT r_name, COUNT(*) AS lines_at_minimum_cost
FROM lineitem, part, partsupp, supplier, nation, region
WHERE l_partkey = p_partkey AND l_suppkey = s_suppkey AND ps_partkey = p_partkey AND ps_suppkey = s_suppkey
  AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey AND p_type LIKE '%BRASS'
  AND ps_supplycost = (SELECT MIN(ps_supplycost) FROM partsupp WHERE ps_partkey = p_partkey)
GROUP BY r_name;

-- name: q03 unshipped revenue by priority
SELECT o_orderpriority, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
GROUP BY o_orderpriority
ORDER BY revenue DESC;

-- name: q03 as it is, by order
-- never: group by 'o_orderdate' or 'o_shippriority', or ask without
SELECT l_orderkey, SUM(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate, o_shippriority
FROM customer, orders, lineitem
WHERE c_mktsegment = 'BUILDING' AND c_custkey = o_custkey AND l_orderkey = o_orderkey
  AND o_orderdate < DATE '1995-03-15' AND l_shipdate > DATE '1995-03-15'
GROUP BY l_orderkey, o_orderdate, o_shippriority, o_custkey
ORDER BY revenue DESC, o_orderdate
LIMIT 10;

-- name: q04 order priority checking
SELECT o_orderpriority, COUNT(*) AS order_count
FROM orders
WHERE o_orderdate >= DATE '1993-07-01' AND o_orderdate < DATE '1993-07-01' + INTERVAL '3' MONTH
  AND EXISTS (SELECT * FROM lineitem WHERE l_orderkey = o_orderkey AND l_commitdate < l_receiptdate)
GROUP BY o_orderpriority
ORDER BY o_orderpriority;

-- name: q05 local supplier volume
SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem, supplier, nation, region
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_suppkey = s_suppkey
  AND c_nationkey = s_nationkey AND s_nationkey = n_nationkey AND n_regionkey = r_regionkey
  AND r_name = 'ASIA' AND o_orderdate >= DATE '1994-01-01' AND o_orderdate < DATE '1994-01-01' + INTERVAL '1' YEAR
GROUP BY n_name
ORDER BY revenue DESC;

-- name: q06 forecasting revenue change
SELECT SUM(l_extendedprice * l_discount) AS revenue
FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1994-01-01' + INTERVAL '1' YEAR
  AND l_discount BETWEEN 0.06 - 0.01 AND 0.06 + 0.01 AND l_quantity < 24;

-- name: q07 volume shipping
SELECT supp_nation, cust_nation, l_year, SUM(volume) AS revenue
FROM (SELECT n1.n_name AS supp_nation, n2.n_name AS cust_nation, EXTRACT(YEAR FROM l_shipdate) AS l_year,
             l_extendedprice * (1 - l_discount) AS volume, o_custkey
      FROM supplier, lineitem, orders, customer, nation n1, nation n2
      WHERE s_suppkey = l_suppkey AND o_orderkey = l_orderkey AND c_custkey = o_custkey
        AND s_nationkey = n1.n_nationkey AND c_nationkey = n2.n_nationkey
        AND ((n1.n_name = 'FRANCE' AND n2.n_name = 'GERMANY') OR (n1.n_name = 'GERMANY' AND n2.n_name = 'FRANCE'))
        AND l_shipdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') AS shipping
GROUP BY supp_nation, cust_nation, l_year
ORDER BY supp_nation, cust_nation, l_year;

-- name: q08 national market share
SELECT o_year, SUM(CASE WHEN nation = 'BRAZIL' THEN volume ELSE 0 END) / SUM(volume) AS mkt_share
FROM (SELECT EXTRACT(YEAR FROM o_orderdate) AS o_year, l_extendedprice * (1 - l_discount) AS volume,
             n2.n_name AS nation, o_custkey
      FROM part, supplier, lineitem, orders, customer, nation n1, nation n2, region
      WHERE p_partkey = l_partkey AND s_suppkey = l_suppkey AND l_orderkey = o_orderkey AND o_custkey = c_custkey
        AND c_nationkey = n1.n_nationkey AND n1.n_regionkey = r_regionkey AND r_name = 'AMERICA'
        AND s_nationkey = n2.n_nationkey AND o_orderdate BETWEEN DATE '1995-01-01' AND DATE '1996-12-31') AS all_nations
GROUP BY o_year
ORDER BY o_year;

-- name: q09 product type profit
SELECT nation, o_year, SUM(amount) AS sum_profit
FROM (SELECT n_name AS nation, EXTRACT(YEAR FROM o_orderdate) AS o_year,
             l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity AS amount, o_custkey
      FROM part, supplier, lineitem, partsupp, orders, nation
      WHERE s_suppkey = l_suppkey AND ps_suppkey = l_suppkey AND ps_partkey = l_partkey AND p_partkey = l_partkey
        AND o_orderkey = l_orderkey AND s_nationkey = n_nationkey AND p_name LIKE '%green%') AS profit
GROUP BY nation, o_year
ORDER BY nation, o_year DESC;

-- name: q10 returned items by nation
SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue, COUNT(DISTINCT c_custkey) AS customers
FROM customer, orders, lineitem, nation
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND o_orderdate >= DATE '1993-10-01'
  AND o_orderdate < DATE '1993-10-01' + INTERVAL '3' MONTH AND l_returnflag = 'R' AND c_nationkey = n_nationkey
GROUP BY n_name
ORDER BY revenue DESC
LIMIT 20;

-- name: q10 as it is, by customer
-- never: ask without GROUP BY c_custkey
SELECT c_custkey, c_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM customer, orders, lineitem
WHERE c_custkey = o_custkey AND l_orderkey = o_orderkey AND l_returnflag = 'R'
GROUP BY c_custkey, c_name
ORDER BY revenue DESC
LIMIT 20;

-- name: q11 value of stock that customers ordered
SELECT SUM(ps_supplycost * l_quantity) AS value
FROM lineitem, partsupp, supplier, nation
WHERE l_partkey = ps_partkey AND l_suppkey = ps_suppkey AND ps_suppkey = s_suppkey
  AND s_nationkey = n_nationkey AND n_name = 'GERMANY';

-- name: q12 shipping modes and order priority
SELECT l_shipmode,
       SUM(CASE WHEN o_orderpriority = '1-URGENT' OR o_orderpriority = '2-HIGH' THEN 1 ELSE 0 END) AS high_line_count,
       SUM(CASE WHEN o_orderpriority <> '1-URGENT' AND o_orderpriority <> '2-HIGH' THEN 1 ELSE 0 END) AS low_line_count
FROM orders, lineitem
WHERE o_orderkey = l_orderkey AND l_shipmode IN ('MAIL', 'SHIP') AND l_commitdate < l_receiptdate
  AND l_shipdate < l_commitdate AND l_receiptdate >= DATE '1994-01-01'
  AND l_receiptdate < DATE '1994-01-01' + INTERVAL '1' YEAR
GROUP BY l_shipmode
ORDER BY l_shipmode;

-- name: q13 customer distribution
SELECT c_count, COUNT(*) AS custdist
FROM (SELECT c_custkey, LEAST(COUNT(o_orderkey), 30) AS c_count
      FROM customer LEFT OUTER JOIN orders ON c_custkey = o_custkey AND o_comment NOT LIKE '%special%requests%'
      GROUP BY c_custkey) AS c_orders
GROUP BY c_count
ORDER BY custdist DESC, c_count DESC;

-- name: q14 promotion effect
SELECT 100.00 * SUM(CASE WHEN p_type LIKE 'PROMO%' THEN l_extendedprice * (1 - l_discount) ELSE 0 END)
       / SUM(l_extendedprice * (1 - l_discount)) AS promo_revenue
FROM lineitem, part
WHERE l_partkey = p_partkey AND l_shipdate >= DATE '1995-09-01' AND l_shipdate < DATE '1995-09-01' + INTERVAL '1' MONTH;

-- name: q15 top supplier
WITH revenue AS (
  SELECT l_suppkey AS supplier_no, SUM(l_extendedprice * (1 - l_discount)) AS total_revenue
  FROM lineitem
  WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + INTERVAL '3' MONTH
  GROUP BY l_suppkey)
SELECT s_suppkey, s_name, total_revenue
FROM supplier, revenue
WHERE s_suppkey = supplier_no AND total_revenue = (SELECT MAX(total_revenue) FROM revenue)
ORDER BY s_suppkey;

-- name: q16 customers by part and supplier
SELECT p_brand, p_size, COUNT(DISTINCT o_custkey) AS customer_cnt
FROM lineitem, orders, part
WHERE p_partkey = l_partkey AND o_orderkey = l_orderkey AND p_brand <> 'Brand#41' AND p_type NOT LIKE 'SMALL POLISHED%'
  AND p_size IN (49, 14, 23, 45, 19, 3, 36, 9)
  AND l_suppkey NOT IN (SELECT s_suppkey FROM supplier WHERE s_comment LIKE '%Customer%Complaints%')
GROUP BY p_brand, p_size
ORDER BY customer_cnt DESC, p_brand, p_size;

-- name: q17 small-quantity-order revenue
-- within: 0.001
SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly
FROM lineitem, part
WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX' AND l_quantity < 5;

-- name: q17 as it is, below a part's average
-- never: equate the persons of both, as in WHERE d.patient =
SELECT SUM(l_extendedprice) / 7.0 AS avg_yearly
FROM lineitem, part
WHERE p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container = 'MED BOX'
  AND l_quantity < (SELECT 0.2 * AVG(l_quantity) FROM lineitem WHERE l_partkey = p_partkey);

-- name: q18 large volume customers, how many
SELECT COUNT(DISTINCT o_custkey) AS customers, COUNT(*) AS large_orders
FROM orders
WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING SUM(l_quantity) > 150);

-- name: q18 as it is, by customer
-- never: group by 'o_orderdate', or ask without GROUP BY c_custkey
SELECT c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice, SUM(l_quantity) AS quantity
FROM customer, orders, lineitem
WHERE o_orderkey IN (SELECT l_orderkey FROM lineitem GROUP BY l_orderkey HAVING SUM(l_quantity) > 150)
  AND c_custkey = o_custkey AND o_orderkey = l_orderkey
GROUP BY c_name, c_custkey, o_orderkey, o_orderdate, o_totalprice
ORDER BY o_totalprice DESC, o_orderdate
LIMIT 100;

-- name: q19 discounted revenue
SELECT SUM(l_extendedprice * (1 - l_discount)) AS revenue
FROM lineitem, part
WHERE (p_partkey = l_partkey AND p_brand = 'Brand#12' AND p_container IN ('SM CASE', 'MED BOX')
       AND l_quantity >= 1 AND l_quantity <= 21 AND p_size BETWEEN 1 AND 25 AND l_shipmode IN ('AIR', 'REG AIR'))
   OR (p_partkey = l_partkey AND p_brand = 'Brand#23' AND p_container IN ('LG PACK', 'MED BOX')
       AND l_quantity >= 10 AND l_quantity <= 40 AND p_size BETWEEN 1 AND 40 AND l_shipmode IN ('AIR', 'REG AIR'));

-- name: q20 lines from suppliers with much in stock
SELECT COUNT(*) AS n
FROM lineitem, supplier, nation
WHERE l_suppkey = s_suppkey AND s_nationkey = n_nationkey AND n_name = 'CANADA'
  AND s_suppkey IN (SELECT ps_suppkey FROM partsupp
                    WHERE ps_partkey IN (SELECT p_partkey FROM part WHERE p_name LIKE 'forest%')
                      AND ps_availqty > 1000);

-- name: q21 suppliers who kept orders waiting
SELECT s_name, COUNT(*) AS numwait
FROM supplier, lineitem l1, orders, nation
WHERE s_suppkey = l1.l_suppkey AND o_orderkey = l1.l_orderkey AND o_orderstatus = 'F'
  AND l1.l_receiptdate > l1.l_commitdate AND s_nationkey = n_nationkey
  AND EXISTS (SELECT * FROM lineitem l2 WHERE l2.l_orderkey = l1.l_orderkey AND l2.l_suppkey <> l1.l_suppkey)
GROUP BY s_name
ORDER BY numwait DESC, s_name
LIMIT 100;

-- name: q22 global sales opportunity
SELECT cntrycode, COUNT(*) AS numcust, SUM(c_acctbal) AS totacctbal
FROM (SELECT c_custkey, SUBSTRING(c_phone FROM 1 FOR 2) AS cntrycode, c_acctbal
      FROM customer
      WHERE SUBSTRING(c_phone FROM 1 FOR 2) IN ('13', '31', '23', '29', '30', '18', '17')
        AND c_acctbal > 4500.00
        AND NOT EXISTS (SELECT * FROM orders WHERE o_custkey = c_custkey)) AS custsale
GROUP BY cntrycode
ORDER BY cntrycode;

-- name: q22 with the average in a subquery
-- refused: ask for the number first, and write what was released in
SELECT COUNT(*) AS numcust
FROM customer
WHERE c_acctbal > (SELECT AVG(c_acctbal) FROM customer WHERE c_acctbal > 0.00);

-- name: lines by year and quarter
SELECT EXTRACT(YEAR FROM l_shipdate) AS y, EXTRACT(QUARTER FROM l_shipdate) AS q, COUNT(*) AS n
FROM lineitem GROUP BY 1, 2 ORDER BY 1, 2;

-- name: segments by region
SELECT r_name, c_mktsegment, COUNT(*) AS customers, ROUND(AVG(c_acctbal), 2) AS balance
FROM region JOIN nation ON r_regionkey = n_regionkey JOIN customer ON c_nationkey = n_nationkey
GROUP BY r_name, c_mktsegment
ORDER BY r_name, c_mktsegment;

-- name: customers without orders
SELECT c_mktsegment, COUNT(*) AS silent
FROM customer LEFT JOIN orders ON o_custkey = c_custkey
WHERE o_orderkey IS NULL
GROUP BY c_mktsegment;

-- name: orders per customer
SELECT AVG(n) AS mean, MAX(n) AS most
FROM (SELECT o_custkey, LEAST(COUNT(*), 60) AS n FROM orders GROUP BY o_custkey) AS per_customer;

-- name: delay in days by mode
SELECT l_shipmode, AVG(DATEDIFF('day', l_commitdate, l_receiptdate)) AS delay
FROM lineitem
GROUP BY l_shipmode
ORDER BY delay DESC;

-- name: lines that ship late
SELECT COUNT(*) FILTER (WHERE l_shipdate > l_commitdate) AS late, COUNT(*) AS n,
       100.0 * COUNT(*) FILTER (WHERE l_shipdate > l_commitdate) / COUNT(*) AS percent
FROM lineitem;
