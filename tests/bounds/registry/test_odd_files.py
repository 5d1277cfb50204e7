"""Files with every field of every wrong shape: each is read and shown, or refused in one line with its place."""

import itertools

import pytest

from bounds.printing.render import show
from bounds.registry.claim_reader import FIELDS
from bounds.registry.user_claims import load_claims
from verify.claims.method import faults_of_method
from verify.lint.lint import lint

BASE = {"id": '"mine/a"', "statement": '"F_star <= objective(x_round[0])"'}
VALUES = (
    '"x"', '""', '" "', "3", "0", "9" * 400, "1.5", "1e308", "nan", "-inf", "true", "1979-05-27", "1979-05-27T07:32:00Z",
    "[]", '["x"]', '[""]', "[[1]]", "[1, 2]", '["L <= 1", 2]', "{}", '{x = "x"}', "{x = 1}", "{x = {y = 1}}", '{x = ["y"]}',
    '{"" = "x"}', '{x = ""}', '"λ ≤ 1"', '"🙂"', '"\\u202e"', '"\\u0000"', f'"{"x" * 5000}"', '"L <= 1"', '["L <= 1"]',
    "[{x = 1}]")
DOMAINS = (
    "", "Positive", "positive[]", "positive[clients", "positive[clients]]", "positive[,]", "positive[0]", "positive[-1]",
    "positive[n]", "integer from -1", "integer from 5 to 2", "integer to 0", "integer from 999999999999",
    "positive below 0", "nonnegative below 0", "positive below -1", "positive;", "positive\\npositive", "integer from 1.5",
    "real from 0 to 1", "hidden below 1", "vector below 1", "simplex below 1", "simplex", "binary from 0", "real[t]",
    "real[rounds+]", "real[rounds+0]", "real[clients,clients,clients,clients,clients]", "integer from 3 below 2")
HIDDEN = {"variables": '{C = "hidden"}', "statement": '"F_star <= C"'}
STEP = {"conditions": '["eta_l[t] == h for t in 0..iterations-1"]'}
#: fields that make no sense -> what the line says
REFUSED = [
    ({"extends": '"mine/a"'}, "extends the id of a claim above it; got 'mine/a', allowed: none"),
    ({"options": "{eta_l = 1}"}, "eta_l is no option; conditions say what it is; got eta_l = 1"),
    ({"options": "{local_steps = 2}"}, "local_steps is no option; conditions say what it is; got local_steps = 2"),
    ({"sampling": '"bernoulli"', "variables": '{participation = "positive[clients]"}'}, "one number; got positive[clients]"),
    ({"limits": '{rounds = "oo"}'}, "only an order has limits"),
    ({"constants_may_use": '["L"]'}, "only an order has constants_may_use"),
    (HIDDEN | {"limits": "{rounds = 0}"}, "rounds is a whole number of at least 1 and goes to \"oo\"; got 0"),
    (HIDDEN | {"limits": "{x_star = 0}"}, "a limit is that of a number or an array; got x_star"),
    (HIDDEN | {"limits": '{rounds = "oo"}', "constants_may_use": '["zz"]'}, "unknown name 'zz'"),
    ({"constants": '{c = "c"}', "statement": '"c <= 1"'}, "the formula of c uses c itself"),
    ({"constants": '{c = "x_star"}', "statement": '"c <= 1"'}, "a vector stands beside a number"),
    ({"conditions": '["x_round[0] == x_star"]'}, "vectors are compared by norm2(a - b) == 0"),
    ({"statement": '"eta_l[rounds] <= 1 for rounds in 0..2"'}, "rounds of 'for rounds in ...' has a meaning already"),
    ({"statement": '"Sum(eta_l[rounds], (rounds, 0, 2)) <= 1"'}, "the index of a range is a letter without another meaning"),
    ({"exists": '{h = "(1, 1/0]"}'} | STEP, "divides by zero"), ({"exists": '{h = "(0, h]"}'} | STEP, "do not use h"),
    ({"exists": '{h = "(0, 1]"}', "witness": '{h = "eta_l"}'} | STEP, "eta_l"),
    ({"method": f'"{"x" * 5000}"'}, "a method is a name of `fedtheory algorithms`"),
]


