"""Short ways to write this paper's claims: the methods and their variants, and one claim in its readings.

The decay rates lie in [0, 1). In the runs any number of participants, at least one, renew their y_k: Y <= S.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial

import sympy as sp

from bounds.language.claim import Claim, Condition, Procedure, Variable
from bounds.language.words import E, L, clients, eta_l, local_steps, objective, participants, r, rounds, sampled, x_round
from bounds.papers.fadamgc import quantities as q
from bounds.papers.fadamgc.assumptions import all_clients, all_steps
from bounds.papers.fadamgc.words import B, C, C_all, C_beta, G, beta1, beta2, eps, eta, sigma, tracked, trackers

__all__ = [
    "ANY_MOMENTS", "FADAMGC", "FA_NT", "POSITIVE_BETA2", "SPECIAL", "algebra_step", "all_clients_take_part", "all_tracked",
    "at_each", "at_each_but_first", "at_most", "average_norm", "average_sq", "before_last", "carried", "constant_step",
    "decrease", "free_constants", "last_gap", "one_relation", "order_claim", "over", "pathwise", "powers_of_beta1", "put",
    "readings", "run_claim", "started", "with_norms",
]

FADAMGC = Procedure("fadamgc", sampling="without-replacement", equal_weights=True)
FA_NT = replace(FADAMGC, base="fa-nt")
constant_step = Condition(eta_l[sp.Symbol("t", integer=True)], "==", eta, (all_steps,))
beta1_below, beta2_below = Condition(beta1, "<", 1), Condition(beta2, "<", 1)
step_sizes = (Variable("eta", "positive"), Variable("eta_g", "positive"))
any_beta1 = Variable("beta1", "nonnegative", below=1)

#: general moments, and those of Theorems 5.2 and C.3
ANY_MOMENTS = {
    "variables": (*step_sizes, any_beta1, Variable("beta2", "nonnegative", below=1), Variable("eps", "positive")),
    "conditions": (constant_step, beta1_below, beta2_below),
}

#: those of Theorem 5.4 and its proof, for any beta2 > 0
POSITIVE_BETA2 = ANY_MOMENTS | {
    "variables": tuple(replace(v, domain="positive") if v.name == "beta2" else v for v in ANY_MOMENTS["variables"])}

SPECIAL = {
    "variables": (*step_sizes, any_beta1),
    "conditions": (constant_step, beta1_below, Condition(beta2, "==", 0), Condition(eps, "==", 0)),
}


#: the clients that renew their y_k are among the participants; no bound of a bare name, which would be a constant
SUBSET = Condition(trackers - participants, "<=", 0)


def run_claim(procedure: Procedure, moments: dict, *, conditions=(), variables=(), subset=(SUBSET,), **fields) -> Claim:
    """A claim about runs of a method, with the hyper-parameters of ``moments``, of which ``conditions`` may define some.

    Without ``subset`` every participant renews its y_k, where the method has them.
    """
    defined = {str(c.left) for c in conditions if c.relation == "==" and c.left.is_Symbol}
    free = tuple(v for v in (*moments["variables"], *variables) if v.name not in defined)
    return Claim(setting="run", source="fadamgc", procedure=procedure, definitions=q.DEFINITIONS, variables=free,
                 conditions=(*moments["conditions"], *subset, *conditions), **fields)


algebra_step = partial(Claim, setting="algebra", kind="proof step", source="fadamgc")
over = (r, 0, rounds - 1)


def at_each(left, relation, right, *more) -> Condition:
    """For every round, and whatever ``more`` says."""
    return Condition(left, relation, right, (over, *more))


def at_each_but_first(left, relation, right, *more) -> Condition:
    """For every round that has one before it, of which both sides speak as round r: also for that after the last one."""
    left, right = (sp.sympify(side).xreplace({r: r + 1}) for side in (left, right))
    return Condition(left, relation, right, (over, *more))


def before_last(condition: Condition) -> Condition:
    """The same for all rounds that have one after them: what bounds gradients of the run bounds none at its last model."""
    return replace(condition, over=((r, 0, rounds - 2), *condition.over[1:]))


# left sides ----------------------------------------------------------------------------------------------------------
average_sq = sp.Sum(q.gradient_sq[r], over) / rounds
average_norm = sp.Sum(q.gradient_norm[r], over) / rounds

#: E f(x^{t+1}) - E f(x^t)
decrease = E(objective(x_round[r + 1])) - E(objective(x_round[r]))

#: E f(x^1) - E f(x^{T+1})
last_gap = E(objective(x_round[0])) - E(objective(x_round[rounds]))


# readings ------------------------------------------------------------------------------------------------------------
def readings(claim: Claim, *changes: Callable[[Claim], Claim]) -> tuple[Claim, ...]:
    """The claim, and the claim under each change by itself."""
    return (claim, *(change(claim) for change in changes))


#: what a claim says of a choice, of which a reading takes another
_DEFAULTS = {"the first y_k are": "the first y_k are", "second moments are of norms": "second moments by coordinate",
             "stored directions with vhat": "stored directions with v"}


def _joined(claim: Claim, words: str) -> str:
    """The claim's reading and some words, which stand in the place of what they contradict."""
    gone = tuple(old for new, old in _DEFAULTS.items() if words.startswith(new))
    kept = [part for part in claim.reading.split("; ") if part != "as printed" and not (gone and part.startswith(gone))]
    return "; ".join([*kept, words])


