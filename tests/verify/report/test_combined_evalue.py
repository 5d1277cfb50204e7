"""What the e-values of many claims say together."""

import numpy as np
import pytest

from tests.messages import contains_in_order
from verify.evidence.eprocess import e_values
from verify.report.combined_evalue import combined_evalue
from verify.report.html import write_report
from verify.results.verdict import Verdict


def verdict(name, *rows):
    rows = [{"name": "a run", "seeds": 8, "ratio": 0.5, "e_value": value, "decides": decides, "tested": tested, "reason": ""}
            for value, decides, tested in rows]
    return Verdict(f"demo/{name}", "as printed", "lemma", "consistent", 0.5, "nothing",
                   details={"sampled": rows} if rows else {})


def test_only_what_decides_is_a_test_and_a_claim_counts_once():
    found = combined_evalue([
        verdict("a", (2e4, True, True), (0.0, True, True)), verdict("b", (0.5, True, True), (1.0, True, False)),
        verdict("c", (1.0, False, False)), verdict("d"),
    ])
    assert (found.claims, found.tests, found.discovered) == (2, 3, ("demo/a",))
    assert found.pooled == pytest.approx((1e4 + 0.5) / 2) and found.wrongly == pytest.approx(3e-6)


@pytest.mark.parametrize("verdicts", [[], [verdict("a")], [verdict("a", (1.0, True, False))]])
def test_nothing_was_sampled(verdicts):
    assert combined_evalue(verdicts) is None


def test_reports_on_true_claims_discover_something_as_rarely_as_promised():
    """150 reports on six true claims each, looked at after 30 samples: a discovery in at most 5 % of them."""
    rng, discovered = np.random.default_rng(1), 0
    for _ in range(150):
        values = [float(e_values(rng.exponential(1.0, 30), 1.0)[-1]) for _ in range(6)]
        found = combined_evalue([verdict(f"claim-{n}", (value, True, True)) for n, value in enumerate(values)])
        discovered += bool(found.discovered)
    assert discovered <= 15  # 0.05 * 150 and 2.8 standard deviations


def test_the_index_says_how_probable_a_wrong_refutation_is(tmp_path):
    index = write_report([verdict("a", (2.0, True, True), (3.0, True, True))], tmp_path, title="t", command="c", versions={})
    text = " ".join(index.read_text(encoding="utf-8").split())
    assert contains_in_order(text, " 2 e-values … 1 claim. … 2·10⁻⁶, … 2.5. … 0.05 …none") and "1.5·" not in text
