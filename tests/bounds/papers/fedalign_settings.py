"""What FedALIGN's statements suppose, over what they range and of which algorithm they speak, written from the paper."""

from tests.bounds.papers.fedalign_hypotheses import each_client, each_step
from tests.bounds.rows import Row, but

__all__ = ["DOMAINS", "METHOD", "SETTINGS"]

#: free clients may join; the indicator is that of the model which the server broadcasts
METHOD = "fedavg free_clients"
#: (55), (56): priority clients drawn with replacement, free clients that take part arbitrarily
PARTIAL = "fedavg free_clients sampling=with-replacement free=arbitrary"
DOMAINS = {
    "C": "hidden", "eta_next": "positive", "eta": "positive", "y": "positive", "L": "positive", "mu": "positive",
    "step_offset": "positive", "excess": "positive", "factor": "positive", "own_curvature": "positive",
    "threshold": "positive", "threshold_larger": "positive", "w_start": "real",
    **dict.fromkeys(("rounds_before", "rounds_open", "start"), "integer from 0"),
    **dict.fromkeys(("local_steps", "iterations", "terms", "length", "free_clients", "below", "above"), "integer from 1"),
    **dict.fromkeys(("sigma_sq", "G_sq", "Gamma", "D0_sq", "mass", "bias", "p_in", "p_out", "gap_in", "gap_out"),
                    "nonnegative"),
    **dict.fromkeys(("z_1", "z_2", "x_mixture"), "vector"), "a": "vector [terms]", "omega": "simplex [terms]",
    **dict.fromkeys(("Delta", "B", "D", "slack"), "nonnegative [length]"),
    **dict.fromkeys(("chi", "psi"), "nonnegative [iterations]"),
    **dict.fromkeys(("p", "gap"), "nonnegative [free_clients]"), **dict.fromkeys(("more", "kept"), "binary [free_clients]"),
    "free_curvature": "positive [free_clients]", **dict.fromkeys(("free_center", "loss_gap"), "real [free_clients]"),
    **{f"{name}_{side}": f"nonnegative [{side}]" for name in ("p", "gap") for side in ("below", "above")},
}

IMPLICIT = "implicit-nonanticipating implicit-divisible"
CLASS = "assumption-1@as-used assumption-2@as-used"  # smooth and strongly convex clients
G = "assumption-4@G-trajectory-weighted"
ALL_FOUR = f"{CLASS} assumption-3 {G} {IMPLICIT}"
IN_A_ROUND = "halving-in-a-round non-increasing"
A_6 = f"{ALL_FOUR} small-step"

# theorems ------------------------------------------------------------------------------------------------------------
THEOREM_1 = Row(given=f"{ALL_FOUR} schedule")
THEOREM_A9 = Row(given=f"{ALL_FOUR} assumption-4@G-priority schedule-8", method=PARTIAL)
READINGS_OF_G = ("G-trajectory-max", "G-trajectory-all", "G-a-priori")


def with_G(row, *names):
    """The row with these readings of Assumption 4 in place of its own."""
    others = [name for name in row.given.split() if not name.startswith("assumption-4")]
    return but(row, given=" ".join([*others, *(f"assumption-4@{name}" for name in names)]))


def joined(*names):
    return "+".join(filter(None, names))


THEOREMS = {
    "theorem-1": THEOREM_1,
    **{f"theorem-1@{joined(where, g)}": but(
        with_G(THEOREM_1, g) if g else THEOREM_1, method=f"{METHOD} indicator={where}" if where else METHOD)
       for where in ("", "local-at-aggregation", "local-every-step") for g in ("", *READINGS_OF_G) if where or g},
    "theorem-1@assumptions-as-printed": but(THEOREM_1, given=THEOREM_1.given.replace("@as-used", "")),
    "theorem-1@G-everywhere": but(THEOREM_1, given=THEOREM_1.given.replace("@G-trajectory-weighted", "")),
    "theorem-A9": THEOREM_A9,
    **{f"theorem-A9@{g}": with_G(THEOREM_A9, g) for g in READINGS_OF_G},
    "theorem-A9@G-where-used": with_G(THEOREM_A9, "G-trajectory-weighted", "G-where-used"),
    "theorem-A9@virtual-average": THEOREM_A9,
    "theorem-A9@every-free-client theorem-A9@56-literal": but(THEOREM_A9, given=f"{THEOREM_A9.given} one-round"),
    "eq-4": but(THEOREM_1, variables="C", limits="iterations -> oo"),
    "eq-4@eq-3": but(THEOREM_1, variables="C", limits="iterations -> oo", method="fedavg"),
}

