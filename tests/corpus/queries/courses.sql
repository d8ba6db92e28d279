-- What courses and books teach, on employees and students.
-- world: school

-- name: how many employees
SELECT COUNT(*) AS employees FROM employees;

-- name: with a condition
SELECT COUNT(*) AS n FROM employees WHERE salary > 100000 AND job <> 'Manager';

-- name: between and in
SELECT COUNT(*) AS n FROM employees WHERE salary BETWEEN 50000 AND 80000 AND dept_no IN (10, 20);

-- name: like
SELECT COUNT(*) AS n FROM employees WHERE first_name LIKE 'A%' OR first_name LIKE '_ob';

-- name: nulls
SELECT COUNT(*) AS everyone, COUNT(bonus) AS with_bonus, COUNT(*) - COUNT(bonus) AS without FROM employees;

-- name: coalesce
SELECT SUM(salary + COALESCE(bonus, 0)) AS payroll FROM employees;

-- name: group by
SELECT job, COUNT(*) AS n, MIN(salary) AS lowest, MAX(salary) AS highest, AVG(salary) AS mean FROM employees GROUP BY job ORDER BY job;

-- name: having
SELECT dept_no, AVG(salary) AS mean FROM employees GROUP BY dept_no HAVING AVG(salary) > 90000;

-- name: having without a column
SELECT job FROM employees GROUP BY job HAVING COUNT(*) > 150 ORDER BY COUNT(*) DESC;

-- name: inner join
SELECT d.dept_name, COUNT(*) AS n FROM employees e INNER JOIN departments d ON e.dept_no = d.dept_no GROUP BY d.dept_name;

-- name: left join from the public side
-- refused: rows of a public table that no private row matches belong
SELECT d.dept_name, COUNT(e.emp_no) AS n FROM departments d LEFT JOIN employees e ON e.dept_no = d.dept_no GROUP BY d.dept_name ORDER BY d.dept_name;

-- name: right join
SELECT d.city, COUNT(*) AS n FROM departments d RIGHT JOIN employees e ON e.dept_no = d.dept_no GROUP BY d.city;

-- name: natural join
SELECT city, COUNT(*) AS n FROM employees NATURAL JOIN departments GROUP BY city ORDER BY n DESC;

-- name: join using
SELECT dept_name, SUM(salary) AS payroll FROM employees JOIN departments USING (dept_no) GROUP BY dept_name ORDER BY payroll DESC;

-- name: comma join
SELECT d.dept_name, ROUND(AVG(e.salary), 2) AS mean FROM employees e, departments d WHERE e.dept_no = d.dept_no GROUP BY d.dept_name;

-- name: cross join with one row
SELECT COUNT(*) AS n FROM employees CROSS JOIN (SELECT MAX(dept_no) AS last FROM departments) AS x WHERE dept_no < x.last;

-- name: anti join
SELECT COUNT(*) AS n FROM students s WHERE NOT EXISTS (SELECT 1 FROM enrollments e WHERE e.student_id = s.student_id);

-- name: semi join
SELECT major, COUNT(*) AS n FROM students WHERE student_id IN (SELECT student_id FROM enrollments WHERE grade = 'A') GROUP BY major ORDER BY major;

-- name: full join
SELECT COUNT(*) AS n FROM employees e FULL OUTER JOIN salaries s ON e.emp_no = s.emp_no;

-- name: case
SELECT CASE WHEN salary < 50000 THEN 'low' WHEN salary < 120000 THEN 'middle' ELSE 'high' END AS band, COUNT(*) AS n FROM employees GROUP BY 1 ORDER BY 2 DESC;

-- name: simple case
SELECT CASE gender WHEN 'F' THEN 'female' ELSE 'male' END AS sex, AVG(salary) AS mean FROM employees GROUP BY CASE gender WHEN 'F' THEN 'female' ELSE 'male' END;

-- name: pivot with case
SELECT job, SUM(CASE WHEN gender = 'F' THEN 1 ELSE 0 END) AS women, SUM(CASE WHEN gender = 'M' THEN 1 ELSE 0 END) AS men FROM employees GROUP BY job ORDER BY job;

