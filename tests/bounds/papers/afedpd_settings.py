"""What A-FedPD's statements suppose, over what they range and of which algorithm they speak, written from the paper."""

from tests.bounds.papers.afedpd_table_rows import TABLES
from tests.bounds.papers.afedpd_world import K
from tests.bounds.ranges import each_client, each_round, later_rounds
from tests.bounds.rows import Row, but

__all__ = ["METHOD", "SETTINGS"]

#: Algorithm 1, P of the C clients in every round; on every pair of neighbouring data sets, where there are any
METHOD = "afedpd sampling=without-replacement equal_weights replaced=any"
EXACT = f"{METHOD} solver=exact"
#: other methods, with some clients in every round and with all
OTHER, EVERYBODY = "{} sampling=without-replacement equal_weights replaced=any", "{} equal_weights replaced=any"


def given(row, more):
    return but(row, given=f"{row.given} {more}".strip())


def without(row, name):
    return but(row, given=" ".join(n for n in row.given.split() if n != name))


def having(row, more):
    return but(row, variables=f"{row.variables}; {more}".strip("; "))


def all_of(names, row):
    return dict.fromkeys(names.split(), row)


def exact(row):
    """Local solutions are exact: epsilon is 0, and there are no local steps."""
    return having(but(without(row, "assumption-inexact"), method=EXACT), AT_ONCE)


#: a local problem that is solved at once
AT_ONCE = "local_steps: integer from 1 to 1"
ALGEBRA = Row(method="algebra")


# optimisation ----------------------------------------------------------------------------------------------------------
RUN = Row(given="assumption-1 assumption-sampling assumption-inexact", variables="rho_prox")
ROUND, LATER = but(RUN, over=(each_round,)), but(given(RUN, "two-rounds"), over=(later_rounds,))
SAMPLED = Row(given="assumption-sampling", variables="rho_prox", over=(each_round,))  # no assumption but the sampling
SMOOTH = given(SAMPLED, "assumption-1")
APPENDIX = given(RUN, "rho-appendix")
THEOREM_1 = but(having(RUN, "constant"), limits="eps_inexact -> 0")
OPT = "L; rho_prox"
ROUND_NUMBERS = f"{OPT}; R_now; R_before; h_sq; f_now; eps_inexact; s_1"
TELESCOPED = given(APPENDIX, "two-rounds")


def in_the_system(block, row):
    return {f"{block}{solved}{at}": exact(row) if solved else row for solved, at in (
        ("", ""), ("", "@averaged"), ("@exact", ""), ("@exact", "+averaged"))}


RELAXED = but(ALGEBRA, given="f-low", variables=f"{OPT}; f_low; s_1; s_2; R_start; R_end; eps_inexact; rounds")