# lemmas --------------------------------------------------------------------------------------------------------------
AT_STEPS = (each_step,)
AT_CLIENTS = (each_step, each_client)
AT_THE_END = (lambda w: [w.iterations],)
A_7 = Row(over=AT_THE_END, sign="==", given="one-round", method=PARTIAL)
A_8 = Row(over=AT_THE_END, given=f"assumption-4@G-priority {IMPLICIT} one-round halving-in-a-round", method=PARTIAL)
A_8_SCHEDULE = but(A_8, given=f"{CLASS} assumption-4@G-priority {IMPLICIT} one-round later-round", variables="rounds_before")
LEMMAS = {
    "lemma-A2 step-T1 step-T1@minimum step-T1@minimum-as-printed": Row(
        over=AT_CLIENTS, given="assumption-1@as-used", method="point"),
    "lemma-A3 step-T2 step-T2@second-inequality": Row(over=AT_STEPS), "step-T2@a": Row(over=AT_STEPS, sign="=="),
    "step-T2@pathwise": Row(over=AT_STEPS, method="point"),
    "lemma-A4": Row(over=AT_STEPS, given=f"{G} {IMPLICIT} {IN_A_ROUND}"),
    "lemma-A4@as-printed": Row(over=AT_STEPS, given=f"{G} {IMPLICIT} halving-in-a-round"),
    "lemma-A5": Row(over=AT_STEPS, given="assumption-3 implicit-nonanticipating"),
    "lemma-A5-per-client lemma-A5-per-client@tight": Row(
        over=AT_STEPS, given="implicit-independence implicit-nonanticipating"),
    "lemma-A6 step-T16": Row(over=AT_STEPS, given=f"{A_6} {IN_A_ROUND}"),
    "lemma-A6@as-printed step-T16@as-printed": Row(over=AT_STEPS, given=A_6),
    "lemma-A7 lemma-A7@every-free-client lemma-A7@56-literal step-T21": A_7,
    "lemma-A8 lemma-A8@noise-averaged": but(A_8, variables="eta_next"),
    "lemma-A8@step-before lemma-A8@noise-averaged+step-before": A_8,
    "lemma-A8@schedule lemma-A8@step-before+schedule lemma-A8@noise-averaged+schedule "
    "lemma-A8@noise-averaged+step-before+schedule step-T21@variance": A_8_SCHEDULE,
}

