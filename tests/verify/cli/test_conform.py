"""``fedtheory conform``: a registered method, one's own from a file, and what is no method."""

import re

import pytest

from tests import ROOT
from tests.messages import contains_in_order

GOOD = """
from fedtheory import Algorithm
from fedtheory import Correction
number = 3
class Mine(Algorithm):
    pass
class Wrong(Algorithm):
    def server_step(self, upload, context):
        return super().server_step(upload, context)._replace(x=upload.model.mean(1) + 1.0)
"""


def test_a_registered_method(run):
    status, said, _ = run("conform", "scaffold", "--quick", "--only", "purity", "--set", "option=I")
    assert status == 0 and "purity" in said and "passed" in said


def test_a_method_of_ones_own(run, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(GOOD)
    assert run("conform", f"{path}:Mine", "--quick")[0] == 0
    status, said, _ = run("conform", f"{path}:Wrong", "--quick")
    assert status == 1 and "failed" in said


def test_the_faulty_method_of_the_page(run, tmp_path, monkeypatch):
    page = (ROOT / "docs" / "python.md").read_text()
    code = re.search(r"```python my_method\.py\n(.*?)```", page, re.DOTALL)[1]
    failing = re.findall(r"```text\n(.*?)\n```", page, re.DOTALL)[1]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_method.py").write_text(code.replace("context.average(upload.model)", "upload.model.mean(1)"))
    status, said, _ = run("conform", "my_method.py:MyMethod")
    assert status == 1 and "5 failed" in said.splitlines()[0]
    assert " ".join(failing.split()) in " ".join(said.split())


@pytest.mark.parametrize(("arguments", "message"), [
    (["nothing-like-it"], "unknown algorithm 'nothing-like-it'"),
    (["nowhere.py:Mine"], "cannot read nowhere.py"),
    (["{path}:Yours"], "mine.py …'Yours'; …Algorithm, Correction, number"),
    (["{path}:Correction"], "Correction of …Algorithm, …; got <class"),
    (["{path}:number"], "number of …Algorithm, …; got 3"),
    (["{broken}:Mine"], "broken.py …ZeroDivisionError"),
    (["scaffold", "--only", "beauty"], "unknown property 'beauty'"),
])
def test_bad_input(run, tmp_path, arguments, message):
    path, broken = tmp_path / "mine.py", tmp_path / "broken.py"
    path.write_text(GOOD)
    broken.write_text("1 / 0")
    status, _, error = run("conform", *(a.format(path=path, broken=broken) for a in arguments))
    assert status == 2 and contains_in_order(error, message)