OPTIMISATION = {
    "theorem-1": THEOREM_1, "theorem-1@exact": exact(RUN),
    "theorem-1@rho-appendix": given(THEOREM_1, "rho-appendix"), "theorem-1@rho-appendix+exact": exact(APPENDIX),
    "theorem-1-explicit": APPENDIX, "theorem-1-explicit@exact": exact(APPENDIX),
    **all_of("lemma-1 lemma-1@inactive-theta lemma-1-step-1 lemma-1-step-2 lemma-3-step-1 lemma-3-step-2", SAMPLED),
    **all_of("lemma-3 lemma-3@inactive-theta", SMOOTH),
    **all_of("lemma-2 lemma-2-step-2", ROUND), **all_of("lemma-2@exact lemma-2-step-2@exact", exact(ROUND)),
    "lemma-2@exact+later": exact(LATER), "lemma-2-step-1": but(SAMPLED, sign="=="),
    "lemma-2-step-3": but(ALGEBRA, given="lemma-2-step-2", variables=f"{OPT}; R_now; J_now; h_sq; eps_inexact"),
    **{f"descent-{n}": but(ROUND, sign="==" if n in (2, 3, 4, 5) else "<=") for n in range(1, 10)}, "descent": ROUND,
    **{f"descent-{n}@exact": but(exact(ROUND), sign="==" if n in (2, 3, 4, 5) else "<=") for n in range(1, 10)},
    "descent@exact": exact(ROUND),
    **in_the_system("j-by-r", LATER), **in_the_system("r-recursion", LATER),
    **in_the_system("q-combined", having(LATER, "q_mult")),
    **in_the_system("one-step-theorem-1", given(LATER, "rho-appendix")),
    **all_of("telescoped telescoped@from-0 telescoped-relaxed", TELESCOPED),
    **all_of("telescoped@exact telescoped-relaxed@exact", exact(TELESCOPED)),
    # numbers
    "q-range": but(ALGEBRA, sign=">", given="q-range", variables=f"{OPT}; q_mult"),
    "q-range@necessary": but(ALGEBRA, sign="<", given="q-coefficient", variables=f"{OPT}; q_mult"),
    "q-equation": but(ALGEBRA, sign="==", given="q-equation q-positive", variables=OPT),
    "rho-quadratic": but(ALGEBRA, sign="<", given="rho-appendix", variables=OPT),
    "rho-quadratic@necessary": but(ALGEBRA, sign=">", given="rho-quadratic q-positive", variables=OPT),
    "rho-order": but(ALGEBRA, variables="L; constant", limits="L -> oo"),
    "rho-order@small-L": but(ALGEBRA, variables="L; constant", limits="L -> 0"),
    "rho-order@zero": but(ALGEBRA, sign="<", given="rho-above-zero", variables=OPT),
    "q-choice": but(ALGEBRA, sign="==", given="q-choice", variables=OPT),
    "q-choice@range": but(ALGEBRA, sign="<", given="q-choice", variables=OPT),
    "q-choice@relation": but(ALGEBRA, sign=">=", given="q-choice rho-appendix", variables=OPT),
    "r-recursion@numbers": but(ALGEBRA, given="14 15", variables=f"{OPT}; R_now; R_before; h_sq; J_now; eps_inexact"),
    "q-combined@numbers": but(ALGEBRA, given="descent r-recursion", variables=f"{ROUND_NUMBERS}; q_mult"),
    "one-step-theorem-1@numbers": but(ALGEBRA, given="q-choice q-combined rho-appendix", variables=ROUND_NUMBERS),
    "telescoped@numbers": but(
        ALGEBRA, given="one-step-twice",
        variables=f"{OPT}; f_1; R_start; R_1; R_2; h_sq_1; h_sq_2; s_1; s_2; eps_inexact"),
    "telescoped-relaxed@numbers": RELAXED, "telescoped-relaxed@numbers+rho-appendix": given(RELAXED, "rho-appendix"),
}

# runs on neighbouring data sets ----------------------------------------------------------------------------------------
BASE = "assumption-sampling assumption-neighbours"
PAIR = Row(given=BASE, variables="rho_prox")
BOTH = f"{BASE} assumption-1@sample assumption-2@sample"
STEPS = "decayed gamma eta-0"
THEOREM_2 = Row(given=f"{BOTH} assumption-bounded@nonneg {STEPS} gamma-all", variables="rho_prox; eta_0; mu_lr; alpha_mult")
LEMMA_4 = but(PAIR, given=f"{BOTH} assumption-bounded@nonneg tau0-to-T", variables="rho_prox; tau0: integer from 0")
CHAIN = having(given(THEOREM_2, "tau0-to-T"), "tau0")
CLIENTS = (each_round, each_client)
LEMMA_5 = but(PAIR, given=f"{BASE} assumption-1@sample step-constant-in-round", over=CLIENTS)
LEMMA_6 = given(LEMMA_5, "assumption-2@sample")
STEP_OF_ROUND = (each_round, lambda w, r: range(1, K + 1), each_client)
#: "generalization analysis adopts both assumptions"
REC = but(LEMMA_6, over=(each_round,))


