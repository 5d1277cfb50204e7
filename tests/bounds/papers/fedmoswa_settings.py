"""What FedSWA's and FedMoSWA's statements suppose, over what they range and of which algorithm they speak, from the paper.

Each block has a row of its first reading, without its sides; a name of another reading changes one thing of it.
"""

import re

from tests.bounds.chance import Min
from tests.bounds.papers.fedmoswa_algebra_settings import NUMBERS, POINTS
from tests.bounds.papers.fedmoswa_hypotheses import each_client, each_round, from_0_to_K, from_step_1, to_step_K
from tests.bounds.papers.fedmoswa_theorem_rows import Q, power
from tests.bounds.papers.fedmoswa_world import SIZES
from tests.bounds.rows import Row, but

__all__ = ["METHOD", "setting"]

#: Algorithm 1 with Option II and the constant steps of Appendix G; s of m clients, the server's variate by (7)
METHOD = "fedmoswa sampling=without-replacement equal_weights replaced=random option=II rho_decay=1"
EVERYONE = "equal_weights replaced=random"
ONE_OF_FIVE, TWO_TO_FOUR = "assumption-1", "assumption-2 assumption-3 assumption-4"
TWO_TO_FIVE, C_2_TO_C_5 = f"{TWO_TO_FOUR} assumption-5", f"{TWO_TO_FOUR} assumption-c5"
ONE_TO_FIVE, C_1_TO_C_5 = f"{ONE_OF_FIVE} {TWO_TO_FIVE}", f"{ONE_OF_FIVE} {C_2_TO_C_5}"
G_1_2, G_2_3 = "assumption-g1 assumption-g2", "assumption-g2 assumption-g3"
G_1_2_3, G_2_3_4 = f"{G_1_2} assumption-g3", f"{G_2_3} assumption-g4"

ROUNDS, CLIENTS = (each_round,), (each_round, each_client)
DRIFT = (each_round, from_step_1, each_client)  # theta_{i,k}, k = 1, ..., K
STEPS = (each_round, to_step_K, each_client)  # g_i(theta_{i,k}), k = 0, ..., K - 1


def given(row, more):
    return but(row, given=f"{row.given} {more}".strip())


def instead(row, *pairs):
    """The row with other hypotheses, or none, in place of those that it has."""
    other = dict(pairs)
    return but(row, given=" ".join(filter(None, (other.get(name, name) for name in row.given.split()))))


def having(row, more):
    return but(row, variables=f"{row.variables}; {more}".strip("; "))


def lacking(row, *names):
    parts = [part.strip() for part in row.variables.split(";")]
    return but(row, variables="; ".join(part for part in parts if part.partition(":")[0] not in names))


def option(row, name, value):
    """The row of the method with this option."""
    words = (row.method or METHOD).split()
    if any(word.startswith(f"{name}=") for word in words):
        return but(row, method=" ".join(f"{name}={value}" if word.startswith(f"{name}=") else word for word in words))
    return but(row, method=" ".join([*words, f"{name}={value}"]))


# Appendices E, F, I: all clients take part, "alpha = 1", "eta_k^t <= 1/(beta K T)" -------------------------------------
SWA = Row(given="steps rho-to-1 small-step", variables="eta; rho_decay", method=f"fedswa {EVERYONE} eta_g=1")
OPTION_I = but(given(having(SWA, "gamma"), "gamma-to-1"), method=f"fedmoswa {EVERYONE} option=I eta_g=1")
FRESH = but(OPTION_I, method=f"fedmoswa {EVERYONE} variant=fresh batch=same eta_g=1")
SAM = Row(given="steps small-step", variables="eta; rho_sam", method=f"fedsam {EVERYONE} eta_g=1")
MOFEDSAM = but(given(having(SAM, "beta"), "share-to-1"), method=f"mofedsam {EVERYONE}")


def constant_schedule(row):
    """F.1: "b = eta^t beta mu / (beta + mu)", with one rate for all local steps."""
    return given(lacking(instead(row, ("rho-to-1", "rho-1"), ("b", None)), "rho_decay"), "b-F1")


