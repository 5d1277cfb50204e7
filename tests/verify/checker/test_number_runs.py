"""Runs in proofs for all numbers: the equations and the lemmas hold on runs, and forged proofs are refused."""

from itertools import product

import pytest

from bounds.registry.claims import find_claim
from tests.messages import contains_in_order
from tests.not_empty import not_empty
from tests.verify.checker.method_rows import FULL_ONLY, replayed
from tests.verify.checker.numbers_of_runs import Values
from tests.verify.checker.test_number_proofs import condition, identity, lemma, minus, over, term
from verify.checker import number_proof as checker
from verify.checker import number_run_lemmas as lemmas
from verify.checker import number_runs as runs
from verify.checker import polynomials
from verify.checker.index_sums import expected, of_vector, substitute
from verify.checker.number_hypotheses import read_hypotheses
from verify.checker.operators import replayed as replayed_by
from verify.checker.polynomials import ONE, constant, of_atom
from verify.checker.schema import STATED
from verify.exact.check import check, proof_scope
from verify.proofs.strategies import proof_of_run

#: rows of ``method_rows`` whose methods are followed
ROWS = ("fedavg", "fedswa", "fedmoswa I", "fedmoswa II", "fedmoswa II free", "fedmoswa II free-mean",
        "fedmoswa gradient", "fedmoswa gradient-clients-only", "fedmoswa all-clients", "fedmoswa all-clients gradient",
        "fedmoswa fresh", "scaffold I", "afedpd", "afedpd exact", "fedluar", "fedluar drawn", "fedluar uniform",
        "fedluar fedprox", "fedluar server step", "fedluar drop")


def round_of(name, sampling, **more):
    """(instance, what is known, the round of its method)."""
    polynomials.meter.spent = 0
    _, instance = replayed(name, sampling, **more)
    known, reader = read_hypotheses({name: instance.certificate[name] for name in STATED}, {}, {})
    return instance, known, reader.run


def places(run, instance, indices):
    """The values of a round, a step and a client at which an equation is looked at."""
    ends = {runs.ROUND: "rounds", runs.STEP: "local_steps", runs.CLIENT: "clients"}
    own = [next(iter(index.terms))[0][0] for index in indices]
    return own, product(*(range(instance.size[ends[index]] + 1) for index in own))


def put(known, p, pairs):
    for index, place in pairs:
        p = (substitute if not isinstance(p, dict) else of_vector)(known, p, index, constant(place))
    return p


@pytest.mark.parametrize("equal", [True, False])
@pytest.mark.parametrize("sampling", runs.SAMPLINGS)
@pytest.mark.parametrize("name", ROWS)
def test_equations_of_methods_hold_on_runs(name, sampling, equal):
    if name in FULL_ONLY and sampling != "full":
        pytest.skip("all take part")
    instance, known, run = round_of(name, sampling, noisy=(1,), equal=equal)
    looked_at, outcomes = 0, [*instance.outcomes()]
    for _, outcome in (outcomes[0], outcomes[-2:][0]):
        polynomials.meter.spent = 0
        values = Values(instance, outcome)
        for equation, (indices, premises, left, right) in not_empty([*run.equations.items()]):
            own, cases = places(run, instance, indices)
            for case in cases:
                pairs = [*zip(own, case, strict=True)]
                clients = [place < instance.size["clients"] for index, place in pairs if index == runs.CLIENT]
                if all(clients) and all(values.number(put(known, p, pairs)) >= 0 for p in premises):
                    sides = [values.vector(put(known, side, pairs)) for side in (left, right)]
                    assert [*sides[0]] == [*sides[1]], (equation, case)
                    looked_at += 1
    assert looked_at > 50


