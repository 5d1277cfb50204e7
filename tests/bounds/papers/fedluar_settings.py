"""What FedLUAR's statements suppose, over what they range and of which algorithm they speak, written from the paper.

Each block has a row of its first reading; a name of another reading changes one thing of it.
"""

from functools import reduce

from tests.bounds.papers.fedluar_hypotheses import each_layer
from tests.bounds.papers.fedluar_world import TAU
from tests.bounds.ranges import each_round
from tests.bounds.rows import Row, but

__all__ = ["METHOD", "setting"]

#: Algorithms 1 and 2, with all clients in every round, as the analysis has it
METHOD = "fedluar equal_weights"
SAMPLED = "fedluar sampling=without-replacement equal_weights"
ASSUMED = "assumption-1 assumption-2 assumption-3@second-moment assumption-3@pointwise"


def local_step(w, r):
    """k = 1, ..., tau."""
    return range(1, TAU + 1)


def given(row, more):
    return but(row, given=f"{row.given} {more}".strip())


def instead(row, old, new):
    """The row with another hypothesis in place of one that it has."""
    names = row.given.split()
    return but(row, given=" ".join(new if name == old else name for name in names)) if old in names else row


def having(row, more):
    return but(row, variables=f"{row.variables}; {more}".strip("; "))


# blocks --------------------------------------------------------------------------------------------------------------
ALGEBRA = Row(method="algebra")
DEFINITION = Row(over=(each_round,), sign="==", given="constant-step recycled-to-layers", variables="eta; recycled")
RUN = but(DEFINITION, over=(), sign="<=", given=f"{ASSUMED} {DEFINITION.given}")
SMALL = given(RUN, "small-step")
ROUND, SMALL_ROUND = but(RUN, over=(each_round,)), but(SMALL, over=(each_round,))
NOISE = given(SMALL, "kappa kappa-to-1")
THEOREM = given(RUN, "kappa kappa-small step-of-theorem")
LOCAL = Row(over=(each_round, local_step, lambda w, r, j: range(w.clients)), given=f"{ASSUMED} constant-step",
            variables="eta", method="fedavg equal_weights")
A1_ROUND = but(given(LOCAL, "step-of-A1"), over=LOCAL.over[:2])
LATE_LOCAL = given(LOCAL, "step-of-A1 two-steps")
OF_TAU = but(ALGEBRA, variables="local_steps: integer from 2; bracket")
EVERY_K = but(OF_TAU, over=(lambda w: range(1, TAU + 1),))
SIZES = "L; eta; local_steps; rounds; clients"
NUMBERS = but(ALGEBRA, given="kappa-small step-of-theorem",
              variables=f"{SIZES}; sigma_sq; sigma_g_sq; kappa; gradients; decrease")
SUMS = but(ALGEBRA, variables=f"{SIZES}; sigma_sq; sigma_g_sq; kappa; gradients; drifts")
ALL_TERMS = but(
    ALGEBRA, given="kappa-small step-of-theorem", limits="eta -> 0",
    variables="L; eta; length; local_steps; clients; sigma_sq; sigma_g_sq; kappa; decrease; C")
LAW = but(DEFINITION, over=(each_round, each_layer), variables="recycled", given="one-drawn recycled-to-layers")
ONE_SCORE = but(DEFINITION, over=(each_round, each_layer), method=SAMPLED, variables="recycled; score_floor",
                given="recycled-to-layers above-floor@fresh")


def all_of(names, row):
    return dict.fromkeys(names.split(), row)


