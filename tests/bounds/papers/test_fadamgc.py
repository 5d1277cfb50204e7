"""FAdamGC's gradients are bounded where they are taken."""

import sympy as sp

from bounds.language import operators
from bounds.registry.papers import claims_of_paper
from tests.bounds.each_claim import look_at_each


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
        for gradient in formula.atoms(operators.grad, operators.objective_grad):
            for model in gradient.args[-1].atoms(sp.Indexed):
                if model.base == operators.x_round:
                    yield model.indices[0].subs(last)


def test_gradients_are_taken_only_where_assumption_53_bounds_them():
    """G is about the run's gradients, of which the last model of the server has none."""
    def check(claim):
        for when in _models_of_gradients(claim):
            if when.free_symbols <= {operators.rounds}:
                assert (operators.rounds - 1 - when).subs(operators.rounds, 7) >= 0

    assuming = [c for c in claims_of_paper("fadamgc").values() if c.statement is not None and c.statement.over
                and any(a.id.endswith("assumption-5.3") for a in c.assumptions)]
    assert len(assuming) > 100
    look_at_each(assuming, check, lambda claim: claim.id)
