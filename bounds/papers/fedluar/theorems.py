"""Lemmas 3.1 and A.1-A.3, Theorems 3.2 and A.4 of FedLUAR, and its two remarks, in every reading."""

from dataclasses import replace

import sympy as sp

from bounds.language.claim import Claim, Condition, Variable
from bounds.language.words import (
    E,
    L,
    Min,
    Sum,
    clients,
    j,
    k,
    local_steps,
    norm2,
    objective_grad,
    r,
    rounds,
    sigma_sq,
    x_before,
    x_round,
)
from bounds.papers.fedluar.assumptions import (
    ASSUMPTIONS_1_TO_3,
    all_clients,
    all_rounds,
    heterogeneity,
    heterogeneity_along_run,
    smooth,
    unbiased,
    variance,
    variance_squared_mean,
)
from bounds.papers.fedluar.builders import (
    FEDAVG,
    SMALL_STEP,
    STATEMENT_AXES,
    Reading,
    algebra_claim,
    constant_step,
    in_readings,
    over_rounds,
    products,
    round_claim,
    run_claim,
)
from bounds.papers.fedluar.words import eta, kappa, sigma_g_sq

__all__ = [
    "A1_STEP", "CLAIMS", "KAPPA_LITERAL", "KAPPA_SMALL", "SQUARED", "THEOREM_STEP", "framework_bound", "gradient_sum",
    "noise_bound_3_1", "theorem_bound",
]

tau, T, m = local_steps, rounds, clients

#: eta <= 1/(2 sqrt(3) L tau), squared
A1_STEP = Condition(12 * (L * eta * tau) ** 2, "<=", 1)
KAPPA_SMALL = Condition(16 * kappa, "<", 1)

#: no printed range: kappa at most 1, as Lemma 3.1 prints, and not where the factor 1/(1 - 16 kappa) is undefined
KAPPA_LITERAL = (Condition(0, "<=", 1 - kappa), Condition((1 - 16 * kappa) ** 2, ">", 0))

#: eta <= (1 - 16 kappa)/(6 sqrt(30) L tau), squared
THEOREM_STEP = Condition(1080 * (L * eta * tau) ** 2, "<=", (1 - 16 * kappa) ** 2)
SQUARED = "the bound on the step size is squared, which makes it rational"
gradient_floor = sp.Symbol("gradient_floor", positive=True)
gradient_sum = over_rounds(E(norm2(objective_grad(x_round[r]))))


def noise_bound_3_1(reading: Reading, share, length=T):
    """Right side of Lemma 3.1 with this kappa."""
    return (4 * length * tau**2 * sigma_sq + 8 * length * tau**2 * sigma_g_sq + 8 * share * tau**2 * gradient_sum
            + 8 * tau * L**2 * over_rounds(E(reading.drift[r])))


def framework_bound(reading: Reading):
    """Right side of Lemma A.3."""
    return (2 / ((1 - 16 * kappa) * eta * tau) * (reading.start() - reading.final())
            + 2 * T / (1 - 16 * kappa) * (L * eta / m + 4) * sigma_sq + 16 * T / (1 - 16 * kappa) * sigma_g_sq
            + 18 * L**2 / ((1 - 16 * kappa) * tau) * over_rounds(E(reading.drift[r])))


def theorem_bound(reading: Reading):
    """Right side of Theorems 3.2 and A.4."""
    return (4 / ((1 - 16 * kappa) * eta * tau) * (reading.start() - reading.final())
            + 4 * T / (1 - 16 * kappa) * (L * eta / m + 4 + 9 * L**2) * sigma_sq
            + 1080 * T * L**2 * eta**2 * tau**2 / (1 - 16 * kappa) * sigma_g_sq)


def with_other_variances(claim: Claim) -> tuple[Claim, Claim]:
    """The claim under the other two readings of Assumption 3."""
    return (
        replace(claim, id=f"{claim.id}@squared-mean", reading=f"{claim.reading}; sigma_L bounds the mean norm of the noise",
                assumptions=(smooth, unbiased, variance_squared_mean, heterogeneity)),
        replace(claim, id=f"{claim.id}@along-run", reading=f"{claim.reading}; sigma_G bounds at the models of the run alone",
                assumptions=(smooth, unbiased, variance, heterogeneity_along_run)),
    )


