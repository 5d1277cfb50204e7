"""A-FedPD's conditions on the parameters are the printed ones."""

import math

import pytest

from bounds.language.claim import names_in
from bounds.registry.papers import claims_of_paper
from tests.bounds.papers.afedpd_rows import values, world

#: conditions on the parameters as printed: whether they are met at a point of the world
CONDITIONS = {
    "theorem-1-explicit": lambda w: w.rho_prox**2 - 4 * w.L**3 * w.rho_prox - 36 * w.L**2 - 4 * w.L**4 >= 0,
    "unrolled-constant": lambda w: w.eta_0 <= 1 / (w.local_steps * w.L),
    "theorem-2@gamma-first": lambda w: w.eta_0 <= w.mu_lr / (w.gamma_mult * w.local_steps) and w.alpha_mult * w.rho_prox >= (
        w.rho_prox + math.sqrt(w.rho_prox**2 + 4 * w.L * (w.L + w.rho_prox + 1 / (w.eta_0 * w.local_steps)))) / (2 * w.L),
}


@pytest.mark.parametrize("block", CONDITIONS)
def test_conditions_are_the_printed_ones(block):
    claim = claims_of_paper("afedpd")[f"afedpd/{block}"]
    conditions = [c for c in claim.conditions if c.relation != "==" and not c.over
                  and not (names_in(c.left) | names_in(c.right)) & {"V", "slack"}]
    answers = set()
    for seed in range(400):
        w = world(seed)
        w.L, w.eta_0, w.alpha_mult, w.rho_prox = w.L / 4, w.eta_0 / 2, 4 * w.alpha_mult, 3 * w.rho_prox
        of = values(w, {}).of
        met = all(
            of(c.left) <= of(c.right) if c.relation == "<=" else of(c.left) >= of(c.right) for c in conditions)
        assert met == CONDITIONS[block](w)
        answers.add(met)
    assert answers == {True, False}
