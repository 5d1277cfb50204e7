"""Published tight constants are what is computed and measured, and the page shows every row."""

from fractions import Fraction

import pytest

from benchmarks.tight_constants import PAGE, ROWS, claim_of, computed, measured_ratio, table
from tests.not_empty import not_empty
from verify.worst.worst_case import worst_case


def agrees(row) -> bool:
    """Whether the worst case is the published constant to six digits, and its function's run breaks 0.99 times it alone."""
    constant, found = float(row.constant), computed(row)
    return (found.tight and found.ratio == pytest.approx(constant, rel=1e-6)
            and 0.99 * constant < measured_ratio(found) <= (1 + 1e-6) * constant)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.source}, {row.called}")
def test_the_published_constant_is_the_worst_case(row):
    assert agrees(row)


@pytest.mark.parametrize("number", [0, 12, 24, -8, -1])
@pytest.mark.parametrize("factor", ["1.00001", "0.99999"])
def test_another_constant_is_noticed(number, factor):
    assert not agrees(ROWS[number]._replace(formula=f"{factor}*({ROWS[number].formula})"))


def test_the_rows_differ():
    assert len({row.source for row in ROWS}) >= 25 and len({row.formula for row in ROWS}) >= 20
    assert len({(row.source, row.called, *row.numbers.values()) for row in ROWS}) == len(ROWS)
    assert sum(claim_of(row) is not None for row in ROWS) >= 20


def test_the_page_has_every_row():
    shown = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")][2:]
    found = [(float(cells[8]), float(cells[10]) * 0.99 * float(row.constant), *map(str.strip, (cells[11], cells[12][:-2])))
             for row, cells in zip(ROWS, shown, strict=True)]
    expected = [line.split(" | ") for line in table(found).splitlines() if line.startswith("| ")][2:]
    for one, other in not_empty(zip(shown, expected, strict=True)):
        assert [*one[:8], *one[11:]] == [*other[:8], *other[11:]]
        assert float(one[9]) < 1e-6 and float(one[10]) > 1


def test_a_row_as_a_claim_is_proven_and_not_with_a_hundredth_less():
    row = ROWS[1]
    given = {"rounds": row.rounds, "clients": 1, "local_steps": 1, "L": Fraction(1)}
    assert worst_case(claim_of(row), given).certificate
    smaller = row._replace(formula=f"99/100*({row.formula})")
    assert worst_case(claim_of(smaller), given).certificate is None
