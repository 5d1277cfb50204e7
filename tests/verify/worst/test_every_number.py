"""Proofs for every number of clients: of some numbers, of statements that hold for few clients alone, and forged ones."""

from copy import deepcopy
from fractions import Fraction as Q
from math import comb

import numpy as np
import pytest

from bounds.controls.fedavg import control
from bounds.language.claim import Condition, Procedure
from bounds.language.names import symbol
from bounds.language.operators import E_round, norm2, x_round, x_star
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from tests.caches import clear_caches
from tests.changes import both, dropped, put
from tests.classical import EXACT, JUST_CONVEX, NOISE, SMOOTH
from tests.verify.worst.federations import Federation, Values
from verify.checker import exchangeable_clients as checker_clients
from verify.checker import laurent_polynomials
from verify.checker import proof as checking
from verify.checker.laurent_polynomials import CLIENTS
from verify.checker.quadratic_forms import LAYER, QuadraticForm, nonnegative
from verify.checker.symbolic_federation import SymbolicFederation
from verify.checker.symbolic_operators import SymbolicOperators
from verify.exact.check import replay_alone
from verify.exact.statement import statement_of
from verify.symbolic import exchangeable_clients as prover_clients
from verify.symbolic import proof
from verify.symbolic.exchangeable_clients import ANY, EveryClientCount, ExchangeableClients, common
from verify.symbolic.specialisation import Specialisation
from verify.symbolic.symbolic_run import SymbolicRun
from verify.worst.configurations import Template, instantiate
from verify.worst.every_round import every_round, every_round_at
from verify.worst.proven import proven
from verify.worst.worst_case import worst_case

CLAIM = """
[[claim]]
id = "mine/of-clients"
method = "fedavg"
OPTIONS
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1",
          "sigma_sq_client[k] <= NOISE for k in 0..clients-1"]
conditions = [CONDITIONS]
statement = "STATEMENT"
variables = {VARIABLES}
"""
ONE = {"local_steps": Q(1), "rounds": Q(1), "L": Q(1), "mu": Q(1, 10)}


STEPS = '"eta_l[t] == 1/L for t in 0..iterations-1"'


def claim_of(tmp_path, statement, noise="0", conditions=STEPS, options="", variables=""):
    path = tmp_path / "mine.toml"
    text = CLAIM.replace("STATEMENT", statement).replace("NOISE", noise).replace("CONDITIONS", conditions)
    path.write_text(text.replace("OPTIONS", options).replace("VARIABLES", variables))
    return load_claims(path)[0]


def onwards(claim, clients=2):
    """A proof for every number of clients."""
    try:
        found = worst_case(claim, {**ONE, "clients": Q(clients)}, Template(weights=(1,)), factors=False, onwards=True)
    except ValueError:  # it has no form at all
        return None
    return found if found.onwards else None