SWA_CONVEX, SWA_NONCONVEX = given(SWA, f"{C_1_TO_C_5} b"), given(SWA, f"{C_2_TO_C_5} c")
MO_CONVEX, MO_NONCONVEX = constant_schedule(given(FRESH, C_1_TO_C_5)), given(FRESH, f"{C_2_TO_C_5} c")
ALG_CONVEX, ALG_NONCONVEX = (but(row, method=OPTION_I.method) for row in (MO_CONVEX, MO_NONCONVEX))
FOUR, TWO_FOUR = given(SWA, f"assumption-1 {TWO_TO_FOUR}"), given(SWA, TWO_TO_FOUR)
SAM_C = given(SAM, f"{C_2_TO_C_5} c-SAM c-bar")


def over(row, *ranges):
    return but(row, over=ranges)


def all_of(names, row):
    return dict.fromkeys(names.split(), row)


GENERALISATION = {
    "theorem-5.1-strongly-convex-fedswa": given(SWA, ONE_TO_FIVE),
    "theorem-5.1-strongly-convex-fedmoswa": given(OPTION_I, ONE_TO_FIVE),
    "theorem-5.1-nonconvex-fedswa": given(SWA, TWO_TO_FIVE), "theorem-5.1-nonconvex-fedmoswa": given(OPTION_I, TWO_TO_FIVE),
    "lemma-4.1-stability": Row(given="stable", method=f"fedavg {EVERYONE}"),
    # Appendix E; Lemma E.2 prints C.1-C.4, and sigma_{g,i} is C.5's
    "lemma-e.1": over(SWA_CONVEX, *DRIFT), "lemma-e.2": over(SWA_CONVEX, *STEPS),
    "lemma-e.4": over(SWA_NONCONVEX, *DRIFT), "lemma-e.5": over(SWA_NONCONVEX, *STEPS),
    "theorem-e.3": given(SWA, f"{ONE_TO_FIVE} b largest-gradient"), "theorem-e.6": given(SWA_NONCONVEX, "largest-gradient"),
    "eq-14": over(FOUR, *STEPS), "eq-23": over(TWO_FOUR, *STEPS), "eq-15-unroll": over(SWA_CONVEX, *DRIFT),
    **all_of("eq-16 eq-25", over(given(SWA, "assumption-3 assumption-4 assumption-c5"), *STEPS)),
    "eq-24@unrolled": over(SWA_NONCONVEX, *DRIFT),
    "eq-19": over(given(SWA, "assumption-1 assumption-4"), *STEPS), "eq-28": over(given(SWA, "assumption-4"), *STEPS),
    "eq-28@last-line": over(SWA_NONCONVEX, *STEPS), **all_of("eq-29@gap eq-29@products", over(SWA_NONCONVEX, *CLIENTS)),
    "eq-20-unroll": over(SWA_CONVEX, *CLIENTS), "eq-21": over(SWA_CONVEX, *ROUNDS), "eq-22-unroll": SWA_CONVEX,
    "eq-30": over(SWA_NONCONVEX, *ROUNDS), "eq-30@printed": over(SWA_NONCONVEX, *CLIENTS), "eq-31": SWA_NONCONVEX,
    "stability-to-gen": given(instead(SWA, ("small-step", None)), "assumption-2"),
    # Appendix F; the step bound of (34), (37), (45), (47) speaks of C.4's beta
    "lemma-f.1": over(MO_CONVEX, *CLIENTS), "lemma-f.2": over(MO_CONVEX, *STEPS),
    "lemma-f.4": over(given(MO_NONCONVEX, "assumption-1"), *DRIFT), "lemma-f.5": over(MO_NONCONVEX, *STEPS),
    **all_of("theorem-f.3-gap theorem-f.3-gen", ALG_CONVEX), "theorem-f.6": ALG_NONCONVEX,
    "eq-33": over(given(FRESH, f"assumption-1 {TWO_TO_FOUR}"), *STEPS), "eq-34": over(given(FRESH, TWO_TO_FOUR), *ROUNDS),
    **all_of("eq-35@first-line eq-41", over(MO_CONVEX, *CLIENTS)),
    **all_of("eq-36 eq-40", over(MO_CONVEX, *STEPS)), "eq-36@last": over(MO_CONVEX, *CLIENTS),
    **all_of("eq-36@48 eq-51", over(MO_NONCONVEX, *STEPS)),
    **all_of("eq-36@48+last eq-52", over(MO_NONCONVEX, *CLIENTS)),
    "eq-37": over(given(FRESH, "assumption-3 assumption-4 assumption-c5"), *CLIENTS),
    **all_of("eq-38 eq-39", over(given(FRESH, "assumption-1 assumption-4"), *STEPS)),
    **all_of("eq-49 eq-50", over(given(FRESH, "assumption-4"), *STEPS)),
    "eq-42": over(MO_CONVEX, *ROUNDS), "eq-42@printed": over(MO_CONVEX, *CLIENTS), "eq-43": MO_CONVEX,
    "eq-45": over(given(FRESH, f"{TWO_TO_FOUR} c"), *STEPS), "eq-47": over(given(FRESH, f"{TWO_TO_FOUR} c"), *CLIENTS),
    "eq-53": over(MO_NONCONVEX, *ROUNDS), "eq-54": MO_NONCONVEX,
    # Appendix I; Lemma I.2 and Theorem I.3 print Assumptions 1-3, and beta and sigma_{g,i} are C.4's and C.5's
    "lemma-i.1": over(SAM_C, *DRIFT), "lemma-i.2": over(given(SAM_C, "assumption-1"), *STEPS),
    "theorem-i.3": given(SAM_C, "assumption-1 largest-gradient"),
    "eq-103": over(given(SAM, C_2_TO_C_5), *STEPS), "eq-104@unrolled": over(given(SAM, f"{C_2_TO_C_5} c-SAM"), *DRIFT),
    "eq-104@unrolled+third": over(given(SAM, f"{C_2_TO_C_5} c-SAM"), *CLIENTS),
    "eq-105": over(given(SAM, "assumption-3 assumption-4 assumption-c5"), *STEPS),
    "eq-108": over(given(SAM, "assumption-4"), *STEPS), "eq-108@last-line": over(SAM_C, *STEPS),
    "eq-109": over(SAM_C, *CLIENTS), "eq-110": over(SAM_C, *ROUNDS), "eq-111": SAM_C,
}

