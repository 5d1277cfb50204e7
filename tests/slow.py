"""What ``make test`` leaves out because it takes long; ``make test-all`` runs it too.

A row names a test, and the parameters with which it runs all the same: texts that stand in its brackets. Other slow tests
have the mark themselves. A test without a row that has more than ``MOST`` parameters runs with as many of them, spread
evenly.
"""

from collections.abc import Sequence

__all__ = ["MOST", "SLOW", "is_slow", "left_out"]

MOST = 3

_SMALL = ("[li2020]", "[fedalign]", "[classical]")  # papers
_LEMMAS = ("[an even power]", "[roots grow]", "[a tangent", "[a share]", "[a step of", "[a mean of any", "[the first of")
_METHODS = ("[fedavg]", "[scaffold]", "[fedadam]", "[fedalign]", "[lbgm]")

#: test -> with what it runs in ``make test``
SLOW: dict[str, tuple[str, ...]] = {
    "verify/growth/test_shared_constants.py::test_one_instance_is_followed_until_its_growth_ends": (),
    "verify/attack/test_ill_posed.py::test_faults_of_the_checker_are_noticed": ("[any sign]", "[any identity]"),
    "verify/growth/test_growth_beyond.py::test_an_order_is_refuted_where_its_growth_goes_on": ("[a geometric sum]",),
    "verify/prove/test_impossible_runs.py::test_a_run_that_no_hypotheses_admit_has_a_certificate": (),
    "verify/referee/test_at_all_points.py::test_a_counterexample_has_the_losses_that_an_assumption_asks_for": (),
    "verify/search/test_normalisations.py::test_what_cannot_be_met_is_ill_posed_or_undecided": (),
    "verify/growth/test_shared_constants.py::test_an_order_is_refuted_only_where_no_instance_has_its_own_time": (),
    "verify/prove/test_illposed.py::test_false_twins_are_not_proved": ("[control/means]", "[control/young]"),
    "verify/prove/test_illposed.py::test_a_statement_without_a_value": ("[a divisor",),
    "verify/cli/test_commands.py::test_every_printed_command_works": (),
    "verify/repair/test_repair.py::test_the_sum_of_fedaligns_theorem_begins_too_late": (),
    "verify/attack/test_ill_posed.py::test_no_mutant_that_is_accepted_says_something": (),
    "verify/repair/test_candidates.py::test_a_missing_term_is_proposed_with_its_number": (),
    "verify/repair/test_candidates.py::test_a_number_that_grows_with_the_rounds_is_no_constant": (),
    "verify/search/test_many_draws.py::test_noise_of_all_clients_counts_where_a_claim_asks_for_many": (),
    "verify/search/test_many_draws.py::test_claims_that_admit_many_outcomes_alone_are_searched": (),
    "verify/search/test_slopes.py::test_what_fails_in_long_runs_only_is_refuted_and_its_tight_neighbour_is_not": (),
    "verify/checker/test_contradictions.py::test_printed_assumptions_have_a_certificate_where_they_exclude_each_other": (
        "[swapped sign", "[swapped smooth and", "[swapped convex", "[swapped, letters",
    ),
    "verify/prove/test_exclusions.py::test_a_proof_of_hypotheses_that_exclude_each_other_is_none_of_neighbours": (
        "[odd and even]",
        "[products]",
    ),
    "verify/instances/test_shapes.py::test_a_statement_that_fails_on_a_small_instance_is_refuted_there": ("fedmoswa/",),
    "verify/measure/test_told_lengths.py::test_what_hypotheses_say_is_met_and_the_false_statement_is_refuted":
        ("vector", "number]", "[two entries]"),
    "verify/prove/test_deviations.py::test_a_condition_on_sums_is_excluded_if_no_numbers_meet_it": ("Mean(a[i]**2, i)",),
    "verify/report/test_reason.py::test_what_a_counterexample_needs_is_searched": (),
    "verify/search/test_many_rounds.py::test_what_fails_late_is_refuted_and_its_neighbour_is_not": (),
    "verify/exact/test_float_prefilter.py::test_counterexamples_have_short_numbers": ("[fedluar/theorem-3.2@pathwise-12]",),
    "verify/claims/test_open_constants.py::test_an_order_may_depend_on_what_sizes_fix": (),
    "verify/attack/test_forgeries.py::test_a_forged_growth_is_refused": ("[one member",),
    "verify/prove/test_impossible_runs.py::test_equations_of_a_method_without_any_are_not_known": (),
    "verify/report/test_tightest.py::test_the_instance_has_the_ratio_and_is_told": ("step-T20", "gd-convex"),
    "verify/growth/test_growth.py::test_a_run_of_many_rounds_is_replayed_in_intervals": (),
    "verify/growth/test_growth.py::test_one_instance_at_a_limit_of_zero_suffices": (),
    "verify/growth/test_growth.py::test_limits_begin_where_the_hypotheses_are_met": (),
    "verify/growth/test_with_chance.py::test_noise_that_rises_too_slowly_beside_logarithms_is_no_agreement": (),
    "verify/checker/test_scope.py::test_a_claim_proven_at_some_numbers_is_consistent": (),
    "verify/checker/test_scope.py::test_the_attack_notices_a_checker_that_leaves_hypotheses_out": (),
    "verify/search/test_stages.py::test_the_command_leaves_stages_out_and_says_so": (),
    "verify/search/test_whole_numbers.py::test_what_fails_at_few_whole_numbers_is_refuted": (
        "[a root",
        "[a product]",
        "[only for n",
    ),
    "verify/search/test_points_of_equations.py::test_equations_with_constants_of_losses_are_met":
        ("mu >= 0", "L*eta == 2", "for each k-]"),
    "verify/search/test_inclusion.py::test_an_expectation_of_what_is_included_is_not_its_value": (),
    "verify/referee/test_odd_claims.py::test_odd_claims_are_answered_in_words": ("[no round at all]",),
    "verify/evaluation/test_pointwise_bounds.py::test_the_checker_finds_the_same_least_values":
        ("[quadratic-dot", "[pieces-", "[two coordinates-F"),
    "project/test_benchmarks.py::test_the_campaign_measures_a_card": (),
    "fedtheory/test_graph.py::test_a_captured_round_has_the_bits_of_one_that_is_not": (),
    "fedtheory/test_pieces.py::test_runs_in_pieces_are_those_of_one_batch": (
        "[fedavg]", "[scaffold]", "[fadamgc]", "[fedlama]", "[prunefl]", "[scaffnew]"),
    "fedtheory/test_pieces.py::test_the_estimate_is_near_what_is_allocated": ("-fadamgc-",),
    "project/test_certified.py::test_processes_that_have_done_enough_are_followed_by_others": (),
    "verify/results/test_bands.py::test_the_band_covers_the_mean_as_often_as_it_says": (),
    "project/test_unseen.py::test_flat_parts_of_convex_losses_and_short_steps_with_chance_are_looked_at": (
        "[false/order-bias",),
    "project/test_unseen.py::test_rounding_errors_leave_no_true_statement_open": (),
    "verify/demos/test_notebooks.py::test_a_notebook_runs_and_shows_its_numbers": ("[free-clients]",),
    "verify/attack/test_other_kinds.py::test_what_is_forged_is_honest_before": ("[best-round]", "[mean-step]", "[number"),
    "bounds/test_row_mutants.py::test_every_claim_with_an_expectation_needs_it": _SMALL,
    "fedtheory/references/test_methods_equal_references.py::test_a_method_equals_its_reference_with_unequal_weights":
        _METHODS,
    "verify/attack/test_negations.py::test_no_certificate_has_one_of_the_opposite": (),
    "verify/attack/test_negations.py::test_no_claim_is_proven_with_its_negation": (),
    "verify/attack/test_negations.py::test_no_federation_breaks_what_is_proven": (),
    "verify/attack/test_negations.py::test_what_is_refuted_is_not_proven_where_it_is_refuted": ("[fedalign",),
    "verify/demos/test_notebooks.py::test_a_control_that_moves_moves_the_picture": (),
    "verify/demos/test_notebooks.py::test_a_picture_is_drawn_at_both_ends_of_every_control": (),
    "project/test_site.py::test_papers_have_a_page_with_every_claim_and_its_verdict": (),
    "project/test_site.py::test_a_report_is_stored_only_if_this_code_made_it": (),
    "project/test_pages.py::test_a_page_does_what_it_says": (
        "README.md",
        "verdicts.md",
        "certificates.md",
        "architecture.md",
        "add_a",
        "read_a",
    ),
    "project/test_pages.py::test_a_script_of_the_gallery_draws_its_figure": ("[client_drift]", "[worst_functions]"),
    "project/test_pages.py::test_the_script_of_a_method_draws_its_figure": ("[fedavg]", "[fedluar]"),
    "project/test_miniatures.py::test_what_a_page_says_came_out_came_out": (),
    "project/test_unseen.py::test_a_true_statement_is_spared": (),
    "verify/worst/test_one_dimensional.py::test_what_a_program_knows_to_be_false_is_refuted_at_quick": (
        "[gradient-by-value]", "[of lengths]", "[with noise]", "[gradient-after-n-steps]"),
    "verify/claims/test_data_sets.py::test_verify_says_it_too": (),
    "verify/worst/test_one_dimensional.py::test_the_constant_itself_is_spared": (),
    "verify/referee/test_stored.py::test_an_edited_result_is_decided_again": (),
    "verify/referee/test_stored.py::test_several_processes_say_the_same": (),
    "verify/referee/test_referee.py::test_a_claim_is_proven_for_every_function_of_its_class_at_some_numbers": (),
    "verify/proofs/test_follows.py::test_the_command": (),
    "verify/prove/test_values.py::test_what_has_a_value_somewhere_is_never_said_to_have_none": (),
    "verify/worst/test_one_dimensional.py::test_it_is_not_without_worst_points": (
        "[least-gradient-nonconvex]",
        "[18 less]",
        "[23 less]",
    ),
    "project/test_hard.py::test_a_true_statement_is_spared": ("[heavy-ball", "[value-1", "[everybody]"),
    "verify/search/test_own_bases.py::test_what_fails_where_hessians_do_not_commute_is_refuted_and_its_neighbour_is_not": (),
    "verify/checker/test_number_runs.py::test_means_given_the_past_are_those_over_what_comes": (),
    "verify/checker/test_number_runs.py::test_lemmas_about_chance_hold_in_the_mean": (),
    "verify/checker/test_number_runs.py::test_equations_of_methods_hold_on_runs": (
        "[afedpd exact-full-True]", "[fedavg-full-True]", "[afedpd exact-full-False]", "[fedavg-full-False]"),
    "verify/exact/test_float_prefilter.py::test_an_instance_of_many_numbers_counts_as_several_trials": ("[1]",),
    "verify/formulas/test_dominance.py::test_witnesses_are_numbers_that_a_run_can_have": (),
    "verify/exact/test_existence.py::test_the_verdict_on": ("an empty interval]",),
    "bounds/papers/test_papers.py::test_every_claim_can_be_written": ("[li2020]",),
    "bounds/papers/test_papers.py::test_statements_are_the_paper_s": ("[classical]",),
    "verify/referee/test_stored.py::test_pages_and_words_say_so": (),
    "bounds/papers/test_classical.py::test_true_ones_are_spared": ("[classical/gd-distance]",),
    "verify/evaluation/test_pairs_of_points.py::test_the_checker_finds_the_same_least_values": (
        "[two coordinates-a*norm2(u - v) - norm2(grad(0, u) - grad(0, v))]",),
    "verify/evaluation/test_pairs_of_points.py::test_least_values_are_those_of_a_grid": ("[two coordinates",),
    "verify/evaluation/test_pairs_of_points.py::test_the_referee_decides_claims_with_hypotheses_at_all_pairs": ("[false/",),
    "verify/attack/test_mutants.py::test_mutants_of_proofs_are_refused_or_hold": ("[some]",),
    "verify/attack/test_mutants.py::test_random_federations_break_what_is_a_tenth_too_strong_and_nothing_that_is_proven": (
        "[some]",),
    "verify/referee/test_claim_examples.py::test_the_referee_says_of_an_example_what_the_page_says": (
        "[5-false/between]", "[5-false/root]", "[5-false/quarter]", "[5-false/weights-of-two]"),
    "verify/worst/test_stress.py::test_a_failure_far_away_is_suspected": ("[with many clients]",),
    "verify/search/test_entries_of_arrays.py::test_what_is_false_is_refuted_and_what_is_true_is_not": (),
    "verify/worst/test_false_lengths.py::test_what_a_search_refutes_is_not_proven": (),
    "verify/search/test_search.py::test_a_larger_budget_finds_what_a_smaller_one_finds": (),
    "verify/checker/test_scope.py::test_a_random_attack_on_scopes": (),
    "bounds/test_row_mutants.py::test_mutants_are_noticed": ("[li2020]",),
    "bounds/papers/test_classical.py::test_local_methods_and_neighbouring_data_are_spared": (),
    "bounds/test_render.py::test_formulas_have_letters_and_no_names_of_the_code": ("[li2020]", "[classical]"),
    "bounds/test_render.py::test_latex_is_well_formed": ("[li2020]", "[classical]"),
    "bounds/test_render.py::test_show_tells_everything": ("[li2020]", "[classical]"),
    "bounds/test_user_claims.py::test_the_referee_decides_them_like_any_other": (),
    "fedtheory/conformance/test_conformance.py::test_a_method_conforms_on_two_federations": _METHODS,
    "fedtheory/conformance/test_invariants.py::test_invariant": ("threshold-rotated]",),
    "fedtheory/methods/test_communication.py::test_what_every_method_owes": ("[fedpaq]",),
    "fedtheory/methods/test_luar.py::test_what_every_method_owes": (),
    "fedtheory/references/test_engine_equals_reference.py::test_the_engine_equals_the_reference": ("[fedalign]", "scheme"),
    "fedtheory/references/test_methods_equal_references.py::test_a_method_equals_its_reference": ("[feddyn]",),
    "fedtheory/references/test_methods_equal_references.py::test_floats_stay_near_fractions": ("[feddyn]",),
    "fedtheory/test_client_steps.py::test_small_steps_lead_fednova_to_the_optimum_and_fedavg_elsewhere": (),
    "fedtheory/test_compiled.py::test_processes_may_compile_at_the_same_time": (),
    "bounds/papers/test_classical.py::test_false_twins_are_refuted": (
        "[classical/gd-value]", "[classical/gd-distance]", "[classical/gd-convex]", "[classical/gd-gradient]"),
    "fedtheory/conformance/test_check_algorithm.py::test_an_algorithm_its_class_a_maker_or_a_name": ("[name]", "[maker]"),
    "fedtheory/conformance/test_mutations.py::test_the_named_check_passes_without_the_fault_and_fails_with_it": ("free",),
    "fedtheory/methods/test_adaptive.py::test_what_every_row_owes": ("[fadamgc]", "[fedadam]", "[local-adam]"),
    "fedtheory/methods/test_communication.py::test_planted_faults_are_noticed": ("rounding",),
    "fedtheory/methods/test_drift.py::test_what_every_row_owes": ("[scaffold]", "[fedmoswa]", "[fedsam]"),
    "fedtheory/methods/test_duals.py::test_what_every_row_owes": ("[feddyn]", "[fedpd]"),
    "fedtheory/test_compiled.py::test_faults_in_the_code_are_seen": ("ridge", "fedavg-least squares"),
    "fedtheory/test_engine.py::test_a_run_is_the_same_bit_for_bit_alone_in_a_batch_and_in_any_order": ("[scheme II]",),
    "fedtheory/test_trajectory.py::test_a_resumed_run_is_the_long_run_bit_for_bit": ("[scheme I]", "[every step]"),
    "synthetic/test_problems.py::test_every_named_problem_rests_at_its_optimum_runs_and_takes_layers": ("[synth]",),
    "verify/export/test_export.py::test_coq_accepts_two_hundred_proofs": (),
    "verify/export/test_export.py::test_coq_refuses_a_fault": ("[a multiplier]",),
    "verify/growth/test_growth.py::test_true_orders_are_spared": (),
    "verify/growth/test_with_chance.py::test_growth_by_noise_is_exact": (),
    "verify/report/test_drawing.py::test_figure_that_cannot_be_written_is_an_error": ("[1]",),
    "fedtheory/conformance/test_check_algorithm.py::test_traits_may_stand_on_the_class_or_be_given": (),
    "fedtheory/test_compiled.py::test_a_damaged_file_is_compiled_anew": (),
    "project/test_new_paper.py::test_a_paper_made_by_the_page_is_refereed": (),
    "synthetic/test_nonconvex.py::test_cosine_quadratics_have_their_global_minimum": (),
    "synthetic/test_nonconvex.py::test_separable_data_have_no_minimiser": (),
    "synthetic/test_nonconvex.py::test_single_precision_has_the_optimum_solved_in_double": (),
    "verify/checker/test_methods.py::test_a_fault_in_a_method_is_noticed": ("[server step]", "[order]", "[carry]"),
    "verify/checker/test_methods.py::test_all_states_are_compared": (),
    "verify/cli/test_damaged.py::test_verdicts_of_wrong_types_are_shown_or_refused_in_one_line": (),
    "verify/growth/test_growth.py::test_runs_that_have_hardly_begun_refute_nothing": (),
    "verify/instances/test_piecewise.py::test_convexity_is_needed_where_it_is": (),
    "verify/instances/test_samples.py::test_statements_that_fail_on_rare_data_are_refuted": (),
    "verify/lint/test_lint.py::test_every_claim_can_be_linted": (),
    "verify/search/test_power.py::test_false_twins_on_methods_are_refuted": (),
    "verify/search/test_related.py::test_a_local_search_may_begin_at_the_counterexample_of_the_step_before": (),
    "fedtheory/references/test_engine_equals_reference.py::test_fractions_numpy_and_torch_agree": ("[True-",),
    "fedtheory/references/test_methods_equal_references.py::test_a_method_equals_its_reference_in_fractions": (
        "[scaffold]", "[feddyn]", "[fedadam]"),
    "synthetic/test_conformance.py::test_every_check_finds_a_planted_fault": (),
    "verify/checker/test_replay.py::test_the_checker_runs_as_the_engine_does": ("[broadcast-", "at-aggregation-without"),
    "verify/checker/test_samples.py::test_the_checker_computes_the_same": (
        "[E-", "[signed gap-", "[gap-one client]", "[data-one client]", "[client-one client]", "[pair-one client]",
    ),
    "verify/cli/test_cli.py::test_claims_are_filtered": ("[options3", "[options2"),
    "verify/search/test_local_search.py::test_a_stage_climbs": ("[0-evolve]",),
    "verify/search/test_run_cache.py::test_claims_that_share_draws_would_draw_the_same": ("[fedalign]",),
    "bounds/test_user_claims.py::test_every_claim_of_a_paper_is_well_formed": (),
    "verify/search/test_local_search.py::test_ascents_spare_true_claims": (),
    "verify/instances/test_piecewise.py::test_bounds_over_all_points_hold_and_half_of_them_do_not": (),
    "synthetic/test_conformance.py::test_every_federation_passes_every_check_and_is_the_same_on_numpy": (
        "quadratic", "[diagonal]", "[huber]", "[logistic]"),
    "synthetic/test_nonconvex.py::test_provenance_says_no_more_than_is_known": (),
    "synthetic/test_nonconvex.py::test_the_bound_on_suboptimality_is_one": (),
    "verify/formulas/test_bound.py::test_every_claim_has_a_closed_form_with_rates": (),
    "verify/formulas/test_rates.py::test_no_rate_is_wrong": (),
    "verify/growth/test_growth.py::test_false_orders_are_refuted_with_a_file_that_replays": (),
    "verify/instances/test_samples.py::test_false_twins_about_samples_are_refuted_at_the_smallest_budget": (
        "-convex@exponent", "-convex@/2]", "-convex@/10]",
    ),
    "verify/instances/test_samples.py::test_true_statements_about_samples_are_spared": (),
    "verify/proofs/test_follows.py::test_links_of_papers": ("fedluar/", "afedpd/"),
    "verify/prove/test_number_statements.py::test_no_counterexample_contradicts_a_proof": ("[li2020]",),
    "verify/prove/test_side_conditions.py::test_what_is_proven_of_random_statements_holds": (),
    "verify/prove/test_side_conditions.py::test_a_lemma_is_true_and_proven_with_its_side_conditions": _LEMMAS,
    "verify/prove/test_side_conditions.py::test_a_lemma_without_a_side_condition_is_false_and_not_proven": ("[a share]",),
    "verify/prove/test_statements_at_points.py::test_a_false_statement_is_not_proven": ("statement2",),
    "verify/prove/test_statements_at_points.py::test_a_true_statement_is_proven_and_a_sharper_one_is_not": (
        "descent", "infimum"),
    "verify/worst/test_false_lengths.py::test_false_twins_are_not_proven": ("distance@/2", "step-smooth@"),
    "verify/worst/test_false_lengths.py::test_what_is_true_is_proven": ("swa-drift",),
    "verify/worst/test_stress.py::test_a_true_claim_is_not_suspected": (),
    "verify/worst/test_claim_figure.py::test_no_run_exceeds_a_worst_case": (),
    "verify/worst/test_against_lengths.py::test_no_run_exceeds_what_is_proven_of_lengths": ("[classical]",),
    "verify/referee/test_referee.py::test_workers_and_order_do_not_matter": (),
    "verify/report/test_drawing.py::test_report_does_not_depend_on_the_number_of_workers": (),
    "verify/report/test_drawing.py::test_what_a_dying_worker_leaves_behind_is_drawn": (),
    "verify/report/test_formulas_and_numerals.py::test_every_claim_has_formulas_that_browsers_can_draw": (
        "[li2020]",
        "[classical]",
    ),
    "verify/referee/test_referee.py::test_what_held_is_shown_beside_its_worst_case": (),
    "verify/referee/test_referee.py::test_without_an_accepted_proof_nothing_is_certified": ("[no solver]", "[above one]"),
    "verify/search/test_normalisations.py::test_what_only_floats_meet_is_undecided": (),
    "project/test_unseen.py::test_steps_that_are_numbers_and_single_entries_that_are_bounded_are_looked_at": (
        "order-told]",),
    "verify/worst/test_proven.py::test_what_is_refuted_or_of_another_kind_is_not_proven": (
        "[classical/sgd-stability-distance]", "[fedalign/lemma-A4@as-printed]", "[fedalign/theorem-1]",
        "[fedluar/lemma-A.2-heterogeneity@sampled]"),
    "verify/worst/test_proven.py::test_steps_of_adaptive_methods_are_proven": (),
    "verify/growth/test_growth.py::test_growth_beyond_float64_is_followed_in_exact_arithmetic": (),
    "verify/search/test_stages.py::test_a_stage_is_looked_at_if_and_only_if_it_is_on": (),
    "verify/worst/test_every_round.py::test_where_all_curvatures_are_the_same_gradients_are_linear": (),
    "verify/search/test_false_alarms.py::test_derived_claims_are_spared": ("fedluar",),
    "verify/search/test_power.py::test_a_true_claim_on_a_method_is_never_refuted": (),
    "verify/search/test_search.py::test_a_true_claim_is_never_refuted": ("descent",),
    "verify/search/test_run_cache.py::test_a_search_sees_the_same_whether_runs_are_shared_or_not": ("[fedalign]",),
    "bounds/registry/test_claim_cache.py::test_claims_are_the_same": ("[li2020]", "[classical]", "[afedpd]"),
    "bounds/papers/test_fedluar.py::test_kappa_is_the_reading_s": (),
    "bounds/registry/test_alternatives.py::test_no_case_is_lost": (
        "[false/neither]", "[false/numbers]", "[false/sizes]", "[certified/numbers]"),
    "verify/cli/test_names.py::test_an_unknown_claim_is_refused_before_torch_loads": ("[chain]",),
    "verify/prove/test_values.py::test_what_has_no_value_somewhere_is_never_said_to_have_one": (),
    "project/test_certified.py::test_the_stage_says_how_a_claim_is_proven": ("[fedalign/theorem-1-]",),
    "verify/cli/test_new_claim.py::test_the_file_is_read_and_decided": (),
    "verify/checker/test_methods.py::test_a_run_of_unequal_clients_is_the_engines_under_every_scheme": (
        "[fedalign]", "[fednova]"),
    "fedtheory/test_pieces.py::test_a_sweep_short_of_memory_gives_the_same": (),
    "fedtheory/methods/test_communication.py::test_fedpaq_is_unbiased_with_the_stated_variance": (),
    "bounds/papers/test_afedpd.py::test_conditions_are_the_printed_ones": ("[theorem-2@gamma-first]",),
    "fedtheory/methods/test_fadamgc.py::test_one_client_is_one_machine": ("[fa-nt]",),
    "verify/cli/test_names.py::test_a_run_on_tensors_loads_torch": (),
    "fedtheory/test_card_steps.py::test_every_tile": (
        "[float32-diagonal]", "[float64-diagonal]", "[float32-dense]", "[float64-dense]"),
    "verify/exact/test_comparison.py::test_every_change_of_a_statement_is_noticed_twice": (
        "[fedalign/step-T3-as-printed]", "[classical/sgd-stability-distance]", "[fedalign/step-eq47-as-printed]",
        "[afedpd/lemma-2]"),
    "verify/demos/test_pictures.py::test_the_numbers_are_those_of_the_ordinary_code": (
        "[live-counterexample]", "[bound-beside-run]", "[neighbouring-data]"),
    "fedtheory/methods/test_flatness.py::test_what_every_row_owes": ("[fedlesam]",),
    "bounds/papers/test_fedalign_invariants.py::test_23_bounds_grow_with_every_constant": (
        "[fedalign/theorem-A9]",
        "[fedalign/derived-sharp]",
    ),
    "verify/lint/test_arguments.py::test_arithmetic_and_comparisons_are_evaluated_or_refused_in_one_line": ("[{}]",),
    "verify/formulas/test_comparisons.py::test_verdicts": (
        "[exponentials]", "[a narrow region]", "[the same without it]", "[a power that may fall]"),
    "verify/search/test_normalisations.py::test_what_is_true_there_is_spared": (
        "[a free vector]",
        "[loss and length with L]",
    ),
    "verify/evaluation/test_pointwise_bounds.py::test_least_values_are_those_of_a_grid": (
        "[quadratic-F(0, v)*3 + norm2(grad(1, v) - 2*v)]",
        "[quadratic-norm2(grad(0, v) - objective_grad(v)) + norm2(v)/9]",
        "[quadratic-norm2(objective_grad(v)) - a*(objective(v) - F_star)]", "[pieces-F(0, v)*3 + norm2(grad(1, v) - 2*v)]"),
    "fedtheory/test_pieces.py::test_pieces_are_halved_where_memory_runs_out": (),
    "verify/checker/test_one_sided_limit.py::test_the_verdict_on": (
        "[strict, equal at every number]", "[holds at the upper end]", "[holds near the end]",
        "[fails for every positive number]"),
    "verify/prove/test_number_statements.py::test_a_false_step_is_not_proven": (),
    "verify/growth/test_along_numbers.py::test_an_order_along_a_number": (
        "[level below a small number]", "[level below a small exponential]", "[level where float64 is lost]", "[a root]"),
    "verify/checker/test_methods.py::test_a_run_is_the_engines": ("[fedpd]", "[fedavg]", "[fedcm]", "[prunefl]"),
    "bounds/papers/test_fedalign_invariants.py::test_27_bias_after_inclusion_stops": ("[quadratic]",),
    "verify/checker/test_two_ways.py::test_every_fact_of_one_round_is_the_same": (
        "[classical/gd-distance]", "[classical/sgd-distance]"),
    "verify/prove/test_number_statements.py::test_what_a_file_states_is_proven_and_a_sharper_statement_is_not": (
        "[strict at an end]", "[strict]", "[log]", "[log from below]"),
    "verify/referee/test_witness.py::test_the_verdict_with_a_witness": (
        "[a proof]", "[a proof where its value divides by 0]", "[a proof of a value outside]",
        "[the upper end is excluded]"),
    "fedtheory/methods/test_communication.py::test_fedlama_by_loops": ("[3-3]", "[2-3]"),
    "verify/prove/test_number_statements.py::test_a_true_statement_is_proven_and_a_sharper_one_is_not": (
        "[square]",
        "[Young]",
        "[bounded terms]",
    ),
    "fedtheory/test_graph.py::test_no_round_waits_or_sends": (
        "[fedavg-steps]", "[fedluar-steps]", "[fadamgc-steps]", "[scaffold-graph]"),
    "bounds/papers/test_fedalign_invariants.py::test_5_6_ranges_of_alignment_and_bias": ("[quadratic]",),
    "verify/proofs/test_follows.py::test_premises_speak_of_means_times_and_ranges": (
        "[a vector or its opposite]", "[one round earlier]", "[at the first round]", "[a sum over a part of the rounds]"),
    "bounds/papers/test_fedalign_two_thresholds.py::test_two_rounds_written_out": ("[_larger]",),
    "verify/formulas/test_rates.py::test_rates_that_are_known": (
        "[classical/gd-gradient-mu-1-1]", "[classical/gd-distance-mu-1-1]",
        "[fedmoswa/lemma-i.1-local_steps-?-none: whole]", "[li2020/theorem-1-self-consistent-G_sq-G_sq-1]"),
    "fedtheory/test_card_steps.py::test_the_kernels_compile_for_a_card": (),
    "verify/worst/test_potential.py::test_changed_statements_that_are_proven_anew_hold": (),
    "verify/worst/test_potential.py::test_others_are_proven_and_no_run_is_slower": (),
    "verify/worst/test_method_worst_case.py::test_steps_that_theorems_allow_are_shown_beside": (),
    "verify/proofs/test_looseness.py::test_the_command": (),
    "fedtheory/methods/test_communication.py::test_fedlama_intervals": (),
    "fedtheory/test_card_steps.py::test_own_data_of_any_size": ("[3-1]",),
    "fedtheory/test_pieces.py::test_a_run_that_does_not_fit_says_what_it_needs": (),
    "fedtheory/test_selection.py::test_scaffold_reaches_the_optimum_of_unequal_clients": (),
    "synthetic/test_piecewise.py::test_backends_agree": (),
    "verify/checker/test_methods.py::test_a_fault_in_bernoulli_sampling_is_noticed": (
        "[a round of nobody", "[the weights of all",
    ),
    "verify/cli/test_names.py::test_a_stored_verdict_waits_for_no_library_of_the_search": (),
    "verify/exact/test_comparison.py::test_writer_and_comparison_agree": (),
    "verify/formulas/test_dominance.py::test_the_command_draws_the_bounds": (),
    "verify/growth/test_growth.py::test_an_open_step_is_seen": (),
    "verify/growth/test_growth.py::test_what_held_says_what_it_rests_on": ("[instance/small-",),
    "verify/growth/test_growth_beyond.py::test_an_order_of_runs_is_followed_too": (),
    "verify/growth/test_orders_of_numbers.py::test_the_verdict_on_an_order": ("[the best value ",),
    "verify/instances/test_data_sets.py::test_bounded_losses": (),
    "verify/lint/test_lint.py::test_assumptions_that_exclude_each_other_are_an_error_with_the_proof": (),
    "verify/measure/test_tied.py::test_a_run_starts_where_a_hypothesis_says": (),
    "verify/measure/test_tied.py::test_a_run_starts_where_a_round_leaves_it": ("[norm2(x_round[0",),
    "verify/proofs/test_follows.py::test_a_bound_follows_exactly_when_its_noise_suffices": (),
    "verify/proofs/test_looseness.py::test_an_instance_that_nothing_meets": (),
    "verify/proofs/test_looseness.py::test_sides_below_zero_have_no_factor": (),
    "verify/prove/test_impossible_runs.py::test_a_gradient_is_bounded_by_the_gap_of_its_loss": ("[2--True]",),
    "verify/prove/test_values.py::test_a_witness_at_which_a_formula_has_no_value_is_never_proven": (),
    "verify/referee/test_failures.py::test_an_error_before_any_instance_is_no_evidence": (),
    "verify/referee/test_failures.py::test_an_error_in_a_late_stage_keeps_what_the_search_found": (),
    "verify/referee/test_stored.py::test_an_edited_result_is_not_reported_as_current": ("[the conflict of",),
    "verify/repair/test_candidates.py::test_halves_of_a_pool_leave_out_the_larger_instances": (),
    "verify/repair/test_repair.py::test_the_command_prints_statements_and_writes_a_claim_file": (),
    "verify/search/test_power.py::test_the_table_counts": (),
    "verify/search/test_related.py::test_counterexamples_are_those_of_the_smallest_budget": (),
    "verify/search/test_search.py::test_longer_runs_are_tried_where_no_short_one_meets_the_hypotheses": ("[share0-True]",),
    "verify/worst/test_claim_figure.py::test_a_range_that_is_none_is_refused": ("[words0]", "[words2]"),
    "verify/worst/test_method_worst_case.py::test_the_facade_and_the_command_agree": (),
    "verify/worst/test_one_dimensional.py::test_noise_is_left_out": (),
    "verify/worst/test_proven.py::test_a_theorem_is_proven_at_all_places": (),
    "verify/prove/test_rounds.py::test_a_true_statement_is_proven_and_a_false_one_is_not": (),
    "project/test_unseen.py::test_a_constant_that_real_data_do_not_have_takes_no_value_from_its_bound": (),
    "project/test_unseen.py::test_small_sides_tied_sizes_cycles_and_empty_ranges_are_looked_at": (
        "half-to", "two-powers", "square-of", "twice-as", "like-the", "momentum", "bias-without",
    ),
    "bounds/papers/test_fedluar.py::test_units_clash_only_where_the_paper_adds_a_number_to_a_squared_curvature": (),
    "bounds/test_claim_file.py::test_every_example_of_the_page_is_read_back": (),
    "fedtheory/test_pieces.py::test_memory_that_runs_out_while_a_round_is_captured_halves_the_runs": (),
    "fedtheory/test_pieces.py::test_of_what_was_computed_nothing_is_lost": (),
    "synthetic/test_nonconvex.py::test_perceptrons_begin_where_they_can_learn": (),
    "synthetic/test_problems.py::test_sizes": (),
    "verify/cli/test_names.py::test_a_search_begins_without_what_comes_later": (),
    "verify/evidence/test_hypotheses_beside_runs.py::test_all_hypotheses_begin_with_the_written_ones": (),
    "verify/formulas/test_points.py::test_sets_meet_the_conditions": (),
    "verify/instances/test_shapes.py::test_sizes_that_no_instance_has_are_given_up": (),
    "verify/measure/test_infimum.py::test_the_infimum_of_quadratics_is_their_minimum": ("[1-refuted-a",),
    "verify/proofs/test_follows.py::test_no_claim_is_its_own_step": (),
    "verify/proofs/test_looseness.py::test_factors_multiply_up": (),
    "verify/proofs/test_steps_there.py::test_the_first_step_that_fails_is_named": ("[fedalign/theore", "[afedpd/lemma-3@"),
    "verify/referee/test_failures.py::test_what_is_found_so_far_is_told_after_every_stage_that_leaves_the_claim_open": (),
    "verify/referee/test_workers.py::test_a_process_runs_out_of_memory_before_the_machine_does": (),
    "verify/repair/test_repair.py::test_a_damage_is_undone": (),
    "verify/repair/test_repair.py::test_no_side_becomes_a_number": (),
    "verify/repair/test_repair.py::test_what_the_referee_refutes_is_not_proposed": (),
    "verify/report/test_explain.py::test_replay_of_a_stored_certificate": (),
    "verify/search/test_run_cache.py::test_runs_are_not_shared_with_a_claim_that_is_the_first_to_name_a_state": (),
    "verify/search/test_search.py::test_a_claim_that_fails_from_five_clients_on_is_refuted": ("[1]", "[2]"),
    "verify/search/test_search.py::test_false_twins_are_refuted": (),
    "verify/search/test_search.py::test_instances_that_lack_a_constant_cost_no_others": (
        "[verify.search.local_search-e",
        "[verify.search.local_search-a",
    ),
    "verify/search/test_search.py::test_what_no_instance_meets_is_said": ("[an impossible n",),
    "verify/search/test_seldom.py::test_what_others_draw_seldom_is_refuted_and_its_neighbour_is_not": (
        "[only in three d",
        "[lengths in th",
    ),
    "verify/search/test_thresholds.py::test_what_is_false_at_a_threshold_is_refuted": (
        "[one of several rounds]",
        "[of every round,",
    ),
    "verify/worst/test_every_number.py::test_faults_in_what_is_known_are_noticed": ("[noise of the cl", "[noise of other "),
    "verify/worst/test_one_dimensional.py::test_what_fails_only_in_long_runs_is_refuted_without_a_program": (),
    "verify/worst/test_potential.py::test_forged_statements_are_refused": ("[a negative pote", "[other clients]"),
    "verify/worst/test_stress.py::test_a_rough_answer_raises_no_suspicion_that_all_digits_do_not": (),
    "verify/worst/test_stress.py::test_an_answer_without_precision_raises_no_suspicion": (),
}


def is_slow(nodeid: str) -> bool:
    """Whether ``make test`` leaves a test out, by its id in pytest."""
    name, bracket, parameters = nodeid.removeprefix("tests/").partition("[")
    if name not in SLOW:
        return False
    return not any(text in bracket + parameters for text in SLOW[name])


def left_out(nodeids: Sequence[str]) -> set[str]:
    """The tests among all of these that ``make test`` leaves out, by their ids."""
    groups: dict[str, list[str]] = {}
    for nodeid in nodeids:
        groups.setdefault(nodeid.partition("[")[0], []).append(nodeid)
    kept: set[str] = set()
    for name, ids in groups.items():
        few = len(ids) <= MOST or name.removeprefix("tests/") in SLOW
        kept.update(ids if few else (ids[place * (len(ids) - 1) // (MOST - 1)] for place in range(MOST)))
    return {nodeid for nodeid in nodeids if nodeid not in kept or is_slow(nodeid)}