def recorded(run, sizes):
    """What a run records, as atoms."""
    ends = {"rounds + 1": sizes["rounds"] + 1, "iterations + 1": 5, "iterations": 4, "dim": 1}
    for name, axes in {**runs.ARRAYS, **run.sizes}.items():
        if axes[-1] == "dim":
            yield from (("run", name, *map(constant, place)) for place in product(
                *(range(ends.get(axis, sizes.get(axis))) for axis in axes[:-1])))


@pytest.mark.parametrize("name", ["fedavg", "scaffold I"])
def test_lemmas_about_chance_hold_in_the_mean(name):
    """Each lemma about chance holds for every recorded vector, time and client that it admits."""
    sizes = {"rounds": 2, "local_steps": 2, "clients": 3, "participants": 2}
    polynomials.meter.spent = 0
    _, instance = replayed(name, "without-replacement", noisy=(1,))
    known, reader = read_hypotheses({part: instance.certificate[part] for part in STATED}, sizes, {})
    run, values, held, refused = reader.run, Values(instance), 0, 0
    for atom in [*recorded(run, sizes)]:
        for place, k in product(range(4), (0, 1)):
            polynomials.meter.spent = 0
            number = [constant(place), constant(k)]
            q = of_atom(("dot", *sorted((atom, ("vector", "x_star")), key=polynomials.key)))
            for lemma_of, more in ((lemmas.unbiased, {atom: ONE}), (lemmas.chance, q)):
                try:
                    premises, (_, p) = lemma_of(run, known, *number, more)
                except ValueError:
                    refused += 1
                    continue
                if all(known.implies(relation, each) for relation, each in premises):
                    assert values.number(p) == 0, (lemma_of, atom, place, k)
                    held += 1
    for place, k in product(range(4), range(3)):
        _, (_, p) = lemmas.variance(run, known, constant(place), constant(k))
        assert values.number(p) == 0  # the bound is the variance
    assert held > 50 and refused > 50


@pytest.mark.parametrize("name", ["fedavg", "fedluar uniform"])
def test_means_given_the_past_are_those_over_what_comes(name):
    """What is past equals its mean, and each lemma given a round holds, at outcomes that differ in what is drawn."""
    sizes = {"rounds": 2, "local_steps": 2, "clients": 3, "participants": 2}
    polynomials.meter.spent = 0
    _, instance = replayed(name, "without-replacement", noisy=(1,))
    known, reader = read_hypotheses({part: instance.certificate[part] for part in STATED}, sizes, {})
    run, held, refused, outcomes = reader.run, 0, 0, [outcome for _, outcome in instance.outcomes()]
    atoms = [("run", name, constant(place), *[ONE] * client) for name, client, last in (
        ("x_round", 0, 3), ("x_local", 1, 5), ("g", 1, 4)) for place in range(last)]
    for atom, r in product(atoms, range(2)):
        polynomials.meter.spent = 0
        q, given = of_atom(("dot", *sorted((atom, ("vector", "x_star")), key=polynomials.key))), constant(r)
        claims = [q - of_atom(("E", q, given))] if known.is_past(known, atom, given) else []
        for t, k, lemma_of, more in ((t, k, *each) for t in (1, 2) for k in (1,) for each in (
                (lemmas.unbiased, {atom: ONE}), (lemmas.chance, q))):
            try:
                premises, (_, p) = lemma_of(run, known, constant(t), constant(k), more, given)
            except ValueError:
                refused += 1
                continue
            claims += [p] * all(known.implies(relation, each) for relation, each in premises)
        for p in dict.fromkeys(claims):
            for outcome in (outcomes[0], outcomes[-2]):
                assert Values(instance, outcome).number(p) == 0, (atom, r, p)
            held += 1
    assert held > 15 and refused > 15