def where_ratios_exist(claim: Claim) -> Claim:
    """The reading in which no gradient of the run is zero, so that every ratio of which kappa is the largest exists."""
    return replace(
        claim, id=f"{claim.id}@ratios-exist", reading=f"{claim.reading}; the gradient is zero at no model of the run",
        variables=(*claim.variables, Variable("gradient_floor", "positive")),
        conditions=(*claim.conditions, Condition(norm2(objective_grad(x_round[r])), ">=", gradient_floor, (all_rounds,))))


# Lemma 3.1 and Lemma A.2 ---------------------------------------------------------------------------------------------
def noise_lemma(block, number, steps=()):
    """Lemma 3.1, or Lemma A.2, as a function of the reading."""

    def claim(reading: Reading) -> Claim:
        return round_claim(
            reading, id=f"fedluar/{block}", number=number, kind="lemma", assumptions=ASSUMPTIONS_1_TO_3,
            conditions=(SMALL_STEP, reading.kappa_is, Condition(0, "<=", 1 - kappa)), steps=steps,
            statement=Condition(over_rounds(E(norm2(reading.noise[r]))), "<=", noise_bound_3_1(reading, kappa)),
            note="t is r; the smoothness constant is printed as a Roman L, the letter of the number of layers")

    return claim


NOISE_STEPS = tuple(f"fedluar/{name}" for name in (
    "lemma-A.2-two-terms", "lemma-A.2-jensen", "eq-13", "lemma-A.2-variance", "lemma-A.2-drift-split", "lemma-A.2-smooth",
    "lemma-A.2-heterogeneity", "lemma-A.2-global-variance", "eq-14", "lemma-A.2-sum", "lemma-A.2-shift",
    "lemma-A.2-unweighted", "lemma-A.2-kappa",
))



def with_products(block, axes):
    """A block in its readings, and in the products of readings that are encoded."""
    return *in_readings(block, axes), *products(block, axes)


lemma_3_1 = with_products(noise_lemma("lemma-3.1", "Lemma 3.1", ("fedluar/lemma-A.2",)), STATEMENT_AXES)
lemma_A2 = with_products(noise_lemma("lemma-A.2", "Lemma A.2, (12)", NOISE_STEPS), STATEMENT_AXES)


# Lemma A.1 -----------------------------------------------------------------------------------------------------------
def drift_bound(power):
    """Right side of Lemma A.1, with tau to one more ``power`` in each term."""
    return tau**power * (5 * eta**2 * sigma_sq + 30 * tau * eta**2 * sigma_g_sq
                         + 30 * tau * eta**2 * E(norm2(objective_grad(x_round[r]))))


moved = norm2(x_before[r * local_steps + j, k] - x_round[r])
each_step = (j, 1, local_steps)

lemma_A1 = run_claim(
    id="fedluar/lemma-A.1", number="Lemma A.1", kind="lemma", reading="right side of the lemma itself; i = 1 .. m",
    procedure=FEDAVG, variables=(Variable("eta", "positive"),), assumptions=ASSUMPTIONS_1_TO_3,
    conditions=(constant_step, A1_STEP),
    statement=Condition(Sum(E(moved), (k, 0, clients - 1)) / m, "<=", drift_bound(0), (all_rounds, each_step)),
    steps=tuple(f"fedluar/{name}" for name in (
        "eq-9", "lemma-A.1-variance", "lemma-A.1-young", "eq-10", "lemma-A.1-split", "lemma-A.1-onestep",
        "lemma-A.1-coefficient", "lemma-A.1-recursion", "lemma-A.1-unroll", "lemma-A.1-geometric", "lemma-A.1-exponent",
        "eq-11",
    )),
    note=f"t is r, the paper's k is j; {SQUARED}",
)

lemma_A1_display = lemma_A1.variant(
    "proof-display", "right side of the last display of its proof; i = 1 .. m",
    statement=Condition(Sum(E(moved), (k, 0, clients - 1)) / m, "<=", drift_bound(1), (all_rounds, each_step)),
)