# Algorithm 1: s clients are selected; eta_k^t of (3), 0 <= rho <= 1 ----------------------------------------------------
SOME = "sampling=without-replacement equal_weights replaced=random"
ALG_SWA = Row(given="steps rho-to-1", variables="eta; rho_decay; eta_g", method=f"fedswa {SOME}", sign="==")
ALG_MOSWA = but(given(having(ALG_SWA, "gamma"), "gamma-to-1"), method=f"fedmoswa {SOME}")
ALGORITHM_1 = {
    "eq-3": over(ALG_SWA, each_round, from_0_to_K), **all_of("eq-3@first eq-3@last", over(ALG_SWA, *ROUNDS)),
    "eq-4": over(ALG_SWA, *STEPS), "eq-5": over(ALG_MOSWA, *STEPS),
    "eq-6": over(option(ALG_MOSWA, "option", "II"), *CLIENTS),
    "eq-6@option-I": over(but(ALG_MOSWA, method=f"fedmoswa {EVERYONE} option=I"), *CLIENTS),
    **all_of("eq-7 algorithm-1-server", over(ALG_MOSWA, *ROUNDS)),
}

# Appendix G ----------------------------------------------------------------------------------------------------------
G = Row(given="effective-steps gamma-to-1", variables="eta_eff; eta_g; gamma", over=ROUNDS)
START = option(G, "start", "gradient")  # Appendix G.3: c_i^0 = g_i(theta^0)
UP_TO_1 = given(G, f"{G_1_2} eta-to-1/beta")
UP_TO_81 = given(G, f"{G_1_2_3} alpha-from-1 step-81")
LEMMA_13 = given(G, f"{G_1_2_3} alpha-from-1 step-81-15")
ALL_CLIENTS_UP_TO_1 = option(UP_TO_1, "variant", "all-clients")
G_14 = given(START, f"{G_2_3} eta-to-1/beta")
POWER = having(given(START, f"{G_2_3} a-from-1/2 a-to-1"), "power")
G_15, G_16 = given(POWER, "step-gamma"), given(POWER, "step-share")
G_17, G_18 = given(START, f"{G_2_3} alpha-from-1 step-24"), given(START, f"{G_2_3} step-2/3")
LOCAL = (each_round, from_step_1)
DRIFT_12 = over(given(G, f"{G_1_2_3} two-steps eta_l-to-1/beta"), *LOCAL)
ROUND_LEMMAS = {
    "lemma-g.9": given(G, G_1_2_3), **all_of("lemma-g.10 lemma-g.11 eq-66 eq-83", UP_TO_1),
    "lemma-g.12": UP_TO_81, **all_of("lemma-g.13 eq-85", LEMMA_13),
    **all_of("lemma-g.14-mean lemma-g.14-second eq-98 eq-86", G_14), "lemma-g.15": G_15, "lemma-g.16": G_16,
    "lemma-g.17": G_17, "lemma-g.18": G_18,
    "g9-variances": given(G, "assumption-g3"), **all_of("g9-variances@variates g9-variances@variates-total", over(
        given(G, "assumption-g3"), *CLIENTS)),
    **all_of("eq-65 eq-80 eq-82", given(G, G_1_2_3)), "eq-81": given(G, G_1_2),
    "eq-81@third": but(given(G, G_1_2), sign="=="),
    "eq-68": but(option(G, "variant", "all-clients"), sign="=="),
    "eq-68@printed": given(but(option(G, "variant", "all-clients"), sign="=="), "assumption-g2"),
    "eq-69": ALL_CLIENTS_UP_TO_1, **all_of("eq-73 eq-74 eq-75", DRIFT_12),
    "eq-77": given(UP_TO_81, "two-steps"),
    **all_of("eq-66@variates eq-66@expected-variates", over(but(UP_TO_1, sign="=="), *CLIENTS)),
    "eq-70": over(given(G, f"{G_1_2_3} two-steps"), each_round, to_step_K),
    "eq-70@second": over(having(given(G, f"{G_1_2_3} two-steps"), "factor"), each_round, to_step_K),
    "eq-80@first": but(given(G, G_1_2_3), sign="=="),
    "g12-k1": but(given(G, f"{G_1_2} alpha-from-1 step-81 one-step"), sign="=="),
    "mean-update": but(G, sign="=="),
    "mean-of-m": but(option(START, "variant", "all-clients"), sign="=="),
    "g14-variances": given(START, "assumption-g3"), "eq-91": START,
    "eq-86@third": but(G_14, sign="=="), "points-at-the-start": but(START, over=(), sign="=="),
    "eq-89": having(G_15, "factor"), "eq-93": having(G_16, "factor"),
    **all_of("eq-89@identity eq-89@printed-identity", but(having(G_15, "factor"), sign="==")),
    "eq-93@identity": but(having(G_16, "factor"), sign="=="),
    "eq-94": over(given(START, f"{G_2_3} two-steps"), *DRIFT), "eq-95": over(given(G_17, "two-steps"), *LOCAL),
    "eq-99": G_16, "eq-100": G_15, "eq-101": given(POWER, "alpha-from-1 step-24"),
    "eq-102": given(POWER, "alpha-from-1 step-share step-gamma"),
    "theorem-h.1-constant": UP_TO_81,
}