K, T = ["k", 0, ["+", -1, "clients"]], ["x_before", "local_steps", "k"]
#: numbers whose means are compared with means over all outcomes
MEANS = {
    "a square": ["norm2", ["g", 0, 0]], "a sum": ["Sum", ["norm2", T], *K], "of a sum": ["norm2", ["Sum", T, *K]],
    "with a factor": ["*", 3, ["sampled", 0, 0], ["norm2", ["Sum", T, *K]]],
    "sums times each other": ["*", ["Sum", ["sampled", 0, "k"], *K], ["Sum", ["*", ["sampled", 0, "k"], ["norm2", T]], *K]],
    "drawn sums of vectors": ["dot", ["Sum", ["*", ["sampled", 0, "k"], T], *K], ["Sum", T, *K]],
    "powers": ["^", ["+", ["sampled", 0, 0], ["norm2", ["g", 0, 0]]], 2]}


@pytest.mark.parametrize("name", MEANS)
def test_means_are_those_over_all_outcomes(name):
    polynomials.meter.spent = 0
    _, instance = replayed("fedavg", "without-replacement", noisy=(0,), rounds=1)
    known, reader = read_hypotheses({part: instance.certificate[part] for part in STATED}, {}, {})
    p = reader.number(MEANS[name], known, {})
    each = sum(chance * Values(instance, outcome).number(p) for chance, outcome in instance.outcomes())
    assert Values(instance).number(expected(known, p)) == each


@pytest.mark.parametrize("name", ["fedmoswa/eq-4", "fedmoswa/points-at-the-start", "classical/scaffold-old-variate"])
def test_claims_about_runs_are_proven_for_all_numbers(name):
    found = proof_of_run(find_claim(name)).certificate
    assert check(found, find_claim(name)).accepted and proof_scope(found) == (checker.SCOPE_OF_RUNS, True)
    weaker = {**found, "hypotheses": [rule for rule in found["hypotheses"] if rule["left"] != ["priority", "k"]]}
    assert not replayed_by(checker.check, weaker)[0]
    other = {**found, "statement": {**found["statement"], "left": ["+", found["statement"]["left"], 1]}}
    assert not replayed_by(checker.check, other)[0]


# forgeries ---------------------------------------------------------------------------------------------------------------
LAST, CLIENT = ["+", -1, "rounds"], ["k", 0, ["+", -1, "clients"]]
EACH_ROUND, EACH_TIME = [["r", 0, LAST], CLIENT], [["t", 0, ["+", -1, "iterations"]], CLIENT]
AT_ROUND, AFTER = ["*", "r", "local_steps"], ["*", ["+", 1, "r"], "local_steps"]
GIVEN = [condition(["priority", "k"], "==", 1, [CLIENT]),
         condition(["client_weight", "k"], "==", ["^", "clients", -1], [CLIENT]),
         condition(["L_client", "k"], "<=", "L", [CLIENT]), condition(["sigma_sq_client", "k"], "<=", "sigma_sq", [CLIENT]),
         condition("L", ">", 0), condition("mu", ">", 0), condition("mu", "<=", "L")]
FREE = {"L": [], "mu": [], "sigma_sq": [], "eta_l": ["iterations"]}
NEXT = ["+", 1, "r"]
NOISE = minus(["g", "t", "k"], ["grad", "k", ["x_local", "t", "k"]])
FIRST_NOISE = minus(["g", AT_ROUND, "k"], ["grad", "k", ["x_local", AT_ROUND, "k"]])
IN_TIME = identity(minus(["*", "rounds", "local_steps"], ["+", 1, AT_ROUND]), ">=", 0, term("r to", times=["local_steps"]),
                   term("local_steps from 1"), name="in time")
DRAWN = ["*", ["sampled", "r", "k"], ["norm2", ["x_round", "r"]]]
MEAN = ["Sum", ["*", ["client_weight", "k"], ["x_before", AFTER, "k"]], *CLIENT]
AT_K = {"name": "v", "by": "instance", "fact": "h3", "at": ["k"]}
OPTIONS = {"fedavg": {"eta_g": "1"}, "fedavgm": {}, "scaffold": {
    "eta_g": "1", "sign": "standard", "start": "zero", "option": "II", "client_variate": None, "server_variate": None}}


