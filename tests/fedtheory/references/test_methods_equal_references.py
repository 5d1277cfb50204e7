"""Every method equals its slow reference, on torch, on NumPy and in exact fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from fedtheory import ALGORITHMS, Independent, make_algorithm, run
from synthetic import Draws, factored, to_numpy
from tests.bounds.each_claim import look_at_each
from tests.fedtheory.references import test_engine_equals_reference as test_reference
from tests.fedtheory.references.common import Given
from tests.fedtheory.references.communication import fedluar, luar_probabilities
from tests.fedtheory.references.models import fedpara, moon
from tests.fedtheory.references.rows import DOCUMENTED, ROWS, by_method
from tests.fedtheory.references.sides import (
    EXACT,
    NUMPY,
    SEEDS,
    TORCH,
    batched,
    dense,
    diagonal,
    given,
    rational,
    referred,
    row,
    sampling,
    start_of,
    uneven,
)
from tests.synthetic.families import make

ROUNDS, OFTEN = 6, Independent(0.6)
#: the default scheme, and those under which the clients of a round are never none
UNIFORM, NEVER_EMPTY = "without-replacement", ("without-replacement", "with-replacement", "li2020-scheme-2")
FLOATS = {"diagonal": diagonal, "dense": dense}
ALL, EXACT_ONES, WEIGHTED = by_method(), by_method(lambda row: row.exact), by_method(lambda row: row.weighted)
REQUIRED = [
    "scaffold", "scaffold-m", "fedavg-m", "fedcm", "fedswa", "fedmoswa", "fedmo", "fedgamma", "fedpd", "fedadmm", "feddyn",
    "afedpd", "afedpdsam", "fedspeed", "fedsmoo", "fedavgm", "fedadagrad", "fedadam", "fedyogi", "fedams", "fednova",
    "local-adam", "fedlada", "fadamgc", "fa-nt", "fa-nt-z", "fedacg", "fedsam", "mofedsam", "fedasam", "fedlesam", "fedluar",
    "fedpaq", "lbgm", "prunefl", "feddropoutavg", "fedlama", "fedmut",
]


def test_every_method_has_a_reference():
    """With unequal weights and noise; with sampled clients too, if the method takes their number."""
    selections = [(make.method, told.sampling) for make, told in test_reference.ROWS.values()]
    told = {row.method for rows in WEIGHTED.values() for row in rows.values()} | {method for method, _ in selections}
    assert {*REQUIRED} <= {*ALGORITHMS} == told | {*MODELS}
    sampled = {row.method for rows in WEIGHTED.values() for row in rows.values() if any(row.participants)}
    sampled |= {method for method, law in selections if law} | {*MODELS}
    assert {name for name, method in ALGORITHMS.items() if "participants" in method.arguments} <= sampled


# methods that need a model behind the parameters -----------------------------------------------------------------------
def _fedpara(backend, weights):
    """Factors of a model of six numbers."""
    inner = dense(backend, dim=6, weights=weights)

    def reference(given, draws, **numbers):
        return fedpara(given._replace(grad=_gradients(inner, draws)), shape=(2, 3), rank=2, **numbers)

    return factored(inner, rank=2, shape=(2, 3)), {}, reference


def _moon(backend, weights):
    """A linear model of four classes, minibatches of three."""
    federation = make("softmax", batch_size=3, priority=None, weights=weights or [1.0] * 4, backend=backend)

    def reference(given, draws, **numbers):
        def samples(i, t, k):
            return federation.minibatch(draws, t * STEPS + k, np.array([[i]]))[0][0, 0]

        return moon(given._replace(grad=_gradients(federation, draws)), mu=2.0, theta=0.7, samples=samples, **numbers)

    return federation, {"mu_con": 2.0, "temperature": 0.7}, reference


def _gradients(federation, draws):
    return lambda i, x, t, k: federation.stochastic_gradient(x[None, None], draws, t * STEPS + k, np.array([[i]]))[0, 0]


MODELS, STEPS = {"fedpara": _fedpara, "moon": _moon}, 2  #: (federation, arguments, reference) by method; local steps


@pytest.mark.parametrize(("participants", "scheme", "unequal"), [
    (None, UNIFORM, False), (3, UNIFORM, False), (None, UNIFORM, True), *((3, scheme, True) for scheme in NEVER_EMPTY)])
@pytest.mark.parametrize("method", MODELS)
def test_a_method_of_models_equals_its_reference(method, participants, scheme, unequal):
    weights = [5.0, 1.0, 3.0, 2.0, 4.0][:MODELS[method](NUMPY, None)[0].clients] if unequal else None
    slow, arguments, reference = MODELS[method](NUMPY, weights)
    algorithm = make_algorithm(
        method, eta_l=0.05, local_steps=STEPS, eta_g=0.75, participants=participants, sampling=scheme, **arguments)
    start, paths = np.linspace(-1, 1.3, slow.dim), []
    for seed in SEEDS:
        draws = Draws([seed], NUMPY)
        drawn = sampling(slow, algorithm, draws, ROUNDS)
        facts = Given(None, start, [list(w) for w in drawn], slow.clients, STEPS, drawn, slow.weights[0].tolist(),
                      of_models=scheme == "li2020-scheme-2")
        paths.append(np.stack(reference(facts, draws, eta=0.05, eta_g=0.75)))
    expected = np.stack(paths)
    assert np.isfinite(expected).all() and (np.ptp(expected, axis=(0, 1)) > 1e-3).all(), "the run says something"
    for backend in (TORCH, NUMPY):
        federation = MODELS[method](backend, weights)[0]
        found = run(algorithm, federation, ROUNDS, start=start, seeds=SEEDS, record=["x"]).dataset["x"]
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10, err_msg=backend.library)


def of_each(rows, check, *options):
    """Checks every row with every number of participants and every option."""
    cases = [(name, participants, *more) for name, row in rows.items() for participants in row.participants
             for more in product(*options)]
    look_at_each(cases, lambda case: check(rows[case[0]], *case[1:]))


@pytest.mark.parametrize("method", ALL)
def test_a_method_equals_its_reference(method):
    def check(row, participants, name):
        expected = referred(row, FLOATS[name], participants, ROUNDS)
        assert np.isfinite(expected).all() and (np.ptp(expected, axis=(0, 1)) > 1e-3).all(), "the run says something"
        for backend in (TORCH, NUMPY):
            found = batched(row, FLOATS[name], backend, participants, ROUNDS)
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10, err_msg=backend.library)

    of_each(ALL[method], check, FLOATS)


@pytest.mark.parametrize("method", WEIGHTED)
def test_a_method_equals_its_reference_with_unequal_weights(method):
    """All clients, unequally weighted and with gradient noise; and some of them by every scheme of sampling.

    The references of ``written`` and those at the end of ``duals`` come from the methods' docstrings alone.
    """
    def check(row, participants, scheme):
        if scheme != UNIFORM and not (participants and "sampling" in row.allowed):
            return
        expected = referred(row, uneven, participants, ROUNDS, scheme=scheme)
        assert np.isfinite(expected).all() and (np.ptp(expected, axis=(0, 1)) > 1e-3).all(), "the run says something"
        for backend in (TORCH, NUMPY):
            found = batched(row, uneven, backend, participants, ROUNDS, scheme=scheme)
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10, err_msg=backend.library)

    of_each(WEIGHTED[method], check, NEVER_EMPTY)


def test_independent_clients_are_one_or_several():
    federation, algorithm = uneven(NUMPY), ROWS["scaffold"].make(OFTEN, NUMPY)
    counts = [len(w) for seed in SEEDS for w in sampling(federation, algorithm, Draws([seed], NUMPY), ROUNDS)]
    assert min(counts) >= 1 and len({*counts}) > 3


#: methods whose clients are sampled, without FedLAMA's: these stay together for a period
SAMPLED = [method for method, rows in WEIGHTED.items()
           if method != "fedlama" and any(any(row.participants) for row in rows.values())]


@pytest.mark.parametrize("method", SAMPLED)
def test_a_method_equals_its_reference_with_independent_clients(method):
    """Unequally weighted clients take part each by itself, in these rounds at least one; averaged by the sum of their
    weights, or by their expected number."""
    def check(row, law):
        if any(row.participants):
            expected, found = referred(row, uneven, law, ROUNDS), batched(row, uneven, NUMPY, law, ROUNDS)
            assert np.isfinite(expected).all() and (np.ptp(expected, axis=(0, 1)) > 1e-3).all(), "the run says something"
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)

    cases = [(name, law) for name in WEIGHTED[method] for law in (OFTEN, Independent(0.6, divisor="expected"))]
    look_at_each(cases, lambda case: check(WEIGHTED[method][case[0]], case[1]))


@pytest.mark.parametrize("method", SAMPLED)
def test_a_round_without_anybody_goes_on_where_the_expected_number_divides(method):
    """With an expected number of one, some of these rounds have nobody."""
    def check(row):
        if any(row.participants) and "sampling" in row.allowed:
            law = Independent(0.2, divisor="expected")
            expected, found = referred(row, uneven, law, ROUNDS), batched(row, uneven, NUMPY, law, ROUNDS)
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)

    drawn = [w for seed in SEEDS for w in sampling(
        uneven(NUMPY), ROWS["scaffold"].make(Independent(0.2, divisor="expected"), NUMPY), Draws([seed], NUMPY), ROUNDS)]
    assert {0, 1} <= {len(clients) for clients in drawn}
    look_at_each([(name,) for name in WEIGHTED[method]], lambda case: check(WEIGHTED[method][case[0]]))


@pytest.mark.parametrize("method", EXACT_ONES)
def test_a_method_equals_its_reference_in_fractions(method):
    def check(row, participants):
        expected = referred(row, rational, participants, 4, [3], EXACT)
        found = batched(row, rational, EXACT, participants, 4, [3])
        assert all(isinstance(value, Fraction) for value in found.ravel())
        assert (found == expected).all()

    of_each(EXACT_ONES[method], check)


@pytest.mark.parametrize("method", EXACT_ONES)
def test_floats_stay_near_fractions(method):
    def check(name):
        row = ROWS[name]
        participants, rounds = row.participants[-1], row.exact_rounds
        exact = batched(row, rational, EXACT, participants, rounds, [3]).astype(float)
        for backend in (TORCH, NUMPY):
            found = batched(row, rational, backend, participants, rounds, [3])
            np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-12, err_msg=backend.library)

    look_at_each([name for name in EXACT_ONES[method] if name not in DOCUMENTED], check)


@pytest.mark.parametrize("score", ["keep", "recompute", "oracle"])
@pytest.mark.parametrize("participants", [None, 3])
def test_luar_scores_ages_and_probabilities(score, participants):
    """What the server keeps of layers, for forced masks: beside the path, which does not tell."""
    masks = np.array([[0, 0], [1, 0], [1, 0], [0, 1], [1, 1], [0, 1], [1, 0]], dtype=bool)
    federation = dense(NUMPY).with_layers((1, 2))
    algorithm = make_algorithm("fedluar", eta_l=0.0625, local_steps=3, score=score, masks=masks, participants=participants)
    told = row("fedluar", None)
    for rounds in range(1, len(masks)):
        state = run(algorithm, federation, rounds, start=start_of(federation), seeds=SEEDS).state
        for number, seed in enumerate(SEEDS):
            facts = given(told, federation, algorithm, seed, rounds)
            _, luar = fedluar(facts, 0.0625, federation.layers(), lambda t, _: set(np.flatnonzero(masks[t])), score=score)
            np.testing.assert_allclose(to_numpy(state.server["score"])[number], luar.history[-1], rtol=1e-10)
            weights = to_numpy(algorithm.upload.weights(state.server["score"]))[number]
            np.testing.assert_allclose(weights / weights.sum(), luar_probabilities(luar.history[-1]), rtol=1e-10)
        ages = [next(k for k in range(rounds) if not masks[rounds - 1 - k, l]) for l in range(2)]
        assert (to_numpy(state.server["age"]) == ages).all()
