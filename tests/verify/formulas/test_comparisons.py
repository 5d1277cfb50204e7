"""Comparisons of bounds as claims: each the formulas that the papers print, decided by proof or by exact numbers."""

import math
import random
from fractions import Fraction

import pytest
import sympy as sp

from bounds.formulas.comparisons import comparison, monotone, right_side
from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.operators import L, clients, mu, rounds, sigma_sq, x_round
from bounds.printing.render import show
from bounds.registry.claims import all_claims
from tests.messages import contains_in_order
from tests.not_empty import not_empty
from verify.exact.check import replay_alone as check
from verify.prove.real import certainly_positive, never_negative
from verify.referee.decide import Settings, decide

CLAIMS = {c.id: c for c in all_claims().values() if c.compares}
a, b, C = sp.symbols("a b C", positive=True)


# what the papers print, in plain numbers ----------------------------------------------------------------------------------
def b_tilde(p, K):
    return 1 + (p.mu / ((p.L + p.mu) * K)) ** (K - 1) / p.rounds


def c_tilde(p, K):
    return 1 + (2 + 1 / (K * p.rounds)) ** (K - 1) / p.rounds


def theorem_5_1(p, convex, swa, clients=None, samples=None, K=None, sigma_g=None):
    K = K or p.local_steps
    factor = b_tilde(p, K) if convex else c_tilde(p, K)
    growth = 1 - p.mu / ((p.L + p.mu) * p.rounds) if convex else 1 + 1 / p.rounds
    spread = (p.sigma_g if sigma_g is None else sigma_g) * (factor if swa else 1)
    scale = 2 * p.G_lip / ((clients or p.clients) * (samples or p.samples) * p.L)
    return scale * math.exp(growth) * (factor * p.G_lip + spread + factor * math.sqrt(p.sigma_sq))


def table_1_gen(p, factor, spread):
    return math.exp(1 + 1 / p.rounds) * p.G_lip / (p.clients * p.samples * p.L) * (
        factor * p.G_lip + spread * p.sigma_g + factor * math.sqrt(p.sigma_sq))


def theorem_5_2(p, convex, m=None, s=None, K=None, alpha=None, inside=None):
    m, s, K, alpha = m or p.clients, s or p.participants, K or p.local_steps, alpha or p.eta_g
    if convex:
        return p.sigma_sq / (p.mu * p.rounds * K * s) * (1 + s / alpha**2) + (
            m * p.mu / s * p.start_distance_sq * math.exp(-(s / m + p.mu / p.L) * p.rounds))
    inside = 1 + m / alpha**2 if inside is None else inside
    return math.sqrt(p.sigma_sq * p.F0_gap / (p.rounds * K * s) * inside) + p.L * p.F0_gap / p.rounds * (m / s) ** (2 / 3)


def fedswa_rate(p):
    first = p.L * (math.sqrt(p.sigma_sq) + math.sqrt(p.local_steps) * p.sigma_g) * math.sqrt(
        p.F0_gap / (p.rounds * p.local_steps * p.participants))
    return first + p.F0_gap ** (2 / 3) * (p.L * p.sigma_g**2) ** (1 / 3) / p.rounds ** (2 / 3) + p.L * p.F0_gap / p.rounds


def fedsam_rate(p):
    T, K, s = p.rounds, p.local_steps, p.participants
    return (p.L * p.F0_gap / math.sqrt(T * K * s) + math.sqrt(K) * p.sigma_g**2 / math.sqrt(T * s)
            + p.G_lip**2 * p.sigma_sq / (T**1.5 * K) + p.G_lip**2 / T**2)


def mofedsam_rate(p):
    T, K, s = p.rounds, p.local_steps, p.participants
    return (p.L * p.G_lip * p.F0_gap / math.sqrt(T * K * s) + p.L * math.sqrt(K) * p.sigma_g**2 / math.sqrt(T * s)
            + p.G_lip**2 * p.sigma_sq / (T**1.5 * K) + math.sqrt(K) * p.G_lip**2 / (T**1.5 * math.sqrt(s)))


def tuned(p, alpha):
    m, s = p.clients, p.participants
    return 336 * p.L * p.F0_gap * (m / s) ** (2 / 3) / (p.rounds + 1) + 28 * math.sqrt(
        5 * p.sigma_sq * p.L * p.F0_gap * (1 + s / alpha**2) / (p.local_steps * s * (p.rounds + 1)))


