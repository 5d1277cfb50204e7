"""``fedtheory run``: what it saves and draws, and its settings."""

from __future__ import annotations

import os
import re

import pytest

QUADRATIC = ["run", "fedavg", "--problem", "quadratic"]


@pytest.mark.parametrize(
    "argv",
    [
        ["fedavg", "--problem", "quadratic", "--eta", "0.05"],
        ["fedalign", "--problem", "quadratic-misaligned", "--set", "epsilon=0.5", "--local-steps", "3"],
        ["fedprox", "--problem", "quadratic", "--set", "rho_prox=0.5", "--set", "noise=two-point", "--set", "sigma=1"],
        ["fedavg", "--problem", "quadratic", "--eta", "1e6"],
        ["fedavg", "--problem", "quadratic", "--seeds", "1"],
    ],
    ids=["plain", "free clients", "settings", "diverging", "one run"],
)
def test_run_saves_and_draws(run, tmp_path, argv):
    from fedtheory import load_trajectory

    status, out, err = run("run", "--rounds", 60, "--seeds", 4, "--seed", 3, *argv, "--out", tmp_path / "new" / "a.npz")
    assert (status, err) == (0, "")
    assert sorted(p.name for p in (tmp_path / "new").iterdir()) == ["a.npz", "a.pdf", "a.png", "a.svg"]
    trajectory = load_trajectory(tmp_path / "new" / "a.npz")
    assert trajectory.rounds == 60 and trajectory.seeds[0] == 3
    assert argv[0] in out and "suboptimality" in out and ("runs diverged" in out) == ("1e6" in argv)
    assert bool(re.search(r"4 of 4 runs diverged: seed 3 after round \d+, seed 4", " ".join(out.split()))) == ("1e6" in argv)


def test_run_is_the_same_from_python(run, tmp_path):
    import fedtheory
    import synthetic

    run("run", "fedavg", "--problem", "quadratic", "--rounds", 3, "--seeds", 2, "--set", "sigma=1", "--local-steps", 2,
        "--out", tmp_path / "a.npz")
    federation = synthetic.make_problem("quadratic", sigma=1)
    step = fedtheory.InverseTime(1.0, max(8 * 10.0, 2))
    trajectory = fedtheory.run(fedtheory.fedavg(step, 2), federation, 3, seeds=2)
    saved = fedtheory.load_trajectory(tmp_path / "a.npz")
    assert (saved.dataset["x"].values == trajectory.dataset["x"].values).all()


def test_interrupted_run_leaves_nothing(run, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fedtheory.run", interrupted)
    assert run(*QUADRATIC, "--out", tmp_path / "a.npz")[0] == 130
    assert os.listdir(tmp_path) == []


def test_settings_that_both_know_need_a_prefix():
    from verify.cli.settings import share_out

    with pytest.raises(LookupError, match=r"known to problem and algorithm; write problem.seed="):
        share_out({"seed": 1}, problem=["seed"], algorithm=["seed"])
    shares = share_out({"algorithm.seed": 1, "dim": 2}, problem=["seed", "dim"], algorithm=["seed"])
    assert shares == {"problem": {"dim": 2}, "algorithm": {"seed": 1}}
