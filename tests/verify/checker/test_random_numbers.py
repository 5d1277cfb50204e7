"""Numbers that depend on noise: their arithmetic and means against lists of all outcomes."""

import json
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bounds.registry.user_claims import load_claims
from verify.checker import instance as instances
from verify.checker.counterexample import judge_instance
from verify.checker.intervals import Undecided, Vector
from verify.checker.random_numbers import RandomNumber, Term, mean, terms_of, vector_of_draw
from verify.exact.certificate import certificate
from verify.search.budget import BUDGETS
from verify.search.search import search

CLAIM = """
[[claim]]
id = "test/noise"
assume = ["L_client[k] <= L for each k", "sigma_sq_client[k] <= sigma_sq for each k"]
conditions = ["rounds == 1", "clients == 2", "local_steps == 2"]
statement = "E({value}) <= 0"
"""
CHANCES = st.sampled_from([Fraction(1, 2), Fraction(1, 4), Fraction(9, 10)])
#: an operation on two earlier numbers of a list, by their places
STEPS = st.lists(st.tuples(st.sampled_from("+-*^/"), st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=6)


def computed(draws, steps):
    numbers = [*draws, Fraction(2, 3)]
    for operation, i, j in steps:
        a, b = numbers[i % len(numbers)], numbers[j % len(numbers)]
        numbers.append({"+": lambda a=a, b=b: a + b, "-": lambda a=a, b=b: a - b, "*": lambda a=a, b=b: a * b,
                        "^": lambda a=a, j=j: a ** (j % 3), "/": lambda a=a, j=j: a / (1 + j)}[operation]())
    return numbers[-1]


@given(st.lists(CHANCES, min_size=1, max_size=4), STEPS, st.integers(0, 4))
def test_means_are_those_over_all_outcomes(chances, steps, known):
    """The mean over the draws from one on, at each outcome of those before."""
    letters = [RandomNumber({Term(frozenset({(("noise", r, 0, 0), p)})): Fraction(1)}) for r, p in enumerate(chances)]
    found = terms_of(mean(computed(letters, steps), lambda draw: draw[1] >= known))
    for past in product((True, False), repeat=min(known, len(chances))):
        total = Fraction(0)
        for later in product((True, False), repeat=len(chances) - len(past)):
            outcome, chance = past + later, Fraction(1)
            for first, p in [*zip(outcome, chances, strict=True)][len(past):]:
                chance *= p if first else 1 - p
            total += chance * computed([1 - p if first else -p for first, p in zip(outcome, chances, strict=True)], steps)
        value = Fraction(0)
        for term, c in found.items():
            for (_, r, *_), p in term.draws:
                c *= 1 - p if past[r] else -p
            value += c
        assert value == total


def test_a_draw_of_a_law_has_its_values():
    law = [(Fraction(1, 4), Vector([Fraction(3)])), (Fraction(3, 4), Vector([Fraction(-1)]))]
    (number,) = vector_of_draw(("noise", 0, 0, 0), law)
    assert mean(number, lambda draw: True) == 0
    assert mean(number**2, lambda draw: True) == Fraction(1, 4) * 9 + Fraction(3, 4)


def test_comparisons_count_if_they_are_the_same_for_every_outcome():
    z = RandomNumber({Term(frozenset({(("noise", 0, 0, 0), Fraction(1, 2))})): Fraction(1)})
    assert z - 2 < 0 < z + 2 and abs(z + 2) == z + 2
    for compare in (lambda: z < 0, lambda: z <= 0, lambda: z > 0, lambda: z == 0, lambda: bool(z), lambda: abs(z)):
        with pytest.raises(Undecided):
            compare()


@pytest.mark.parametrize("refused", [lambda z: 1 / z, lambda z: z / z, lambda z: z ** Fraction(1, 2), lambda z: z**-1,
                                     lambda z: int(z), lambda z: Fraction(z), lambda z: hash(z), lambda z: float(z)])
def test_what_is_no_polynomial_is_refused(refused):
    with pytest.raises((TypeError, ValueError)):
        refused(RandomNumber({Term(frozenset({(("noise", 0, 0, 0), Fraction(1, 2))})): Fraction(1)}))


def refuting(tmp_path, value):
    """A certificate that refutes a claim about the noise of two clients in two steps."""
    (tmp_path / "claims.toml").write_text(CLAIM.format(value=value), encoding="utf-8")
    (claim,) = load_claims(tmp_path / "claims.toml")
    violation = search(claim, BUDGETS["quick"], without=["many-draws"]).violation
    environment = violation.environment
    return json.loads(json.dumps(certificate(claim, environment, violation.left, violation.right)))


def test_sides_are_the_same_whether_noise_is_listed_or_not(tmp_path):
    for value in ("norm2(x_round[1] - E(x_round[1]))", "objective(x_round[1])**2 + sigma_sq",
                  "dot(x_local[1, 0] - x_round[0], g[1, 1])"):
        data = refuting(tmp_path, value)
        listed, letters = (judge_instance(data, instances.Instance(data, listed=listed)) for listed in (2**13, 1))
        assert listed[0] and listed == letters


def test_a_root_of_noise_needs_a_list(tmp_path):
    data = refuting(tmp_path, "norm(x_round[1] - E(x_round[1]))")
    assert judge_instance(data, instances.Instance(data))[0]
    with pytest.raises(Undecided):
        judge_instance(data, instances.Instance(data, listed=1))