# Theorem 5.2, Table 1: orders ------------------------------------------------------------------------------------------
RUN = but(G, over=())


def order(row, limits):
    """The row with an absolute constant that O(.) hides."""
    return but(having(row, "C"), limits=limits, constants_may_use="")


RATE = "rounds -> oo, clients -> oo, local_steps -> oo, L -> oo, sigma_sq -> oo"
SECOND_MOMENT = "rounds -> oo, local_steps -> oo, L -> oo, sigma_sq -> oo, sigma_g_2 -> oo"
FIRST_MOMENT = SECOND_MOMENT.replace("sigma_g_2", "sigma_g")
GENERAL = "rounds -> oo, clients -> oo, samples -> oo, L -> oo, G_lip -> oo, sigma -> oo, sigma_g -> oo"
OF_STEPS = GENERAL.replace("samples", "local_steps -> oo, samples")
CONVEX = order(given(RUN, f"assumption-g1 {G_2_3_4} step-5.2 rounds-5.2"), f"{RATE}, mu -> 0")
NONCONVEX = order(given(RUN, f"{G_2_3_4} step-5.2-nonconvex"), RATE)
FREE_STEP = given(but(lacking(SAM, "eta"), given="steps", variables="eta; rho_sam"), TWO_TO_FIVE)
#: caption of Table 1: "l is L-Lipschitz continuous and beta-smooth", sigma_g the "data heterogeneity" of Assumption 5
OPT_SAM = order(but(FREE_STEP, method=f"fedsam {SOME}"), FIRST_MOMENT.replace("L -> oo", "L -> oo, G_lip -> oo"))
OPT_MOFEDSAM = but(given(having(OPT_SAM, "beta"), "share-to-1"), method=f"mofedsam {SOME}")
OPT_SWA = order(but(given(FREE_STEP, "rho-to-1"), variables="eta; rho_decay; eta_g", method=f"fedswa {SOME}"), FIRST_MOMENT)
OPT_SCAFFOLD = order(but(
    FREE_STEP, given=f"steps {G_2_3_4}", variables="eta; eta_g", method=f"scaffold {SOME}"), RATE)