# proof steps ---------------------------------------------------------------------------------------------------------
POINT = Row(over=AT_STEPS, method="point")
ONE_STEP = but(POINT, given=CLASS)
SMALL_STEP = but(POINT, given=f"{CLASS} small-step")
PATH = Row(over=AT_STEPS, given=A_6)
PARTIAL_STEP = Row(over=AT_STEPS, method=PARTIAL, given=f"assumption-4@G-priority {A_6} {IN_A_ROUND}")
DRIFT = Row(over=AT_STEPS, given=f"{G} {IMPLICIT} {IN_A_ROUND}")
NOISE = Row(over=AT_STEPS, given=f"assumption-3 implicit-independence {IMPLICIT}")
CROSS = Row(over=AT_STEPS, sign="==", given=f"assumption-3 {IMPLICIT}")
UPDATE = Row(over=AT_STEPS, sign="==")
AVERAGE = Row(over=(lambda w: range(w.iterations + 1),), sign="==")
AGGREGATION = Row(over=(lambda w: range(1, w.rounds + 1),), sign="==")
AT_AGGREGATION, EVERY_STEP = (f"{METHOD} indicator={name}" for name in ("local-at-aggregation", "local-every-step"))
STEPS = {
    "step-T4@text-substitution": Row(over=AT_CLIENTS, method="point"),
    "step-T5": Row(over=AT_CLIENTS, given="assumption-2@as-used", method="point"),
    "step-eq39 step-eq41": but(POINT, sign="=="),
    "step-T6 step-T6@first-inequality step-T6@second-inequality": but(POINT, given="assumption-1@as-used"),
    "step-T7 step-T7@first-inequality step-T7@a step-T7@b step-eq44-as-printed": ONE_STEP,
    "step-T8 step-T8@second-line step-T8@third-line step-T10 step-T10@second-line": but(POINT, sign="==", variables="L"),
    "step-eq46 step-eq46@sharp step-eq46@convexity step-eq46@a step-eq46@b step-eq46@free-clients "
    "step-eq46@free-clients+sharp step-eq46@free-clients+convexity step-eq46@free-clients+a step-eq46@free-clients+b":
        ONE_STEP,
    "step-eq47-as-printed step-eq47-as-printed@intended step-eq47-as-printed@a": but(
        POINT, given="small-step", variables="L"),
    "step-eq47-as-printed@first-inequality": SMALL_STEP,
    "step-eq47-as-printed@second-line": but(POINT, sign="==", given="small-step", variables="L"),
    "step-T9 step-T9@first-inequality step-T11 step-T11@52-first-inequality step-T11@52a step-T11@52b step-T12": SMALL_STEP,
    "step-T11@52-second-line": but(SMALL_STEP, sign="=="),
    "step-T8@as-printed step-T10@as-printed": but(PATH, sign="=="), "step-T9@as-printed step-T11@as-printed": PATH,
    "step-T20": but(POINT, given="assumption-1@as-used"),
    **{f"{block}{end}": but(row, method=method) for block, row in (
        ("step-update-identity", UPDATE), ("step-eq37", UPDATE), ("step-eq15", AGGREGATION), ("step-eq16", AVERAGE))
       for end, method in (("", METHOD), ("@local-at-aggregation", AT_AGGREGATION), ("@local-every-step", EVERY_STEP))},
    "step-eq15@round-before": AGGREGATION,
    **{f"step-eq37@{name}intended": but(UPDATE, method=method) for name, method in (
        ("", METHOD), ("local-at-aggregation+", AT_AGGREGATION), ("local-every-step+", EVERY_STEP))},
    "step-cross-term": CROSS,
    "step-cross-term@local-at-aggregation step-cross-term@local-at-aggregation+round-before": but(
        CROSS, method=AT_AGGREGATION),
    "step-cross-term@local-every-step": but(CROSS, method=EVERY_STEP),
    "step-T13 step-T13@a step-T13@b step-T13@second-inequality": NOISE,
    "step-T13@equality step-T13@sum-of-weights": but(NOISE, sign="=="),
    "step-T13@weights step-T13@weights-that-count": but(NOISE, over=AT_CLIENTS),
    "step-T14 step-T14@with-noise step-T14@26a step-T14@26c step-T14@26d-as-printed step-T14@26e step-T14@steps-so-far "
    "step-T14@second-inequality": DRIFT,
    "step-T14@26b-equality": but(DRIFT, over=AT_CLIENTS, sign="=="), "step-T14@26b-bound": but(DRIFT, over=AT_CLIENTS),
    "step-T22": Row(over=AT_STEPS, sign="==", given=IMPLICIT, method=PARTIAL),
    "step-T22@expansion": Row(over=AT_STEPS, sign="==", given=IMPLICIT, method=PARTIAL),
    "step-T22@58a-as-printed": Row(
        over=AT_STEPS, given=f"assumption-4@G-priority {IMPLICIT} halving-in-a-round", method=PARTIAL),
    "step-eq59 step-eq59@line-1-as-printed step-eq59@line-1-in-expectation step-eq59@line-2": PARTIAL_STEP,
    "step-eq36-as-printed": but(THEOREM_1, over=AVERAGE.over), "step-eq36-as-printed@second-inequality": THEOREM_1,
}

