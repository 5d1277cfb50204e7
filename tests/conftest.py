"""The fixtures that several test files share, and the seed of every property test.

Hypothesis tries the same examples in every run; HYPOTHESIS_PROFILE=random looks for new ones.
"""

import os

import pytest
from hypothesis import settings

from bounds.registry.claims import forget_files
from bounds.registry.user_claims import PATHS
from tests.browser import chromium  # noqa: F401 - a fixture
from tests.caches import clear_caches
from tests.slow import left_out
from verify.cli import main as cli

settings.register_profile("fixed", derandomize=True, deadline=None)
settings.register_profile("random", derandomize=False, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Mark what ``tests.slow`` leaves out."""
    slow = left_out([item.nodeid for item in items])
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)


os.environ["FEDTHEORY_STRICT"] = "1"  # a test sees every error, that of a late stage of a claim, too

CLAIM_FILES = os.environ.get(PATHS)  #: the user's claim files when the tests start


@pytest.fixture(autouse=True)
def _claim_files():
    """A command given a file of claims names it to its workers in the environment; the next test has the first ones."""
    yield
    if os.environ.get(PATHS) != CLAIM_FILES:
        os.environ.pop(PATHS, None)
        if CLAIM_FILES is not None:
            os.environ[PATHS] = CLAIM_FILES
        forget_files()


@pytest.fixture(autouse=True)
def _nothing_kept(request):
    """What is kept of claims neither hides what a test plants nor outlives it."""
    planted = "monkeypatch" in request.fixturenames
    if planted:
        clear_caches()
    yield
    if planted:
        clear_caches()


@pytest.fixture
def run(capsys):
    """Runs the command line: arguments in; exit status, standard output and standard error out."""

    def run(*argv):
        status = cli.main([str(a) for a in argv])
        return status, *capsys.readouterr()

    return run


@pytest.fixture
def two_workers():
    """A client of a cluster of two processes of two threads each; a killed one is replaced."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=2, dashboard_address=None) as cluster, \
            distributed.Client(cluster) as client:
        yield client