def some_step(row, name, bound, *conditions):
    """There is a step up to this bound."""
    return but(instead(lacking(row, name), *((condition, None) for condition in conditions)),
               exists=(name, lambda w: 0, bound, "(]"))


def _step_5_2(w):
    return power(Q(SIZES["participants"], SIZES["clients"]), Q(2, 3)) / w.value("L")


def _step_5_2_convex(w):
    return Min(1 / w.value("L"), SIZES["participants"] / (w.value("mu") * SIZES["clients"]))


def _of_a_round(w):
    """1/(beta K): steps that come to 1/beta over a round."""
    return 1 / (w.value("L") * SIZES["local_steps"])


def _of_a_round_with_alpha(w):
    return _of_a_round(w) / w.value("eta_g")


def _steps(name, row, bound, small):
    """Rates without a printed step: for some step, for every one of at most 1/beta over a round, for every one."""
    return {name: some_step(row, "eta", bound), f"{name}@any-step": row, f"{name}@small-steps": given(row, small)}


def _mean_square(row):
    """Assumptions G.2-G.4 in place of 2-5, with the mean square of the heterogeneity."""
    first, *others = TWO_TO_FIVE.split()
    return but(instead(row, (first, G_2_3_4), *((name, None) for name in others)), limits=SECOND_MOMENT)


OF_G_18 = given(RUN, f"{G_2_3} alpha-from-1")
ORDERS = {
    "theorem-5.2-strongly-convex": some_step(CONVEX, "eta_eff", _step_5_2_convex, "step-5.2"),
    "theorem-5.2-strongly-convex@every-step": CONVEX,
    **all_of("theorem-5.2-nonconvex table-1-opt-fedmoswa",
             some_step(NONCONVEX, "eta_eff", _step_5_2, "step-5.2-nonconvex")),
    **all_of("theorem-5.2-nonconvex@every-step table-1-opt-fedmoswa@every-step", NONCONVEX),
    "table-1-opt-fedmoswa@any-step": instead(NONCONVEX, ("step-5.2-nonconvex", None)),
    # derived: G.13 with G.5, mu -> mu/2; G.18 summed over the rounds, and with G.6
    "explicit-5.2-strongly-convex": given(RUN, f"{G_1_2_3} alpha-from-1 step-81-15 rounds-13"),
    "explicit-5.2-nonconvex": given(option(OF_G_18, "start", "gradient"), "step-2/3"),
    "explicit-5.2-nonconvex-tuned": given(option(lacking(OF_G_18, "eta_eff"), "start", "gradient"), "step-tuned"),
    "table-1-gen-fedsam": order(given(SAM, f"{TWO_TO_FIVE} c-SAM c-bar"), GENERAL),
    "table-1-gen-mofedsam": order(given(MOFEDSAM, f"{TWO_TO_FIVE} c-SAM c-bar"), GENERAL),
    "table-1-gen-fedswa": order(given(SWA, TWO_TO_FIVE), OF_STEPS),
    "table-1-gen-fedmoswa": order(given(OPTION_I, TWO_TO_FIVE), OF_STEPS),
    **_steps("table-1-opt-fedsam", OPT_SAM, _of_a_round, "small-round"),
    **_steps("table-1-opt-mofedsam", OPT_MOFEDSAM, _of_a_round, "small-round"),
    **_steps("table-1-opt-fedswa", OPT_SWA, _of_a_round_with_alpha, "small-round-alpha"),
    **_steps("text-opt-scaffold", OPT_SCAFFOLD, _of_a_round_with_alpha, "small-round-alpha"),
}
SETTINGS = ALGORITHM_1 | GENERALISATION | ROUND_LEMMAS | ORDERS | POINTS | NUMBERS
SETTINGS["theorem-h.1-decay"] = but(
    having(given(UP_TO_81, "two-steps"), "local_steps: integer from 2"),
    method=METHOD.replace("rho_decay=1", "schedule=geometric-h1"))