# statements --------------------------------------------------------------------------------------------------------------
OF_ALL = "(k, 0, clients-1)"
START = "norm2(x_round[0] - x_star)"
ANY_WEIGHTS = {"options": "equal_weights = false"}
SQUARES = f"Sum(norm2(grad(k, x_round[0])), {OF_ALL})"
NOISY = {"noise": "sigma_sq"}
STEP = f"E(norm2(x_round[1] - x_star)) <= {START} + "
TRUE = {
    "a mean of noise": (STEP + "sigma_sq/L**2/clients", NOISY),
    "a mean of noise, times the number": (
        f"clients*E(norm2(x_round[1] - x_star)) <= clients*{START} + sigma_sq/L**2", NOISY),
    "more than the noise of a mean": (STEP + "sigma_sq/L**2*(1/clients + 1/clients**2 - 1/clients**3)", NOISY),
    "less noise than of one client": (STEP + "sigma_sq/L**2*(1 - 1/clients)", NOISY),
    "a square of a sum": (f"norm2(Sum(grad(k, x_round[0]), {OF_ALL})) <= clients*{SQUARES}", {}),
    "a square of a mean": (
        f"norm2(objective_grad(x_round[0])) <= Sum(client_weight[k]*norm2(grad(k, x_round[0])), {OF_ALL})", ANY_WEIGHTS),
    "noise of any weights": (STEP + "sigma_sq/L**2", NOISY | ANY_WEIGHTS),
    "weights that are equal": (
        f"Sum(client_weight[k]*norm2(grad(k, x_round[0])), {OF_ALL}) <= "
        f"clients*Sum(client_weight[k]**2*norm2(grad(k, x_round[0])), {OF_ALL})", ANY_WEIGHTS),
    "pairs of clients by way of the mean": (
        f"Sum(norm2(grad(k, x_round[0]) - objective_grad(x_round[0])), {OF_ALL}) <= {SQUARES}", {}),
    "a number of clients from three on": (
        f"3*norm2(objective_grad(x_round[0])) <= {SQUARES}",
        {"conditions": '"eta_l[t] == 1/L for t in 0..iterations-1", "clients >= 3"'}),
}
#: of these for any weights
OF_ANY = {"a square of a mean", "noise of any weights"}
#: statements that hold for two and three clients, and not for five
FALSE = {
    "one over the square of the number": (STEP + "3*sigma_sq/L**2/clients**2", NOISY),
    "noise that ends at four": (STEP + "sigma_sq/L**2*(4 - clients)/3", NOISY),
    "noise less than of a mean": (STEP + "sigma_sq/L**2/clients*(1 - (clients - 2)*(clients - 3)/100)", NOISY),
    "a sum in place of a mean": (f"{SQUARES} <= 3/clients*{SQUARES}", {}),
    "a square of a sum": (f"norm2(Sum(grad(k, x_round[0]), {OF_ALL})) <= 3*{SQUARES}", {}),
    "a square of a sum over those who take part": (
        f"norm2(Sum(grad(k, x_round[0]), (k, 0, participants-1))) <= 3*{SQUARES}", {}),
    "deviations summed": (
        f"Sum(norm2(grad(k, x_round[0]) - objective_grad(x_round[0])), {OF_ALL}) <= 3/clients*{SQUARES}",
        {}),
    "a step size that grows": (
        f"norm2(x_round[1] - x_star) <= {START}",
        {"conditions": '"eta_l[t] == clients/(2*L) for t in 0..iterations-1"'}),
    "the largest of clients": (f"Max(norm2(grad(k, x_round[0])), {OF_ALL}) <= 3/clients*{SQUARES}", {}),
    "the first client": (f"norm2(grad(0, x_round[0])) <= 3/clients*{SQUARES}", {}),
    "the last client": (f"norm2(grad(clients - 1, x_round[0])) <= 3/clients*{SQUARES}", {}),
    "the first client's model": (
        f"norm2(x_before[1, 0] - x_star) <= 3/clients*Sum(norm2(x_before[1, k] - x_star), {OF_ALL})", {}),
    "squares of weights": (
        f"Sum(client_weight[k]*norm2(grad(k, x_round[0])), {OF_ALL}) <= "
        f"3*Sum(client_weight[k]**2*norm2(grad(k, x_round[0])), {OF_ALL})", {}),
    "pairs of clients": (
        f"Sum(Sum(norm2(grad(k, x_round[0]) - grad(j, x_round[0])), (j, 0, clients-1)), {OF_ALL}) <= 6*{SQUARES}",
        {}),
    "neighbours": (
        f"Sum(norm2(grad(k + 1, x_round[0]) - grad(k, x_round[0])), (k, 0, clients-2)) <= 3*{SQUARES}", {}),
    "the first clients alone": (
        f"{SQUARES} <= 9/clients*Sum(norm2(grad(k, x_round[0])), (k, 0, Min(2, clients - 1)))", {}),
    "a client's number": (f"Sum(k*norm2(grad(k, x_round[0])), {OF_ALL}) <= 2*{SQUARES}", {}),
    "each client": ("norm2(grad(k, x_round[0])) <= 3/clients*Sum(norm2(grad(j, x_round[0])), (j, 0, clients-1)) "
                    "for k in 0..clients-1", {}),
    "a power of the number": (f"{SQUARES} <= 2**(3 - clients)*2*{SQUARES}", {}),
    "a number that conditions bound": (
        f"{SQUARES} <= 3/clients*{SQUARES}",
        {"conditions": '"eta_l[t] == 1/L for t in 0..iterations-1", "clients <= 3"'}),
    "the number without a value": (f"clients*c <= 3*c + {SQUARES}*0", {"variables": 'c = "nonnegative"'}),
}
NO_FORM, LARGER = {"the largest of clients", "a number that conditions bound"}, 5


