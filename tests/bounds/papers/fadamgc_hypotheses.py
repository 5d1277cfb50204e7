"""What FAdamGC's statements suppose and over what they range, written from the paper; rounds and steps count from 0."""

from math import sqrt

from tests.bounds.chance import Min
from tests.bounds.papers.fadamgc_late_rows import right_98
from tests.bounds.papers.fadamgc_world import P, length, sq
from tests.bounds.rows import Assumed, Relation, Row, but

__all__ = ["DOMAINS", "METHOD", "SUPPOSED", "setting_of"]

METHOD = "fadamgc"
DOMAINS = {
    **dict.fromkeys(("eta", "eta_g", "L", "sigma", "G", "factor", "eps"), "positive"),
    **dict.fromkeys(("beta1", "beta2"), "nonnegative below 1"),
    **dict.fromkeys(("any_q", "any_u", "any_grad", "any_direction", "own_control", "control", "model"), "vector"),
    "step_gradient": "vector [local_steps]", "e_value": "nonnegative [local_steps]",
    **dict.fromkeys(("own_controls", "local_end"), "vector [clients]"),
    **dict.fromkeys(("local_steps", "clients", "rounds", "participants", "trackers"), "integer from 1"),
    **dict.fromkeys(("C_1", "sgd_step", "euler"), "positive"), **dict.fromkeys(("f_now", "f_next"), "real"),
    **dict.fromkeys(("gap_now", "error_now", "error_next", "gradient", "total_change", "total_gap"), "nonnegative"),
    **dict.fromkeys(("C", "C_beta", "C_all"), "hidden"),
}


def lam(w):
    return (1 - w.beta1) * w.beta1 / (w.G + w.eps)


def each_round(w):
    return range(w.rounds)


def each_iteration(w):
    return range(w.iterations)


def each_client(w, *_):
    return range(w.clients)


def eta(sign, right):
    return Relation(lambda w: w.eta, sign, right)


def both(sign, right):
    """A condition on eta_g eta_l."""
    return Relation(lambda w: w.eta_g * w.eta, sign, right)


def both_is(right):
    """``eta_g eta_l = right``, as the value of eta_g."""
    return Relation(lambda w: w.eta_g, "==", lambda w: right(w) / w.eta)


def _at_clients(left, sign, right):
    return Relation(left, sign, right, (each_client,))


def fourth(w):
    """sqrt(F n)/(lambda sigma sqrt(T K L))."""
    return sqrt(w.F0_gap * w.clients) / (lam(w) * w.sigma * sqrt(w.rounds * w.local_steps * w.L))


def lam_over(w, number):
    return lam(w) / (number * w.L)


def special(w):
    return Min(sqrt(w.F0_gap * w.clients) / sqrt(w.sigma**2 * w.local_steps * w.rounds * w.L), w.F0_gap / w.rounds)


def _three(third):
    """min{lambda/(8KL), lambda/(12TL), third}."""
    return both_is(lambda w: Min(lam_over(w, 8 * w.local_steps), lam_over(w, 12 * w.rounds), third(w)))


def beta_star(w):
    return ((w.local_steps * w.clients - 2 * w.rounds) / (2 * w.local_steps * w.clients)) ** (1 / w.local_steps)


def _growing(nt, *flags):
    """No coordinate of sqrt(vhat) falls within a round; the proof's step j is the paper's k = j + 2."""
    def change(w, r, j, k):
        p = P(w, nt, frozenset(flags))
        return min(p.ws(r + 1, j + 2, k + 1) - p.ws(r + 1, j + 1, k + 1))

    return Relation(change, ">=", lambda w, r, j, k: 0, (each_round, lambda w, r: range(-1, w.local_steps - 1), each_client))


