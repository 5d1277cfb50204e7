"""``fedtheory run``: what it saves and draws, and its settings."""

import math
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


@pytest.mark.parametrize("settings", [("held_out=0.2",), ("held_out=50", "batch_size=4"), ()])
def test_held_out_samples_are_measured_where_there_are_some(run, tmp_path, settings):
    import fedtheory

    sets = [part for setting in settings for part in ("--set", setting)]
    status, out, _ = run("run", "fedavg", "--problem", "breast-cancer", "--eta", "0.1", "--rounds", 3, "--seeds", 2, *sets,
                         "--out", tmp_path / "a.npz")
    saved = fedtheory.load_trajectory(tmp_path / "a.npz").dataset
    own = {"held_out_loss", "held_out_accuracy"}
    assert status == 0 and own & set(saved.data_vars) == (own if settings else set())
    assert all((name in out) == bool(settings) for name in own)
    assert not settings or abs(saved.held_out_loss.values[:, 0] - math.log(2)).max() < 1e-12


def test_a_share_of_nothing_is_one_clear_line(run, tmp_path):
    status, _, err = run("run", "fedavg", "--problem", "digits", "--set", "held_out=1.5", "--out", tmp_path / "a.npz")
    assert status == 2 and err.count("\n") == 1 and "below 1" in err and "1.5" in err


def test_interrupted_run_leaves_nothing(run, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("fedtheory.run", interrupted)
    assert run(*QUADRATIC, "--out", tmp_path / "a.npz")[0] == 130
    assert os.listdir(tmp_path) == []


def test_settings_that_both_know_need_a_prefix():
    from verify.cli.settings import share_out

    with pytest.raises(LookupError, match=r"'seed' .*problem .*algorithm; .*problem\.seed="):
        share_out({"seed": 1}, problem=["seed"], algorithm=["seed"])
    shares = share_out({"algorithm.seed": 1, "dim": 2}, problem=["seed", "dim"], algorithm=["seed"])
    assert shares == {"problem": {"dim": 2}, "algorithm": {"seed": 1}}


# memory and progress -----------------------------------------------------------------------------------------------------
def test_runs_beyond_the_memory_are_refused_with_the_numbers_that_are_allowed(run, tmp_path, monkeypatch):
    monkeypatch.setattr("verify.cli.shared.total_memory", lambda: 16 * 10**9)
    status, out, err = run(*QUADRATIC, "--seeds", 10**12, "--out", tmp_path / "a.npz")
    found = re.search(r"--rounds at most (\d+)|--seeds at most (\d+)", err)
    assert (status, out, os.listdir(tmp_path)) == (2, "", []) and err.count("\n") == 1 and "has 16 GB" in err
    assert f"100 rounds of {10**12} runs" in err and found[1] is None
    monkeypatch.setattr("fedtheory.run", lambda *_, **__: pytest.fail("it began"))
    for seeds, refused in ((int(found[2]), False), (int(found[2]) + 1, True)):
        argv = [*QUADRATIC, "--seeds", seeds, "--out", tmp_path / "a.npz"]
        if refused:
            assert run(*argv)[0] == 2
        else:
            with pytest.raises(pytest.fail.Exception, match="it began"):
                run(*argv)


@pytest.mark.parametrize("option", ["--rounds", "--local-steps", "--seeds"])
@pytest.mark.parametrize("value", [10**12, 10**400])
def test_each_number_that_is_too_large_is_refused_at_once(run, tmp_path, option, value):
    status, _, err = run(*QUADRATIC, option, value, "--out", tmp_path / "a.npz")
    assert status == 2 and f"{option} at most " in err and err.count("\n") == 1 and os.listdir(tmp_path) == []


def test_long_runs_say_their_memory_before_they_start_and_then_how_far_they_are(run, tmp_path, monkeypatch, capsys):
    said = []

    def begins(*_, progress, **__):
        said.append(capsys.readouterr().err)
        for done in (1, 2, 10**7):
            progress(done, 10**7)
        said.append(capsys.readouterr().err)
        raise KeyboardInterrupt

    monkeypatch.setattr("fedtheory.run", begins)
    monkeypatch.setattr("verify.cli.console.PAUSE", 0.0)
    monkeypatch.setattr("verify.cli.shared.total_memory", lambda: 10**12)
    assert run(*QUADRATIC, "--rounds", 10**7, "--seeds", 1, "--out", tmp_path / "a.npz")[0] == 130
    assert re.fullmatch(r"note: 10000000 rounds of 1 run .* 12 GB .* 1e\+03 GB\n", said[0])
    assert said[1].splitlines()[1:] == [f"fedavg on quadratic: {n} of 10000000 rounds" for n in (2, 10**7)]


@pytest.mark.parametrize("argv", [[300, 1, 40], [200, 3, 40]])
def test_the_memory_that_a_run_is_said_to_need_holds_what_it_records_twice(argv):
    import fedtheory
    import synthetic
    from fedtheory.run import memory_needed

    rounds, local_steps, runs = argv
    federation = synthetic.make_problem("quadratic")
    data = fedtheory.run(fedtheory.fedavg(0.01, local_steps), federation, rounds, seeds=runs).dataset
    recorded = sum(column.nbytes for name, column in data.items() if name != "diverged")
    needed = memory_needed(federation, rounds, local_steps, runs)
    assert 2 * recorded <= needed + 10**5 and needed <= 2 * recorded + 200 * 8 * rounds


def test_more_seeds_than_can_be_are_refused_in_python_too():
    import fedtheory
    import synthetic

    with pytest.raises(ValueError, match=f"seeds .* 1 .*100000000; got {10**12}"):
        fedtheory.run(fedtheory.fedavg(0.01), synthetic.make_problem("quadratic"), 1, seeds=10**12)


def test_of_very_long_runs_some_rounds_are_drawn():
    from verify.results.figures import MOST_PLACES, _places

    assert _places(MOST_PLACES).tolist() == list(range(MOST_PLACES))
    places = _places(10**7).tolist()
    assert places[:20] == list(range(20)) and places[-1] == 10**7 - 1 and len(places) <= MOST_PLACES