@pytest.mark.parametrize("name", TRUE)
def test_true_statements_are_proven_for_every_number_of_clients(name, tmp_path):
    statement, more = TRUE[name]
    claim, clients = claim_of(tmp_path, statement, **more), 3 if "three" in name else 2
    found = onwards(claim, clients)
    assert found is not None and replay_alone(found.certificate).accepted
    assert found.numbers["clients"] == f"every number from {clients} on"
    assert (found.onwards.weights == ANY) == (name in OF_ANY)
    for count in (4, 7):
        assert worst_case(claim, {**ONE, "clients": Q(count)}, Template(weights=(1,)), factors=False).certificate is not None


@pytest.mark.parametrize("name", FALSE)
def test_statements_that_hold_for_few_clients_are_not_proven_for_every_number(name, tmp_path):
    statement, more = FALSE[name]
    claim = claim_of(tmp_path, statement, **more)
    assert onwards(claim, 2) is None and onwards(claim, 3) is None
    if name not in NO_FORM:
        at = {count: worst_case(claim, {**ONE, "clients": Q(count)}, Template(weights=(1,))) for count in (2, 3, LARGER)}
        assert at[2].certificate is not None and at[3].certificate is not None and max(at[LARGER].factors) > 1.001


# every number of rounds --------------------------------------------------------------------------------------------------
NEXT = "E(norm2(x_round[r + 1] - x_star)) <= E(norm2(x_round[r] - x_star)) + {} for r in 0..rounds-1"
LAST = "E(norm2(x_round[rounds] - x_star)) <= norm2(x_round[0] - x_star) + rounds*{}"
#: what stands for {}, and whether it is enough for every number of clients
ROUNDS = {
    "a mean of noise": ("sigma_sq/L**2/clients", True), "a larger mean": ("sigma_sq/L**2*(1 - 1/clients)", True),
    "one over the square of the number": ("3*sigma_sq/L**2/clients**2", False),
    "noise less than of a mean": ("sigma_sq/L**2/clients*(1 - (clients - 2)*(clients - 3)/100)", False),
}


def in_every_round(claim, clients, weights=(1,)):
    given = {"local_steps": Q(1), "L": Q(1), "mu": Q(1, 10), "clients": Q(clients)}
    return every_round_at(claim, given, Template(weights=weights), onwards=True)


@pytest.mark.parametrize("statement", [NEXT, LAST])
@pytest.mark.parametrize("name", ROUNDS)
def test_every_number_of_clients_in_every_round(name, statement, tmp_path):
    bound, true = ROUNDS[name]
    claim = claim_of(tmp_path, statement.format(bound), **NOISY)
    found = in_every_round(claim, 2)
    assert found.certificate is not None and bool(found.onwards) == true
    data = deepcopy(found.certificate)
    assert replay_alone(data).accepted
    for change in (at_setting(degree=0), ONE_CLIENT) if true else (at_setting(degree=1), at_setting(degree=2)):
        change(forged := deepcopy(data))
        assert not replay_alone(forged).accepted or name == "a mean of noise"  # which holds for one client too
    assert (in_every_round(claim, 5).certificate is not None) == true


# forgeries ---------------------------------------------------------------------------------------------------------------
def at_setting(**changes):
    return both(*(put("settings", 0, name, value) for name, value in changes.items()))


def without(part):
    def change(data):
        data["settings"][0]["proofs"] = [{name: number for name, number in proof.items() if not name.endswith(part)}
                                         for proof in data["settings"][0]["proofs"]]
    return change


ONE_CLIENT = both(put("settings", 0, "sizes", "clients", 1), put("settings", 0, "sizes", "participants", 1),
                  at_setting(weights=["1"]))