-- name: percent of women
SELECT dept_no, ROUND(100.0 * SUM(CASE WHEN gender = 'F' THEN 1 ELSE 0 END) / COUNT(*), 1) AS percent FROM employees WHERE dept_no IS NOT NULL GROUP BY dept_no ORDER BY dept_no;

-- name: hired by year
SELECT YEAR(hire_date) AS y, COUNT(*) AS hired FROM employees GROUP BY YEAR(hire_date) ORDER BY y;

-- name: hired by month name
SELECT EXTRACT(MONTH FROM hire_date) AS m, COUNT(*) AS n FROM employees GROUP BY EXTRACT(MONTH FROM hire_date) HAVING COUNT(*) > 80 ORDER BY m;

-- name: age when hired
SELECT AVG(DATEDIFF('year', birth_date, hire_date)) AS mean_age FROM employees WHERE hire_date > birth_date + INTERVAL '18' YEAR;

-- name: years of service
SELECT COUNT(*) AS veterans FROM employees WHERE hire_date <= DATE '2024-12-31' - INTERVAL '20' YEAR;

-- name: subquery in FROM
SELECT AVG(t.mean) AS mean_of_departments FROM (SELECT dept_no, AVG(salary) AS mean FROM employees WHERE dept_no IS NOT NULL GROUP BY dept_no) AS t;

-- name: department with the highest mean
SELECT dept_no, AVG(salary) AS mean FROM employees WHERE dept_no IS NOT NULL GROUP BY dept_no ORDER BY mean DESC LIMIT 1;

-- name: above the company's mean
-- refused: ask for the number first, and write what was released in
SELECT COUNT(*) AS n FROM employees WHERE salary > (SELECT AVG(salary) FROM employees);

-- name: departments above the company's mean
SELECT dept_no, AVG(salary) AS mean FROM employees GROUP BY dept_no HAVING AVG(salary) > (SELECT AVG(salary) FROM employees) ORDER BY dept_no;

-- name: second highest salary
-- refused: ask for the number first, and write what was released in
SELECT MAX(salary) AS second FROM employees WHERE salary < (SELECT MAX(salary) FROM employees);