SETTINGS["theorem-h.1-decay@printed-rates"] = lacking(
    instead(SETTINGS["theorem-h.1-decay"], ("effective-steps", "unit-steps")), "eta_eff")


# readings ------------------------------------------------------------------------------------------------------------
#: about two data sets
COUPLED = {"eq-20-unroll", "eq-21", "eq-22-unroll", "eq-40", "eq-41", "eq-42", "eq-43"}


def _in_region(block):
    end = "@region-coupled" if block.startswith("theorem") or block in COUPLED else "@region"
    names = ("assumption-2", "assumption-5", "assumption-c5")
    return lambda row: instead(row, *((name, f"{name}{end}") for name in names))


def _bounded_start(row):
    return given(option(but(row, method=FRESH.method), "start", "free"), "bounded-start")


def _fixed_client(row):
    """Its own sigma_{g,i} is C.5's."""
    return but(instead(row, ("assumption-5", "assumption-c5")), over=(*row.over, each_client))


def _everyone(row):
    return but(row, method=row.method.replace("sampling=without-replacement ", "") or METHOD.replace(
        "sampling=without-replacement ", ""))


def _plain_step(row):
    return but(lacking(row, "rho_sam"), method=f"fedavg {EVERYONE}")


AXES = {
    "fixed-client": _fixed_client, "bounded-start": _bounded_start, "plain-step": _plain_step, "everyone": _everyone,
    "any-server-step": lambda row: but(having(row, "eta_g"), method=row.method.replace(" eta_g=1", "")),
    "fresh": lambda row: but(row, method=FRESH.method), "algorithm-1": lambda row: but(row, method=OPTION_I.method),
    "option-II": lambda row: option(row, "option", "II"),
    "independent-batch": lambda row: option(but(row, method=FRESH.method), "batch", "independent"),
    "b-F1": constant_schedule, "gradient-L": lambda row: instead(row, ("largest-gradient", None)),
    "without-C1": lambda row: instead(row, ("assumption-1", None)),
    "assumptions-2-to-5": lambda row: instead(row, ("assumption-1", None)),
    # Appendix G
    "all-clients": lambda row: option(row, "variant", "all-clients"),
    "start-zero": lambda row: option(row, "start", "zero"), "start-gradient": lambda row: option(row, "start", "gradient"),
    "start-gradient-clients": lambda row: option(row, "start", "gradient-clients-only"),
    "start-mean": lambda row: option(row, "start", "free-mean"),
    "start-free": lambda row: option(row, "start", "free"), "any-state": lambda row: option(row, "start", "free"),
    "as-proved": lambda row: option(option(row, "variant", "all-clients"), "start", "gradient"),
    "some-clients": lambda row: given(row, "some-clients"),
    "large-server-step": lambda row: given(row, "alpha-from-1"),
    "F-smooth": lambda row: instead(row, ("assumption-g2", "assumption-g2@objective")),
    "mu-0": lambda row: instead(row, ("assumption-g1", "assumption-g1@convex"), ("step-81-15", "step-81")),
    # Table 1
    **dict.fromkeys(("of-FedSAM", "mean-square"), _mean_square),
    "radius-0": lambda row: given(lacking(row, "rho_sam"), "radius-0"),
    # statements
    "at-least": lambda row: but(row, sign=">="), "equality": lambda row: but(row, sign="=="),
}


def setting(claim_id: str) -> Row:
    """The row of a claim, by its id without the paper, but for its sides."""
    if claim_id in SETTINGS:
        return SETTINGS[claim_id]
    parent, name = claim_id[: max(claim_id.rfind("@"), claim_id.rfind("+"))], re.split("[@+]", claim_id)[-1]
    axis = _in_region(claim_id.split("@")[0]) if name == "region" else AXES.get(name, lambda row: row)
    return axis(setting(parent))
