"""``fedtheory run`` with a method of one's own, and ``fedtheory compare CLAIM --run FILE``."""

import json

import numpy as np
import pytest

from fedtheory import load_trajectory
from tests.messages import contains_in_order
from verify.cli.main import main

OWN = """
from dataclasses import dataclass
from fedtheory import Algorithm
open({witness!r}, "a").close()

@dataclass(frozen=True)
class Lazy(Algorithm):
    factor: float = 0.5

    def step_size(self, context):
        return self.factor * super().step_size(context)
"""


@pytest.fixture
def runs(tmp_path):
    """A file of runs of FedAvg with noise."""
    path = tmp_path / "runs.npz"
    given = ["--rounds", "6", "--seeds", "4", "--set", "noise=sphere", "--set", "sigma=0.1", "--out", str(path)]
    assert main(["run", "fedavg", "--problem", "quadratic", *given]) == 0
    return path


def test_a_claim_beside_the_runs_of_a_file(runs, tmp_path, capsys):
    capsys.readouterr()
    assert main(["compare", "li2020/theorem-1", "--run", str(runs), "--plot", str(tmp_path / "figure")]) == 0
    said = capsys.readouterr().out
    assert said.startswith("li2020/theorem-1: consistent; worst ratio") and (tmp_path / "figure.svg").stat().st_size
    assert main(["compare", "li2020/theorem-1", "--run", str(runs), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "consistent" and found["series"]["x"] == [1, 2, 3, 4, 5, 6]


def test_a_claim_of_a_file_with_a_free_number(runs, tmp_path, capsys):
    path = tmp_path / "mine.toml"
    path.write_text('[[claim]]\nid = "mine/near"\nvariables = {a = "positive"}\n'
                    'statement = "E(norm2(x_round[rounds] - x_star)) <= a"\n')
    capsys.readouterr()
    assert main(["compare", f"{path}:mine/near", "a=1/4", "--run", str(runs), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["series"]["right"] == [0.25] * 6


def test_a_method_of_ones_own_runs_only_where_it_is_named(tmp_path, capsys):
    witness, method, path = tmp_path / "it ran", tmp_path / "mine.py", tmp_path / "own.npz"
    method.write_text(OWN.format(witness=str(witness)))
    given = ["--rounds", "3", "--seeds", "2", "--eta", "0.05", "--set", "factor=0.25", "--out", str(path)]
    assert main(["run", f"{method}:Lazy", "--problem", "quadratic", *given]) == 0
    witness.unlink()
    command = ["compare", "li2020/theorem-1", "--run", str(path)]
    assert main(command) == 2 and not witness.exists()
    assert contains_in_order(capsys.readouterr().err, "mine.py:Lazy; only --algorithm FILE.py:NAME runs a file")
    assert main([*command, "--algorithm", f"{method}:Lazy"]) == 0 and witness.exists()
    assert "the claim is about FedAvg; the runs are Lazy's" in capsys.readouterr().out
    method.write_text(method.read_text().replace("self.factor *", "2 * self.factor *"))
    assert main([*command, "--algorithm", f"{method}:Lazy"]) == 2
    assert "end elsewhere" in capsys.readouterr().err


@pytest.mark.parametrize(("change", "words"), [
    (lambda attrs: attrs.clear(), "is not a run file"),
    (lambda attrs: attrs.pop("made by fedtheory run"), "is not a file of fedtheory run"),
    (lambda attrs: attrs.update({"made by fedtheory run": 3}), "is not a file of fedtheory run"),
    (lambda attrs: attrs.update({"made by fedtheory run": {}}), "does not say how its runs were made"),
    (lambda attrs: attrs["made by fedtheory run"].update(algorithm=7), "does not say how"),
    (lambda attrs: attrs["made by fedtheory run"].update(algorithm="fedprox"), "made by another version of fedprox"),
    (lambda attrs: attrs["made by fedtheory run"].update(problem="nothing"), "unknown problem"),
    (lambda attrs: attrs["made by fedtheory run"].update(settings=["x=y"]), "unknown setting"),
])
def test_a_file_that_does_not_say_how_it_was_made(runs, tmp_path, capsys, change, words):
    trajectory = load_trajectory(runs)
    change(trajectory.dataset.attrs)
    path = tmp_path / "changed.npz"
    with np.load(runs) as stored:
        arrays = dict(stored)
    header = json.loads(bytes(arrays["header"]).decode()) | {"attrs": trajectory.dataset.attrs}
    np.savez(path, **arrays | {"header": np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)})
    capsys.readouterr()
    assert main(["compare", "li2020/theorem-1", "--run", str(path)]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1


def test_one_claim_is_compared_with_runs(runs, capsys):
    assert main(["compare", "li2020/theorem-1", "li2020/theorem-2", "--run", str(runs)]) == 2
    assert "--run compares one claim; got 2" in capsys.readouterr().err
