"""A world of random fractions for tests of claims, and values in it.

Nothing in the world is consistent: every name of the language and of the definitions has a random value of its own, so
that two formulas agree only if they are the same formula.
"""

import random
from collections.abc import Callable, Mapping
from fractions import Fraction
from types import SimpleNamespace

from bounds.language import functions, operators
from bounds.language import samples as on_samples
from tests.bounds.chance import CHANCE, Max, Min
from tests.bounds.claim_values import Values, Vec, dot, entry, norm, sq
from tests.bounds.rows import Row

CLIENTS, ITERATIONS, STEPS = 4, 6, 3
ALL, P, FREE = range(CLIENTS), (0, 2), (1, 3)  # numbers of all, of the priority, and of the free clients


def world(seed: int, reading=frozenset()) -> SimpleNamespace:
    """Random values, the same in every reading.

    Numbers, ``name[t]``, ``name[t][k]``; functions ``F(k, v)``, ``grad(k, v)``, ``objective(v)``.
    """
    rng = random.Random(seed)

    def number():
        return Fraction(rng.randint(1, 60), rng.randint(1, 12))

    def vector():
        return Vec(Fraction(rng.randint(-40, 40), rng.randint(1, 9)) for _ in range(2))

    def table(make, *sizes):
        return make() if not sizes else [table(make, *sizes[1:]) for _ in range(sizes[0])]

    times, entries = ITERATIONS + 2, 6
    scalars = (
        "L mu sigma_sq G_sq G_priority_sq step_offset F_star Gamma theta rho_bias theta_hat rho_hat base_noise C eta y "
        "scheme_1_noise scheme_2_noise factor excess D0_sq start_sq variances mass bias p_in p_out gap_in gap_out "
        "own_curvature threshold threshold_larger w_start w_next w_next_larger "
        "eta_next ball_radius Gamma_max noise_bound optimum_gradient_bound eta_g G_lip H_loss c_step"
    )
    by_time = (
        "eta_l epsilon chi psi drift D_sq free_mass noise_term bias_term noise_average bias_average proof_v proof_gamma "
        "proof_A4 proof_A5 Delta B D slack"
    )
    by_client = (
        "client_weight F_star_client Gamma_client L_client mu_client sigma_sq_client p_below p_above gap_below gap_above"
    )
    names = {name: number() for name in scalars.split()}
    names |= {name: table(number, times) for name in by_time.split()}
    names |= {name: table(number, entries) for name in by_client.split()}
    names |= {n: table(number, times, entries) for n in ("aggregate_weight", "weight", "sampled_weight")}
    names |= {n: table(vector, times, entries) for n in (
        "x_local", "x_before", "g", "client_variate", "twin_x_local", "twin_x_before")}
    names |= {n: table(vector, times) for n in (
        "x", "x_sampled", "x_eq_56", "x_every_free", "average_gradient", "average_stochastic_gradient", "priority_models",
        "ending_gradient", "ending_stochastic_gradient", "x_round", "server_variate", "twin_x_round",
    )}
    names |= {n: vector() for n in ("x_star", "x_mixture", "z_1", "z_2", "u", "v")}
    names |= {
        "priority": [int(k in P) for k in range(CLIENTS)] + table(number, entries - CLIENTS), "priority_clients": 7}
    names |= {"included": table(number, times, entries), "sampled": table(number, times, entries)}
    names |= {"differing": [0, 1, 0, 0, 0, 0], "samples": 5, "cut": 2}
    names |= {"a": table(vector, entries), "omega": table(number, entries)}
    names |= {
        "clients": CLIENTS, "participants": 5, "local_steps": STEPS, "iterations": ITERATIONS, "rounds": 2, "terms": 3,
        "length": 4,
        "free_clients": 3, "below": 2, "above": 3, "start": 2, "rounds_open": 1, "rounds_before": 3,
    }
    patterns: dict = {}
    names |= {
        n: lambda *key, n=n: patterns.setdefault((n, key), number()) 
        for n in (
            "p", "gap", "more", "kept", "free_curvature", "free_center", "loss_gap",
            *(f"{name}{end}" for name in ("matched_first", "matched_next", "loss_gap_next") for end in ("", "_larger")))
    }
    curvature, centre, offset = table(number, entries), table(vector, entries), table(number, entries)
    names["F"] = lambda k, v: curvature[k] * sq(v - centre[k]) / 2 + offset[k]
    names["grad"] = lambda k, v: (v - centre[k]) * curvature[k]
    names["objective_grad"] = lambda v: v * 5 + centre[1]
    names["objective"] = lambda v: 7 * sq(v) + dot(v, centre[0]) + 3
    names["f"] = lambda v: 11 * sq(v) + dot(v, centre[2]) + 2
    names["f_grad"] = lambda v: v * 3 + centre[3]
    return SimpleNamespace(**names)


def values(w: SimpleNamespace, definitions: Mapping) -> Values:
    """Values in a world, where names with ``definitions`` have values of their own. Expectations, maxima and minima are some
    functions of numbers: see ``chance``."""
    def of_name(name, places):
        return name if name == operators.sampling.name else entry(getattr(w, name), places)

    return Values(of_name, {
        operators.norm2: sq, operators.norm: norm, operators.dot: dot,
        operators.F: lambda k, v: w.F(int(k), v), operators.grad: lambda k, v: w.grad(int(k), v),
        operators.objective: w.objective,
        operators.objective_grad: w.objective_grad, operators.tau: lambda t: t - t % w.local_steps,
        on_samples.worst_mean_gap: worst_mean_gap, functions.f: w.f, functions.f_grad: w.f_grad,
    } | CHANCE, largest=Max, smallest=Min)


def sides_of(rows: Mapping[str, tuple[Callable, Callable]]) -> Callable:
    """``sides`` of a table: ids without the paper, separated by spaces -> a row, whose sides are functions of the world, a
    time (t, i or r) and a client (k or j). None for a claim that is not in the table."""
    by_id = {name: row for ids, row in rows.items() for name in ids.split()}

    def sides(claim, w, at):
        row, (t, k) = by_id.get(claim.id.partition("/")[2]), (
            next((at[name] for name in names if name in at), None) for names in ("tir", "kj"))
        return row and tuple(side(w, t, k) for side in ((row.left, row.right) if isinstance(row, Row) else row))

    return sides


def worst_mean_gap(v, w):
    """Some function of two points, for the word."""
    return 3 * sq(v) + sq(w) + 2