lemma_A1_readings = (
    lemma_A1,
    lemma_A1_display,
    lemma_A1.variant(
        "per-client", "for each client, as in its proof; right side of the lemma itself",
        statement=Condition(E(moved), "<=", drift_bound(0), (all_rounds, each_step, all_clients)),
    ),
    lemma_A1_display.variant(
        "proof-display+per-client", "for each client, as in its proof; right side of the last display of its proof",
        statement=Condition(E(moved), "<=", drift_bound(1), (all_rounds, each_step, all_clients)),
    ),
    lemma_A1.variant(
        "literal", "the sum over clients as printed, i = 0 .. m", statement=None,
        undefined="the sum over i = 0 .. m has a client 0, and the clients are 1 .. m",
    ),
)


# Lemma A.3, Theorems 3.2 and A.4 -------------------------------------------------------------------------------------
def framework(reading: Reading) -> Claim:
    """Lemma A.3."""
    return round_claim(
        reading, id="fedluar/lemma-A.3", number="Lemma A.3", kind="lemma", assumptions=ASSUMPTIONS_1_TO_3,
        conditions=(SMALL_STEP, reading.kappa_is, KAPPA_SMALL),
        statement=Condition(gradient_sum, "<=", framework_bound(reading)),
        steps=("fedluar/eq-15", "fedluar/eq-16", "fedluar/lemma-A.3-T1-split", "fedluar/eq-17", "fedluar/eq-18",
               "fedluar/lemma-A.3-T2-split", "fedluar/eq-19", "fedluar/eq-20", "fedluar/lemma-A.3-collect",
               "fedluar/lemma-A.3-omit", "fedluar/eq-21", "fedluar/lemma-A.3-sum", "fedluar/lemma-3.1",
               "fedluar/lemma-A.3-insert-noise", "fedluar/lemma-A.3-rearrange"),
        note="t is r; no range of kappa is printed: below 1/16, as in Theorem A.4")


lemma_A3 = with_products(framework, (*STATEMENT_AXES, "end"))

lemma_A3_literal = replace(
    lemma_A3[0], id="fedluar/lemma-A.3@literal-domain", reading=f"{lemma_A3[0].reading}; kappa at most 1, other than 1/16",
    conditions=(*lemma_A3[0].conditions[:-1], *KAPPA_LITERAL), note="t is r",
)


def theorem(block, number):
    """Theorem 3.2, or Theorem A.4, as a function of the reading."""

    def claim(reading: Reading) -> Claim:
        return round_claim(
            reading, id=f"fedluar/{block}", number=number, kind="theorem", assumptions=ASSUMPTIONS_1_TO_3,
            conditions=(reading.kappa_is, KAPPA_SMALL, THEOREM_STEP),
            statement=Condition(gradient_sum, "<=", theorem_bound(reading)),
            steps=("fedluar/lemma-A.1@proof-display", "fedluar/lemma-A.3", "fedluar/theorem-A.4-insert-drift",
                   "fedluar/theorem-A.4-simplify", "fedluar/theorem-A.4-coefficient", "fedluar/eq-22"),
            note=f"t is r; {SQUARED}")

    return claim


theorem_3_2 = with_products(theorem("theorem-3.2", "Theorem 3.2, (7)"), (*STATEMENT_AXES, "end"))
theorem_A4 = with_products(theorem("theorem-A.4", "Theorem A.4"), (*STATEMENT_AXES, "end"))

# remarks -------------------------------------------------------------------------------------------------------------
gradients, drifts = sp.Symbol("gradients", nonnegative=True), sp.Symbol("drifts", nonnegative=True)
in_numbers = (4 * T * tau**2 * sigma_sq + 8 * T * tau**2 * sigma_g_sq + 8 * kappa * tau**2 * gradients
              + 8 * tau * L**2 * drifts)

remark_1_structural = algebra_claim(
    id="fedluar/remark-1@structural", number="Remark 1", kind="prose",
    reading="the right side of Lemma 3.1 is the same for all ages and all numbers of recycled layers: an identity",
    variables=(
        Variable("L", "positive"), Variable("local_steps", "integer"), Variable("rounds", "integer"),
        *(Variable(n, "nonnegative") for n in ("sigma_sq", "sigma_g_sq", "kappa", "gradients", "drifts")),
        *(Variable(n, "integer", low=0) for n in ("recycled", "age")),
    ),
    statement=Condition(in_numbers, "==", in_numbers),
    note="gradients and drifts are the two sums over the run; no side has the number of recycled layers or an age",
)