def gammas(block, row):
    return {block: row, **{f"{block}@{name}": gamma(row, name) for name in ("gamma-first", "gamma-first-eta1")}}


def gamma(row, name):
    return but(row, given=row.given.replace("gamma-all", name))


def after_each_step(block, row):
    row = but(row, over=STEP_OF_ROUND)
    return {block: row, f"{block}@every-client": row, f"{block}@stable": given(row, "stable")}


COUPLED_RUNS = {
    **gammas("theorem-2", THEOREM_2), **gammas("theorem-2-explicit", THEOREM_2),
    "theorem-2-explicit@stability": THEOREM_2, "theorem-2-explicit@stability+gamma-first": gamma(THEOREM_2, "gamma-first"),
    "lemma-4": LEMMA_4,
    **all_of("lemma-4@cond-zeta lemma-4@cond-zeta+rounds-upto", LEMMA_4),
    "lemma-4@generalisation": but(PAIR, given=f"{BOTH} assumption-bounded@nonneg"),
    **after_each_step("lemma-5", LEMMA_5), "lemma-5@round-end": LEMMA_5, "lemma-5@theta-T": LEMMA_5,
    **after_each_step("lemma-6", LEMMA_6), "lemma-6@round-end": LEMMA_6,
    "lemma-5-geometric@run+printed": but(LEMMA_5, sign="=="),
    **all_of("lemma-5-geometric@run+theta-T lemma-5-geometric@run+round", LEMMA_5),
    "lemma-5-geometric@run+stable": given(LEMMA_5, "stable"),
    "lemma-6-unroll@run+printed": but(LEMMA_6, sign="=="), "lemma-6-unroll@run+round": LEMMA_6,
    "lemma-6-unroll@run+stable": given(LEMMA_6, "stable"),
    **all_of("rec-delta-global rec-delta-global@virtual rec-delta-global@first rec-delta-global@second "
             "rec-delta-global@second+virtual rec-sigma rec-sigma@virtual rec-delta-local rec-delta-local@virtual", REC),
    **all_of("rec-sigma@text rec-sigma@text+virtual", but(given(REC, "two-rounds"), over=(later_rounds,))),
    **all_of("rec-pi rec-pi@virtual", but(REC, sign="<")), "rec-pi@stable": but(given(REC, "stable"), sign="<"),
    **all_of("rec-pi@middle rec-pi@definition", but(REC, sign="==")),
    **all_of("rec-pi@at-most rec-pi@at-most+virtual", REC), "rec-pi@at-most+stable": given(REC, "stable"),
    # the error is a mean over data sets, and so is the distance of the models
    "gap-before-tau0": but(LEMMA_4, method=METHOD.replace("any", "random")), "gap-before-tau0@stability": LEMMA_4,
    **all_of("gap-before-tau0@chain gap-before-tau0@chain+stability", CHAIN),
    "gap-before-tau0@chain+gamma-first": gamma(CHAIN, "gamma-first"),
}

# generalisation, numbers -----------------------------------------------------------------------------------------------
SPLIT = but(ALGEBRA, given="probability lipschitz to-H",
            variables="loss_1; twin_loss_1; loss_2; twin_loss_2; p; distance; G_lip: positive; H_loss")
HIT = but(ALGEBRA, given="P-to-C", variables="H_loss; clients; participants; samples; local_steps; tau0: integer from 0")
LAST = but(HIT, variables="H_loss; clients; participants; samples; tau0: integer from 0")
VECTORS = "eta; L; rho_prox; w_gap; x_gap; lam_gap; g_gap"
TRIANGLE = but(ALGEBRA, given="smooth", variables=VECTORS)
SMOOTH_CLIENT = but(ALGEBRA, given="smooth-mean", variables=f"{VECTORS}; rest_gap; samples: integer from 2")
DIFFERENT = but(ALGEBRA, given="gradients-to-G", variables="eta; rho_prox; w_gap; lam_gap; g_one; g_two")
MEAN = but(DIFFERENT, given="mean-gradients-to-G",
           variables=f"{DIFFERENT.variables}; rest_one; rest_two; clients; samples: integer from 2")