SUPPOSED = {
    # "|grad f_i(x_1) - grad f_i(x_2)| <= L |x_1 - x_2|"
    "assumption-5.1-1": Assumed((_at_clients(lambda w, k: w.L_client[k], "<=", lambda w, k: w.L),)),
    # "E |n_i|^2 <= sigma^2", "sigma^2 > 0" where sigma divides, unbiased, independent
    "assumption-5.1-2": Assumed((_at_clients(lambda w, k: sqrt(w.sigma_sq_client[k]), "<=", lambda w, k: w.sigma),)),
    # "|g_i^(t)| <= G" at every local point visited
    "assumption-5.3": Assumed((Relation(
        lambda w, t, k: length(w.g[t][k]), "<=", lambda w, t, k: w.G, (each_iteration, each_client)),)),
    # "|grad f_i(x) - grad f(x)| <= B for all x"
    "assumption-C.1": Assumed(),  # sigma_g_max is the least such B
    "implicit-independence": Assumed(),
    # of Algorithms 1 and 2: one local step size; decay rates below 1; the trackers are some of the participants, or all
    "steps": Relation(lambda w, t: w.eta_l[t], "==", lambda w, t: w.eta, (each_iteration,)),
    "beta1<1": Relation(lambda w: w.beta1, "<", lambda w: 1),
    "beta2<1": Relation(lambda w: w.beta2, "<", lambda w: 1),
    "trackers": Relation(lambda w: w.trackers - w.participants, "<=", lambda w: 0),
    "all-tracked": Relation(
        lambda w, r, k: w.tracked[r][k], "==", lambda w, r, k: w.sampled[r][k], (each_round, each_client)),
    # "beta_2 = eps = 0"
    "special": (Relation(lambda w: w.beta2, "==", lambda w: 0), Relation(lambda w: w.eps, "==", lambda w: 0)),
    # steps
    "5.4": (_three(fourth), eta("<=", lambda w: lam(w) * w.eps / (40 * w.rounds * w.L))),
    "5.4-appendix": (_three(lambda w: sqrt(w.clients) / (lam(w) * w.sigma * sqrt(w.rounds * w.local_steps * w.L))),
                     eta("<=", lambda w: lam(w) * w.eps / (40 * sqrt(w.rounds) * w.L))),
    "78": (Relation(lambda w: 16 * w.L**2 * w.local_steps * (1 - w.beta1), "<", lambda w: w.eps**2),
           eta("<=", lambda w: w.eps / (4 * sqrt(1 - w.beta1) * w.local_steps * w.L))),
    "38": both("<=", lambda w: lam_over(w, 8 * w.local_steps)),
    "152": eta("<=", lambda w: w.eps * lam(w) / (30 * w.local_steps * w.L)),
    "C.2": (_three(lambda w: lam(w) * sqrt(w.clients) / (30 * sqrt(w.rounds) * w.L)),
            eta("<=", lambda w: Min(lam(w) * w.eps / (40 * w.rounds**1.5 * w.L),
                                    lam(w) * w.eps / (30 * w.local_steps * w.L)))),
    "C.2-appendix": (_three(fourth), eta("<=", lambda w: lam(w) * w.eps / (12 * w.rounds**1.5 * w.L))),
    "5.2": (both_is(special), eta("<=", lambda w: 1 / w.rounds),
            Relation(lambda w: w.beta1, "==", beta_star)),
    "C.3": (both_is(lambda w: sqrt(w.clients * w.local_steps / w.rounds)), eta("<=", lambda w: 1 / w.rounds),
            Relation(lambda w: w.beta1, "==", beta_star)),
    # 1 - 2 beta_1^K > 0
    "decay": Relation(lambda w: 2 * w.beta1**w.local_steps, "<", lambda w: 1),
    "two-steps": Relation(lambda w: w.local_steps, ">=", lambda w: 2),
    # "b = Y/(2(n - Y))", which there is for Y < n
    "chosen-b": (Relation(lambda w: w.factor, "==", lambda w: w.trackers / (2 * (w.clients - w.trackers))),
                 Relation(lambda w: w.trackers, "<=", lambda w: w.clients - 1)),
    # S = n
    "trackers-of-all": Relation(lambda w: w.trackers - w.clients, "<=", lambda w: 0),
    "trackers-to-clients": Relation(lambda w: w.trackers, "<=", lambda w: w.clients),
    # "vhat^(t,1) <= vhat^(t,2) <= ... <= vhat^(t,K+1)", as roots
    "138b": _growing(False), "138b-nt": _growing(True), "138b-nt-carry": _growing(True, "vhat-carry"),
    # of the corollaries that Table 1 cites, with 1 for the constants of Theta
    "cited": (eta("==", lambda w: 1 / (w.L * w.local_steps * sqrt(w.rounds))),
              Relation(lambda w: w.eta_g, "==", lambda w: sqrt(w.clients * w.local_steps))),
    "cited-fedadam": (Relation(lambda w: w.beta1, "==", lambda w: 0), Relation(lambda w: w.eps, "==", lambda w: w.G / w.L)),
    # Section 4.1: from the minimiser, without noise
    "from-minimiser": Relation(lambda w: sq(w.x_round[0] - w.x_star), "<=", lambda w: 0),
    "not-zero": Relation(lambda w, k: sq(w.grad(k, w.x_star)), ">", lambda w, k: 0, (each_client,)),
    "F>0": Relation(lambda w: w.F0_gap, ">", lambda w: 0),
    "eta_g=1": Relation(lambda w: w.eta_g, "==", lambda w: 1),
    "no-noise": Relation(lambda w: sum(w.sigma_sq_client), "<=", lambda w: 0),
    # of numbers: (51) has G^2 for the change of vbar; (98) and Lemma B.1; the last inequality of (79); |u| <= 1; |grad| <= G
    "change": Relation(lambda w: w.total_change, "<=", lambda w: w.G**2),
    "98": Relation(lambda w: w.f_next, "<=", lambda w: w.f_now + right_98(P(w, False, ()), w.gradient, w.error_now)),
    "B.1": Relation(lambda w: w.error_next, "<=", lambda w: (
        (1 - w.trackers / (2 * w.clients)) * w.error_now + 2 * w.clients / w.trackers * w.eta_g * w.eta * w.local_steps
        + 2 * w.trackers / w.clients * w.eta * w.local_steps)),
    "79": Relation(lambda w, j: w.e_value[j], "<=", lambda w, j: 6 * w.local_steps * w.eta**2 * w.C_1,
                   (lambda w: range(w.local_steps),)),
    "unit": Relation(lambda w: length(w.any_u), "<=", lambda w: 1),
    "gradient-to-G": Relation(lambda w: length(w.any_grad), "<=", lambda w: w.G),
    "euler": (Relation(lambda w: w.euler, ">=", lambda w: 2.718281828),
              Relation(lambda w: w.euler, "<=", lambda w: 2.718281829)),
}