def c_bar(p, eta):
    return 1 + (1 + 1 + p.L * eta) ** (p.local_steps - 1) * p.L * p.local_steps * eta


def adaptive(p, power):
    first = math.sqrt(p.L * p.F0_gap * p.sigma**2 / (p.clients * p.local_steps * p.rounds)) + p.L * p.F0_gap / p.rounds
    noise = p.local_steps**power * (p.sigma**2 + (1 + p.eps**2) * p.G**2)
    return first + (p.local_steps * p.G**6 + noise) / (p.eps**2 * p.rounds)


def adaptive_special(p, more):
    return math.sqrt(p.L * p.F0_gap * p.sigma**2 / (p.clients * p.local_steps * p.rounds)) + (
        p.L * p.F0_gap + p.local_steps * (p.sigma + p.L + more)) / p.rounds


def theorem_1(p, theta):
    inner = 2 * p.L / p.mu**2 * (p.sigma_sq + 8 * (p.local_steps - 1) ** 2 * p.G_sq)
    return (inner + 4 * p.L**2 / p.mu * p.D0_sq + 12 * p.L**2 / p.mu**2 * p.Gamma * theta) / (
        p.iterations + max(8 * p.L / p.mu, p.local_steps))


def recycled_rate(p, sigma_g_sq, sigma_sq):
    """FedLUAR's Theorem 3.2."""
    left = 1 - 16 * p.kappa
    steps = p.eta * p.local_steps
    return (4 * (p.objective_x_round - p.mean_objective_x_round) / (steps * left) + 1080 * p.rounds * (p.L * steps) ** 2
            * sigma_g_sq / left + 4 * p.rounds * (p.L * p.eta / p.clients + 9 * p.L**2 + 4) * sigma_sq / left)


CASES, SWA = {"strongly-convex": True, "nonconvex": False}, {"fedswa": True, "fedmoswa": False}
ROWS = {
    "claim-gen-order": lambda p: (table_1_gen(p, c_tilde(p, p.local_steps), 1),
                                  table_1_gen(p, c_tilde(p, p.local_steps), c_tilde(p, p.local_steps))),
    **{f"claim-gen-order@theorem-5.1-{case}": lambda p, v=convex: (theorem_5_1(p, v, False), theorem_5_1(p, v, True))
       for case, convex in CASES.items()},
    **{f"claim-gen-order@{name}-fedsam{end}": lambda p, w=swa, eta=eta: (
        table_1_gen(p, c_tilde(p, p.local_steps), c_tilde(p, p.local_steps) if w else 1),
        table_1_gen(p, c_bar(p, eta(p)), c_bar(p, eta(p))))
       for name, swa in SWA.items() for end, eta in {
           "": lambda p: p.eta, "-largest-step": lambda p: 1 / (p.L * p.local_steps * p.rounds)}.items()},
    **{f"claim-gen-monotone@{name}-{case}-{move}": lambda p, v=convex, w=swa, n=word, u=up: tuple(
        theorem_5_1(p, v, w, **{n[0]: getattr(p, n[1] + end)}) for end in (("", "_larger") if u else ("_larger", "")))
       for name, swa in SWA.items() for case, convex in CASES.items() for move, word, up in (
           ("clients", ("clients", "clients"), False), ("samples", ("samples", "samples"), False),
           ("local-steps", ("K", "local_steps"), True), ("heterogeneity", ("sigma_g", "sigma_g"), True))},
    **{f"claim-opt-monotone@{case}-{move}": lambda p, v=convex, w=words: tuple(
        theorem_5_2(p, v, **{k: getattr(p, n + end) for k, n in w.items()}) for end in ("_larger", ""))
       for case, convex in CASES.items() for move, words in {
           "local-steps": {"K": "local_steps"}, "participants": {"s": "participants"},
           "all-clients": {"m": "clients", "s": "clients"}, "server-step": {"alpha": "eta_g"}}.items()},
    "claim-alpha-optimum": lambda p: tuple(
        theorem_5_2(p, False, inside=1 + p.participants / alpha**2) for alpha in (p.eta_g_larger, p.eta_g)),
    "claim-alpha-optimum@tuned": lambda p: (tuned(p, p.eta_g_larger), tuned(p, p.eta_g)),
    **{f"claim-mo-vs-scaffold{end}": lambda p: (theorem_5_2(p, False, inside=1 + p.participants / p.eta_g**2),
                                                theorem_5_2(p, False, inside=1 + p.clients))
       for end in ("", "@large-server-step")},
    **{f"claim-mo-vs-scaffold@theorem-5.2{end}": lambda p: (theorem_5_2(p, False),
                                                            theorem_5_2(p, False, inside=1 + p.clients))
       for end in ("", "-large-server-step")},
    **{f"claim-opt-order{end}": lambda p, f=other: (
        theorem_5_2(p, False, inside=1 + p.participants / p.eta_g**2), f(p)) for end, other in {
            "": fedswa_rate, "@fedsam": fedsam_rate, "@mofedsam": mofedsam_rate}.items()},
    **{f"claim-opt-order@theorem-5.2-{name}": lambda p, f=other: (theorem_5_2(p, False), f(p)) for name, other in {
        "fedswa": fedswa_rate, "fedsam": fedsam_rate, "mofedsam": mofedsam_rate}.items()},
    "claim-rate@improves": lambda p: (theorem_1(p, p.theta_T), theorem_1(p, 1)),
    "remark-2.1-rate@against-fedavg": lambda p: tuple(
        base ** (p.mu_lr * p.L / (1 + p.mu_lr * p.L)) / (p.clients * p.samples)
        for base in (p.participants * p.rounds, p.participants * p.local_steps * p.rounds)),
    "remark-2-heterogeneity": lambda p: tuple(
        recycled_rate(p, sigma_g_sq, p.sigma_sq) for sigma_g_sq in (p.sigma_g_sq, p.sigma_g_sq_larger)),
    "remark-2-batch-size": lambda p: tuple(
        recycled_rate(p, p.sigma_g_sq, sigma_sq) for sigma_sq in (p.sigma_sq, p.sigma_sq_larger)),
    "theorem-C.3/larger-B": lambda p: tuple(
        math.sqrt(p.L * p.F0_gap / (p.clients * p.local_steps * p.rounds)) + p.L * p.F0_gap / p.rounds
        + p.local_steps * (p.L + p.sigma + p.clients * bound) / p.rounds for bound in (p.sigma_g_max, p.sigma_g_max_larger)),
    "q7-K": lambda p: (adaptive(p, 1), adaptive(p, 2)),
    "q7-K@special": lambda p: (adaptive_special(p, 0), adaptive_special(p, p.clients * p.sigma_g_max)),
}


