"""Strategies of hypothesis for property tests of federated methods: federations, methods, and both together.

    >>> from fedtheory import run
    >>> from fedtheory.testing.strategies import runs
    >>> from hypothesis import given
    >>> @given(runs("fedavg", within=1.0, sigma=0.0, clients=1, free=0, data=False))
    ... def test_the_loss_never_rises(drawn):
    ...     method, case = drawn
    ...     gap = run(method, case.federation(), case.rounds).dataset.suboptimality.values
    ...     assert (gap[..., 1:] <= gap[..., :-1] + 1e-9).all()
    >>> test_the_loss_never_rises()

A method whose server adds the negative of what it should fails it, and hypothesis prints the smallest federation. Values
print as expressions that can be pasted.
"""

from collections.abc import Callable, Mapping

from fedtheory.algorithm import Algorithm
from fedtheory.testing.federations import Case
from fedtheory.testing.subject import subject_of

try:
    from hypothesis import strategies as st
except ImportError as missing:
    raise ImportError("fedtheory.testing.strategies needs hypothesis: pip install 'fedtheory[test]'") from missing

__all__ = ["algorithms", "federations", "runs"]

#: fields of a case that may be fixed, with what is drawn otherwise; hypothesis shrinks each to its first value
_FIELDS: Mapping[str, st.SearchStrategy] = {
    "clients": st.integers(1, 5), "dim": st.integers(1, 3), "rounds": st.integers(1, 4), "local_steps": st.integers(1, 4),
    "sigma": st.sampled_from([0.0, 0.1, 0.3, 1.0]), "free": st.integers(0, 2), "equal": st.sampled_from([True, False]),
    "common": st.booleans(), "identical": st.booleans(), "data": st.booleans(), "seed": st.integers(0, 1000),
    "runs": st.just(1),
}


@st.composite
def federations(draw, **fixed) -> Case:
    """Draw small federations of quadratics (or of logistic losses with minibatches): :class:`fedtheory.testing.Case`.

    ``case.federation()`` makes it; ``case.start()`` gives the starts (runs, dim).

    Args:
        fixed: values or strategies for fields of a case, such as ``sigma=0.0`` for no noise, ``free=0`` for no free
            clients, ``data=False`` for quadratics, ``clients=st.integers(2, 9)``.

    Raises:
        TypeError: an unknown field, with those that there are.
    """
    known = {*_FIELDS, "participants"}
    if unknown := sorted(set(fixed) - known):
        raise TypeError(f"a federation has no field {unknown[0]!r}; allowed: {', '.join(sorted(known))}")
    asked = {"participants": None} | dict(_FIELDS) | fixed
    values = {name: draw(value) if isinstance(value, st.SearchStrategy) else value for name, value in asked.items()}
    return Case(**values).but()


@st.composite
def algorithms(draw, method="fedavg", within: float = 1.0, case: Case | None = None, **fixed) -> Algorithm:
    """Draw a method with a local step of at most ``within / L``, L the largest smoothness of the case's clients.

    Args:
        method: a registered name, an algorithm, its class, or a maker of algorithms.
        within: the largest eta_l times L, above 0.
        case: the federation that gives L, and the number of local steps; default L = 1 and one to four steps.
        fixed: values or strategies for further arguments of the method, such as ``rho_prox=st.floats(0, 1)``.

    Raises:
        ValueError: ``within`` is not positive.
    """
    if not within > 0:
        raise ValueError(f"within must be positive; got {within}")
    subject = subject_of(method)
    largest = 1.0 if case is None else case.L
    steps = draw(_FIELDS["local_steps"]) if case is None else case.local_steps
    chosen = {name: draw(value) if isinstance(value, st.SearchStrategy) else value for name, value in fixed.items()}
    if "eta_l" in subject.parameters and "eta_l" not in chosen:
        share = draw(st.sampled_from([1.0, 0.5, 0.25, 0.1, 0.01]))
        chosen["eta_l"] = share * within / largest
    return subject.build((case or Case()).but(local_steps=steps, participants=case.participants if case else None), **chosen)


@st.composite
def runs(draw, method: str | Algorithm | type | Callable = "fedavg", within: float | Callable[[Case], float] = 1.0,
         given: Mapping | Callable[[Case], Mapping] | None = None, **fixed) -> tuple[Algorithm, Case]:
    """Draw a method and a federation for it, with hyper-parameters within conditions.

    Args:
        method: as for :func:`algorithms`.
        within: the largest eta_l times L, above 0; or a function of the case, for conditions on sizes.
        given: values or strategies for further arguments of the method; or a function of the case that returns them, for
            conditions on its constants ``case.L`` and ``case.mu`` and its sizes.
        fixed: values or strategies for fields of the federation.

    Example:
        Steps eta_l <= 1/(8 L K), and a proximal term between L and 4 L.

        >>> drawn = runs("fedprox", within=lambda case: 1 / (8 * case.local_steps), given=lambda case: {
        ...     "rho_prox": st.floats(case.L, 4 * case.L)})
    """
    case = draw(federations(**fixed))
    within = within(case) if callable(within) else within
    given = given(case) if callable(given) else given
    return draw(algorithms(method, within, case, **dict(given or {}))), case