remark_1 = replace(
    noise_lemma("remark-1", "Remark 1")(Reading(mask="forced")), kind="prose", steps=("fedluar/lemma-3.1",),
    reading="Lemma 3.1 for any given layers in each round, any number of them, any ages",
)

decrease, length, excess, C = (
    sp.Symbol("decrease", real=True), sp.Symbol("length", positive=True), sp.Symbol("excess", positive=True),
    sp.Symbol("C", positive=True))
small_kappa = (KAPPA_SMALL, THEOREM_STEP)

of_remark_2 = (
    *(Variable(n, "positive") for n in ("L", "eta", "length")), Variable("local_steps", "integer"),
    Variable("clients", "integer"), *(Variable(n, "nonnegative") for n in ("sigma_sq", "sigma_g_sq", "kappa")),
    Variable("decrease", "real"),
)

LENGTHS = {
    "T-fixed": ("T fixed", length),
    "etaT-fixed": ("eta T fixed", length / eta),
    "etaT-to-infinity": ("eta T to infinity, as a power of 1/eta", length / (eta * (L * eta * tau) ** excess)),
}

#: the least positive power of eta that a summand of (7) can have
LEAST_POWER = {"T-fixed": 1, "etaT-fixed": 1, "etaT-to-infinity": Min(1, excess)}


def terms_of_7(T):
    """The summands of (7) with this T: the one said to stay, and the others."""
    share = 1 / (1 - 16 * kappa)
    floor = 4 * T * share * (4 + 9 * L**2) * sigma_sq
    others = (4 * share / (eta * tau) * decrease + 4 * T * share * L * eta / m * sigma_sq
              + 1080 * T * share * L**2 * eta**2 * tau**2 * sigma_g_sq)
    return floor, others


def remark_2():
    """Both halves of Remark 2 by limit, for the sum and for the average over T."""
    floor_at_one = sp.Symbol("eta_other", positive=True)
    for name, (words, T) in LENGTHS.items():
        for averaged, per in (("", 1), ("+average", T)):
            what = "the average over T" if averaged else "the sum"
            floor, others = (part / per for part in terms_of_7(T))
            yield algebra_claim(
                id=f"fedluar/remark-2@{name}{averaged}", number="Remark 2", kind="prose", explicit=False,
                reading=f"all other summands of (7) go to 0 with eta; {what}, {words}",
                variables=(*of_remark_2, *((Variable("excess", "positive"),) if name == "etaT-to-infinity" else ()),
                           Variable("C", "hidden")),
                conditions=small_kappa, statement=Condition(others, "<=", C * (L * eta * tau) ** LEAST_POWER[name]),
                limits=((eta, 0),), steps=("fedluar/theorem-3.2",),
                note="with a constant C that is not printed; each summand is a power of eta, so that all go to 0 only if "
                     "they do as the least positive power among them; decrease is F(x_0) - F(x_T), held fixed")
            if name != "etaT-to-infinity":
                yield algebra_claim(
                    id=f"fedluar/remark-2@{name}{averaged}+floor", number="Remark 2", kind="prose",
                    reading=f"the summand with (4 + 9 L^2) sigma_L^2 is the same for every eta; {what}, {words}",
                    variables=(*(v for v in of_remark_2 if v.name not in ("clients", "sigma_g_sq", "decrease")),
                               Variable("eta_other", "positive")), conditions=small_kappa,
                    statement=Condition(floor, "==", floor.subs(eta, floor_at_one)), steps=("fedluar/theorem-3.2",))


found = list(remark_2())
remark_2_readings = (replace(found[0], id="fedluar/remark-2"), *found[1:])

CLAIMS = (
    *lemma_3_1, *with_other_variances(lemma_3_1[0]), where_ratios_exist(lemma_3_1[0]),
    *theorem_3_2, *with_other_variances(theorem_3_2[0]), remark_1, remark_1_structural, *remark_2_readings,
    *lemma_A1_readings,
    *lemma_A2, where_ratios_exist(lemma_A2[0]), *lemma_A3, where_ratios_exist(lemma_A3[0]), lemma_A3_literal, *theorem_A4,
)
