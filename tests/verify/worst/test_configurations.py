"""Numbers of a setting that bound each other: those that nothing bounds come first, the others are at their bounds."""

from fractions import Fraction

import pytest

from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from verify.worst.configurations import Template, instantiate

AT, MANY = ((Fraction(2),), ()), ((Fraction(1, 2), Fraction(2), Fraction(3)), ())
NEAR, NONE = ((Fraction(2),), (Fraction(1, 2),)), ((), ())
#: conditions on numbers a, b and c; the numbers of a template and how near they are to bounds -> their values
ROWS = [
    (["a <= 3*b*L"], AT, ("6", "2", "2")),
    (["b >= a/4"], AT, ("2", "1/2", "2")),
    (["c <= b", "b <= a"], MANY, ("1/2", "1/2", "1/2")),
    (["a <= b*c", "b <= 3"], AT, ("6", "3", "2")),
    (["a <= 3*b*L"], NEAR, ("3", "2", "2")),
    (["a*b <= 4"], AT, ("2", "2", "2")),
    (["b*c <= 3/(1 + a)"], MANY, ("1/2", "2", "1")),
    (["b*c <= 3/(5 + 2*a)"], MANY, ("1/2", "2", "1/4")),
    (["a <= 3*b*L"], NONE, (None, None, None)),
    ([], MANY, ("1/2", "2", "3")),
    (["c <= b"], MANY, ("1/2", "2", "2")),
]


@pytest.mark.parametrize(("conditions", "template", "expected"), ROWS)
def test_a_number_is_at_a_bound_that_depends_on_another(conditions, template, expected, tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('[[claim]]\nid = "own/bounds"\nvariables = {a = "positive", b = "positive", c = "positive"}\n'
                    'statement = "F_star <= F_star + a + b + c"\n'
                    f'conditions = {["L_client[k] <= L for k in 0..clients-1", *conditions]}\n')
    numbers, near = template
    template = Template(numbers=numbers, **({"near": near} if near else {}))
    values = instantiate(load_claims(file)[0], {}, template).values
    assert tuple(values.get(name) for name in "abc") == expected


@pytest.mark.parametrize(("name", "weights"), [
    ("li2020/theorem-3", ["1/2", "1/2"]), ("li2020/theorem-1", ["1/4", "3/4"]),
    ("classical/scaffold-convex", ["1/2", "1/2"])])
def test_clients_have_the_same_weight_where_a_hypothesis_or_the_procedure_says_so(name, weights):
    assert instantiate(find_claim(name), {}, Template(weights=(1, 3))).weights == weights


@pytest.mark.parametrize(("given", "rounds"), [({}, 1), ({"rounds": Fraction(3)}, 3)])
def test_there_are_as_many_rounds_as_is_said_of_all_steps(given, rounds):
    sizes = instantiate(find_claim("li2020/lemma-4"), given, Template(rounds=2, local_steps=3)).sizes
    assert (sizes["rounds"], sizes["local_steps"], sizes["iterations"]) == (rounds, 3, 3 * rounds)


def test_a_number_that_needs_no_value_has_none(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('[[claim]]\nid = "own/unknown"\nvariables = {a = "positive", b = "positive"}\n'
                    'statement = "F_star <= F_star + a + b"\nconditions = ["a <= b"]\n')
    setting = instantiate(load_claims(file)[0], {}, Template(numbers=(Fraction(2),), unknown=frozenset("a")))
    assert setting.unknown == ["a"] and setting.values["b"] == "2"


@pytest.mark.parametrize(("given", "rounds"), [({}, 2), ({"rounds": Fraction(3)}, 3), ({"rounds": Fraction(1)}, 1)])
def test_runs_are_as_long_as_a_statement_about_two_rounds_needs(given, rounds):
    """Its index goes to the last round but one, which a run of one round does not have."""
    claim = find_claim("fadamgc/eq-190@y-gradient")
    assert instantiate(claim, given, Template(rounds=1)).sizes["rounds"] == rounds
