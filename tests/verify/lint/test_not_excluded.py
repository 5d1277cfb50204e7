"""What a statement about runs does not exclude, with the line that would."""

import pytest

import fedtheory as ft

HEAD = '[[claim]]\nid = "mine/one"\nmethod = "fedavg"\n'
STATEMENT = 'statement = "norm2(x_round[rounds] - x_star) <= norm2(x_round[0] - x_star)"\n'
SMOOTH = '"L_client[k] <= L for k in 0..clients-1"'
FULL = '"sigma_sq_client[k] == 0 for k in 0..clients-1"'

ONE_STEP, SAMPLED = '"local_steps == 1"', 'sampling = "without-replacement"\n'

#: assumptions, conditions, the scheme of sampling, and what is left open
ROWS = {
    "nothing said": ([], [], "", {"noise", "local steps", "clients"}),
    "full gradients": ([FULL], [], "", {"local steps", "clients"}),
    "one local step": ([FULL], [ONE_STEP], "", {"clients"}),
    "one client": ([FULL], [ONE_STEP, '"clients == 1"'], "", set()),
    "sampled clients": ([FULL], [ONE_STEP], SAMPLED, {"clients", "participants"}),
    "several participants": ([FULL], [ONE_STEP, '"participants >= 2"'], SAMPLED, {"clients"}),
    "all clients": ([FULL], [ONE_STEP, '"participants == clients"'], SAMPLED, {"clients"}),
    "clients that decide by themselves": ([FULL], [ONE_STEP], 'sampling = "bernoulli"\n', {"clients"}),
}


@pytest.mark.parametrize("assume, conditions, scheme, left_open", ROWS.values(), ids=ROWS)
def test_what_is_not_excluded_is_noted_with_the_line_that_would(assume, conditions, scheme, left_open, tmp_path):
    path = tmp_path / "mine.toml"
    lists = f"assume = [{', '.join([SMOOTH, *assume])}]\nconditions = [{', '.join(conditions)}]\n"
    path.write_text(f"{HEAD}{scheme}{STATEMENT}{lists}")
    notes = [finding for finding in ft.lint(str(path)) if finding.check == "not excluded"]
    assert {finding.data["what"] for finding in notes} == left_open
    assert all(finding.severity == "note" and '== ' in finding.text for finding in notes)