FORGERIES = {
    "from one client on": ("less noise than of one client", ONE_CLIENT),
    "nothing at the end of many clients": ("less noise than of one client", without("part 0")),
    "nothing at the end of two clients": ("less noise than of one client", without("part 1")),
    "no degree": ("a mean of noise", at_setting(degree=0)),
    "a larger degree": ("a mean of noise", at_setting(degree=5)),
    "a degree that is no number": ("a mean of noise", at_setting(degree="1")),
    "a truth value": ("a mean of noise", at_setting(degree=True)),
    "of two clients alone": ("a mean of noise", dropped("settings", 0, "degree")),
    "weights that differ": ("a mean of noise", at_setting(weights=["1/3", "2/3"])),
    "any weights": ("a mean of noise", both(at_setting(weights=ANY), at_setting(degree=0))),
    "any weights of what equal ones have": ("weights that are equal", at_setting(weights=ANY)),
    "no equal weights": ("noise of any weights", at_setting(weights=["1/4", "3/4"])),
    "a word in place of weights": ("noise of any weights", at_setting(weights="all")),
    "any weights, with a degree": ("a mean of noise", at_setting(weights=ANY)),
    "any weights of some clients": ("a square of a mean", both(at_setting(weights=ANY), dropped("settings", 0, "degree"))),
    "some who take part": ("a mean of noise", put("settings", 0, "sizes", "participants", 1)),
    "samples of clients": ("a mean of noise", put("procedure", "sampling", "without-replacement")),
    "another method": ("a mean of noise", put("procedure", "base", "fednova")),
    "layers": ("a mean of noise", put("settings", 0, "sizes", "layers", 2)),
    "a negative multiplier": ("a mean of noise", lambda data: data["settings"][0].update(proofs=[
        {name: f"-{number}" for name, number in proof.items()} for proof in data["settings"][0]["proofs"]])),
}


def accepted_of(name, tmp_path):
    statement, more = TRUE[name]
    return onwards(claim_of(tmp_path, statement, **more)).certificate


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_certificates_are_refused(name, tmp_path):
    of, change = FORGERIES[name]
    data = deepcopy(accepted_of(of, tmp_path))
    assert replay_alone(data).accepted
    change(data)
    assert not replay_alone(data).accepted


def at_two_alone(form, least):
    """What a form says of the least number of clients."""
    return [sum((c * Q(1, least) ** j for j, c in enumerate(laurent_polynomials.coefficients(form))), QuadraticForm({}))]


def any_entry(array, i, name):
    return array[0] if isinstance(array, prover_clients.ClientArray) else array[int(i)]


def with_the_outer_client(self, body, name, low, high, index, outcome):
    return CLIENTS * common(self.value(body, {**index, name: prover_clients.CLIENT}, outcome))


def of_each_client(self, rule):
    return [{"k": prover_clients.CLIENT}] if rule is self.stated["statement"] else OF_RULES(self, rule)


OF_RULES = ExchangeableClients.cases
#: faults by which false statements would be proven, if no run of some clients were compared
FAULTS = {
    "the end of many clients": ("one over the square of the number", laurent_polynomials, "ends", at_two_alone),
    "noise of a mean": ("noise less than of a mean", laurent_polynomials, "ends", at_two_alone),
    "sums": ("a sum in place of a mean", laurent_polynomials, "ends", at_two_alone),
    "a client by its number": ("the first client", ExchangeableClients, "client", lambda self, k: 0),
    "the last client": ("the last client", ExchangeableClients, "client", lambda self, k: 0),
    "models by number": ("the first client's model", ExchangeableClients, "entry", staticmethod(any_entry)),
    "two clients at once": ("pairs of clients", ExchangeableClients, "over_clients", with_the_outer_client),
    "each client": ("each client", ExchangeableClients, "cases", of_each_client),
}


def any_sum(self, args, at):
    body, name, *_ = args
    index = at.index | {name: checker_clients.CLIENT}
    return self.run.people.total(self.run.instance.formulas.value(body, at._replace(index=index)))


