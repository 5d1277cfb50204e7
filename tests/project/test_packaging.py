"""The distribution: built, installed by itself, and used outside of the checkout.

Libraries come from this environment; the packages of this distribution come from the wheel alone, which is checked.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tarfile
import time
import zipfile
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import pytest

from tests import ROOT
from tests.project.packages import PACKAGES

pytestmark = pytest.mark.slow

MODULE = "pytest_fedtheory.py"
BUILD = "import sys; from setuptools import build_meta as b; print(getattr(b, 'build_' + sys.argv[1])(sys.argv[2]))"
FALSE = """
[[claim]]
id = "mine/too-good"
assume = ["L_client[k] <= L for k in 0..clients-1", "mu_client[k] >= mu for k in 0..clients-1"]
conditions = ["eta_l[t] <= 1/L for t in 0..iterations-1"]
statement = "E(norm2(x_round[rounds] - x_star)) <= (1 - mu/L)**(2*rounds)*norm2(x_round[0] - x_star)"
"""


def execute(*command, cwd, **environment) -> str:
    """What a command prints; its own words where it fails."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "VIRTUAL"))}
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True,
                          env=clean | {"OMP_NUM_THREADS": "1", "PYTHONSAFEPATH": "1"} | environment)
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def of_the_tree() -> set[str]:
    """Every file of the packages."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    return {MODULE, *(path.relative_to(ROOT).as_posix() for path in paths
                      if not {"__pycache__", "__marimo__", "__kept__"} & {*path.parts})}


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """The sdist, and the wheel made from it, as installers do."""
    out = tmp_path_factory.mktemp("built")
    source = out / "source"
    source.mkdir()
    for part in (*PACKAGES, "tests", "docs", "benchmarks", "demos"):
        if (ROOT / part).exists():
            shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("__pycache__", "__marimo__"))
    for path in [*ROOT.glob("*.md"), *ROOT.glob("*.toml"), *ROOT.glob("*.py"), *ROOT.glob("*.txt"), ROOT / "LICENSE"]:
        shutil.copy(path, source)
    sdist = execute(sys.executable, "-c", BUILD, "sdist", out, cwd=source).splitlines()[-1]
    with tarfile.open(out / sdist) as archive:
        archive.extractall(out / "unpacked", filter="data")
    (unpacked,) = (out / "unpacked").iterdir()
    wheel = execute(sys.executable, "-c", BUILD, "wheel", out, cwd=unpacked).splitlines()[-1]
    return out / sdist, out / wheel


@pytest.fixture(scope="module")
def installed(built, tmp_path_factory) -> Path:
    """The folder of programs of a fresh environment with the wheel."""
    folder = tmp_path_factory.mktemp("fresh")
    execute(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder)
    programs = folder / ("Scripts" if os.name == "nt" else "bin")
    python = programs / "python"
    execute(sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", "--no-index", built[1],
            cwd=folder)
    site = execute(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    Path(site, "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")  # behind the wheel's
    return programs


def test_the_wheel_has_every_file_of_the_packages_and_no_other(built):
    with zipfile.ZipFile(built[1]) as wheel:
        names = {name for name in wheel.namelist() if ".dist-info/" not in name}
    assert names == of_the_tree()
    assert {"fedtheory/fused.c", "fedtheory/vectors.h", "verify/report/templates/index.html.j2"} <= names


def test_the_sdist_has_what_a_wheel_needs(built):
    with tarfile.open(built[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert of_the_tree() | {"pyproject.toml", "README.md", "LICENSE"} <= names


def test_the_wheel_says_what_it_is(built):
    with zipfile.ZipFile(built[1]) as wheel:
        about = {Path(name).name: wheel.read(name).decode() for name in wheel.namelist() if ".dist-info/" in name}
    assert "License-Expression: Apache-2.0" in about["METADATA"] and "LICENSE" in about
    assert "fedtheory = verify.cli.main:main" in about["entry_points.txt"]
    assert "[pytest11]\nfedtheory = pytest_fedtheory" in about["entry_points.txt"]


def test_the_packages_come_from_the_wheel(installed, tmp_path):
    names = [*PACKAGES, "pytest_fedtheory"]
    program = f"import {', '.join(names)}\nfor one in ({', '.join(names)}): print(one.__file__)"
    files = execute(installed / "python", "-c", program, cwd=tmp_path).splitlines()
    assert len(files) == len(names)
    assert all(Path(file).is_relative_to(installed.parent) for file in files), files


def test_a_claim_is_refereed_outside_of_the_checkout(installed, tmp_path):
    execute(installed / "fedtheory", "verify", "classical/gd-convex", "--budget", "quick", "--out", "report", cwd=tmp_path)
    assert json.loads((tmp_path / "report" / "verdicts.json").read_text(encoding="utf-8"))[0]["verdict"] == "consistent"
    assert "classical/gd-convex" in (tmp_path / "report" / "index.html").read_text(encoding="utf-8")


def test_a_false_claim_of_a_user_is_refuted_and_checked_again(installed, tmp_path):
    (tmp_path / "mine.toml").write_text(FALSE, encoding="utf-8")
    done = subprocess.run([installed / "fedtheory", "verify", "mine.toml", "--budget", "quick", "--out", "report"],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    (certificate,) = (tmp_path / "report" / "certificates").glob("*.json")
    assert "accepted" in execute(installed / "fedtheory", "check", certificate, "--statement", "mine.toml", cwd=tmp_path)
    statement = execute(installed / "python", "-m", "fedtheory", "show", "mine.toml", "--statement", cwd=tmp_path)
    (tmp_path / "statement.json").write_text(statement, encoding="utf-8")
    assert "accepted" in execute(installed / "python", "-m", "verify.checker", certificate, "statement.json", cwd=tmp_path)


def test_a_run_is_made_and_drawn(installed, tmp_path):
    execute(installed / "python", "-m", "verify", "run", "scaffold", "--problem", "digits", "--rounds", "3", "--seeds", "2",
            "--out", "run.npz", cwd=tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} >= {".npz", ".svg", ".pdf", ".png"}
    assert (tmp_path / "run.svg").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
def test_the_code_in_c_is_compiled(installed, tmp_path):
    program = """