# claims about runs ---------------------------------------------------------------------------------------------------
NOISE = "assumption-5.1-1 assumption-5.1-2 implicit-independence"
BOUNDED = f"{NOISE} assumption-5.3"
SMOOTH = "assumption-5.1-1"
NEAR = f"{NOISE} assumption-C.1"
R = (each_round,)
RJ = (each_round, lambda w, *_: range(w.local_steps))
RJK = (*RJ, each_client)
RK = (each_round, each_client)
#: t from 2 on, and so that x^t is a model at which gradients are taken
LATER = (lambda w: range(w.rounds - 1),)
STEPS = (lambda w: range(w.local_steps),)
#: assumptions and conditions, and ranges, by block; those of FAdamGC with beta2 > 0, of FA-NT, and with beta2 = eps = 0
GENERAL = {
    **dict.fromkeys(("theorem-5.4", "theorem-5.4/speed-up"), (f"{BOUNDED} 5.4", ())),
    "table-1/fadamgc": (f"{BOUNDED} 5.4", ()),
    "theorem-5.4/eq-54-57": (f"{BOUNDED} 5.4", ()), "theorem-5.4/eq-48-51": (f"{BOUNDED} 38", ()),
    "lemma-A.1": (BOUNDED, R), "eq-12": ("", R), "eq-13": (SMOOTH, R),
    **dict.fromkeys(("eq-17", "eq-19", "eq-21-zero", "eq-21"), (NOISE, R)),
    **dict.fromkeys(("eq-23", "eq-28", "eq-31", "eq-34", "eq-37"), (BOUNDED, R)),
    **dict.fromkeys(("eq-39", "eq-42"), (f"{BOUNDED} 38", R)),
    "eq-61": (SMOOTH, R), "eq-64": ("", RJ), "eq-69": ("", RJ), "eq-71": ("", RJ), "eq-73": ("assumption-5.3", RJ),
    "eq-75": (BOUNDED, RJK), "eq-76": (BOUNDED, RJ), "eq-78": (f"{BOUNDED} 78 two-steps", RJ),
    "eq-79": (f"{BOUNDED} 78 two-steps", RJ), "eq-81": (f"{BOUNDED} 78 two-steps", R),
}
GENERAL_NT = {
    "theorem-C.2": (f"{BOUNDED} C.2", ()), "table-1/fa-nt": (f"{BOUNDED} C.2", ()),
    "theorem-C.2/eq-167-171": (f"{BOUNDED} C.2", ()), "theorem-C.2/eq-158-163": (f"{BOUNDED} 38 152", ()),
    "lemma-D.1": (BOUNDED, R), "lemma-D.2": (BOUNDED, LATER), "eq-124": ("", R), "eq-126": (SMOOTH, R),
    **dict.fromkeys(("eq-129", "eq-130", "eq-139", "eq-142"), (NOISE, R)),
    **dict.fromkeys(("eq-132", "eq-134"), (BOUNDED, LATER)), **dict.fromkeys(("eq-136", "eq-144"), (BOUNDED, R)),
    "sec-4.1-average": ("", RK), "eq-138": ("138b-nt", R), "eq-146": (f"{BOUNDED} 38", R), "eq-151": (f"{BOUNDED} 38", R),
    "eq-157": (f"{BOUNDED} 38 152", R),
    "eq-164": (BOUNDED, ()), "eq-165": (BOUNDED, ()), "eq-176": (SMOOTH, R),
    "eq-179": ("two-steps", (each_round, lambda w, r: range(1, w.local_steps))),
    "eq-180": (f"{BOUNDED} two-steps", (each_round, lambda w, r: range(1, w.local_steps))),
    "eq-182": (f"{BOUNDED} two-steps", RJ), "eq-188": ("", R),
    "eq-190": ("assumption-5.3", LATER), "eq-191": ("assumption-5.3", LATER), "eq-194": (BOUNDED, R),
}
SPECIAL = {
    **dict.fromkeys(("theorem-5.2", "theorem-5.2/eq-104", "table-1/fadamgc-special"), (f"{NOISE} 5.2", ())),
    "theorem-5.2/eq-102-103": (f"{NOISE} decay", ()), "lemma-B.1": (NOISE, R),
    "app-B-unit": ("", RJK), "sec-5-unit-step": ("", RJK), "eq-83": (SMOOTH, R), "eq-85": ("", R), "eq-87": (SMOOTH, R),
    "eq-89": ("", R), "eq-90": ("", R), "eq-91": ("", R), "eq-93": (NOISE, RJK), "eq-94": (NOISE, RJK), "eq-95": ("", RJK),
    "eq-96": (NOISE, RJK), "eq-98": (NOISE, R), "eq-101": (NOISE, R),
    **dict.fromkeys(("eq-107", "eq-109", "eq-110", "eq-111"), ("", RJK)),
}
SPECIAL_NT = {
    **dict.fromkeys(("theorem-C.3", "table-1/fa-nt-special"), (f"{NEAR} C.3", ())),
    "theorem-C.3/eq-211": (f"{NEAR} 5.2", ()), "theorem-C.3/eq-210": (f"{NEAR} decay", ()),
    "app-E-buffer": ("", RK), "eq-196": (SMOOTH, R), "eq-198": ("", R), "eq-200": (SMOOTH, R), "eq-204": ("", R),
    "eq-206": (NEAR, RJK), "eq-207": (NEAR, RJK), "eq-208": (NEAR, RK), "eq-209": (NEAR, RJK),
}
#: what readings change in the algorithm
OPTIONS = {"norm-scalar": "norm=scalar", "vhat-carry": "vhat=carry", "store-vhat": "store=vhat", "v-init": "v_init=1.0"}
#: what stands in O(.) beside the decay rates
ORDER = "rounds -> oo, clients -> oo, local_steps -> oo, L -> oo, F0_gap -> oo, sigma -> oo"
#: variables that these conditions give a value
GIVEN = {"5.4": {"eta_g"}, "5.4-appendix": {"eta_g"}, "C.2": {"eta_g"}, "C.2-appendix": {"eta_g"},
         "5.2": {"eta_g", "beta1"}, "C.3": {"eta_g", "beta1"}}
