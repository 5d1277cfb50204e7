"""FAdamGC's conditions on the parameters are the printed ones; gradients are bounded where they are taken."""

import math

import pytest
import sympy as sp

from bounds.language import words
from bounds.papers.fadamgc import words as own
from bounds.registry.papers import claims_of_paper
from tests.bounds.each_claim import look_at_each
from tests.bounds.papers.fadamgc_rows import values, world
from tests.bounds.papers.fadamgc_world import K, N, P, T


def condition_values(p):
    """Right sides of the printed conditions, by claim and left side."""
    w, lam = p.w, p.lam
    first = math.sqrt(p.F * N) / (lam * p.sigma * math.sqrt(T * K * p.L))
    small = lam / (8 * K * p.L), lam / (12 * T * p.L)
    special = min(math.sqrt(p.F * N) / math.sqrt(p.sigma**2 * K * T * p.L), p.F / T)
    beta = ((K * N - 2 * T) / (2 * K * N)) ** (1 / K)
    return {
        "theorem-5.2": (special, 1 / T, beta),
        "theorem-5.4": (min(*small, first), lam * w.eps / (40 * T * p.L)),
        "theorem-5.4@appendix": (min(*small, math.sqrt(N) / (lam * p.sigma * math.sqrt(T * K * p.L))),
                                 lam * w.eps / (40 * math.sqrt(T) * p.L)),
        "theorem-5.4/eq-48-51": (small[0],),
        "theorem-C.2": (min(*small, lam * math.sqrt(N) / (30 * math.sqrt(T) * p.L)),
                        min(lam * w.eps / (40 * T**1.5 * p.L), lam * w.eps / (30 * K * p.L))),
        "theorem-C.2@appendix": (min(*small, first), lam * w.eps / (12 * T**1.5 * p.L)),
        "theorem-C.2/eq-158-163": (small[0], w.eps * lam / (30 * K * p.L)),
        "theorem-C.3": (math.sqrt(N * K / T), 1 / T, beta),
        "theorem-C.3@appendix": (special, 1 / T, beta),
        "theorem-C.3/eq-211": (special, 1 / T, beta),
        "eq-39": (small[0],), "eq-157": (small[0], w.eps * lam / (30 * K * p.L)),
        "eq-79": (None, w.eps / (4 * math.sqrt(1 - p.b1) * K * p.L), None),
    }


@pytest.mark.parametrize("name", condition_values(P(world(3), False, set())))
def test_conditions_are_those_printed(name):
    claim, w = claims_of_paper("fadamgc")[f"fadamgc/{name}"], world(3)
    wanted = [v for v in condition_values(P(w, False, set()))[name] if v is not None]
    eta, both = own.eta, own.eta * own.eta_g
    found = {c.left: values(w, claim.definitions).of(c.right) for c in claim.conditions if c.left in (eta, both, own.beta1)}
    for condition in claim.conditions:
        if condition.left == own.eta_g:
            found[both] = values(w, claim.definitions).of(condition.right * eta)
    order = [found[s] for s in (both, eta, own.beta1) if s in found and not (s == own.beta1 and found[s] == 1)]
    assert order == pytest.approx(wanted, rel=1e-9)


def test_conditions_before_78():
    claim, w = claims_of_paper("fadamgc")["fadamgc/lemma-A.1@condition-78"], world(5)
    (first,) = (c for c in claim.conditions if c.left.has(own.beta1) and c.right == own.eps**2)
    bound = values(w, {}).of(first.right / sp.cancel(first.left / (1 - own.beta1)))
    assert bound == pytest.approx(w.eps**2 / (16 * K * w.L**2))


def _models_of_gradients(claim):
    """The rounds, at the last value of the statement's index, of the server's models at which gradients are taken."""
    statement, seen = claim.statement, []
    last = {name: high for name, _, high in statement.over}
    waiting = [statement.left, statement.right]
    while waiting:
        formula = waiting.pop()
        for atom in formula.atoms(sp.Indexed):
            definition = claim.definitions.get(str(atom.base.label))
            if definition and atom not in seen:
                seen.append(atom)
                waiting.append(definition.formula.xreplace(dict(zip(definition.indices, atom.indices, strict=True))))
        for gradient in formula.atoms(words.grad, words.objective_grad):
            for model in gradient.args[-1].atoms(sp.Indexed):
                if model.base == words.x_round:
                    yield model.indices[0].subs(last)


def test_gradients_are_taken_only_where_assumption_53_bounds_them():
    """G is about the run's gradients, of which the last model of the server has none."""
    def check(claim):
        for when in _models_of_gradients(claim):
            assert (words.rounds - 1 - when).subs(words.rounds, 7) >= 0 if when.free_symbols <= {words.rounds} else True

    assuming = [c for c in claims_of_paper("fadamgc").values() if c.statement is not None and c.statement.over
                and any(a.id.endswith("assumption-5.3") for a in c.assumptions)]
    assert len(assuming) > 100
    look_at_each(assuming, check, lambda claim: claim.id)
