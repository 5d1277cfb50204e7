"""What has no value only at indices out of range does not keep exact arithmetic from a decision."""

import pytest

from bounds.registry.user_claims import load_claims
from verify.prove.contradictions import contradiction
from verify.search.budget import Budget
from verify.search.search import search

SMALL = Budget(1, 32, 0, small=8, small_rows=32)


def claim_of(folder, fields):
    path = folder / "mine.toml"
    path.write_text(f"[[claim]]\nid = 'mine/one'\nsetting = 'algebra'\n{fields}")
    return load_claims(path)[0]


@pytest.mark.parametrize(("most", "true"), [("Sum(b[j], (j, 0, n-1))", False), ("n*Sum(b[j], (j, 0, n-1))", True)])
def test_a_divisor_that_vanishes_out_of_its_range_hides_no_violation(tmp_path, most, true):
    kernel = "Sum(Sum(b[j]/(i - j), (j, 0, i-1)), (i, 1, n))"
    claim = claim_of(tmp_path, f"variables = {{n = 'integer to 6', b = 'nonnegative[n]'}}\nstatement = '{kernel} <= {most}'")
    found = search(claim, SMALL)
    assert found.met and (found.violation is None) == true


@pytest.mark.parametrize(("number", "proven"), [("1/2", True), ("1/4", False)])
def test_equations_that_no_numbers_meet_are_proven_to_exclude_each_other(tmp_path, number, proven):
    claim = claim_of(tmp_path, f"""variables = {{a = 'real', b = 'real'}}
        conditions = ['a + b == 1', 'a*b == {number}']
        statement = 'a <= b'""")
    assert (contradiction(claim) is not None) == proven