EXACT = {"theorem-5.4/eq-48-51", "theorem-5.4/eq-54-57", "theorem-5.2/eq-102-103", "theorem-C.2/eq-158-163"}
EQUALITIES = {"eq-12", "eq-124", "eq-17", "eq-19", "eq-21-zero", "eq-21", "eq-85", "eq-198", "eq-110", "eq-129",
              "eq-130", "eq-139", "eq-165", "sec-4.1-average"}

# numbers, prose and Table 1 ------------------------------------------------------------------------------------------
ALGEBRA = Row(method="algebra")
MASS = but(ALGEBRA, over=STEPS, given="beta1<1", variables="beta1; local_steps")
DIVISION = "eta; eta_g; eps; L; G; sigma; local_steps; clients; rounds; total_change"
COEFFICIENT = but(ALGEBRA, given="chosen-b", variables="clients: integer from 2; trackers")
EULER = but(ALGEBRA, given="euler", variables="euler")
POWERS = (lambda w: range(1, w.local_steps + 1),)
PART = but(ALGEBRA, sign="==", variables="participants; clients")
METHODS = ("fedadam", "fedams", "fa-nt-special", "fa-nt", "fadamgc-special", "fadamgc")
ORDERS = but(ALGEBRA, limits="rounds -> oo", variables=(
    "clients; local_steps; rounds; L; G; sigma; F0_gap: positive; eps; sigma_g_max: nonnegative; C_all"))