def claim(statement, steps, sampling="full", base="fedavg", hypotheses=GIVEN, free=FREE, **options):
    """A certificate of a claim about runs, at every round or time and client."""
    stated = {"claim": "mine/a", "reading": "", "setting": "run", "statement": condition(*statement),
              "hypotheses": hypotheses, "definitions": {}, "everywhere": [], "free": free,
              "procedure": {"base": base, "sampling": sampling, "indicator": "broadcast", "strict": True,
                            "options": OPTIONS.get(base, {}) | options}}
    return {"format": checker.FORMAT, **stated, "proof": {"put": {}, "steps": steps}}


def zero(vector, ranges): return [["dot", vector, "x_star"], "==", 0, ranges]


#: what is proven of every run: statement, steps, and more of :func:`claim`
HONEST = {
    "a round begins at the model": (zero(minus(["x_local", AT_ROUND, "k"], ["x_round", "r"]), EACH_ROUND), [
        lemma("start", "r", "k", "x_star")]),
    "a round ends at the mean": (zero(minus(["x_round", NEXT], MEAN), EACH_ROUND), [lemma("next x_round", "r", "x_star")]),
    "noise has mean zero": ([["E", ["dot", NOISE, ["x_local", "t", "k"]]], "==", 0, EACH_TIME], [
        lemma("unbiased", "t", "k", ["x_local", "t", "k"])]),
    "noise is bounded": ([["E", ["norm2", NOISE]], "<=", "sigma_sq", EACH_TIME], [
        AT_K, lemma("variance", "t", "k"),
        identity(["E", ["norm2", NOISE]], "<=", "sigma_sq", term("s"), term("v"), name="e")]),
    "each client is as probable": (
        [["E", DRAWN], "==", ["*", over("participants", "clients"), ["E", ["norm2", ["x_round", "r"]]]], EACH_ROUND],
        [lemma("chance", "r", "k", ["norm2", ["x_round", "r"]])], {"sampling": "without-replacement"}),
    "what is surely so is so in the mean": ([["E", ["norm", ["x_round", "r"]]], ">=", 0, EACH_ROUND], []),
    "noise has mean zero given the past": (
        [["E_round", ["dot", FIRST_NOISE, ["x_round", "r"]], "r"], "==", 0, EACH_ROUND], [
            IN_TIME, lemma("unbiased", AT_ROUND, "k", ["x_round", "r"], "r")]),
    "each client is as probable given the past": (
        [["E_round", DRAWN, "r"], "==", ["*", over("participants", "clients"), ["norm2", ["x_round", "r"]]], EACH_ROUND],
        [lemma("chance", "r", "k", ["norm2", ["x_round", "r"]], "r")], {"sampling": "without-replacement"}),
    "the mean of a mean given the past": (
        [["E", ["E_round", ["norm2", ["x_round", NEXT]], "r"]], "==", ["E", ["norm2", ["x_round", NEXT]]], EACH_ROUND], []),
    "a mean of a vector times what is past": (
        [["dot", ["E_round", ["x_round", NEXT], "r"], ["x_round", "r"]], "==",
         ["E_round", ["dot", ["x_round", NEXT], ["x_round", "r"]], "r"], EACH_ROUND],
        [lemma("mean vector", ["x_round", NEXT], ["x_round", "r"], "r")]),
    "a first state": (zero(["client_variate", 0, "k"], EACH_ROUND), [lemma("first client_variate", "k", "x_star")], {
        "base": "scaffold"}),
}

