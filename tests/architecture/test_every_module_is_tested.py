"""Every module has a test of its stem in the same folder, or a line here that says which test covers it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "discreet"
TESTS = ROOT / "tests"

# Modules that the named test imports, or something of which it calls by its name.
NAMED_IN = {
    "accounting/filters/base.py": "accounting/test_filters.py",
    "accounting/filters/cost.py": "curator/test_account_versions.py",
    "accounting/filters/odometer.py": "accounting/test_filters_odometer.py",
    "accounting/filters/renyi.py": "accounting/test_filters.py",
    "accounting/filters/scalar.py": "accounting/test_filters.py",
    "accounting/filters/shares.py": "accounting/test_filters_union.py",
    "accounting/filters/tight.py": "accounting/test_filters_union.py",
    "accounting/filters/union.py": "accounting/test_filters_union.py",
    "accounting/interval.py": "accounting/test_calibration.py",
    "accounting/laplace_runs/remainder.py": "accounting/laplace_runs/test_run.py",
    "accounting/laplace_runs/smoothed.py": "accounting/laplace_runs/test_run.py",
    "accounting/lattice_runs/window.py": "accounting/lattice_runs/test_transform.py",
    "accounting/loss/gridded.py": "accounting/loss/test_worst.py",
    "accounting/loss/law.py": "accounting/loss/test_worst.py",
    "accounting/meaning/attack.py": "accounting/test_meaning.py",
    "accounting/meaning/finite_laws.py": "accounting/test_meaning.py",
    "accounting/runs/composed_run.py": "accounting/test_random_compositions.py",
    "accounting/runs/scenarios.py": "accounting/runs/test_groups.py",
    "curator/budget/wording.py": "curator/budget/test_account.py",
    "curator/ledger/chain.py": "curator/ledger/test_tampering.py",
    "curator/ledger/messages.py": "curator/ledger/postgres/test_store.py",
    "curator/ledger/open_store.py": "curator/ledger/test_ledger.py",
    "curator/ledger/postgres/statements.py": "curator/ledger/postgres/test_store.py",
    "curator/ledger/store.py": "curator/ledger/test_tampering.py",
    "curator/ledger/verification.py": "curator/ledger/test_ledger.py",
    "curator/release/json_form.py": "server/test_wire_form.py",
    "curator/request/answer_keys.py": "queries/outputs/test_leveled.py",
    "curator/request/key_request.py": "examples/test_twenty_questions.py",
    "curator/request/statistics/base.py": "curator/request/test_statistic_request.py",
    "curator/request/statistics/known.py": "curator/request/test_statistic_request.py",
    "curator/request/statistics/noisy_integers.py": "curator/request/statistics/test_graph_counts.py",
    "curator/request/statistics/profiled.py": "curator/request/statistics/test_by_profile.py",
    "data/compile/calls.py": "architecture/test_functions_are_complete.py",
    "data/compile/comparisons.py": "data/compile/test_expressions.py",
    "data/compile/numeric.py": "data/language/formulas/test_formula_methods.py",
    "data/compile/relations.py": "data/test_relations.py",
    "data/compile/strings.py": "data/reading/test_normal_forms.py",
    "data/contributions_prepared.py": "data/prepared/test_groups.py",
    "data/facts/joins.py": "data/facts/test_relation_facts.py",
    "data/facts/persons.py": "data/facts/test_relation_facts.py",
    "data/key_counts.py": "data/engines/test_literals.py",
    "data/language/column_facts.py": "data/facts/test_relation_facts.py",
    "data/language/description.py": "data/language/test_plan.py",
    "data/language/formulas/cases.py": "data/language/formulas/test_formula_methods.py",
    "data/language/functions/record.py": "architecture/test_functions_are_complete.py",
    "data/language/functions/registry.py": "architecture/test_functions_are_complete.py",
    "data/language/functions/strings.py": "data/language/test_evaluation.py",
    "data/language/functions/temporal.py": "data/language/test_evaluation.py",
    "data/language/public_rows.py": "data/tables/test_public_rows.py",
    "data/language/relations.py": "data/facts/test_relation_facts.py",
    "data/language/types.py": "data/facts/test_type_check.py",
    "data/lots.py": "data/prepared/test_groups.py",
    "data/prepared/base.py": "data/prepared/test_sample.py",
    "data/reading/arrow_types.py": "data/reading/test_arrow_keys.py",
    "data/reading/lost.py": "data/reading/test_csv_records.py",
    "data/reading/written_forms.py": "data/tables/test_owner_check.py",
    "data/salt.py": "data/reading/test_normal_forms.py",
    "data/tables/broken_rows.py": "data/tables/test_graph.py",
    "data/tables/check_report.py": "cli/commands/test_check.py",
    "data/tables/fake_rows.py": "front/test_sandbox.py",
    "data/tables/related_table.py": "data/tables/test_fixed_table.py",
    "mechanisms/additive/bounded_answer.py": "mechanisms/adaptive/test_propose_test_release.py",
    "mechanisms/additive/gaussian_calibration.py": "mechanisms/additive/test_gaussian.py",
    "mechanisms/additive/gaussian_privacy.py": "mechanisms/additive/test_gaussian.py",
    "mechanisms/additive/laws.py": "mechanisms/test_plot.py",
    "mechanisms/local/frequency_error.py": "mechanisms/local/test_frequencies.py",
    "noise/normal_cells.py": "noise/test_rounded_gaussian.py",
    "privacy/events/repeated.py": "privacy/events/test_event.py",
    "privacy/offer.py": "queries/noise/test_build_request.py",
    "queries/answers/combining.py": "queries/answers/test_tables.py",
    "queries/answers/grouping.py": "queries/answers/test_tables.py",
    "queries/answers/joining.py": "queries/answers/test_tables.py",
    "queries/answers/leaves.py": "queries/answers/test_tables.py",
    "queries/answers/table.py": "queries/answers/test_tables.py",
    "queries/asking/remeasure.py": "front/test_remeasure.py",
    "queries/binding/missing_declarations.py": "queries/binding/test_bind.py",
    "queries/noise/unknown_keys.py": "queries/asking/test_unknown_keys.py",
    "queries/outputs/answer_rows.py": "queries/outputs/test_leveled.py",
    "queries/outputs/float_interval.py": "queries/outputs/test_moments.py",
    "queries/outputs/frequent.py": "queries/binding/test_measures.py",
    "queries/outputs/summed.py": "queries/outputs/test_leveled.py",
    "queries/question/answer_levels.py": "queries/outputs/test_leveled.py",
    "queries/question/answer_relations.py": "queries/question/test_statement.py",
    "queries/question/answer_windows.py": "queries/outputs/windows/test_window_values.py",
    "queries/question/pruning.py": "queries/question/test_statement.py",
    "queries/question/statistic.py": "queries/question/test_graph_statistic.py",
    "queries/sql/answers/answer_joins.py": "queries/sql/test_statement.py",
    "queries/sql/answers/answer_scope.py": "queries/sql/test_statement.py",
    "queries/sql/answers/answer_types.py": "queries/sql/test_statement.py",
    "queries/sql/answers/over_answers.py": "queries/sql/test_statement.py",
    "queries/sql/rows/public_scalars.py": "queries/sql/test_statement.py",
    "queries/sql/rows/subqueries.py": "queries/sql/tables/test_in_public_subquery.py",
    "queries/sql/statement_parts.py": "queries/sql/test_statement.py",
    "server/answering.py": "server/test_owner_paths.py",
    "server/pages/glossary.py": "server/pages/test_templates.py",
    "workloads/queries/cells.py": "workloads/queries/test_base.py",
    "workloads/queries/marginals.py": "workloads/queries/test_base.py",
    "workloads/queries/products.py": "workloads/queries/test_base.py",
    "workloads/queries/ranges.py": "workloads/queries/test_base.py",
    "workloads/strategies/fourier.py": "workloads/strategies/test_base.py",
    "workloads/strategies/hierarchy.py": "workloads/strategies/test_base.py",
    "workloads/strategies/identity.py": "workloads/strategies/test_base.py",
    "workloads/strategies/kronecker.py": "workloads/strategies/test_base.py",
    "workloads/strategies/residual_part.py": "queries/noise/test_measurement.py",
    "workloads/strategies/toeplitz.py": "workloads/test_continual.py",
    "workloads/strategies/wavelet.py": "workloads/strategies/test_base.py",
    "workloads/strategies/weighted_tree.py": "workloads/strategies/test_base.py",
}

# Modules that are reached by other words only: a test that runs their code, and the words that lead there.
REACHED_FROM = {
    "__main__.py": ("cli/test_main.py", "-m"),
    "accounting/laplace_runs/line.py": ("accounting/laplace_runs/test_run.py", "SmoothedLaplace"),
    "accounting/renyi/failure_probability.py": ("accounting/test_renyi_sampling.py", "extra_delta"),
    "accounting/runs/course.py": ("accounting/test_epsilon_and_delta.py", "epsilon("),
    "cli/command.py": ("cli/test_main.py", "help"),
    "curator/budget/charge_words.py": ("cli/commands/test_ledger.py", "sum of cost by city"),
    "curator/ledger/postgres/schema.py": ("curator/ledger/postgres/test_store.py", "tables"),
    "curator/ledger/sqlite/schema.py": ("curator/ledger/sqlite/test_store.py", "trigger"),
    "curator/ledger/sqlite/statements.py": ("curator/ledger/sqlite/test_store.py", "messages."),
    "curator/request/histogram.py": ("curator/request/test_histogram_choices.py", "Choices"),
    "data/compile/conditional.py": ("data/language/test_functions.py", "coalesce"),
    "data/compile/exponential.py": ("data/language/test_functions.py", "exp()"),
    "data/compile/per_person.py": ("data/test_relations.py", "relation_plans"),
    "data/compile/temporal.py": ("data/language/test_functions.py", "EVERY"),
    "data/engines/corrections.py": ("data/engines/test_dialects.py", "parentheses"),
    "data/engines/duckdb_dialect.py": ("data/engines/test_dialects.py", "duckdb"),
    "data/engines/duckdb_meanings.py": ("data/engines/test_literals.py", "MACRO"),
    "data/engines/postgres_dialect.py": ("data/engines/test_dialects.py", "postgres"),
    "data/engines/spark_dialect.py": ("data/engines/test_dialects.py", "pyspark"),
    "data/facts/inferred_dates.py": ("data/facts/test_inferred.py", "date"),
    "data/facts/inferred_ranges.py": ("data/facts/test_inferred.py", "least"),
    "data/facts/merged_columns.py": ("data/facts/test_relation_facts.py", "Union"),
    "data/facts/operands.py": ("data/facts/test_type_check.py", "type_of"),
    "data/facts/plan_check.py": ("data/test_statistics.py", "sensitivity"),
    "data/facts/signatures.py": ("data/facts/test_type_check.py", "concat"),
    "data/facts/size_limits.py": ("data/facts/test_type_check.py", "too"),
    "data/language/functions/conditional.py": ("data/language/test_functions.py", "coalesce"),
    "data/language/functions/exponential.py": ("data/language/test_function_records.py", "exp()"),
    "data/language/functions/numeric.py": ("data/language/test_functions.py", "sign"),
    "data/language/functions/rules.py": ("data/language/test_function_records.py", "bounds"),
    "data/language/grid_interval.py": ("data/facts/test_inferred.py", "bounds"),
    "data/language/literals.py": ("data/language/test_expressions.py", "literal"),
    "data/language/operators.py": ("data/language/test_expressions.py", "Comparison"),
    "data/tables/check_words.py": ("data/tables/test_owner_check.py", "persons_spelled_twice"),
    "data/tables/declared_types.py": ("data/tables/test_table.py", "step=1 to round"),
    "figures/drawing.py": ("test_figures.py", "draw_curve"),
    "figures/fonts.py": ("test_figures.py", "wide"),
    "figures/layout.py": ("test_figures.py", "panels"),
    "figures/style.py": ("test_figures.py", "STYLES"),
    "front/arguments.py": ("front/test_curator.py", "did you mean"),
    "front/balance.py": ("front/test_curator.py", ".remaining"),
    "front/generators.py": ("synthesis/asking/test_generator_question.py", ".train_generator("),
    "front/permits.py": ("curator/test_permitted_run.py", ".reopen("),
    "front/related_syntheses.py": ("synthesis/asking/test_related_release.py", ".synthesize_related("),
    "front/syntheses.py": ("synthesis/asking/test_question.py", ".preview_synthesis("),
    "mechanisms/adaptive/plot.py": ("mechanisms/test_plot.py", "SmoothSensitivity"),
    "mechanisms/additive/base.py": ("mechanisms/additive/test_gaussian.py", ".release("),
    "mechanisms/keys/plot.py": ("mechanisms/test_plot.py", "LaplaceThreshold"),
    "mechanisms/selection/choice_law.py": ("mechanisms/selection/test_exponential.py", "probabilities"),
    "mechanisms/selection/plot.py": ("mechanisms/test_plot.py", "PermuteAndFlip"),
    "queries/asking/asked.py": ("front/test_curator.py", "ask("),
    "queries/asking/counts.py": ("queries/counts/test_ranges.py", "ask("),
    "queries/asking/settle.py": ("front/test_curator.py", "preview("),
    "queries/counts/cells.py": ("queries/counts/test_ranges.py", "width="),
    "queries/counts/marginal_release.py": ("queries/counts/test_marginals.py", "marginals("),
    "queries/counts/plot.py": ("queries/counts/test_ranges.py", ".plot("),
    "queries/counts/question.py": ("queries/counts/test_ranges.py", "ranges("),
    "queries/counts/range_release.py": ("queries/counts/test_ranges.py", "ranges("),
    "queries/explanation/counts.py": ("queries/counts/test_ranges.py", "explain("),
    "queries/explanation/rows.py": ("queries/explanation/test_query.py", "JOIN"),
    "queries/noise/counts_plan.py": ("queries/counts/test_ranges.py", "ranges("),
    "queries/noise/shown_columns.py": ("queries/sql/columns/test_answer_windows.py", "build_request("),
    "queries/outputs/base.py": ("queries/outputs/test_counts_sums_means.py", "margin"),
    "queries/outputs/windows/window_evaluation.py": ("queries/outputs/windows/test_windowed.py", "OVER ("),
    "queries/outputs/windows/window_types.py": ("queries/sql/columns/test_answer_windows.py", "OVER ("),
    "queries/question/per_person.py": ("queries/question/test_dataframe.py", "per_person"),
    "queries/question/terms.py": ("front/test_curator.py", "confidence"),
    "queries/sql/columns/post_processing.py": ("queries/question/test_post_processing.py", "HAVING"),
    "queries/sql/formulas/functions.py": ("queries/sql/formulas/test_expressions.py", "UPPER("),
    "queries/sql/formulas/key_names.py": ("queries/sql/test_select.py", "upper_city"),
    "queries/sql/rows/from_clause.py": ("queries/test_sql_relations.py", "WITH"),
    "queries/sql/rows/per_person.py": ("queries/test_sql_relations.py", "GROUP BY patient"),
    "queries/sql/syntax/prune_person_keys.py": ("queries/test_sql_relations.py", "patient"),
    "queries/sql/tables/join_steps.py": ("queries/sql/tables/test_join_order.py", "NATURAL JOIN"),
    "queries/sql/tables/joins.py": ("queries/test_sql_relations.py", "JOIN"),
    "queries/sql/tables/scope.py": ("queries/test_sql_relations.py", "JOIN"),
    "server/bodies.py": ("server/test_guard.py", "malformed"),
    "server/pages/page.py": ("server/pages/test_routes.py", "stale_form"),
    "server/worker.py": ("server/test_application.py", "SIGKILL"),
    "stability/plot.py": ("stability/test_per_instance.py", "plot"),
    "synthesis/asking/fidelity_question.py": (
        "synthesis/asking/test_table_distances.py",
        ".measure_fidelity(",
    ),
    "synthesis/asking/generator_release.py": (
        "synthesis/asking/test_generator_question.py",
        ".columns_alone",
    ),
    "synthesis/asking/synthesis_release.py": ("synthesis/asking/test_question.py", ".synthesize("),
    "synthesis/asking/table_synthesis.py": ("synthesis/asking/test_question.py", ".synthesize("),
    "synthesis/generators/base.py": ("synthesis/generators/test_pate_gan.py", ".release("),
    "synthesis/measuring/exact_tables.py": ("synthesis/measuring/test_steps.py", "CountedTables"),
    "synthesis/methods/base.py": ("synthesis/methods/test_independent.py", ".release("),
    "synthesis/models/growing_model.py": ("synthesis/models/test_mirror_descent.py", "GrowingModel"),
    "synthesis/models/measured.py": ("synthesis/models/test_tree_fit.py", "Measured"),
    "synthesis/models/propagation.py": ("synthesis/models/test_tree_model.py", "model_of"),
    "synthesis/models/row_model.py": ("synthesis/generators/test_generated_model.py", ".sample("),
    "synthesis/models/simplex.py": ("synthesis/models/test_tree_fit.py", "nearest_counts"),
    "synthesis/release/plot.py": ("synthesis/release/test_fidelity.py", ".plot("),
    "workloads/inference/estimate.py": ("workloads/inference/test_fitting.py", ".unbiased"),
    "workloads/inference/sets/base.py": ("workloads/inference/sets/test_simplex.py", "project"),
    "workloads/planning/marginals.py": ("queries/counts/test_marginals.py", "marginals("),
}


def modules() -> list[str]:
    return sorted(
        str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if path.name != "__init__.py"
    )


def own_test(module: str) -> Path:
    """Where the test of this stem would be."""
    path = TESTS / module
    return path.with_name(f"test_{path.name.lstrip('_')}")


def defined_in(module: str) -> set[str]:
    """The names that a module defines."""
    found = set()
    for node in ast.parse((SOURCE / module).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found - {"__all__"}


def imports_or_names(text: str, module: str) -> bool:
    """Whether a test imports a module, or speaks of something that is defined in it."""
    dotted = f"discreet.{module.removesuffix('.py').replace('/', '.')}"
    package, _, stem = dotted.rpartition(".")
    if re.search(rf"{re.escape(dotted)}\b|from {re.escape(package)} import .*\b{stem}\b", text):
        return True
    return bool(set(re.findall(r"\w+", text)) & defined_in(module))


@pytest.mark.parametrize("module", modules())
def test_every_module_has_its_test(module):
    listed = (module in NAMED_IN) + (module in REACHED_FROM)
    assert own_test(module).exists() or listed, "write a test of this stem, or say which test covers it"
    assert not (own_test(module).exists() and listed), "it has a test of its own"
    assert listed < 2


@pytest.mark.parametrize("module", NAMED_IN)
def test_the_test_speaks_of_the_module(module):
    assert (SOURCE / module).exists(), "there is no such module"
    assert imports_or_names((TESTS / NAMED_IN[module]).read_text(encoding="utf-8"), module)


@pytest.mark.parametrize("module", REACHED_FROM)
def test_the_test_has_the_words_that_lead_to_the_module(module):
    assert (SOURCE / module).exists(), "there is no such module"
    test, words = REACHED_FROM[module]
    assert words in (TESTS / test).read_text(encoding="utf-8")


def test_lists_are_in_order():
    for listed in (NAMED_IN, REACHED_FROM):
        assert list(listed) == sorted(listed)