#: the steps and beta of Theorem 5.2 in (102)-(103)
PUT_IN = but(ALGEBRA, given="5.2 decay trackers-to-clients", limits=ORDER, constants_may_use="",
             variables="eta; L; sigma; F0_gap: positive; clients; trackers; local_steps; rounds; C")
NUMBERS = {
    "eq-118": but(MASS, sign="<"), "eq-118@positive": but(MASS, sign="<", variables="beta1: positive below 1; local_steps"),
    "eq-118@sum": but(MASS, sign="=="), "eq-131a": MASS, "eq-131a@lower": MASS,
    "eq-65": but(MASS, sign="==", over=(lambda w: range(1, w.local_steps), lambda w, j: range(1, j + 1))),
    # E f(x^1) - E f(x^{T+1}) is taken as no less than 0; 4 of it are derived in (51), and printed; 8 in (163), 12 printed
    "eq-51-division": but(ALGEBRA, given="beta1<1 beta2<1 change",
                          variables=f"{DIVISION}; total_drop: positive; beta1: positive below 1; beta2"),
    "eq-163-division": but(ALGEBRA, given="beta1<1",
                           variables=f"{DIVISION}; total_drop: nonnegative; total_gap; beta1: positive"),
    "eq-79@second": but(ALGEBRA, over=STEPS, variables="eta; C_1; local_steps: integer from 2"),
    "eq-81@numbers": but(ALGEBRA, given="79", variables="eta; L; C_1; clients; local_steps: integer from 2; e_value"),
    "eq-85@vectors": but(ALGEBRA, sign="==", given="unit", variables="any_q; any_u; any_grad; eta; eta_g; local_steps"),
    "eq-87@norms": but(ALGEBRA, given="beta1<1", variables="any_grad; beta1; local_steps"),
    "eq-101@numbers": but(ALGEBRA, given="beta1<1 trackers-to-clients 98 B.1", variables=(
        "eta; eta_g; L; sigma: nonnegative; beta1; local_steps; clients; trackers; f_now; f_next; error_now; error_next; "
        "gradient")),
    "eq-111@first-coefficient": COEFFICIENT, "eq-111@second-coefficient": COEFFICIENT,
    "eq-183-exp": but(EULER, over=POWERS, variables="euler; local_steps: integer from 2"), "eq-183-exp@second": EULER,
    "eq-183-exp@both": but(ALGEBRA, over=POWERS, variables="local_steps: integer from 2"),
    "eq-191@one-vector": but(ALGEBRA, given="gradient-to-G trackers-to-clients",
                             variables="any_direction; any_grad; gap_now; clients; trackers"),
    "eq-192": but(ALGEBRA, given="trackers-to-clients", variables="clients; trackers"),
    "eq-4": Row(sign="==", over=(each_client,), given="beta1<1 beta2<1", variables="eta; beta1; beta2; eps", method="point"),
    **dict.fromkeys(("sec-4.1-adam@leaves", "sec-4.1-fa-nt"), Row(
        sign=">", over=(each_client,), given="beta1<1 beta2<1 not-zero", variables="beta1; beta2; eps", method="point")),
    "sec-4.1-adam": Row(sign="==", over=(each_client,), given="steps beta1<1 beta2<1 from-minimiser no-noise",
                        variables="eta; eta_g; beta1; beta2; eps", method="local-adam equal_weights"),
    **dict.fromkeys(("sec-4.1-sgd", "sec-4.1-sgd@standard"), but(
        ALGEBRA, sign="==", variables="sgd_step; local_steps; step_gradient; own_control; control; model")),
    "eq-113-114": Row(sign="==", over=(lambda w: range(w.rounds + 1),), given="steps beta1<1 beta2<1",
                      variables="eta; eta_g; beta1; beta2; eps", method="fa-nt equal_weights"),
    "eq-113-114@one-round": but(ALGEBRA, sign="==", over=(each_client,),
                                variables="eta; eta_g; local_steps; clients; own_controls; local_end; model"),
    "eq-113-114@unit-server-step": Row(
        sign="==", over=(lambda w: range(w.rounds + 1),), given="steps beta1<1 beta2<1 eta_g=1",
        variables="eta; beta1; beta2; eps", method="fa-nt equal_weights"),
    "eq-113-114@one-round@unit-server-step": but(
        ALGEBRA, sign="==", over=(each_client,), given="eta_g=1",
        variables="eta; local_steps; clients; own_controls; local_end; model"),
    "theorem-C.2/stricter-steps": but(ALGEBRA, variables="beta1; G: nonnegative; eps; L; rounds; local_steps"),
    **{f"table-1/{method}/order": ORDERS for method in METHODS},
    **{f"table-1/{method}/order@linear": but(
        ORDERS, limits="rounds -> oo, clients -> oo, local_steps -> oo",
        constants_may_use="L G sigma F0_gap eps sigma_g_max") for method in METHODS},
    "table-1/fedadam/sigma": but(ORDERS, given="F>0", limits="sigma -> oo"),
    **dict.fromkeys(("theorem-5.2@substitution", "theorem-5.2/eq-104@substitution",
                     "theorem-5.2/eq-104@beta1-to-K@substitution"), PUT_IN),
    "theorem-5.2@big-o-all-but-rounds@substitution": but(
        PUT_IN, variables=PUT_IN.variables + "_all", limits="rounds -> oo", constants_may_use=None),
    "app-C-communication": PART, "app-C-communication@scaffold": PART,
}