class Numbers:
    """Random parameters: whole numbers from 1 to 6, others fractions."""

    def __init__(self, claim, seed):
        draw = random.Random(seed)
        self.values = {v.name: draw.randint(1, 6) if v.domain == "integer" else Fraction(draw.randint(1, 40), 10)
                       for v in claim.variables}

    def __getattr__(self, name):
        return self.values[name]


def test_every_comparison_is_transcribed():
    assert {row_of(c) for c in CLAIMS} == set(ROWS)


def row_of(claim_id):
    """A reading with a weak sign has the sides of the strict one."""
    block, _, reading = claim_id.partition("/")[2].partition("@")
    rest = [part for part in reading.split("+") if part and part != "at-most"]
    return block + "@" * bool(rest) + "+".join(rest)


@pytest.mark.parametrize("claim_id", CLAIMS)
def test_sides_are_what_is_printed(claim_id):
    claim = CLAIMS[claim_id]
    for seed in range(3):
        p = Numbers(claim, seed)
        sides = [float(side.subs({s: sp.Rational(p.values[s.name]) for s in side.free_symbols}))
                 for side in (claim.statement.left, claim.statement.right)]
        assert sides == pytest.approx(ROWS[row_of(claim_id)](p), rel=1e-9)


def test_compared_claims_are_there_and_shown():
    for claim in not_empty(CLAIMS.values()):
        assert set(claim.compares) <= set(all_claims()) and claim.kind == "comparison" and claim.setting == "algebra"
        assert " and ".join(dict.fromkeys(claim.compares)) in " ".join(show(claim).split())


# how they are made --------------------------------------------------------------------------------------------------------
def bound(right, *conditions, name="first", **fields):
    return Claim(f"test/{name}", "1", "control", "run", Condition(sp.Symbol("left"), "<=", right), conditions=conditions,
                 source="a textbook", procedure=Procedure(), **fields)


