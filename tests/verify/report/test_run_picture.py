"""The picture of a counterexample's run: where its models and curves lie, what it says in words, how large it is."""

from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest

from bounds.controls.fedavg import TWINS
from bounds.language.claim import Claim
from bounds.registry.claims import find_claim
from bounds.registry.user_claims import load_claims
from tests.not_empty import not_empty
from verify.exact.one_dimensional_run import on_outcome, one_dimensional_run
from verify.referee.decide import Settings, decide
from verify.report.reason import run_in_words
from verify.report.run_picture import run_picture

MOST_BYTES = 4096


def refuted(name: str):
    claim = TWINS.get(name) or find_claim(name)
    return claim, decide(claim, Settings(federations=False)).details["instance"]


@pytest.fixture(scope="module")
def fedalign():
    return refuted("fedalign/theorem-1")


def dots(svg: ElementTree.Element) -> list[tuple[float, float]]:
    return [(float(dot.get("cx")), float(dot.get("cy"))) for dot in svg.iter("circle")]


def test_models_lie_on_the_objective_between_the_clients(fedalign):
    svg = ElementTree.fromstring(run_picture(*fedalign))
    (first, low), (last, high) = not_empty(dots(svg))
    ticks = [float(text.get("x")) for text in svg.iter("text") if text.text in ("0", "1") and text.get("y") == "187"]
    assert first == ticks[0] and last == pytest.approx(ticks[0] + (ticks[1] - ticks[0]) / 8, abs=0.1)
    assert low > high  # the objective, drawn upwards, grows
    labels = {text.text for text in svg.iter("text")}
    assert {"objective", "client 1", "client 2, free"} <= labels
    assert svg.get("aria-label") == (
        "The losses of client 1, client 2, free and the objective, which is least at 0, over the model. "
        "The models after 0, 1, … rounds are 0, 0.125.")


@pytest.mark.parametrize("name", ["fedalign/theorem-1", "li2020/lemma-5-scheme-1@sampling-only",
                                  "fedalign/lemma-A7@every-free-client", "control/contraction@no noise"])
def test_pictures_are_small_and_lie_in_their_frame(name):
    text = run_picture(*refuted(name))
    svg = ElementTree.fromstring(text)
    assert len(text.encode()) <= MOST_BYTES
    assert all(0 <= x <= 460 and 20 <= y <= 170 for x, y in not_empty(dots(svg)))


def test_without_a_run_in_one_dimension_there_is_no_picture(fedalign):
    claim, data = fedalign
    assert run_picture(claim, data | {"setting": "algebra"}) == ""
    assert run_picture(claim, data | {"sizes": data["sizes"] | {"dim": 2}}) == ""
    assert run_picture(claim, {"setting": "run", "sizes": {"dim": 1}, "instance": {}}) == ""


def test_the_outcome_on_which_the_model_moves_is_drawn():
    claim, data = refuted("li2020/lemma-5-scheme-1@sampling-only")
    run = one_dimensional_run(data, claim)
    assert abs(run.models[1] - run.models[0]) > 0.1
    assert on_outcome(np.arange(4).reshape(1, 1, 2, 2, 1), 2, np.zeros((1, 2, 2, 3, 1)), 2).tolist() == [[0], [1]]
    drawn = np.arange(256).reshape(1, 128, 1, 2, 1)  # who takes part depends on chance, and the models do not
    assert on_outcome(drawn, 2, np.zeros((1, 1, 1, 3, 1)), 0).tolist() == [[0], [1]]


def test_the_outcome_on_which_a_statement_about_each_fails_is_drawn(tmp_path):
    claim = read_claim(tmp_path, """sampling = "without-replacement"
        conditions = ["local_steps == 1", "participants == 1", "clients == 2"]
        statement = "norm2(x_round[1] - x_round[0]) >= E(norm2(x_round[1] - x_round[0]))" """)
    data = decide(claim, Settings(federations=False)).details["instance"]
    run = one_dimensional_run(data, claim)
    assert (run.models[1] - run.models[0]) ** 2 == pytest.approx(float(Fraction(data["left"])))


def test_the_rounds_around_the_one_that_fails_are_told(tmp_path):
    claim = read_claim(tmp_path, """conditions = ["local_steps == 1", "rounds == 9"]
        statement = "(r - 6)*norm2(x_round[r+1] - x_round[r]) <= 0 for each r" """)
    lines = [*run_in_words(claim, decide(claim, Settings(federations=False)).details["instance"])]
    assert [line.split(":")[0] for line in lines[2:]] == ["after round 4", *(f"round {number}" for number in range(5, 9))]


def read_claim(folder, fields: str) -> Claim:
    path = folder / "mine.toml"
    path.write_text(f"[[claim]]\nid = 'mine/one'\n{fields}")
    return load_claims(path)[0]