#: what is false, or is not shown: statement, steps, the reason, and more of :func:`claim`
FORGED = {
    "noise and what comes after it": ([["E", ["dot", NOISE, ["x_before", ["+", 1, "t"], "k"]]], "==", 0, EACH_TIME], [
        lemma("unbiased", "t", "k", ["x_before", ["+", 1, "t"], "k"])], "depend on the noise"),
    "noise and itself": ([["E", ["dot", NOISE, ["g", "t", "k"]]], "==", 0, EACH_TIME], [
        lemma("unbiased", "t", "k", ["g", "t", "k"])], "depend on the noise"),
    "noise and a gradient at what comes after it": (
        [["E", ["dot", NOISE, ["grad", "k", ["x_before", ["+", 1, "t"], "k"]]]], "==", 0, EACH_TIME],
        [lemma("unbiased", "t", "k", ["grad", "k", ["x_before", ["+", 1, "t"], "k"]])], "depend on the noise"),
    "noise times what it decides": (
        [["E", ["*", ["norm2", ["g", "t", "k"]], ["dot", NOISE, "x_star"]]], "==", 0, EACH_TIME],
        [lemma("unbiased", "t", "k", ["*", ["norm2", ["g", "t", "k"]], "x_star"])], "depend on the noise"),
    "noise outside of means": ([["dot", NOISE, "x_star"], "==", 0, EACH_TIME], [
        lemma("unbiased", "t", "k", "x_star")], "no step shows"),
    "no noise where there is some": ([["dot", NOISE, "x_star"], "==", 0, EACH_TIME], [
        lemma("without noise", "t", "k", "x_star")], "without noise needs"),
    "half of the variance": ([["E", ["norm2", NOISE]], "<=", over("sigma_sq", 2), EACH_TIME], [
        AT_K, lemma("variance", "t", "k"),
        identity(["E", ["norm2", NOISE]], "<=", over("sigma_sq", 2), term("s"), term("v"))],
        "the identity fails"),
    "the variance of an outcome": ([["norm2", NOISE], "<=", "sigma_sq", EACH_TIME], [AT_K, lemma("variance", "t", "k")],
                                   "no step shows"),
    "a bound that no hypothesis gives": ([["E", ["norm2", NOISE]], "<=", "sigma_sq", EACH_TIME], [
        {**AT_K, "fact": "h2"}, lemma("variance", "t", "k"),
        identity(["E", ["norm2", NOISE]], "<=", "sigma_sq", term("s"), term("v"))], "the identity fails"),
    "a draw and the model after it": (
        [["E", ["*", ["sampled", "r", "k"], ["norm2", ["x_round", NEXT]]]], "==",
         ["*", over("participants", "clients"), ["E", ["norm2", ["x_round", NEXT]]]], EACH_ROUND],
        [lemma("chance", "r", "k", ["norm2", ["x_round", NEXT]])], "who is drawn", {"sampling": "without-replacement"}),
    "two draws of a round": (
        [["E", ["*", ["sampled", "r", "k"], ["sampled", "r", 0]]], "==",
         ["*", over("participants", "clients"), ["E", ["sampled", "r", 0]]], EACH_ROUND],
        [lemma("chance", "r", "k", ["sampled", "r", 0])], "who is drawn", {"sampling": "without-replacement"}),
    "the mean of all where some are drawn": (zero(minus(["x_round", NEXT], MEAN), EACH_ROUND), [
        lemma("next x_round", "r", "x_star")], "no step shows", {"sampling": "without-replacement"}),
    "a round behind the last": (zero(minus(["x_local", AFTER, "k"], ["x_round", NEXT]), EACH_ROUND), [
        lemma("start", NEXT, "k", "x_star")], "start needs"),
    "a step that ends a round": (
        zero(minus(["x_local", ["+", 1, "t"], "k"], ["x_local", "t", "k"]), EACH_TIME), [
            lemma("step", 0, "t", "k", "x_star")], "step needs"),
    "the first time of a round": (zero(minus(["x_before", AT_ROUND, "k"], ["x_local", AT_ROUND, "k"]), EACH_ROUND), [
        lemma("within", "r", 0, "k", "x_star")], "within needs"),
    "a client that is none": (zero(minus(["x_local", AT_ROUND, "k"], ["x_round", "r"]), EACH_ROUND), [
        lemma("start", "r", "clients", "x_star")], "start needs"),
    "a mean of a vector times what it is over": (
        [["dot", ["E_round", ["x_round", NEXT], "r"], ["x_round", NEXT]], "==",
         ["E_round", ["norm2", ["x_round", NEXT]], "r"], EACH_ROUND],
        [lemma("mean vector", ["x_round", NEXT], ["x_round", NEXT], "r")], "what the mean is over"),
    "noise of a round that is past": ([["E_round", ["dot", FIRST_NOISE, "x_star"], NEXT], "==", 0, EACH_ROUND], [
        IN_TIME, lemma("unbiased", AT_ROUND, "k", "x_star", NEXT)], "unbiased needs"),
    "the variance of a round that is past": (
        [["E_round", ["norm2", FIRST_NOISE], NEXT], "<=", ["sigma_sq_client", "k"], EACH_ROUND],
        [IN_TIME, lemma("variance", AT_ROUND, "k", NEXT)], "variance needs"),
    "a draw of a round that is past": (
        [["E_round", ["sampled", "r", "k"], NEXT], "==", over("participants", "clients"), EACH_ROUND],
        [lemma("chance", "r", "k", 1, NEXT)], "chance needs", {"sampling": "without-replacement"}),
    "a mean given more than another": (
        [["E_round", ["norm2", ["x_round", NEXT]], "r"], "==", ["E", ["norm2", ["x_round", NEXT]]], EACH_ROUND], [],
        "no step shows"),
    "a mean given the next round as one that is known": (
        [["E_round", ["E_round", ["norm2", ["x_round", ["+", 2, "r"]]], NEXT], "r"], "==",
         ["E_round", ["norm2", ["x_round", ["+", 2, "r"]]], NEXT], [["r", 0, ["+", -2, "rounds"]], CLIENT]], [],
        "no step shows"),
    "a draw and a mean that is given it": (
        [["E", ["*", ["sampled", "r", "k"], ["E_round", ["norm2", ["x_round", NEXT]], NEXT]]], "==",
         ["*", over("participants", "clients"), ["E", ["norm2", ["x_round", NEXT]]]], EACH_ROUND],
        [lemma("chance", "r", "k", ["E_round", ["norm2", ["x_round", NEXT]], NEXT])], "who is drawn",
        {"sampling": "without-replacement"}),
    "updates that were applied before the first round": (
        zero(["server_applied_update", 0], [["r", 0, LAST]]), [lemma("first server_applied_update", "x_star")],
        "initial_update of fedluar", {"base": "fedluar", "lr_decay": "displacement", "local_momentum": "0",
                                      "momentum_kept": False, "initial_update": {"symbol": "u"}}),
    "the past of a round behind the end": (
        [["E_round", ["norm2", ["x_round", "r"]], ["+", 2, "r"]], ">=", 0, EACH_ROUND], [], "at most the last"),
    "the past of a client": (
        [["E_round", ["norm2", ["x_round", "r"]], ["sampled", "r", "k"]], ">=", 0, EACH_ROUND], [], "whole number",
        {"sampling": "without-replacement"}),
    "noise of problems that are solved": ([["E", ["dot", NOISE, "x_star"]], "==", 0, EACH_TIME], [
        lemma("unbiased", "t", "k", "x_star")], "without stochastic gradients", {
            "base": "afedpd", "solver": "exact", "output": "bar", "rho_prox": "1", "epsilon": None,
            "hypotheses": [*GIVEN, condition("local_steps", "==", 1)]}),
    "applied updates that are rescaled": ([0, "<=", 1, EACH_ROUND], [], "lr_decay of fedluar", {
        "base": "fedluar", "lr_decay": "rescaled"}),
    "local momentum": ([0, "<=", 1, EACH_ROUND], [], "local_momentum of fedluar", {
        "base": "fedluar", "lr_decay": "displacement", "local_momentum": "1/2"}),
    "the square of a mean": (
        [["^", ["E", ["norm", ["x_round", "r"]]], 2], "==", ["E", ["norm2", ["x_round", "r"]]], EACH_ROUND],
        [lemma("length squared", ["x_round", "r"]), {"name": "m", "by": "mean", "fact": "s"}], "no step shows"),
    "a product of means": (
        [["E", ["*", ["sampled", "r", "k"], ["norm2", ["x_round", NEXT]]]], "==",
         ["*", ["E", ["sampled", "r", "k"]], ["E", ["norm2", ["x_round", NEXT]]]], EACH_ROUND], [], "no step shows",
        {"sampling": "without-replacement"}),
    "cases of what is drawn": ([["E", ["dot", ["x_round", "r"], "x_star"]], ">=", 0, EACH_ROUND], [
        {"name": "c", "by": "cases", "shows": [["E", ["dot", ["x_round", "r"], "x_star"]], ">=", 0],
         "of": ["dot", ["x_round", "r"], "x_star"], "above": [{"name": "m", "by": "mean", "fact": "above"}], "below": []}],
        "cases of a number that is drawn"),
    "the contrary of what is drawn": ([["dot", ["x_round", "r"], "x_star"], ">=", 0, EACH_ROUND], [
        {"name": "c", "by": "contrary", "shows": [["dot", ["x_round", "r"], "x_star"], ">=", 0],
         "steps": [{"name": "m", "by": "mean", "fact": "contrary"}]}], "of what is not drawn"),
    "a range whose end is drawn": ([["Sum", 1, "i", 0, ["sampled", "r", "k"]], ">=", 0, EACH_ROUND], [], "whole number",
                                   {"sampling": "without-replacement"}),
    "a quotient by a difference that may be 0": (
        [over(minus("L", "mu"), minus("L", "mu")), "==", 1, EACH_ROUND], [], "a divisor is not 0"),
    "clients that do not count": (zero(minus(["x_local", AT_ROUND, "k"], ["x_round", "r"]), EACH_ROUND), [
        lemma("start", "r", "k", "x_star")], "not all clients count", {"hypotheses": GIVEN[1:]}),
    "a method that is not known": ([0, "<=", 1, EACH_ROUND], [], "fedavgm is not known", {"base": "fedavgm"}),
    "clients that are drawn otherwise": ([0, "<=", 1, EACH_ROUND], [], "with-replacement are not known", {
        "sampling": "with-replacement"}),
    "an option that is not known": ([0, "<=", 1, EACH_ROUND], [], "option of scaffold", {
        "base": "scaffold", "option": "average-gradient"}),
    "a first state that is free": (zero(["client_variate", 0, "k"], EACH_ROUND), [
        lemma("first client_variate", "k", "x_star")], "no step shows", {"base": "scaffold", "start": "free"}),
    "a name of what is recorded": ([0, "<=", 1, EACH_ROUND], [], "may not be free", {"free": {**FREE, "x_round": []}}),
    "steps from a local step": ([["F", "k", ["x_before", ["+", 2, "t"], "k"]], ">=", 0, EACH_TIME], [], "not too large"),
}


@pytest.mark.parametrize("name", HONEST)
def test_true_statements_about_every_run_are_accepted(name):
    statement, steps, *more = HONEST[name]
    accepted, reason, *_ = replayed_by(checker.check, claim(statement, steps, **(more[0] if more else {})))
    assert accepted, reason


@pytest.mark.parametrize("name", FORGED)
def test_forged_proofs_about_runs_are_refused(name):
    statement, steps, reason, *more = FORGED[name]
    accepted, said, *_ = replayed_by(checker.check, claim(statement, steps, **(more[0] if more else {})))
    assert not accepted
    assert contains_in_order(said, reason), said