import fedtheory as ft
runs = ft.run(ft.fedavg(eta_l=0.01, local_steps=2), ft.make_problem('least-squares'), 2, path='compiled')
print(float(runs.dataset.suboptimality[0, -1]) >= 0)
"""
    said = execute(installed / "python", "-c", program, cwd=tmp_path, FEDTHEORY_CACHE=str(tmp_path / "cache"))
    assert said.strip() == "True" and [*(tmp_path / "cache").glob("*.so")]


def test_demos_are_listed(installed, tmp_path):
    notebooks = {path.stem for path in (ROOT / "verify" / "demos" / "notebooks").glob("*.py")} - {"__init__"}
    said = execute(installed / "fedtheory", "demo", cwd=tmp_path, COLUMNS="200")
    assert notebooks and [name for name in notebooks if name.replace("_", "-") not in said and name not in said] == []


@pytest.mark.skipif(os.name == "nt", reason="the server and its child end together by a signal to their group")
def test_a_demo_opens(installed, tmp_path):
    pytest.importorskip("marimo", reason="live notebooks need marimo")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYTEST", "VIRTUAL"))}
    command = [installed / "fedtheory", "demo", "client-drift", "--no-browser", "--port", str(port)]
    with open(tmp_path / "log", "wb") as log:
        server = subprocess.Popen(command, cwd=tmp_path, env=clean | {"HOME": str(tmp_path), "OMP_NUM_THREADS": "1"},
                                  stdout=log, stderr=log, start_new_session=True)
    try:
        page = answer(f"http://127.0.0.1:{port}", server)
        assert "marimo" in page and str(ROOT) not in page
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait()


def answer(address: str, server, patience: float = 120) -> str:
    """What a server says, once it does."""
    until = time.monotonic() + patience
    while True:
        try:
            with urlopen(address, timeout=5) as page:
                return page.read().decode()
        except (URLError, OSError):
            assert server.poll() is None and time.monotonic() < until
            time.sleep(0.2)


def test_pytest_knows_the_plugin(installed, tmp_path):
    (tmp_path / "test_mine.py").write_text(
        "def test_mine(conforms):\n    assert conforms('fedavg', only=['purity'])['purity'].outcome == 'passed'\n")
    said = execute(installed / "python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_mine.py", cwd=tmp_path)
    assert "1 passed" in said
    assert "--fedtheory-seed" in execute(installed / "python", "-m", "pytest", "--help", cwd=tmp_path)