UNROLL = but(ALGEBRA, sign=">=", given="lemma-5-contraction a-mean",
             variables="eta; L; rho_prox; D_theta; D_lambda; length: integer from 2; a; slack")
BOUND = but(given(UNROLL, "from-0"), sign="<=")
UNROLL_6 = having(but(UNROLL, given="lemma-6-mixture a-mean from-0"), "G_lip; samples")
CLOSED = but(ALGEBRA, sign="==", variables="eta; L; rho_prox; D_theta; D_lambda; local_steps")
BERNOULLI = but(ALGEBRA, variables="eta; L; rho_prox; local_steps")
PARABOLA = but(ALGEBRA, given="curvature", variables=f"{BERNOULLI.variables}; curvature; x_1; lam_1")
SIZES = "L; rho_prox; eta; local_steps; clients; samples; G_lip; Delta; sigma_dual"
SYSTEM = "s_1; s_2; s_3; s_4"
ALPHA = but(ALGEBRA, variables="L; rho_prox; eta; local_steps; alpha_mult")
X_PLUS = but(ALGEBRA, variables="L; rho_prox; eta; local_steps")
RATIONAL = "L; z; m; local_steps"
ONE_STEP = but(ALGEBRA, given="system alpha-quadratic gamma", variables=f"{SIZES}; {SYSTEM}; alpha_mult")
UNROLLED = "L; eta_0; gamma_mult; G_lip: positive; local_steps; clients; samples; length: integer from 2"
FROM_0 = "tau0: integer from 0"
CONSTANT = but(ALGEBRA, sign=">=", given="constant-step rises-by-constant V-mean V-from-0",
               variables=f"{UNROLLED}; {FROM_0}; V; slack")
DECAYED = but(ALGEBRA, sign="<", given="mu-from-eta-0 rises-by-decayed V-mean V-from-0",
              variables=f"{UNROLLED}; tau0; mu_lr; V; slack")
SUMMED = "c: positive; L; G_lip: positive; clients; samples; rounds"
OF_SYSTEM = but(ALGEBRA, sign="<", given="system-with-equality gamma mu-L-whole eta-0 serves-last", variables=(
    "L; eta_0; G_lip: positive; alpha_mult; rho_prox; local_steps; p_lr; clients; samples; tau0; length: integer from 2; W"))
CHOICE = but(ALGEBRA, given="P-to-C choice",
             variables="G_lip: positive; root_1; root_2; clients; participants; samples; rounds; p_lr")