def cited(name, flags):
    """FedAdam's and FedAMS's rows of Table 1, which print no steps."""
    ams, steps = name == "table-1/fedams", "cited-steps" in flags
    betas, rest = "big-o-betas" in flags, "big-o-all-but-rounds" in flags
    given = [BOUNDED, *(["steps cited"] if steps else []), *(["cited-fedadam"] if steps and not ams else [])]
    constant = "C_beta" if betas else "C_all" if rest else "C"
    names = [*([] if steps else ["eta_g"]), *(["eps"] if ams else []), constant]
    return Row(given=" ".join(given), variables="; ".join(names),
               method=f"{'fedams' if ams else 'fedadam'} {'' if steps else 'sampling=without-replacement '}equal_weights",
               limits="rounds -> oo" if rest else f"{ORDER}, G -> oo" + ", eps -> 0" * ams,
               constants_may_use="beta1 beta2" if betas else None if rest else "")


# readings ------------------------------------------------------------------------------------------------------------
def is_order(name, flags):
    """Whether a constant is hidden in O(.)."""
    return name.startswith(("theorem", "table")) and name not in EXACT and (
        name != "theorem-C.3/eq-210" or "big-o" in flags)


def order_of(name, flags, nt, special):
    """The constant hidden in O(.), what goes to its limit, and on what the constant may depend; nothing where none is."""
    if not is_order(name, flags):
        return [], "", None
    if "big-o-all-but-rounds" in flags or name == "theorem-5.4/speed-up":
        return ["C_all"], "rounds -> oo", None
    limits = ORDER + ((", sigma_g_max -> oo" if nt else "") if special else ", G -> oo, eps -> 0")
    return (["C_beta"], limits, "beta1 beta2") if "big-o-betas" in flags else (["C"], limits, "")