SETTINGS = {
    "eq-8": Row(sign="==", variables="v", method="point"),
    "eq-1": ONE_SCORE,
    "eq-2": but(ALGEBRA, sign="==", variables="layers; layer_score"),
    "eq-13-reason": but(ALGEBRA, sign="==", variables="outcomes; chance; value"),
    "eq-16-reason": but(ALGEBRA, sign="==", variables="first; second"),
    "eq-19-reason": but(ALGEBRA, sign="==", variables="outcomes; chance; value; other_chance; other_value"),
    **all_of("eq-3-5 eq-6", DEFINITION),
    "def-kappa": given(DEFINITION, "kappa"),
    "lemma-3.1": NOISE, "lemma-A.2": given(SMALL, "kappa"),  # of which Lemma 3.1 alone prints that kappa is at most 1
    **all_of("theorem-3.2 theorem-A.4 theorem-A.4-insert-drift eq-22", THEOREM),
    "lemma-A.3": given(SMALL, "kappa kappa-small"),
    "remark-1": having(given(NOISE, "forced"), "masks"),
    "remark-2": ALL_TERMS,
    "lemma-A.1": A1_ROUND,
    "eq-9": but(LOCAL, sign="=="),
    **all_of("lemma-A.1-variance eq-10 lemma-A.1-split lemma-A.1-onestep", LOCAL),
    "lemma-A.1-young": but(ALGEBRA, variables="alpha; first; second"),
    "lemma-A.1-coefficient": but(ALGEBRA, given="step-of-A1", variables="local_steps: integer from 2; eta; L"),
    **all_of("lemma-A.1-recursion lemma-A.1-unroll", LATE_LOCAL),
    **all_of("lemma-A.1-geometric lemma-A.1-exponent", EVERY_K),
    "eq-11": but(ALGEBRA, variables="local_steps: integer from 2; eta; sigma_sq; sigma_g_sq; gradient_sq"),
    "eq-11-maximum": but(ALGEBRA, variables="local_steps: integer from 2"),
    **all_of("lemma-A.2-two-terms lemma-A.2-variance lemma-A.2-drift-split lemma-A.2-smooth lemma-A.2-heterogeneity "
             "lemma-A.2-global-variance eq-14", SMALL_ROUND),
    "eq-13": but(SMALL_ROUND, sign="=="),
    "lemma-A.2-jensen": but(ALGEBRA, variables="clients; local_steps; a"),
    "eq-14-reason": but(ALGEBRA, variables="layers; b; mask"),
    **all_of("lemma-A.2-sum lemma-A.2-shift lemma-A.2-unweighted lemma-A.3-sum", SMALL),
    **all_of("lemma-A.2-kappa lemma-A.2-kappa-range lemma-A.3-insert-noise", given(SMALL, "kappa")),
    # displays up to (20) print no condition, and (21) "holds if eta <= 1/(L tau)"
    **all_of("eq-15 lemma-A.3-T1-split eq-17 eq-18 lemma-A.3-T2-split lemma-A.3-collect", ROUND),
    "eq-16": but(ROUND, sign="=="),
    "eq-19": but(given(ROUND, "implicit-independence"), sign="=="), "eq-20": given(ROUND, "implicit-independence"),
    "eq-21": SMALL_ROUND,
    "lemma-A.3-omit": but(ALGEBRA, given="small-step", variables="L; eta; local_steps; clients; W"),
    "lemma-A.3-rearrange": having(but(SUMS, given="small-step kappa-small noise-inserted"), "decrease"),
    "theorem-A.4-simplify": NUMBERS,
    "theorem-A.4-coefficient": but(NUMBERS, variables="L; eta; local_steps; kappa"),
    # single readings that are other statements
    "eq-22@last-step": given(NUMBERS, "half-left"),
    "lemma-A.3-insert-noise@regrouped": but(SUMS, sign="=="),
    "lemma-A.3-omit@run": SMALL_ROUND,
    "remark-1@structural": but(
        ALGEBRA, sign="==",
        variables="L; local_steps; rounds; sigma_sq; sigma_g_sq; kappa; gradients; drifts; recycled; age"),
    "eq-11-maximum@attained": but(ALGEBRA, sign="==", variables="local_steps: integer from 3 to 3"),
    # "the probability of layer l to be chosen"
    "eq-2@law": LAW, "eq-2@any-number+law": but(LAW, given="some-drawn recycled-to-layers"),
    "eq-2@inverted+law": but(LAW, method=f"{METHOD} selector=inverted"),
    "eq-2@law+two-layers": but(LAW, given="two-drawn recycled-to-layers"),
    # any n = P(v - D_t): the one round repeats v on the layers that P keeps
    "eq-21@any-noise": but(SMALL_ROUND, given=f"{ASSUMED} constant-step small-step one-round", method=f"{METHOD} R0=all",
                           variables="eta; masks; initial_update"),
}
SINGLE = {name for name in SETTINGS if "@" in name}
#: blocks whose print has the k of (6)
BLOCKS_WITH_AGES = {
    "eq-6", "lemma-3.1", "lemma-A.2", "lemma-A.3", "theorem-3.2", "theorem-A.4", "eq-13", "eq-14",
    *(f"lemma-A.2-{name}" for name in ("two-terms", "variance", "drift-split", "smooth", "heterogeneity", "global-variance",
                                       "sum", "shift", "unweighted"))}