NUMBERS = {
    "lemma-4-split": SPLIT,
    "lemma-4-split@nonneg": but(SPLIT, variables="loss_1: nonnegative; twin_loss_1: nonnegative; loss_2: nonnegative; "
                                "twin_loss_2: nonnegative; p; distance; G_lip: positive; H_loss"),
    **all_of("lemma-4-hitting lemma-4-hitting@rounds-below", HIT), "lemma-4-hitting@union": but(HIT, sign=">="),
    **all_of("lemma-4-hitting@last lemma-4-hitting@last+rounds-below", LAST),
    **all_of("lemma-4-hitting@last+K-draws lemma-4-hitting@last+K-draws+rounds-below", HIT),
    **all_of("lemma-5-triangle lemma-5-contraction", SMOOTH_CLIENT),
    **all_of("lemma-5-triangle@stable lemma-5-contraction@stable", given(SMOOTH_CLIENT, "stable-number")),
    **all_of("lemma-5-triangle@sample lemma-5-contraction@sample", TRIANGLE),
    **all_of("lemma-5-triangle@stable+sample lemma-5-contraction@stable+sample", given(TRIANGLE, "stable-number")),
    "lemma-5-contraction@last": but(TRIANGLE, given="", variables=VECTORS.removesuffix("; g_gap")),
    "lemma-6-different": MEAN, "lemma-6-different@stable": given(MEAN, "decays"),
    "lemma-6-different@sample": DIFFERENT, "lemma-6-different@sample+stable": given(DIFFERENT, "decays"),
    "lemma-6-mixture@limit": but(ALGEBRA, given="in-margin", variables="samples; margin"),
    "lemma-6-mixture": but(ALGEBRA, variables="eta; L; rho_prox; a_now; G_lip; D_theta; D_lambda; samples"),
    "lemma-5-unroll": UNROLL, "lemma-5-unroll@stable": given(UNROLL, "stable-number"),
    "lemma-5-unroll@start": but(UNROLL, sign="==", given="from-0"),
    "lemma-6-unroll": UNROLL_6, "lemma-6-unroll@stable": given(UNROLL_6, "stable-number"),
    "lemma-6-unroll@closed": having(CLOSED, "G_lip; samples"),
    "lemma-5-geometric": having(CLOSED, "D_last"), "lemma-5-geometric@theta-t": CLOSED,
    "lemma-5-geometric@bound": BOUND, "lemma-5-geometric@bound+stable": given(BOUND, "stable-number"),
    "bernoulli": BERNOULLI, "bernoulli@x-condition": given(BERNOULLI, "x-condition"),
    "bernoulli@stable": given(BERNOULLI, "stable-number"),
    "bernoulli@bernoulli-itself": but(ALGEBRA, sign=">=", variables="x_plus_1; local_steps"),
    "lemma-5@quadratic": PARABOLA, "lemma-5@quadratic+stable": given(PARABOLA, "stable-number"),
    "rec-weighted": but(ALGEBRA, given="system", variables=f"{SIZES}; {SYSTEM}; alpha_mult; beta_mult; gamma_mult"),
    "multipliers": but(ALGEBRA, given="multipliers-feasible", variables="alpha_mult; beta_mult; gamma_mult; rho_prox"),
    "multipliers@feasible": but(ALGEBRA, sign=">=", given="multipliers", variables="alpha_mult; rho_prox"),
    **all_of("rec-factored rec-factored@with-sigma",
             but(ALGEBRA, given="multipliers", variables=f"{SIZES}; alpha_mult")),
    "alpha-condition": but(ALPHA, sign=">=", given="alpha-quadratic"),
    "alpha-condition@necessary": but(ALPHA, sign=">=", given="alpha-condition"),
    **all_of("x-plus x-plus@forms", but(X_PLUS, sign="==")), "x-plus@larger": X_PLUS,
    "x-plus@suffices": having(but(X_PLUS, sign=">="), "excess"),
    "x-plus-bound": X_PLUS, "x-plus-bound@rational-roots": but(ALGEBRA, given="rational-roots", variables=RATIONAL),
    "alpha-rho-bound": but(ALPHA, sign=">=", given="alpha-from-x-plus"), "alpha-rho-bound@last": but(X_PLUS, sign=">"),
    "alpha-rho-bound@last+rational-roots": but(ALGEBRA, sign=">", given="rational-roots", variables=RATIONAL),
    **all_of("rec-one-step rec-one-step@two", ONE_STEP),
    **all_of("rec-sigma@vectors rec-sigma@vectors+virtual",
             but(ALGEBRA, variables="rho_prox; count; update_gap; lam_gaps")),
    "unrolled-constant": CONSTANT,
    "unrolled-constant@last": but(CONSTANT, sign=">", given="constant-step", variables=f"{UNROLLED}; {FROM_0}"),
    "unrolled-constant@whole": but(CONSTANT, sign="<"),
    "unrolled-product": but(CONSTANT, given="rises-by-decayed V-mean V-from-0"),
    "product-exp": but(ALGEBRA, sign=">=", over=(each_round,), variables="c: positive; rounds"),
    "product-exp@summed": but(ALGEBRA, sign=">=", given="tau0-before-T", variables=f"{SUMMED}; tau0"),
    "product-exp@summed+tau0-0": but(ALGEBRA, sign=">=", variables="c: positive; rounds"),
    "sum-power": but(ALGEBRA, sign=">", given="c-to-mu-L tau0-before-T", variables=f"{SUMMED}; tau0; mu_lr"),
    "unrolled-decayed": DECAYED, "unrolled-decayed@system": OF_SYSTEM,
    "unrolled-decayed@system+gamma-first": but(OF_SYSTEM, given=OF_SYSTEM.given.replace("last", "first")),
    "gap-before-tau0@numbers": but(ALGEBRA, given="P-to-C tau0-before-T unrolled-decayed", variables=(
        "L; mu_lr; G_lip: positive; H_loss; clients; participants; samples; tau0; rounds; Delta")),
    "tau0-choice": but(CHOICE, sign="=="), "tau0-choice@minimiser": having(CHOICE, "tau_other"),
    "theorem-2-constants": but(ALGEBRA, given="P-to-C", variables=(
        "L; mu_lr; G_lip: positive; H_loss; clients; participants; samples; rounds")),
    "theorem-2-constants@factor": but(ALGEBRA, variables="L; mu_lr"),
}