def each_client(self, rule):
    return [{"k": checker_clients.CLIENT}] if rule is self.instance.certificate["statement"] else OF_RUNS(self, rule)


OF_RUNS = SymbolicFederation.cases
#: the same faults in the checker: of these a run of two or three clients tells that something is wrong
IN_CHECKER = {
    "a client by its number": (checker_clients.ExchangeableClients, "number", lambda self, k: 0),
    "the last client": (checker_clients.ExchangeableClients, "number", lambda self, k: 0),
    "models by number": (checker_clients.ClientArray, "entry", lambda self, i, name: self[0]),
    "two clients at once": (SymbolicOperators, "sum", any_sum),
    "each client": (SymbolicFederation, "cases", each_client),
}


@pytest.mark.parametrize("name", FAULTS)
def test_faults_by_which_false_statements_are_proven(name, monkeypatch, tmp_path):
    of, where, what, fault = FAULTS[name]
    statement, more = FALSE[of]
    claim = claim_of(tmp_path, statement, **more)
    monkeypatch.setattr(where, what, fault)
    if name in IN_CHECKER:
        assert onwards(claim) is None
        monkeypatch.setattr(proof, "obligations_for_every_count", lambda every, *_: every)
        clear_caches()
        assert onwards(claim) is None, "a fault in the prover alone is one that the checker does not have"
        monkeypatch.setattr(*IN_CHECKER[name])
        clear_caches()
        assert onwards(claim) is None, "runs of two and three clients are compared"
        monkeypatch.setattr(checking, "obligations_for_every_count", lambda of, numbers, degree: of(*numbers, degree=degree))
        clear_caches()
    forged = onwards(claim)
    assert forged is not None
    monkeypatch.undo()
    assert not replay_alone(forged.certificate).accepted


# what is known -----------------------------------------------------------------------------------------------------------
#: claims whose runs ask for letters of every kind, and their sizes
RUNS = {
    "classical/gd-distance": {}, "classical/gd-nonconvex": {}, "classical/sgd-value": {}, "classical/scaffold-nonconvex": {},
    "classical/fedavg-round-noise": {"rounds": Q(1)}, "classical/fedavg-round-dissimilar": {"rounds": Q(1)},
    "fedmoswa/explicit-5.2-nonconvex@everyone": {"rounds": Q(1), "local_steps": Q(1)},
    "classical/local-sgd-step": {"rounds": Q(1)}, "bounds at all points": {"rounds": Q(1), "local_steps": Q(1)},
    "local problems": {"local_steps": Q(1)},
    "fedluar/theorem-3.2@main": {"rounds": Q(2), "local_steps": Q(1)},
    "fedluar/eq-14@forced": {"rounds": Q(2), "local_steps": Q(1), "eta": Q(1, 4)},
    "fedluar/eq-16": {"rounds": Q(2), "local_steps": Q(1), "eta": Q(1, 4)},
}
OWN = {
    "noise given the past": Condition(E_round(norm2(x_round[2] - x_star), 1), "<=", norm2(x_round[1] - x_star)),
    "means of models": Condition(norm2(E_round(x_round[2], 1) - x_star), "<=", norm2(x_round[1] - x_star)),
    "noise, and bounds": Condition(symbol("G_lip"), ">=", 0),
    "local problems": Condition(norm2(x_round[2] - x_star), "<=", 1),
    "bounds at all points": Condition(norm2(x_round[1] - x_star), "<=", sum((
        symbol(name) for name in ("sigma_g_1", "sigma_g_2", "sigma_g_max", "G_lip")), start=symbol("sigma_g"))),
}
NOT_NOISY = {"local problems", "bounds at all points"}


def stated(name):
    if name not in OWN:
        return find_claim(name)
    noise = () if name == "noise, and bounds" else (JUST_CONVEX,)
    how = Procedure("fedpd", equal_weights=True, options=(("solver", "exact"), ("rho_prox", 2)))
    return control(name, "run", OWN[name], assumptions=(SMOOTH, *noise, EXACT if name in NOT_NOISY else NOISE),
                   procedure=how if name == "local problems" else Procedure(equal_weights=True))


