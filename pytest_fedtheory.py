"""A plugin of pytest: federated methods, your own or another package's, against exact federations.

It adds fixtures, which load fedtheory when a test first asks for one, and ``--fedtheory``, which makes them thorough. Where
no test asks for one, nothing is loaded, and nothing else changes. Hence a file beside the packages: pytest loads plugins as
it starts, and one inside of fedtheory would load torch in every project of an environment.
"""

import pytest

__all__ = ["conforms", "exact_federations", "reference"]


def pytest_addoption(parser):
    group = parser.getgroup("fedtheory", "federated methods on exact federations")
    group.addoption("--fedtheory", action="store_true",
                    help="check on further random federations, and shrink a failing one to the smallest that fails")
    group.addoption("--fedtheory-federations", type=int, default=20, metavar="N",
                    help="how many random federations --fedtheory adds (default: 20)")
    group.addoption("--fedtheory-seed", type=int, default=0, metavar="SEED", help="the seed of these (default: 0)")


def pytest_configure(config):
    for option, least in (("--fedtheory-federations", 0), ("--fedtheory-seed", 0)):
        if (given := config.getoption(option)) < least:
            raise pytest.UsageError(f"{option} must be at least {least}; got {given}")


def pytest_report_header(config):
    if config.getoption("--fedtheory"):
        count, seed = config.getoption("--fedtheory-federations"), config.getoption("--fedtheory-seed")
        return f"fedtheory: {count} random federations of seed {seed}, failures are shrunk"
    return None


@pytest.fixture(scope="session")
def exact_federations(pytestconfig):
    """Federations as plain data, :class:`fedtheory.testing.Case`: unequal weights, sampled clients, one client; with
    ``--fedtheory`` random ones too. ``case.federation()`` makes one, with its optimum and constants known exactly."""
    from fedtheory.testing.foreign import CASES_OF_BLACK_BOXES, random_cases

    if not pytestconfig.getoption("--fedtheory"):
        return CASES_OF_BLACK_BOXES
    count, seed = (pytestconfig.getoption(f"--fedtheory-{name}") for name in ("federations", "seed"))
    return (*CASES_OF_BLACK_BOXES, *random_cases(count, seed))


@pytest.fixture(scope="session")
def reference():
    """``reference("scaffold", case, eta_l=0.1)``: the models of a registered method on a case, (rounds + 1, dim)."""
    from fedtheory.testing.foreign import reference_models

    return reference_models


@pytest.fixture
def conforms(pytestconfig, exact_federations):
    """``conforms(implementation, like="scaffold")`` fails the test unless the implementation, a function of a
    :class:`fedtheory.testing.Job`, is that method and has its properties; ``conforms(method)`` checks an Algorithm. Further
    arguments are those of :func:`fedtheory.testing.check_foreign`, or of ``check_algorithm`` there. Returns the report.
    """
    from fedtheory.testing import check_algorithm, check_foreign

    thorough = pytestconfig.getoption("--fedtheory")

    def check(method, like=None, **options):
        __tracebackhide__ = True
        options = {"quick": not thorough} | options
        if like is None:
            report = check_algorithm(method, **options)
        else:
            report = check_foreign(method, like, **{"federations": exact_federations} | options)
        if report.failed:
            pytest.fail(report.failures, pytrace=False)
        return report

    return check