def _changed(claim: Claim, name: str, words: str, **fields) -> Claim:
    _, _, before = claim.id.partition("@")
    return claim.variant(f"{before}+{name}" if before else name, _joined(claim, words), **fields)


def put(claim: Claim, **options) -> Claim:
    """The claim with these options of the method's maker."""
    kept = dict(claim.procedure.options) | options
    return replace(claim, procedure=replace(claim.procedure, options=tuple(kept.items())))


def _exchanged(claim: Claim, table) -> dict:
    """Statement and conditions with bases and symbols exchanged."""
    put_in = _putting_in(tuple(table.items()))

    def changed(condition):
        return replace(condition, left=put_in(condition.left), right=put_in(condition.right))

    return {"statement": changed(claim.statement), "conditions": tuple(map(changed, claim.conditions))}


@cache
def _putting_in(table: tuple):
    """``xreplace`` with a table, each part of whatever expression once."""
    table = dict(table)

    @cache
    def put_in(e):
        if e in table:
            return table[e]
        parts = tuple(map(put_in, e.args))
        return e if parts == e.args else e.func(*parts)

    return put_in


def exchanged(name: str, words: str, table: dict, options=()):
    """A reading in which some quantities stand for others, on runs with other options."""
    def change(claim: Claim) -> Claim:
        made = _changed(claim, name, words, **_exchanged(claim, dict(table)))
        return put(made, **dict(options))

    return change


carried = exchanged("vhat-carry", "the maximum of second moments goes on from the client's last round",
                    {q.w_reset: q.w_carry, q.w_reset_nt: q.w_carry_nt}, {"vhat": "carry"})
stored_max = exchanged("store-vhat", "a client keeps the maximum of second moments as its second moment", {},
                       {"store": "vhat"})
with_norms = exchanged("norm-scalar", "second moments are of norms, not of coordinates",
                       {q.w_reset: q.w_norm, q.w_reset_nt: q.w_norm_nt}, {"norm": "scalar"})
alpha_vhat = exchanged("alpha-vhat", "stored directions with vhat, as Section 4.1 and Algorithm 2 have it",
                       {q.alpha: q.alpha_vhat, q.Gamma_nt: q.Gamma_nt_vhat})
k_prime = exchanged("k-prime", "mtilde with k' inside its sum",
                    {q.tracked_mean: q.tracked_mean_prime, q.tracked_mean_nt: q.tracked_mean_nt_prime,
                     q.smoothed_error_nt: q.smoothed_error_nt_prime})

__all__ += ["alpha_vhat", "exchanged", "k_prime", "stored_max", "v_started", "with_condition"]


def with_condition(name: str, words: str, *conditions: Condition):
    """The reading with a condition that a proof prints and the statement leaves out."""
    def change(claim: Claim) -> Claim:
        return _changed(claim, name, words, conditions=(*claim.conditions, *conditions))

    return change


def started(start: str):
    """The reading in which the first y_k are ``gradient``, ``normalised-gradient`` or ``zero``."""
    names = {"gradient": ("y-gradient", "the first y_k are gradients"), "zero": ("y-zero", "the first y_k are zero"),
             "normalised-gradient": ("y-normalised", "the first y_k are gradients divided by their norms")}

    def change(claim: Claim) -> Claim:
        return put(_changed(claim, *names[start]), y_init=start)

    return change