# readings ------------------------------------------------------------------------------------------------------------
def options(row, text):
    return but(row, method=f"{row.method or METHOD} {text}")


def floor(row):
    return but(row, given="kappa-small step-of-theorem", limits="", sign="==",
               variables="L; eta; length; local_steps; sigma_sq; kappa; eta_other")


AXES = {
    # a given sequence; random, independent of gradient noise
    "forced": lambda row: having(given(row, "forced"), "masks"),
    "exogenous": lambda row: options(row, "selector=uniform"),
    "common": lambda row: given(row, "common"),
    "sampled": lambda row: but(row, method=SAMPLED),
    # "initialized to all the layers": before, nothing was applied
    "R0-all": lambda row: options(row, "R0=all"),
    "delta-0": lambda row: but(instead(row, "recycled-to-layers", "nothing-recycled"),
                               variables=row.variables.replace("; recycled", "")),
    **{name: lambda row, n=name: instead(row, "kappa", f"kappa@{n}")
       for name in ("sure", "aggregate", "update", "update-squared", "main")},
    "squared-mean": lambda row: instead(row, "assumption-3@second-moment", "assumption-3@squared-mean"),
    "along-run": lambda row: instead(row, "assumption-3@pointwise", "assumption-3@along-run"),
    "ratios-exist": lambda row: having(given(row, "ratios-exist"), "gradient_floor"),
    "literal-domain": lambda row: instead(row, "kappa-small", "kappa-literal"),
    "small-kappa": lambda row: given(row, "kappa-small"),  # "if kappa is sufficiently small": as in Theorem 3.2
    "per-client": lambda row: but(row, over=LOCAL.over),
    "equality": lambda row: but(row, sign="=="),
    # (2): "less likely chosen if its priority is low"
    "priority": lambda row: but(row, sign=">=", over=(each_layer, each_layer)),
    # scores
    "recompute": lambda row: options(row, "score=recompute"), "oracle": lambda row: options(row, "score=oracle"),
    "zero-norm": lambda row: but(row, given="recycled-to-layers"),
    # "0 < kappa < 1": no run has a kappa that is not
    "above-0": lambda row: given(row, "kappa-0"), "below-1": lambda row: given(row, "kappa-from-1"),
    "etaT-to-infinity": lambda row: having(row, "excess"), "floor": floor,
}


def setting(block: str, reading: frozenset[str]) -> Row:
    """The row of a block in a reading but for its sides."""
    name = f"{block}@{'+'.join(sorted(reading))}"
    if name in SINGLE:
        return SETTINGS[name]
    row = reduce(lambda row, axis: AXES.get(axis, lambda same: same)(row), sorted(reading), SETTINGS[block])
    if "main" in reading and block in BLOCKS_WITH_AGES:
        row = given(row, "common")  # layers that are kept have no age of their own
    if block == "def-kappa" and reading & {"update", "update-squared"}:
        row = but(row, sign="<=")  # it bounds the ratio of the gradients
    if block == "eq-1" and "zero-norm" not in reading:
        row = given(row, f"above-floor{''.join(f'@{axis}' for axis in reading)}")
    return row