def runs_of(name, count):
    """A run of every number of clients, and one of some, of which the same was asked."""
    claim = stated(name)
    numbers = instantiate(claim, {"clients": Q(2), **RUNS.get(name, {})}, Template(weights=(1,)))
    data, weights = statement_of(claim), [str(Q(1, count))] * count
    some = SymbolicRun(data, numbers.sizes | {"clients": count, "participants": count}, numbers.values, numbers.unknown,
                       weights)
    every = EveryClientCount(data, *numbers, degree=1)
    pairs = [[*letters.compared(data["statement"])] for letters in (every, some)]
    return every, some, pairs


def false_of_some(name, count, seeds=range(4)):
    """What is known for every number of clients and does not hold of a random federation of some."""
    every, some, ((*pairs,), _) = runs_of(name, count)
    pasts, found = {past for past, *_ in pairs}, set()
    known = {past: SymbolicRun.facts_by_past(every, {past})[past] for past in pasts}
    some.facts_by_past(pasts)
    at = Specialisation(every, some)
    for past, (inequalities, equalities) in known.items():
        for seed in seeds:
            rng = np.random.default_rng(seed)
            high, low = some.bounds["L_client"][0], some.bounds["mu_client"][0]
            federation = Federation(rng, float(-high if low is None else low), float(high), count,
                                    bool(some.stated["everywhere"]), len(some.layers))
            values = Values(some, federation, rng, rng.choice([0.5, 0.1]), past)
            for key, form in (inequalities | equalities).items():
                if not key.startswith("hypothesis"):
                    number, size = values.number(at.form(form))
                    if number < -1e-7 * (1 + size) or (key in equalities and abs(number) > 1e-7 * (1 + size)):
                        found.add(key)
    return found


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("name", dict.fromkeys((*RUNS, *OWN)))
def test_what_is_known_holds_on_random_federations(name, count):
    assert not false_of_some(name, count)


def _as_all(self, row):
    return frozenset().union(*(self.depends[key % LAYER] for key in row.parts if key >= 0))


def _of_one(self, past):
    return {name: QuadraticForm({next(iter(form.terms))[1]: Q(1)}) if name.startswith("across") else form
            for name, form in UNCORRELATED(self, past).items()}


def _in_each_world(self, name):
    return len(self.choices) if name.startswith("across") else DRAWN_AS(self, name)


UNCORRELATED, DRAWN_AS = ExchangeableClients.uncorrelated, ExchangeableClients.drawn_as
KNOWN_FAULTS = {
    "noise of other clients": ("classical/sgd-value", "upstream", _as_all),
    "noise in what is chosen by it": ("fedluar/theorem-3.2@main", "drawn_as", _in_each_world),
    "noise of the client itself": ("classical/fedavg-round-noise", "uncorrelated", _of_one),
}


@pytest.mark.parametrize("name", KNOWN_FAULTS)
def test_faults_in_what_is_known_are_noticed(name, monkeypatch):
    of, what, fault = KNOWN_FAULTS[name]
    monkeypatch.setattr(ExchangeableClients, what, fault)
    assert false_of_some(of, 3)


# of the registry ---------------------------------------------------------------------------------------------------------
#: claims that are proven for every number of clients, and whether for every number of rounds too
PROVEN = {
    "classical/gd-distance": True, "classical/sgd-distance": True, "classical/scaffold-one-step": True,
    "classical/fedavg-round": True, "fedmoswa/explicit-5.2-nonconvex@everyone": False,
}
SLOW = {"classical/sgd-distance", "classical/fedavg-round", "fedmoswa/explicit-5.2-nonconvex@everyone"}


@pytest.mark.parametrize("name", [
    pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in PROVEN])
def test_claims_are_proven_for_every_number_of_clients(name):
    claim = find_claim(name)
    found = every_round(claim) if PROVEN[name] else proven(claim)
    assert replay_alone(found.certificate).accepted
    assert "every number of clients from 2 on" in found.scope and "participants" not in found.scope
    assert ("every number of rounds" in found.scope) == PROVEN[name]
    assert {"degree" in setting for setting in found.certificate["settings"]} == {True, False}  # of one client there is none