def all_tracked(claim: Claim) -> Claim:
    """The reading in which every participant renews its y_k: Y = S."""
    fields = _exchanged(claim, {trackers: participants})
    fields["conditions"] = tuple(c for c in fields["conditions"] if c.left != c.right)
    fields["conditions"] += (Condition(tracked[r, q.every_client[0]], "==", sampled[r, q.every_client[0]],
                                       (over, all_clients)),)
    return _changed(claim, "all-tracked", "every participant renews its y_k: Y = S", **fields)


def v_started(claim: Claim) -> Claim:
    """The reading in which second moments start at 1: in other units of the loss, at any positive number."""
    return put(_changed(claim, "v-init", "second moments start at 1 in place of 0"), v_init=1.0)


def all_clients_take_part(claim: Claim) -> Claim:
    """The reading in which all clients take part: S = n."""
    made = _changed(claim, "full", "all clients take part", **_exchanged(claim, {participants: clients}))
    return replace(made, procedure=replace(made.procedure, sampling="full"))


def powers_of_beta1(claim: Claim) -> Claim:
    """The reading in which the right side has beta1^K where it prints beta1, as its proof has up to the line before."""
    s = claim.statement
    return _changed(claim, "beta1-to-K", "beta1^K where beta1 is printed, as in the line before",
                    statement=replace(s, right=s.right.xreplace({beta1: beta1**local_steps})))


def pathwise(claim: Claim) -> Claim:
    """The reading without expectations, run by run."""
    def expand(e):
        means = {}
        for entry in e.atoms(sp.Indexed):
            definition = q.DEFINITIONS.get(str(entry.base))
            if definition is not None and definition.formula.has(E):
                means[entry] = definition.formula.xreplace(dict(zip(definition.indices, entry.indices, strict=True)))
        e = e.xreplace(means)
        return e.xreplace({mean: mean.args[0] for mean in e.atoms(E)})

    s = claim.statement
    return _changed(claim, "pathwise", "run by run, without expectations",
                    statement=Condition(expand(s.left), s.relation, expand(s.right), s.over))


def one_relation(name: str, relation: str, words: str):
    """The reading with another relation."""
    def change(claim: Claim) -> Claim:
        return _changed(claim, name, words, statement=replace(claim.statement, relation=relation))

    return change


at_most = one_relation("at-most", "<=", "the equality as an upper bound")

# constants hidden in O(.) --------------------------------------------------------------------------------------------
_GROWING = (rounds, clients, local_steps, L, q.F0_gap, sigma, G, B)

_CONSTANTS = {
    C: ("a number", (*((s, sp.oo) for s in _GROWING), (eps, 0)), ()),
    C_beta: ("anything made of beta1 and beta2", (*((s, sp.oo) for s in _GROWING), (eps, 0)), ("beta1", "beta2")),
    C_all: ("anything but the number of rounds", ((rounds, sp.oo),), None),
}


def order_claim(claim: Claim) -> Claim:
    """The claim up to a constant that may depend on nothing."""
    return _with_constant(claim, C)


def _with_constant(claim: Claim, constant) -> Claim:
    s = claim.statement
    names = {s.name for s in (C, C_beta, C_all)}
    body = s.right.xreplace(dict.fromkeys((C, C_beta, C_all), sp.Integer(1))) if claim.explicit is False else s.right
    words, limits, may_use = _CONSTANTS[constant]
    limits = tuple(pair for pair in limits if pair[0] in body.free_symbols)
    return replace(
        claim, explicit=False, limits=limits, constants_may_use=may_use, statement=replace(s, right=constant * body),
        variables=(*(v for v in claim.variables if v.name not in names), Variable(constant.name, "hidden")),
        reading=_joined(claim, f"O(.) hides {words}") if claim.explicit else claim.reading,
    )


def free_constants(claim: Claim) -> tuple[Claim, ...]:
    """The claims in which the hidden constant may depend on the decay rates, and on all but the number of rounds."""
    found = []
    for constant, name in ((C_beta, "big-o-betas"), (C_all, "big-o-all-but-rounds")):
        made = _with_constant(claim, constant)
        _, _, before = claim.id.partition("@")
        reading = claim.reading.replace("O(.) hides a number", f"O(.) hides {_CONSTANTS[constant][0]}")
        found.append(made.variant(f"{before}+{name}" if before else name, reading))
    return tuple(found)
