"""Commands that compute nothing start without the large libraries, and a verdict's search begins without them."""

import json
import subprocess
import sys

import pytest

from tests import ROOT

LARGE = ("distributed", "matplotlib", "pandas", "sklearn", "torch", "xarray", "z3", "zarr")
CLAIM = "classical/gd-convex"

LOADED = """
import json, sys
{what}
print(json.dumps([name for name in {large} if name in sys.modules]))
"""
COMMAND = """
from verify.cli.main import main
assert main({arguments}) == 0
"""
#: the libraries that are loaded when the search of a verdict begins
BEGUN = """
from bounds.registry.claims import find_claim
from verify.referee import decide

class Begun(Exception):
    pass

def begin(*args, **options):
    raise Begun

decide.search = begin
try:
    decide.decide(find_claim({claim!r}), decide.Settings())
except Begun:
    pass
else:
    raise AssertionError("nothing was searched")
"""


def _loaded(what: str) -> list[str]:
    code = LOADED.format(what=what, large=LARGE)
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The directory of a report with a verdict on the claim."""
    from verify.cli.main import main

    out = tmp_path_factory.mktemp("start") / "report"
    assert main(["verify", CLAIM, "--out", str(out)]) == 0
    return out


@pytest.mark.parametrize("arguments", [
    ["algorithms"], ["claims", "--paper", "li2020"], ["show", CLAIM], ["explain", CLAIM, "--out", "{report}"],
], ids=" ".join)
def test_commands(arguments, report):
    what = COMMAND.format(arguments=[argument.format(report=report) for argument in arguments])
    assert not _loaded(what)


def test_import():
    assert not _loaded("import fedtheory as ft; ft.fedavg, ft.make_quadratic")


def test_search_begins():
    assert not {*_loaded(BEGUN.format(claim=CLAIM))} & {"torch", "xarray", "sklearn", "matplotlib"}


def test_tensors_are_made():
    """The check sees what is loaded: a run on tensors loads torch, and its result xarray."""
    what = "import fedtheory as ft; ft.run(ft.fedavg(eta_l=0.1), ft.make_quadratic(), rounds=1)"
    assert {"torch", "xarray"} <= {*_loaded(what)}