# text and tables -------------------------------------------------------------------------------------------------------
IDENTITY = Row(sign="==", over=(each_round,), given="assumption-sampling", variables="rho_prox")
LOCAL = but(given(IDENTITY, "step-constant-in-round"), over=(each_round, lambda w, r: range(K), each_client))
#: Theorem 1's, with the constant of O(.)
RATE_1 = Row(given="assumption-1 assumption-sampling", variables="rho_prox; constant", limits="rounds -> oo")
ERROR = but(given(RATE_1, "step-constant-in-round"), over=CLIENTS, limits="local_steps -> oo")
REMARK_1 = having(but(RATE_1, method=EXACT), AT_ONCE)
SOLVED = given(RATE_1, "assumption-inexact")
#: "|grad L_i|^2 <= eps", of the duals that clients keep
SOLVED_BY_CLIENTS = given(RATE_1, "inexact-by-clients")
#: Theorem 2's: "C S" samples, "P", "K", "T"
REMARK_2 = but(having(THEOREM_2, "constant"), limits="rounds -> oo, local_steps -> oo, clients -> oo, samples -> oo")
ANY_STEP = but(REMARK_2, given=f"{BOTH} assumption-bounded@nonneg", variables="rho_prox; mu_lr; constant")
FIXED = but(PAIR, given=f"{BOTH} assumption-bounded@nonneg one-step", over=CLIENTS, variables="rho_prox; eta; constant",
            limits="local_steps -> oo")
TABLE_9 = "rounds -> oo, clients -> oo, samples -> oo"
#: works on other methods: "Lipschitz"
CITED = Row(given="assumption-1@sample assumption-2@sample assumption-sampling", variables="constant",
            limits=REMARK_2.limits, method=OTHER.format("fedavg"))
FALLING = having(given(CITED, "cited-step eta-0-to-mu"), "eta_0; mu_lr")
ONE_CLIENT = but(given(FALLING, "one-client"), method=EVERYBODY.format("fedavg"),
                 limits="rounds -> oo, local_steps -> oo, samples -> oo")
DYN = having(but(RATE_1, method=f"{OTHER.format('feddyn')} solver=exact", limits="rounds -> oo, clients -> oo"), AT_ONCE)
FAMILY = {"": METHOD, "fedpd": EVERYBODY.format("fedpd"),
          "fedadmm": OTHER.format("fedadmm"), "feddyn-original": OTHER.format("feddyn"),
          "feddyn": f"{OTHER.format('feddyn')} order=printed"}  # (7): theta^{t+1} has lambda^t