def method_in(name, flags, nt, special):
    """The algorithm and how it starts: where the paper's proof prints gradients, with them."""
    start = "gradient" if "y-gradient" in flags or (special and not nt) else "normalised-gradient" if special else ""
    full = "full" in flags or (name in ("eq-83", "eq-196") and "pathwise" in flags)
    words = ["fa-nt" if nt else "fadamgc", "" if full else "sampling=without-replacement", "equal_weights",
             f"y_init={start}" if start else "", *(word for flag, word in OPTIONS.items() if flag in flags)]
    return " ".join(filter(None, words))


def hypotheses_of(name, flags, given, special):
    """Names of the assumptions and conditions of a claim about runs."""
    names = given.split()
    if "appendix" in flags:
        names = [{"5.4": "5.4-appendix", "C.2": "C.2-appendix", "C.3": "5.2"}.get(n, n) for n in names]
    if name == "eq-138" and "vhat-carry" in flags:
        names = ["138b-nt-carry"]
    if "identity" in flags:
        names = []
    names += [number for number in ("78", "152", "138b") if f"condition-{number}" in flags]
    names += ["chosen-b"] if "chosen-b" in flags else []
    names += ["steps", "all-tracked" if "all-tracked" in flags else "trackers-of-all" if "full" in flags else "trackers"]
    return names + (["special"] if special else ["beta2<1"])


def range_of(flags, over):
    """The range of a claim about runs in a reading."""
    if "at-t" in flags or "server" in flags:
        return R
    return RJ if "all-clients" in flags else over


def setting_of(name: str, flags: frozenset) -> Row:
    """The row, without sides, of a claim in a reading."""
    if name in ("table-1/fedadam", "table-1/fedams"):
        return cited(name, flags)
    number = next((key for key in ("@".join([name, *sorted(flags - {"at-most"})]), name) if key in NUMBERS), None)
    if number:
        return but(NUMBERS[number], sign="<=") if "at-most" in flags else NUMBERS[number]
    nt = "fa-nt" in flags or name in GENERAL_NT or name in SPECIAL_NT
    special = name in SPECIAL or name in SPECIAL_NT
    given, over = next(t[name] for t in (GENERAL, GENERAL_NT, SPECIAL, SPECIAL_NT) if name in t)
    names = hypotheses_of(name, flags, given, special)
    bound = set().union(*(GIVEN.get(n, set()) for n in names))
    constant, limits, may_use = order_of(name, flags, nt, special)
    variables = [v for v in ("eta", "eta_g", "beta1") if v not in bound]
    if not special:
        variables += ["beta2" if nt else "beta2: positive below 1", "eps"]  # "any beta_2 > 0" is said of FAdamGC
    if any(n in GIVEN for n in names):
        variables += ["sigma"]  # "sigma^2 > 0", by which these steps divide
    if name == "app-B-unit":
        variables[-1] = "beta1: positive below 1"
    variables += ["factor"] if name in ("eq-64", "eq-69", "eq-109", "eq-110") and "chosen-b" not in flags else []
    variables += ["any_q"] if name in ("eq-85", "eq-198") else []
    equal = "identity" in flags or (name in EQUALITIES and not {"at-most", "both"} & flags)
    return Row(sign="==" if equal else "<=", over=range_of(flags, over),
               given=" ".join(names + ["beta1<1"] * ("beta1" not in bound)), variables="; ".join(variables + constant),
               method=method_in(name, flags, nt, special), limits=limits, constants_may_use=may_use)
