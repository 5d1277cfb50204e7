"""What FAdamGC's statements suppose and over what they range, written from the paper; rounds and steps count from 0."""

from math import sqrt

from tests.bounds.chance import Min
from tests.bounds.papers.fadamgc_world import length
from tests.bounds.rows import Assumed, Relation, Row

__all__ = ["DOMAINS", "METHOD", "SUPPOSED", "setting_of"]

METHOD = "fadamgc"
DOMAINS = {
    **dict.fromkeys(("eta", "eta_g", "L", "sigma", "G", "factor", "eps"), "positive"),
    **dict.fromkeys(("beta1", "beta2"), "nonnegative below 1"),
    "any_q": "vector",
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


SUPPOSED = {
    # "|grad f_i(x_1) - grad f_i(x_2)| <= L |x_1 - x_2|"
    "assumption-5.1-1": Assumed((_at_clients(lambda w, k: w.L_client[k], "<=", lambda w, k: w.L),)),
    # "E |n_i|^2 <= sigma^2", unbiased, independent
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
    "all-tracked": Relation(lambda w, r, k: w.tracked[r][k], "==", lambda w, r, k: w.sampled[r][k], (each_round, each_client)),
    # "beta_2 = eps = 0"
    "special": (Relation(lambda w: w.beta2, "==", lambda w: 0), Relation(lambda w: w.eps, "==", lambda w: 0)),
    # steps
    "5.4": (_three(fourth), eta("<=", lambda w: lam(w) * w.eps / (40 * w.rounds * w.L))),
    "5.4-appendix": (_three(lambda w: sqrt(w.clients) / (lam(w) * w.sigma * sqrt(w.rounds * w.local_steps * w.L))),
                     eta("<=", lambda w: lam(w) * w.eps / (40 * sqrt(w.rounds) * w.L))),
    "78": (Relation(lambda w: 1 - w.beta1, "<", lambda w: w.eps**2 / (16 * w.local_steps * w.L**2)),
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
    "decay": Relation(lambda w: 1 - 2 * w.beta1**w.local_steps, ">", lambda w: 0),
    "two-steps": Relation(lambda w: w.local_steps, ">=", lambda w: 2),
    # "b = Y/(2(n - Y))"
    "chosen-b": Relation(lambda w: w.factor, "==", lambda w: w.trackers / (2 * (w.clients - w.trackers))),
}

# settings ------------------------------------------------------------------------------------------------------------
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
    "theorem-5.4": (f"{BOUNDED} 5.4", ()), "table-1/fadamgc": (f"{BOUNDED} 5.4", ()),
    "theorem-5.4/eq-54-57": (f"{BOUNDED} 5.4", ()), "theorem-5.4/eq-48-51": (f"{BOUNDED} 38", ()),
    "lemma-A.1": (BOUNDED, R), "eq-12": ("", R), "eq-13": (SMOOTH, R),
    **dict.fromkeys(("eq-17", "eq-19", "eq-21-zero", "eq-21"), (NOISE, R)),
    **dict.fromkeys(("eq-23", "eq-28", "eq-31", "eq-34", "eq-37"), (BOUNDED, R)),
    **dict.fromkeys(("eq-39", "eq-42"), (f"{BOUNDED} 38", R)),
    "eq-61": (SMOOTH, R), "eq-64": ("", RJ), "eq-69": ("", RJ), "eq-71": ("", RJ), "eq-73": ("assumption-5.3", RJ),
    "eq-75": (BOUNDED, RJ), "eq-76": (BOUNDED, RJ), "eq-78": (f"{BOUNDED} 78 two-steps", RJ),
    "eq-79": (f"{BOUNDED} 78 two-steps", RJ), "eq-81": (f"{BOUNDED} 78 two-steps", R),
}
GENERAL_NT = {
    "theorem-C.2": (f"{BOUNDED} C.2", ()), "table-1/fa-nt": (f"{BOUNDED} C.2", ()),
    "theorem-C.2/eq-167-171": (f"{BOUNDED} C.2", ()), "theorem-C.2/eq-158-163": (f"{BOUNDED} 38 152", ()),
    "lemma-D.1": (BOUNDED, R), "lemma-D.2": (BOUNDED, LATER), "eq-124": ("", R), "eq-126": (SMOOTH, R),
    **dict.fromkeys(("eq-129", "eq-130", "eq-139", "eq-142"), (NOISE, R)),
    **dict.fromkeys(("eq-132", "eq-134", "eq-136", "eq-144"), (BOUNDED, R)),
    "eq-138": ("138b", R), "eq-146": (f"{BOUNDED} 38", R), "eq-151": (f"{BOUNDED} 38", R), "eq-157": (f"{BOUNDED} 38 152", R),
    "eq-164": (BOUNDED, ()), "eq-165": (BOUNDED, ()), "eq-176": (SMOOTH, R),
    "eq-179": ("two-steps", (each_round, lambda w, r: range(1, w.local_steps))),
    "eq-180": (f"{BOUNDED} two-steps", (each_round, lambda w, r: range(1, w.local_steps))),
    "eq-182": (f"{BOUNDED} two-steps", RJ), "eq-188": ("", R),
    "eq-190": ("assumption-5.3", LATER), "eq-191": ("assumption-5.3", LATER), "eq-194": (BOUNDED, R),
}
SPECIAL = {
    **dict.fromkeys(("theorem-5.2", "theorem-5.2/eq-104", "table-1/fadamgc-special"), (f"{NOISE} 5.2", ())),
    "theorem-5.2/eq-102-103": (f"{NOISE} decay", ()), "lemma-B.1": (NOISE, R),
    "app-B-unit": ("", RJK), "sec-5-unit-step": ("", RJK), "eq-83": (SMOOTH, R), "eq-85": ("", R),
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
#: what stands in O(.) beside the decay rates
ORDER = "rounds -> oo, clients -> oo, local_steps -> oo, L -> oo, F0_gap -> oo, sigma -> oo"
#: variables that these conditions give a value
GIVEN = {"5.4": {"eta_g"}, "5.4-appendix": {"eta_g"}, "C.2": {"eta_g"}, "C.2-appendix": {"eta_g"},
         "5.2": {"eta_g", "beta1"}, "C.3": {"eta_g", "beta1"}}
EXACT = {"theorem-5.4/eq-48-51", "theorem-5.4/eq-54-57", "theorem-5.2/eq-102-103", "theorem-C.2/eq-158-163"}
EQUALITIES = {"eq-12", "eq-124", "eq-17", "eq-19", "eq-21-zero", "eq-21", "eq-85", "eq-198", "eq-110", "eq-129",
              "eq-130", "eq-139", "eq-165"}


def is_order(name, flags):
    """Whether a constant is hidden in O(.)."""
    return name.startswith(("theorem", "table")) and name not in EXACT and (
        name != "theorem-C.3/eq-210" or "big-o" in flags)


def setting_of(name: str, flags: frozenset) -> Row:
    """The row, without sides, of a claim about runs in a reading."""
    nt = "fa-nt" in flags or name in GENERAL_NT or name in SPECIAL_NT
    special = name in SPECIAL or name in SPECIAL_NT
    given, over = next(t[name] for t in (GENERAL, GENERAL_NT, SPECIAL, SPECIAL_NT) if name in t)
    names = given.split()
    if "appendix" in flags:
        names = [{"5.4": "5.4-appendix", "C.2": "C.2-appendix", "C.3": "5.2"}.get(n, n) for n in names]
    names += [number for number in ("78", "152", "138b") if f"condition-{number}" in flags]
    names += [n for n in ("chosen-b",) if n in flags]
    names += ["steps", "all-tracked" if "all-tracked" in flags else "trackers"]
    bound = set().union(*(GIVEN.get(n, set()) for n in names))
    names += ["special"] if special else ["beta2<1"]
    names += [] if "beta1" in bound else ["beta1<1"]
    variables = ["eta", "eta_g", "beta1" + ": positive below 1" * (name == "app-B-unit")]
    variables = [v for v in variables if v not in bound]
    if not special:
        variables += ["beta2: nonnegative below 1" if nt else "beta2: positive below 1", "eps"]
    if name in ("eq-64", "eq-69", "eq-109", "eq-110"):
        variables += ["factor"]
    if name in ("eq-85", "eq-198"):
        variables += ["any_q"]
    limits, may_use = "", None
    if is_order(name, flags):
        betas, rest = "big-o-betas" in flags, "big-o-all-but-rounds" in flags
        variables += ["C_beta" if betas else "C_all" if rest else "C"]
        may_use = "beta1 beta2" if betas else None if rest else ""
        limits = "rounds -> oo" if rest else ORDER + ("" if special else ", G -> oo, eps -> 0")
    start = ("gradient" if "y-gradient" in flags or (special and not nt) else "normalised-gradient" if special else "")
    options = ["y_init=" + start if start else "", "norm=scalar" if "norm-scalar" in flags else "",
               "vhat=carry" if "vhat-carry" in flags else "", "store=vhat" if "store-vhat" in flags else "",
               "v_init=1.0" if "v-init" in flags else ""]
    full = "full" in flags or (name in ("eq-83", "eq-196") and "pathwise" in flags)
    method = " ".join(filter(None, ["fa-nt" if nt else "fadamgc", "" if full else "sampling=without-replacement",
                                    "equal_weights", *options]))
    equal = name in EQUALITIES and not {"at-most", "both"} & flags
    return Row(sign="==" if equal else "<=", over=over, given=" ".join(names), variables="; ".join(variables), method=method,
               limits=limits, constants_may_use=may_use)
