"""Statements that compare two multiples of a length: on letters they say the same of squares, but not inside of a mean."""

from fractions import Fraction as Q

import pytest

from bounds.registry.user_claims import load_claims
from verify.checker.quadratic_forms import NotQuadratic, QuadraticForm
from verify.symbolic.comparisons import Length, squared
from verify.worst.every_round import every_round
from verify.worst.proven import TEMPLATES
from verify.worst.worst_case import worst_case

START = """
[assumptions]
smooth = ["L_client[k] <= L for k in 0..clients-1"]
convex = ["mu_client[k] >= 0 for k in 0..clients-1"]
noiseless = ["sigma_sq_client[k] <= 0 for k in 0..clients-1"]
noise = ["sigma_sq_client[k] <= sigma_sq for k in 0..clients-1"]
short = ["local_steps == 1", "eta_l[t] <= 1/L for t in 0..iterations-1"]
together = ["norm2(grad(k, x_star)) <= 0 for k in 0..clients-1"]

[[claim]]
id = "own/lengths"
"""
FULL, NOISY = 'assume = ["smooth", "convex", "noiseless", "short"]', 'assume = ["smooth", "convex", "noise", "short"]'
SAMPLED = 'sampling = "without-replacement"\nassume = ["smooth", "convex", "noiseless", "short", "together"]'
BELOW = 'variables = {D = "positive"}\nconditions = ["norm(x_round[0] - x_star) <= D"]'


@pytest.fixture
def own(tmp_path):
    """Makes a claim from a file of its own."""
    def made(statement: str, *fields: str):
        path = tmp_path / "own.toml"
        path.write_text(START + "\n".join(fields) + f'\nstatement = "{statement}"\n')
        return load_claims(path)[0]

    return made


def known(claim):
    """What is known of it at the second place, at which numbers have values."""
    return worst_case(claim, template=TEMPLATES[1])


NEAR, FAR, GRADIENT = "norm(x_round[rounds] - x_star)", "norm(x_round[0] - x_star)", "norm(objective_grad(x_round[rounds]))"

#: what holds, and the fields; most with equality at some function, so that less than "1*" is false
TIGHT = {
    "a length": (f"{NEAR} <= 1*{FAR}", FULL),
    "a gradient": (f"{GRADIENT} <= 1*L*{FAR}", FULL),
    "from below": (f"{NEAR} >= (1 - eta_l[0]*L)**rounds*{FAR}/1", FULL),
    "a number": (f"{NEAR} <= 1*D", FULL, BELOW),
    "halves": (f"{NEAR}/2 <= 1*{FAR}/2", FULL),
    "its square": (f"{NEAR}**2 <= 1*{FAR}**2", FULL),
}


@pytest.mark.parametrize("name", TIGHT)
def test_a_length_is_proven_as_its_square_is(name, own):
    statement, *fields = TIGHT[name]
    assert known(own(statement, *fields)).certificate is not None


@pytest.mark.parametrize("name", [name for name in TIGHT if name not in ("a gradient", "from below")])
def test_less_than_the_largest_length_is_false(name, own):
    statement, *fields = TIGHT[name]
    found = known(own(statement.replace("1*", "99/100*"), *fields))
    assert found.certificate is None and max(found.factors) > 1.005


#: what is no comparison of two lengths
REFUSED = {
    "the mean of a length, with noise": (f"E({NEAR}) <= {FAR}", NOISY),
    "a square against the mean of a length": (f"E({NEAR}**2) <= E({NEAR})**2", NOISY),
    "a mean over samples": (f"E({NEAR}) <= {FAR}", SAMPLED),
    "a negative number": (f"{NEAR} >= -1", FULL),
    "a negative multiple": (f"-{FAR} <= -{NEAR}", FULL),
    "a sum": (f"{NEAR} + {GRADIENT} <= 9*{FAR}", FULL),
    "a difference": (f"{NEAR} - {FAR} <= 0", FULL),
    "the largest of two": (f"Max({NEAR}, {FAR}) <= {FAR}", FULL),
    "a function of a length": (f"exp({NEAR}) <= exp({FAR})", FULL),
    "its cube": (f"{NEAR}**3 <= {FAR}**3", FULL),
    "a length against a square": (f"{NEAR} <= {FAR}**2", FULL),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_compares_no_lengths_is_refused(name, own):
    claim = own(*REFUSED[name])
    with pytest.raises((NotQuadratic, ValueError)):
        known(claim)


#: false statements about means of lengths, which hold of square roots of means of squares
FALSE_OF_EVERY_ROUND = {
    "with noise": ("E(norm2(x_round[r] - x_star)) <= E(norm(x_round[r] - x_star))**2 for r in 0..rounds", NOISY),
    "with samples": ("E(norm2(x_round[r] - x_star)) <= E(norm(x_round[r] - x_star))**2 for r in 0..rounds", SAMPLED),
}


@pytest.mark.parametrize("name", FALSE_OF_EVERY_ROUND)
def test_no_mean_of_squares_is_the_square_of_a_mean_in_every_round(name, own):
    assert every_round(own(*FALSE_OF_EVERY_ROUND[name])).certificate is None


def test_the_square_of_a_length_is_a_form():
    one = QuadraticForm({(0, 0): Q(4)})
    assert squared(Length(one) * Q(1, 2)).terms == {(0, 0): Q(1)} and squared(Q(3)) == 9
    for refused in (lambda: Length(one) * Q(-1), lambda: Length(one) + Length(one), lambda: squared(Q(-1)),
                    lambda: Length(one) <= Length(one), lambda: Length(one)**3, lambda: squared(one)):
        with pytest.raises(NotQuadratic):
            refused()
