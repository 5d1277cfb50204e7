"""What the e-values of many claims say together."""

from __future__ import annotations

import numpy as np
import pytest

from verify.evidence.eprocess import EProcess
from verify.report.html import write_report
from verify.report.lists import together
from verify.results.verdict import Verdict


def verdict(name, *rows):
    rows = [{"name": "a run", "seeds": 8, "ratio": 0.5, "e_value": value, "decides": decides, "reason": reason}
            for value, decides, reason in rows]
    return Verdict(f"demo/{name}", "as printed", "lemma", "consistent", 0.5, "nothing",
                   details={"sampled": rows} if rows else {})


HELD, NONE = "worst ratio left/right 0.5", "worst ratio of the means 0.5; no e-value: the left side may be negative"


def test_only_what_decides_is_a_test_and_a_claim_counts_once():
    found = together([
        verdict("a", (2e4, True, HELD), (0.0, True, HELD)), verdict("b", (0.5, True, HELD), (1.0, True, NONE)),
        verdict("c", (1.0, False, "G is estimated")), verdict("d"),
    ])
    assert (found.claims, found.tests, found.discovered) == (2, 3, ("demo/a",))
    assert found.pooled == pytest.approx((1e4 + 0.5) / 2) and found.wrongly == pytest.approx(3e-6)


@pytest.mark.parametrize("verdicts", [[], [verdict("a")], [verdict("a", (1.0, True, NONE))]])
def test_nothing_was_sampled(verdicts):
    assert together(verdicts) is None


def test_reports_on_true_claims_discover_something_as_rarely_as_promised():
    """150 reports on six true claims each, looked at after 30 samples: a discovery in at most 5 % of them."""
    rng, discovered = np.random.default_rng(1), 0
    for _ in range(150):
        values = []
        for _ in range(6):
            process = EProcess(1.0)
            process.update(rng.exponential(1.0, 30))
            values.append(process.value)
        found = together([verdict(f"claim-{n}", (value, True, HELD)) for n, value in enumerate(values)])
        discovered += bool(found.discovered)
    assert discovered <= 15  # 0.05 * 150 and 2.8 standard deviations


def test_the_index_says_how_probable_a_wrong_refutation_is(tmp_path):
    index = write_report([verdict("a", (2.0, True, HELD), (3.0, True, HELD))], tmp_path, title="t", command="c", versions={})
    text = " ".join(index.read_text(encoding="utf-8").split())
    assert "Expectations of 1 claim were tested on sampled runs by 2 e-values" in text
    assert "has a probability of at most 2·10" in text and "none is" in text