# numbers -------------------------------------------------------------------------------------------------------------
ALGEBRA = Row(method="algebra")
SCHED, SCHED_8 = "mu-to-L offset", "mu-to-L offset-8"
SIZES = "L; mu; local_steps"
ROUNDS = (lambda w: range(w.length), lambda w, i: range(w.local_steps))
TIMES = (lambda w: range(w.length),)
T_15 = but(ALGEBRA, over=ROUNDS, given=SCHED, variables=f"{SIZES}; length")
T_15_SHIFT = but(T_15, over=TIMES)
FIRST_STEP = but(ALGEBRA, given=SCHED, variables=SIZES)
T_17 = but(ALGEBRA, over=TIMES, given=f"{SCHED} recursion",
           variables=f"{SIZES}; length: integer from 2; Delta; B; D; slack")
T_34 = but(ALGEBRA, over=(lambda w: range(w.length - 1),), given=SCHED,
           variables=f"{SIZES}; length: integer from 2; Delta; B; D")
T_19 = but(ALGEBRA, variables="y")
EQ_35 = but(T_19, given="y-from-8")
MEAN = but(ALGEBRA, variables="terms; a; omega")
NUMBERS = {
    "step-T3 step-T3-as-printed": MEAN,
    "step-T4": but(ALGEBRA, variables="z_1; z_2; factor"),
    "step-T9@core-algebra": but(ALGEBRA, given="eta-to-1/4L", variables="eta; L"),
    "step-T15": T_15, "step-T15@SCHED8": but(T_15, given=SCHED_8),
    "step-T15-shift": T_15_SHIFT, "step-T15-shift@SCHED8": but(T_15_SHIFT, given=SCHED_8),
    "step-T15-shift@first-step": FIRST_STEP, "step-T15-shift@first-step+SCHED8": but(FIRST_STEP, given=SCHED_8),
    "step-T17 step-T17@32-literal": T_17,
    "derived-recursion": but(
        T_17, over=(lambda w: range(1, w.length),), given="offset-from-2 recursion",
        variables="mu; step_offset; length: integer from 2; Delta; B; D; slack"),
    "step-eq34": but(T_34, sign="=="), "step-eq34@b step-eq34@c": T_34,
    "step-T18": but(ALGEBRA, sign="==", given="excess", variables="start; iterations; excess"),
    "step-T19": T_19, "step-T19@difference": but(T_19, sign="=="),
    "step-eq35-as-printed": but(EQ_35, sign="=="),
    "step-eq35-as-printed@last-inequality step-eq35-as-printed@first-inequality": EQ_35,
    "step-eq36": but(ALGEBRA, given=f"{SCHED} shares-to-1",
                     variables=f"{SIZES}; iterations; sigma_sq; G_sq; Gamma; D0_sq; chi; psi"),
}

# prose ---------------------------------------------------------------------------------------------------------------
ON_SCHEDULE = Row(given=f"{CLASS} schedule")
NOTHING_MATCHES = Row(over=(lambda w: range(w.iterations + 1),), sign="==", given="no-matching")
ZERO_EPSILON = but(ON_SCHEDULE, sign="==", given=f"{CLASS} schedule no-matching")
NON_STRICT = f"{METHOD} strict=False"
ONE_ROUND = but(
    ALGEBRA, given="mu-to-L offset-T", variables="L; mu; iterations; free_clients; p; gap; more; kept")
