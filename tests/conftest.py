"""The fixture that several test files share."""

from __future__ import annotations

import pytest

from verify import cli


@pytest.fixture
def run(capsys):
    """Runs the command line: arguments in; exit status, standard output and standard error out."""

    def run(*argv):
        status = cli.main([str(a) for a in argv])
        return status, *capsys.readouterr()

    return run