def table_7(name, row, more=("@sent", "@start")):
    return {f"table-7-{name}{at}": row for at in ("", *more)}


PROSE = {
    "text-partial-fedpd": but(ALGEBRA, variables="at_point; sent_mean; rho_prox"),
    "text-partial-fedpd@run": but(IDENTITY, method=OTHER.format("fedadmm")),
    **all_of("text-mean-dual text-mean-dual@first text-mean-dual@through", IDENTITY),
    "text-r0": but(IDENTITY, over=()), "text-unbiased": but(IDENTITY, over=CLIENTS),
    # before H, of Theorem 2, is there
    **all_of("eq-9 eq-9@abs-outside eq-9@signed", but(PAIR, given=BOTH)), "eq-9@second": THEOREM_2,
    **all_of("eq-10 eq-10@appendix eq-13 eq-13@full-gradient", LOCAL),
    "eq-10@fedavg": but(LOCAL, variables="", method=OTHER.format("fedavg")),
    "remark-1.1": REMARK_1, "remark-1.1@full": but(REMARK_1, method=EXACT.replace("sampling=without-replacement ", "")),
    "remark-1.2": ERROR, "remark-1.2@some-step": but(
        given(ERROR, "some-step"), exists=("some_step", lambda w: 0, lambda w: 1 / w.L, "(]")),
    "remark-1.2@samples": given(RATE_1, "step-constant-in-round K-is-T"),
    **{f"remark-2.1-rate{'@' * bool(name)}{name}": but(REMARK_2, method=method) for name, method in FAMILY.items()},
    **{f"remark-2.1-rate@{name}{'+' * bool(name)}any-step": but(ANY_STEP, method=method) for name, method in FAMILY.items()},
    "remark-2.1-rate@gamma-first": gamma(REMARK_2, "gamma-first"),
    # "even under the fixed learning rate"
    "remark-2.1-local": FIXED, "remark-2.1-local@stable": given(FIXED, "stable"),
    # "a stable decayed sequence", "when the dual variables are ignored"
    "text-decayed": but(RATE_1, given="assumption-1@sample assumption-2@sample assumption-sampling step-constant-in-round "
                        "one-step decays", over=(each_client,), variables="rho_prox; eta; constant",
                        limits="local_steps -> oo"),
    **table_7("fedpd", but(SOLVED_BY_CLIENTS, method=EVERYBODY.format("fedpd"))),
    **table_7("fedadmm", but(RATE_1, method=OTHER.format("fedadmm"), limits="rounds -> oo, clients -> oo"),
              ("@sent", "@start", "@text")),
    **table_7("feddyn", DYN), "table-7-feddyn@eq-7": but(DYN, method=f"{DYN.method} order=printed"),
    **table_7("afedpd", SOLVED, ("@start",)),
    "text-c-over-p": but(ALGEBRA, sign="==", given="P-to-C", variables="D; clients; participants; rounds"),
    "table-9-sgd": ONE_CLIENT,
    "table-9-sgd@any-step": but(ONE_CLIENT, given=f"{CITED.given} one-client", variables="mu_lr; constant"),
    "table-9-sgd@fedavg": but(FALLING, method=EVERYBODY.format("fedavg")),
    "table-9-fedavg": FALLING, "table-9-fedavg@any-step": having(CITED, "mu_lr"),
    **all_of("table-9-mohri table-9-hu", CITED), "table-9-wu": but(CITED, limits=TABLE_9),
    "table-9-afedpd": but(REMARK_2, limits=TABLE_9), "table-9-afedpd@any-step": but(ANY_STEP, limits=TABLE_9),
    "table-9-afedpd@gamma-first": gamma(but(REMARK_2, limits=TABLE_9), "gamma-first"),
}
TABLE_ROWS = {name: but(ALGEBRA, sign=sign) for name, sign in TABLES.items()}
SETTINGS = OPTIMISATION | COUPLED_RUNS | NUMBERS | PROSE | TABLE_ROWS