def test_conditions_of_both_hold_and_hidden_constants_are_left_out():
    first = bound(C * a / b, Condition(a, "<=", 1), variables=(Variable("C", "hidden"),), explicit=False)
    made = comparison("test/x", right_side(first), right_side(bound(a, Condition(b, ">=", 1), name="second")), number="1")
    assert made.statement == Condition(a / b, "<=", a) and made.compares == ("test/first", "test/second")
    assert made.conditions == (Condition(a, "<=", 1), Condition(b, ">=", 1)) and "without hidden" in made.reading
    assert [(v.name, v.domain) for v in made.variables] == [("a", "positive"), ("b", "positive")]


def test_a_moving_parameter_takes_others_along():
    side = right_side(bound(sigma_sq / (clients * rounds) + mu / L))
    made = monotone("test/x", side, clients, rises=False, tied={rounds: clients}, number="1")
    larger = sp.Symbol("clients_larger", integer=True, positive=True)
    assert made.statement == Condition(sigma_sq / larger**2 + mu / L, "<=", sigma_sq / clients**2 + mu / L)
    assert Condition(clients, "<=", larger) in made.conditions
    up = monotone("test/x", side, clients, rises=True, number="1").statement
    assert up == Condition(sigma_sq / (clients * rounds) + mu / L, "<=", sigma_sq / (larger * rounds) + mu / L)


def test_a_parameter_that_is_not_there():
    with pytest.raises(ValueError, match=r"test/first .*parameter b; allowed: a$"):
        right_side(bound(a)).with_values({b: 1})


def test_measured_quantities_may_be_known_to_be_nonnegative():
    side = right_side(bound(x_round[0] * 0 + sp.Symbol("gap", real=True) + a), nonnegative=("gap",))
    assert {s.name: s.is_nonnegative for s in side.formula.free_symbols} == {"a": True, "gap": True}


# how they are decided -----------------------------------------------------------------------------------------------------
VERDICTS = {
    "a root of a sum": (sp.sqrt(1 + a), 1 + a, (), "certified"),
    "where a condition holds": (sp.sqrt(1 + a**2), sp.sqrt(1 + a * b), (Condition(a, "<=", b),), "certified"),
    "the same without it": (sp.sqrt(1 + a**2), sp.sqrt(1 + a * b), (), "refuted"),
    "an unknown power": (b, b * rounds**a, (), "certified"),
    "a power that may fall": (b * (2 * rounds) ** a, b * (1 + rounds) ** a, (), "refuted"),
    "powers that nothing ties": (b * (1 + rounds) ** a, b * (2 * rounds) ** a, (), "certified"),
    "exponentials": (b * sp.exp(a) / 2, b * sp.exp(a), (), "certified"),
    "a narrow region": (sp.Rational(201, 100) * sp.sqrt(a * b), a + b, (), "refuted"),
}


@pytest.mark.parametrize("row", VERDICTS)
def test_verdicts(row):
    left, right, conditions, verdict = VERDICTS[row]
    made = comparison("test/x", right_side(bound(left)), right_side(bound(right, name="second")), conditions, number="1")
    found = decide(made, Settings(federations=False))
    assert found.verdict == verdict, found.evidence
    assert verdict != "refuted" or check(found.details["instance"]).accepted


def test_what_is_proved_is_proved():
    assert never_negative(a + b - 2 * sp.sqrt(a * b)) and never_negative(b - a, [Condition(a, "<=", b)])
    assert not never_negative(b - a) and not never_negative(rounds**a - 2) and not never_negative((a / b) ** b - 1)
    assert not never_negative(sp.Symbol("free", real=True) ** a + 1)  # of which the sign is not known


def test_the_command_takes_a_comparison(run):
    status, said, _ = run("compare", "fadamgc/q7-K@special")
    assert status == 0 and contains_in_order(said, "left …fadamgc/q7-K@special …never …right …fadamgc/q7-K@special (")


def test_numbers_are_told_apart_by_their_digits():
    """sympy alone leaves the first of these comparisons as it is."""
    close = sp.exp(sp.Rational(1, 3)) * sp.sqrt(2)
    assert certainly_positive(close * (1 + sp.Rational(1, 10**60)) - close)
    assert not certainly_positive(sp.sqrt(2) * sp.sqrt(3) - sp.sqrt(6)) and not certainly_positive(sp.S(-1))
    assert not certainly_positive(sp.exp(sp.log(2) / 2, evaluate=False) - sp.sqrt(2))