def outcome(text, tmp_path):
    """``read``, or the line in which the file is refused."""
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    try:
        claims = load_claims(path, faults_of_method)
    except ValueError as error:
        refused = str(error)
        assert "mine.toml" in refused and "\n" not in refused and len(refused) < 1500, refused
        assert not any(dump in refused for dump in ("sympy", "<class", "Traceback", "NoneType", "object at")), refused
        return refused
    for claim in claims:
        lint(claim)
        assert show(claim) and show(claim, "code")
    return "read"


def table(fields):
    return "[[claim]]\n" + "".join(f'"{name}" = {value}\n' for name, value in fields.items())


@pytest.mark.parametrize("field", [*sorted(FIELDS), "unknown", "Statement", "über"])
def test_a_field_of_any_shape_is_read_or_refused_in_one_line(field, tmp_path):
    found = [outcome(table(BASE | {field: value}), tmp_path) for value in VALUES]
    assert len(found) == len(VALUES) and any(one != "read" for one in found)


@pytest.mark.parametrize("setting", ["run", "point", "algebra"])
def test_a_domain_that_is_none_is_refused_in_one_line(setting, tmp_path):
    for domain in DOMAINS:
        fields = {"setting": f'"{setting}"', "variables": f'{{a = "{domain}"}}', "statement": '"1 <= 2"'}
        refused = outcome(table(BASE | fields), tmp_path)
        assert "mine.toml, line 5: " in refused and "a" in refused, (domain, refused)


@pytest.mark.parametrize(("fields", "message"), REFUSED, ids=lambda value: str(value)[:80])
def test_what_makes_no_sense_is_refused_in_one_line(fields, message, tmp_path):
    assert message in outcome(table(BASE | fields), tmp_path)


@pytest.mark.parametrize(("first", "second", "message"), [
    ({}, {}, "two claims have the id 'mine/a'"),
    ({"extends": '"mine/b"'}, {"id": '"mine/b"'}, "extends the id of a claim above it; got 'mine/b'"),
    ({"extends": '"mine/b"'}, {"id": '"mine/b"', "extends": '"mine/a"'}, "extends the id of a claim above it; got 'mine/b'"),
])
def test_two_claims_that_do_not_go_together_are_refused_in_one_line(first, second, message, tmp_path):
    assert message in outcome(table(BASE | first) + table(BASE | second), tmp_path)


WHOLE = ("", "#", "[claim]\nid = 'mine/a'\n", "claim = 'x'\n", "claim = [1]\n", "x = 1\n", "[assumptions]\na = 'x'\n",
         "assumptions = 'x'\n", "assumptions = [1]\n", "[assumptions.b]\na = ['x']\n", "[[claim]]\n",
         "[[claim]]\nstatement = 'L'\n")


@pytest.mark.parametrize("number", range(len(WHOLE)))
def test_a_file_of_another_shape_is_refused_in_one_line(number, tmp_path):
    assert outcome(WHOLE[number], tmp_path) != "read"
    mixed = WHOLE[number] if WHOLE[number].startswith("[") else WHOLE[number] + table(BASE)
    assert isinstance(outcome(mixed, tmp_path), str)


def test_fields_in_pairs_are_read_or_refused_in_one_line(tmp_path):
    few = ("3", '"x"', '["L <= 1"]', '{x = "positive"}')
    for (first, a), (second, b) in itertools.combinations(itertools.product(("limits", "exists", "witness", "variables",
                                                                             "constants", "definitions"), few), 2):
        if first != second:
            outcome(table(BASE | {first: a, second: b}), tmp_path)
