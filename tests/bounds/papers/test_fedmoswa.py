"""The claims of FedSWA and FedMoSWA: starts, orders, symbols that conditions define, and names."""

from functools import cache

import pytest
import sympy as sp

from bounds.formulas.units import BASE, parse_unit
from bounds.language.claim import names_in
from bounds.language.names import row_of
from bounds.registry.papers import claims_of_paper, units_of_paper
from tests.bounds.claim_values import same
from tests.bounds.each_claim import look_at_each
from tests.bounds.papers.fedmoswa_rows import values, world
from tests.bounds.papers.fedmoswa_theorem_rows import P
from tests.bounds.papers.fedmoswa_world import SIZES

#: constants and states that the paper's claims name and that no condition declares
OWN = {"client_variate", "server_variate", "sigma_g", "sigma_g_2", "sigma_g_client"}


@cache
def claims():
    """The claims by their ids without the paper; comparisons of bounds are made of other claims."""
    return {i.partition("/")[2]: claim for i, claim in claims_of_paper("fedmoswa").items() if not claim.compares}


def test_a_start_within_a_bound_is_left_to_the_instance():
    """A bound on the variate at the start says nothing of a method that starts from zero."""
    bounded = [c for c in claims().values() if "bounded-start" in c.id]
    assert len(bounded) > 20 and {dict(c.procedure.options).get("start") for c in bounded} == {"free"}


def test_orders_hide_absolute_constants():
    """The specification: O(.) hides a constant that is independent of every symbol."""
    orders = [c for c in claims().values() if c.statement is not None and not c.explicit]
    assert len(orders) == 51
    for claim in orders:
        assert claim.constants_may_use == ()
        assert {s for s, _ in claim.limits} <= claim.statement.left.free_symbols | claim.statement.right.free_symbols
        assert {str(s) for s, _ in claim.limits} & {"rounds", "length"}


#: what conditions define, with the formulas of the specification's 4.0 and 3.1
def _symbols(w):
    p = P(w, {})
    return {
        "lemma-e.1": ("b", 1 - p.rho * p.eta * p.bmu), "lemma-e.1@b-F1": ("b", p.eta * p.bmu),
        "lemma-f.1": ("b", p.eta * p.bmu),
        "lemma-i.1": ("c_bar", 1 + p.cK * p.beta * p.K * p.eta), "lemma-g.9": ("eta_l", p.ee / (p.K * p.alpha)),
        "lemma-e.4": ("eta_l", p.eta), "eq-89-b": ("b", p.gamma / (2 * (1 - p.gamma))),
        "eq-93-b": ("b", p.w.value("participants") / (2 * (p.m - p.w.value("participants")))),
    }


@pytest.mark.parametrize("claim_id", _symbols(world(5)))
def test_symbols_are_defined_as_printed(claim_id):
    w = world(5)
    name, wanted = _symbols(w)[claim_id]
    found = [c for c in claims()[claim_id].hypotheses if c.relation == "==" and names_in(c.left) & {name}]
    assert len(found) == 1
    assert same(values(w, {}).of(found[0].right, {"t": 0}), wanted)


# names ---------------------------------------------------------------------------------------------------------------
HYPER_PARAMETERS = {"eta", "eta_eff", "eta_g", "gamma", "rho_decay", "rho_sam", "b", "c", "c_bar", "power"}


def _conditions(claim):
    return [*claim.hypotheses, *([claim.statement] if claim.statement else [])]


def _names(claim):
    expressions = [d.formula for d in claim.used_definitions().values()]
    for condition in _conditions(claim):
        expressions += [condition.left, condition.right, *(part for triple in condition.over for part in triple)]
    return {name for expression in expressions for name in names_in(expression)}


def test_every_name_means_something_and_hyper_parameters_and_indices_are_bound():
    def check(claim):
        bound = {v.name for v in claim.variables} | set(claim.constants)
        known = bound | OWN | set(claim.definitions) | set(SIZES)
        known |= {size for v in claim.variables for _, size in v.indices} | ({claim.exists.name} if claim.exists else set())
        assert [name for name in _names(claim) - known if row_of(name) is None] == []
        assert _names(claim) & HYPER_PARAMETERS <= bound | ({claim.exists.name} if claim.exists else set())
        for condition in _conditions(claim):
            indices = {str(triple[0]) for triple in condition.over}
            assert (names_in(condition.left) | names_in(condition.right)) & set("ijkrt") <= indices, condition

    look_at_each(claims().values(), check, lambda claim: claim.id)


def test_units_are_those_of_the_language():
    units = {name: parse_unit(text) for name, text in units_of_paper("fedmoswa").items()}
    assert len(units) > 40 and {name for name in units if name in BASE and BASE[name] != units[name]} == set()


def test_loading_takes_no_symbolic_work():
    """Statements keep their sums and products as written."""
    assert claims()["eq-22-unroll"].statement.right.atoms(sp.Sum)
    assert claims()["eq-20-unroll"].statement.right.atoms(sp.Product)