OPEN = f"{CLASS} schedule matching-stops"
MATCHING = Row(over=AT_CLIENTS)
PROSE = {
    **{f"claim-matching-rule{reading}{end}": but(MATCHING, method=method)
       for reading, joint in (("", "@"), ("@willing", "+"), ("@left-out", "+"))
       for end, method in (("", METHOD), (f"{joint}non-strict", NON_STRICT))},
    "claim-theta-range": ON_SCHEDULE, "claim-theta-range@lower-end": but(ON_SCHEDULE, sign=">="),
    "claim-theta-decreases": but(
        ALGEBRA, given=SCHED, variables=f"{SIZES}; iterations; free_clients; p; "
        "more: binary [iterations, free_clients]; kept: binary [iterations, free_clients]"),
    "claim-zero-epsilon-algorithm": NOTHING_MATCHES,
    "claim-zero-epsilon-algorithm@non-strict": but(NOTHING_MATCHES, method=NON_STRICT),
    "claim-zero-epsilon-theta claim-zero-epsilon-rho": ZERO_EPSILON,
    "claim-zero-epsilon-theta@non-strict claim-zero-epsilon-rho@non-strict": but(ZERO_EPSILON, method=NON_STRICT),
    "claim-recovers-li2020 claim-recovers-li2020@later": but(THEOREM_1, sign="==", given=f"{THEOREM_1.given} no-matching"),
    "claim-rate": but(THEOREM_1, variables="C", limits="iterations -> oo, free_weight -> oo"),
    "claim-rate@constants-of-theorem-1": THEOREM_1,
    "claim-opposite claim-opposite@theta-one-round claim-opposite@bias": ONE_ROUND,
    "claim-opposite@theta": but(
        ALGEBRA, given="two-thresholds", variables="free_clients; own_curvature; p: positive [free_clients]; "
        "free_curvature; free_center; loss_gap; w_start; threshold; threshold_larger"),
    "claim-decay-epsilon": Row(given=OPEN, variables="C; rounds_open", limits="iterations -> oo"),
    "claim-without-replacement": Row(),  # announced only
    "claim-arbitrary-participation": but(THEOREM_1, method=f"{METHOD} free=arbitrary"),
}

# derived -------------------------------------------------------------------------------------------------------------
WARM_UP = but(THEOREM_1, given=f"{THEOREM_1.given} warm-up")
SAMPLING = but(A_7, given="one-round")
BALL = Row(over=(lambda w: range(w.iterations + 1), each_client), given=f"{CLASS} assumption-4@G-a-priori")
DERIVED = {
    "derived-theorem-1 derived-sharp": THEOREM_1,
    "derived-theorem-A9": but(THEOREM_1, given=f"{THEOREM_1.given} assumption-4@G-priority", method=PARTIAL),
    "derived-theorem-1-warmup": WARM_UP,
    **{f"derived-theorem-1-warmup@{g}": with_G(WARM_UP, g) for g in READINGS_OF_G},
    "derived-sharp-refined derived-sharp-refined@variance-only derived-sharp-refined@drift-only": but(
        THEOREM_1, given=f"{THEOREM_1.given} implicit-independence"),
    "derived-initial-term": but(THEOREM_1, given=f"{THEOREM_1.given} many-steps gradient-at-start"),
    "derived-initial-term@slack": but(
        ALGEBRA, given=f"{SCHED} many-steps gradient-at-start-number", variables=f"{SIZES}; iterations; G_sq; D0_sq"),
    "derived-sampling-variance": SAMPLING,
    "derived-sampling-variance@without-replacement": but(
        SAMPLING, given="one-round equal-weights-on-P", method=PARTIAL.replace("with-", "without-")),
    "derived-static-bias": but(ONE_STEP, given=f"{CLASS} mixture", variables="x_mixture"),
    "derived-stop-inclusion": Row(given=f"{OPEN} largest-gap", variables="rounds_open"),
    "derived-ball": BALL, "derived-ball@gradients": but(BALL, over=AT_CLIENTS),
    "derived-inclusion-rule": but(
        ALGEBRA, given="gaps-around-threshold",
        variables="L; eta; Gamma; below; above; p_below; gap_below; p_above; gap_above"),
    "derived-inclusion-rule@prefix": but(
        ALGEBRA, sign=">=", given="smaller-gap-out", variables="L; eta; Gamma; mass; bias; p_in; p_out; gap_in; gap_out"),
    "derived-inclusion-rule@printed-bound": but(
        ALGEBRA, sign="==", given=SCHED, variables=f"{SIZES}; iterations; Gamma; p_in; gap_in"),
}
SETTINGS = THEOREMS | LEMMAS | STEPS | NUMBERS | PROSE | DERIVED
