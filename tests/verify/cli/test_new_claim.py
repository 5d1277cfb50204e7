"""``fedtheory new-claim`` writes a file that the other commands read."""

from bounds.registry.user_claims import load_claims


def test_the_file_is_read_and_decided(run, tmp_path):
    file = tmp_path / "mine.toml"
    assert run("new-claim", file)[0] == 0
    first, second, third, fourth = load_claims(file)
    assert second.assumptions[0].conditions == first.assumptions[0].conditions and second.statement.strict
    assert fourth.id == f"{third.id}@witness" and third.exists.witness is not None and fourth.exists is None
    assert run("lint", file)[0] == 0
    named = [f"{file}:{claim.id}" for claim in (first, second)]
    assert run("verify", *named, "--out", tmp_path / "report")[0] == 1  # at the optimum nothing is strictly less


def test_a_file_is_never_written_over(run, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text("mine")
    status, _, error = run("new-claim", file)
    assert status == 2 and str(file) in error and file.read_text() == "mine"
    assert run("new-claim", tmp_path / "mine.txt")[0] == 2