@pytest.mark.parametrize(("name", "count"), [
    (name, count) for name in PROVEN if name != "fedmoswa/explicit-5.2-nonconvex@everyone" for count in (4, 7)])
def test_what_is_proven_for_every_number_is_proven_for_some(name, count):
    found = worst_case(find_claim(name), {"clients": Q(count), "rounds": Q(1)}, Template(
        numbers=(Q(1, 2),), weights=(1,)))
    assert found.certificate is not None and all(factor is None or factor <= 1 + 1e-6 for factor in found.factors)


# polynomials in 1/m --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("parts", "true"), [
    ({(0, 0): 1, (LAYER, LAYER): 1}, True), ({(0, 0): 1, (LAYER, LAYER): -1}, False),
    ({(0, 0): 1, (LAYER, LAYER): 1, (0, LAYER): -4}, False), ({(0, 0): 4, (LAYER, LAYER): 1, (0, LAYER): -4}, True)])
def test_squares_in_several_layers(parts, true):
    assert nonnegative(QuadraticForm({key: Q(c) for key, c in parts.items()})) == true


@pytest.mark.parametrize("least", [1, 2, 3])
def test_coefficients_at_the_ends_are_those_of_the_polynomial(least):
    form = CLIENTS * QuadraticForm({"a": Q(3)}) - QuadraticForm({(0, 1): Q(5)})
    form = form + CLIENTS**-2 * QuadraticForm({"b": Q(1), (): Q(2)})
    found = laurent_polynomials.ends(form, least)
    for m in range(least, 12):
        v = Q(least, m)
        bernstein = [Q(comb(3, e)) * v**e * (1 - v) ** (3 - e) for e in range(4)]
        total = sum((b * share for b, share in zip(found, bernstein, strict=True)), QuadraticForm({}))
        assert total.terms == (QuadraticForm({"a": Q(3), "b": Q(1, m**3), (): Q(2, m**3), (0, 1): Q(-5, m)})).terms
    names = {*sum(laurent_polynomials.on_ends(form, least, 4), QuadraticForm({})).terms}
    assert {name for name in names if name[0] == "b"} == {"b at 3", "b at 4"} and "a at 0" in names


@pytest.mark.parametrize(("relation", "gap", "least", "true"), [
    ("<=", CLIENTS - 3, 3, True), ("<=", CLIENTS - 3, 2, False), ("<", CLIENTS - 3, 3, False), ("<", CLIENTS - 3, 4, True),
    ("<=", 10 - CLIENTS, 2, False), ("==", CLIENTS**-1 - CLIENTS**-2, 2, False), ("<=", CLIENTS**-1 - CLIENTS**-2, 1, True),
    ("<=", 3 * CLIENTS**-2 - CLIENTS**-1, 2, False)])
def test_conditions_on_the_number_hold_from_some_number_on(relation, gap, least, true):
    assert laurent_polynomials.holds(relation, gap, least) == true


@pytest.mark.parametrize("made", [
    lambda: 1 / CLIENTS, lambda: (CLIENTS + 1) ** -1, lambda: (2 * CLIENTS) ** Q(1, 2), lambda: CLIENTS ** 20,
    lambda: laurent_polynomials.ends(CLIENTS ** Q(1, 2), 2), lambda: CLIENTS < 3,
    lambda: CLIENTS * prover_clients.CLIENT, lambda: (CLIENTS * QuadraticForm({(0, 0): Q(1)})) ** 2,
    lambda: prover_clients.CLIENT + 1])
def test_other_numbers_of_clients_are_refused(made):
    with pytest.raises(TypeError):
        made()


def test_powers_that_cancel_leave_a_number():
    """Where all clients take part, ``participants**(2/3)/clients**(2/3)`` is 1."""
    assert laurent_polynomials.polynomial(CLIENTS ** Q(2, 3) * CLIENTS ** Q(-2, 3) * Q(3, 4)) == {0: Q(3, 4)}
    assert laurent_polynomials.polynomial(CLIENTS ** Q(1, 2) * CLIENTS ** Q(3, 2)) == {2: 1}
