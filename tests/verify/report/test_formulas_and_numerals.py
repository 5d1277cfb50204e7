"""Formulas as MathML, and numbers as people read them."""

import math
from xml.etree import ElementTree

import pytest

from bounds.printing.mathml import mathml
from bounds.registry.claims import all_claims
from tests.bounds.each_claim import each_claim
from verify.report.mathematics import fitted_mathml, mathematics
from verify.results.numerals import apart_from_one, approximately, middle_of, significant, typeset


@pytest.mark.parametrize(
    "latex, inside",
    [
        (r"\frac{2 L}{\mu^{2}}", "<mfrac><mrow><mn>2</mn><mi>L</mi></mrow><msup><mi>μ</mi>"),
        (r"\sum_{k=0}^{m-1} a_k", "<msubsup><mo>∑</mo>"),
        (r"x_{t,k}^2", "<msubsup><mi>x</mi>"),
        (r"\left\|x\right\|^2", "</mrow><mn>2</mn></msup>"),
        (r"\mathbb{E}[x']", "<mi>𝔼</mi>"),
        (r"\tilde\theta_T", "<msub><mover accent=\"true\"><mi>θ</mi>"),
        (r"\text{for all } t", "<mtext>for\u00a0all\u00a0</mtext>"),
        (r"\sqrt[3]{x}", "<mroot>"),
        (r"a &\le b \\ &\quad + c", "</mtr><mtr>"),
        (r"a < b", "<mo>&lt;</mo>"),
        (r"\mathcal{S}, \mathbf{x}", "<mi>𝒮</mi>"),
        (r"\mathbf{1}_t", "<mn>𝟏</mn>"),
        (r"x^*", "<mo>∗</mo>"),
        (r"\Gamma", "<mi mathvariant=\"normal\">Γ</mi>"),
        (r"\left(a b\right)^{2}", "<msup><mrow><mo>(</mo><mi>a</mi><mi>b</mi><mo>)</mo></mrow><mn>2</mn></msup>"),
    ],
)
def test_latex_becomes_mathml(latex, inside):
    text = mathml(latex)
    ElementTree.fromstring(text)
    assert inside in text


def test_a_formula_of_its_own_line_has_its_limits_below():
    assert "<munderover><mo>∑</mo>" in mathml(r"\sum_{k=0}^{m-1} a_k", display=True)
    assert mathml("a < b", display=True).startswith('<math display="block"><semantics>')
    assert '<annotation encoding="application/x-tex">a &lt; b</annotation>' in mathml("a < b", display=True)


@pytest.mark.parametrize("latex", [r"\unheard", r"\frac{a", "a}", r"\left( a", "x_1_2", "a \\right)", "§{", r"\sqrt"])
def test_unknown_latex_is_refused(latex):
    with pytest.raises(ValueError, match="formula"):
        mathml(latex)


@each_claim(all_claims().values())
def test_every_claim_has_formulas_that_browsers_can_draw(claim):
    shown = mathematics(claim)
    parts = [shown.statement, *(f for _, _, formulas, _ in shown.hypotheses for f in formulas)]
    parts += [part[0] for part in (*shown.variables, *shown.definitions)]
    assert bool(shown.statement) == (claim.statement is not None)
    for part in parts:
        ElementTree.fromstring(f"<div>{part}</div>")
        assert "<math" in part or not part


@pytest.mark.parametrize(
    "value, text",
    [(0.0, "0"), (16.7412, "16.7"), (0.001, "0.001"), (1.234e-7, "1.23·10⁻⁷"), (math.inf, "∞"), (-math.inf, "−∞"),
     (math.nan, "–"), (None, "–"), (-0.5, "−0.5"), (99999.0, "100000"), (1e22, "1·10²²"), (1, "1")],
)
def test_numbers_as_people_read_them(value, text):
    assert significant(value) == text


@pytest.mark.parametrize("value, text", [("1/3", "0.333"), ("-2/1", "−2"), ("x", "x"), ("1/0", "1/0"),
                                         (f"{10**400}/3", "10^400"), (0.25, "0.25")])
def test_rationals_as_decimals(value, text):
    assert approximately(value) == text


@pytest.mark.parametrize("value, text", [(1.0, "1"), (1.0000002, "1.0000002"), (0.99996, "0.99996"), (12.3456, "12.35"),
                                         (math.inf, "∞")])
def test_a_ratio_has_the_digits_that_tell_it_from_one(value, text):
    assert apart_from_one(value) == text


def test_a_long_formula_is_smaller_on_paper():
    assert fitted_mathml("a + b") == mathml("a + b")
    half, quarter = (float(fitted_mathml(" + ".join("x" * n)).partition("--fit: ")[2].partition('"')[0]) for n in (60, 120))
    assert 0 < quarter < half < 1 and half / quarter == pytest.approx(2, rel=0.1)


def test_plain_text_gets_the_signs_that_keyboards_lack():
    assert typeset("G^2 <= 1/x**2, mu >= 0") == "G² ≤ 1/x², mu ≥ 0"


@pytest.mark.parametrize(("side", "middle"), [
    ("1 to 1", "1"), ("0 to 0", "0"), ("1.5 to 2.5", "2"), ("-1 to 0", "-1/2"), ("3/4", "3/4"), ("-2", "-2")])
def test_a_side_that_is_enclosed_is_shown_as_one_number(side, middle):
    assert middle_of(side) == middle
