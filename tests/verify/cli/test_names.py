"""Names read off files are those that are registered, and a wrong one is refused before heavy packages load."""

import subprocess
import sys

import pytest

from verify.cli.names import check_method, check_problem, method_names, problem_names

HEAVY = {"torch", "numpy", "sympy", "matplotlib", "xarray"}
#: what commands that compute nothing do without, and the search that begins
LATER = {"cma", "distributed", "matplotlib", "pandas", "scipy.stats", "sklearn", "torch", "xarray", "z3", "zarr"}
BEGUN = """
import sys
from bounds.registry.claims import find_claim
from verify.referee import decide

class Begun(Exception):
    pass

def begin(*args, **options):
    raise Begun

decide.search = begin
try:
    decide.decide(find_claim("classical/gd-convex"), decide.Settings())
except Begun:
    print(*sorted({later} & {{*sys.modules}}))
"""


def test_names_are_those_registered():
    from fedtheory.registry import ALGORITHMS
    from synthetic.registry import PROBLEMS

    assert method_names() == set(ALGORITHMS) and problem_names() == set(PROBLEMS)


@pytest.mark.parametrize("check, wrong, nearest", [
    (check_method, "fedalin", "fedalign"), (check_problem, "digit", "digits")])
def test_a_wrong_name_suggests_the_nearest(check, wrong, nearest):
    with pytest.raises(LookupError) as refused:
        check(wrong)
    assert repr(wrong) in str(refused.value) and repr(nearest) in str(refused.value)
    check(nearest)


@pytest.mark.parametrize("argv, status", [
    (["--help"], 0), (["verify", "--help"], 0), (["run", "fedalin", "--problem", "digits"], 2),
    (["run", "fedavg", "--problem", "digit"], 2), (["conform", "fedalin"], 2), (["stability", "fedalin"], 2),
])
def test_help_and_wrong_names_need_no_heavy_package(argv, status):
    code = ("import sys; from verify.cli.main import main; "
            f"status = main({argv!r}); print(status, *sorted({HEAVY!r} & {{*sys.modules}}))")
    assert _last_line(code) == str(status)


@pytest.mark.parametrize("command", [
    "verify", "show", "explain", "repair", "chain", "looseness", "worst", "lint", "bound", "compare"])
def test_an_unknown_claim_is_refused_before_torch_loads(command):
    code = ("import sys; from verify.cli.main import main; "
            f"status = main([{command!r}, 'li2020/nosuch']); print(status, 'torch' in sys.modules)")
    assert _last_line(code) == "2 False"


def test_a_stored_verdict_waits_for_no_library_of_the_search(run, tmp_path):
    argv = ["explain", "fedalign/lemma-A2", "--out", str(tmp_path)]
    assert run("verify", *argv[1:])[0] == 0
    assert _loaded(argv) == "0"


@pytest.mark.parametrize("argv", [
    ["algorithms"], ["claims", "--paper", "li2020"], ["show", "classical/gd-convex"]], ids=" ".join)
def test_commands_that_compute_nothing_load_nothing_to_compute_with(argv):
    assert _loaded(argv) == "0"


def test_a_search_begins_without_what_comes_later():
    assert _last_line(BEGUN.format(later=LATER - {"cma", "z3"})) == ""


def test_a_run_on_tensors_loads_torch(tmp_path):
    """The checks above see what is loaded."""
    argv = ["run", "fedavg", "--problem", "quadratic", "--rounds", "1", "--seeds", "2", "--out", str(tmp_path / "run.npz")]
    assert {"torch", "xarray"} <= {*_loaded(argv).split()}


def _loaded(argv) -> str:
    """The status of a command, and which of the later libraries it loaded."""
    return _last_line("import sys; from verify.cli.main import main; "
                      f"status = main({argv!r}); print(status, *sorted({LATER!r} & {{*sys.modules}}))")


def _last_line(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.splitlines()[-1]


def test_the_module_is_the_command(tmp_path):
    """Status 0 is only for an accepted certificate, however the command is called."""
    done = subprocess.run([sys.executable, "-m", "verify.cli.main", "check", str(tmp_path / "nothing.json")],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("error: ")