-- name: best paid of each department
-- never: begin it with the person, as in OVER (PARTITION BY emp_no
SELECT dept_no, last_name, salary FROM (SELECT dept_no, last_name, salary, RANK() OVER (PARTITION BY dept_no ORDER BY salary DESC) AS r FROM employees) AS x WHERE r = 1;

-- name: employees of a manager
SELECT manager_no, COUNT(*) AS reports FROM employees WHERE manager_no IN (1, 2, 3, 4, 5) GROUP BY manager_no ORDER BY manager_no;

-- name: better paid than their manager
-- never: equate the persons of both sides, as in ON a.emp_no =
SELECT COUNT(*) AS n FROM employees e JOIN employees m ON e.manager_no = m.emp_no WHERE e.salary > m.salary;

-- name: raises
SELECT AVG(raise) AS mean_raise
FROM (SELECT emp_no, amount - LAG(amount) OVER (PARTITION BY emp_no ORDER BY from_date) AS raise FROM salaries) AS r
WHERE raise IS NOT NULL;

-- name: first salary
SELECT AVG(amount) AS mean FROM (SELECT emp_no, amount, ROW_NUMBER() OVER (PARTITION BY emp_no ORDER BY from_date, amount) AS k FROM salaries) AS s WHERE k = 1;

-- name: salary changes per employee
SELECT changes, COUNT(*) AS employees FROM (SELECT emp_no, COUNT(*) AS changes FROM salaries GROUP BY emp_no) AS c WHERE changes < 10 GROUP BY changes ORDER BY changes;

-- name: union of two lists
-- refused: whether a row is present would depend on other people
SELECT COUNT(*) AS n FROM (SELECT emp_no FROM employees WHERE dept_no = 10 UNION SELECT emp_no FROM employees WHERE job = 'Clerk') AS u;

-- name: union all of two answers
SELECT 'F' AS sex, AVG(salary) AS mean FROM employees WHERE gender = 'F' UNION ALL SELECT 'M' AS sex, AVG(salary) AS mean FROM employees WHERE gender = 'M';

-- name: except of keys
SELECT dept_no FROM departments EXCEPT SELECT dept_no FROM employees GROUP BY dept_no;

-- name: distinct
SELECT DISTINCT job FROM employees ORDER BY job;

-- name: distinct pairs
SELECT DISTINCT dept_no, job FROM employees;

-- name: text functions
SELECT UPPER(SUBSTRING(major, 1, 3)) AS short, COUNT(*) AS n FROM students GROUP BY UPPER(SUBSTRING(major, 1, 3)) ORDER BY short;

-- name: concatenation
SELECT job || ' (' || gender || ')' AS who, COUNT(*) AS n FROM employees GROUP BY job || ' (' || gender || ')' ORDER BY who;

-- name: length of a name
SELECT LENGTH(first_name) AS letters, COUNT(*) AS n FROM employees WHERE LENGTH(first_name) <= 10 GROUP BY LENGTH(first_name) ORDER BY letters;

-- name: rounding
SELECT ROUND(AVG(salary), -2) AS hundreds, FLOOR(AVG(salary)) AS down, CEIL(AVG(salary)) AS up FROM employees;

-- name: order by two
SELECT job, gender, COUNT(*) AS n FROM employees GROUP BY job, gender ORDER BY job ASC, n DESC;

-- name: limit with offset
SELECT job, COUNT(*) AS n FROM employees GROUP BY job ORDER BY n DESC LIMIT 2 OFFSET 1;

-- name: grades
SELECT grade, COUNT(*) AS n FROM enrollments GROUP BY grade ORDER BY n DESC;

-- name: mean points by course
SELECT c.title, AVG(e.points) AS mean FROM enrollments e JOIN courses c ON c.course_id = e.course_id GROUP BY c.title ORDER BY mean DESC LIMIT 3;

-- name: credits per student
SELECT AVG(total) AS mean_credits FROM (SELECT e.student_id, SUM(c.credits) AS total FROM enrollments e JOIN courses c USING (course_id) GROUP BY e.student_id) AS t;

-- name: students of three tables
SELECT s.major, c.department, COUNT(*) AS n FROM students s JOIN enrollments e ON s.student_id = e.student_id JOIN courses c ON c.course_id = e.course_id
WHERE s.major = c.department GROUP BY s.major, c.department;

-- name: students with only good grades
SELECT COUNT(*) AS n FROM (SELECT student_id FROM enrollments GROUP BY student_id HAVING MIN(points) >= 50) AS good;

-- name: grade point average
SELECT AVG(CASE grade WHEN 'A' THEN 4 WHEN 'B' THEN 3 WHEN 'C' THEN 2 WHEN 'D' THEN 1 WHEN 'F' THEN 0 END) AS gpa FROM enrollments;

-- name: enrolled per semester and department
SELECT semester, department, COUNT(*) AS n FROM enrollments NATURAL JOIN courses GROUP BY semester, department ORDER BY semester, department;

-- name: courses of a department with a WITH
WITH math AS (SELECT course_id FROM courses WHERE department = 'Math') SELECT COUNT(*) AS n FROM enrollments WHERE course_id IN (SELECT course_id FROM math);

-- name: running count of hires
-- plain: SELECT y, COALESCE(n, 0) AS n, SUM(COALESCE(n, 0)) OVER (ORDER BY y) AS total FROM (SELECT UNNEST(RANGE(1990, 2025)) AS y) AS all_years LEFT JOIN (SELECT EXTRACT(YEAR FROM hire_date) AS y, COUNT(*) AS n FROM employees GROUP BY 1) AS h USING (y) ORDER BY y
SELECT y, n, SUM(n) OVER (ORDER BY y) AS total FROM (SELECT EXTRACT(YEAR FROM hire_date) AS y, COUNT(*) AS n FROM employees GROUP BY 1) AS h ORDER BY y;

-- name: quartile of pay
SELECT NTILE(4) OVER (ORDER BY AVG(salary)) AS quartile, job, AVG(salary) AS mean FROM employees GROUP BY job ORDER BY mean;

-- name: deviation of pay
SELECT job, STDDEV(salary) AS sd FROM employees GROUP BY job ORDER BY job;

-- name: all columns
-- never: list the keys and aggregates, as in SELECT city, COUNT(*)
SELECT * FROM employees WHERE dept_no = 10;

-- name: names in order
-- never: add it to GROUP BY, or take COUNT, SUM or AVG of it
SELECT first_name, last_name FROM employees ORDER BY last_name LIMIT 10;
