"""The command `fedtheory demo`: what it lists, what it refuses, and the server that it starts."""

import os
import subprocess
import sys

import pytest

from verify.demos import opening
from verify.demos.catalogue import demos, find_demo

DEMO = find_demo("client-drift")


def test_the_list_has_every_demo_with_its_idea(run):
    status, out, err = run("demo")
    assert (status, err) == (0, "") and all(name in out for name in demos())


def test_an_unknown_name_is_one_line_with_the_nearest(run):
    status, out, err = run("demo", "client-drfit")
    assert status == 2 and out == "" and err.count("\n") == 1 and "nearest: client-drift" in err


def test_without_marimo_one_sentence_says_what_to_install(run, monkeypatch):
    monkeypatch.setattr(opening, "find_spec", lambda name: None)
    status, out, err = run("demo", "client-drift")
    assert status == 2 and out == "" and err.count("\n") == 1 and "fedtheory[demos]" in err


@pytest.mark.parametrize("port", ["0", "65536", "-1"])
def test_a_port_that_is_none_is_refused(run, port):
    status, _, err = run("demo", "client-drift", "--port", port)
    assert status == 2 and "1 to 65535" in err and port in err


@pytest.fixture
def started(monkeypatch):
    """The command lines of the servers that would have been started, with their variables."""
    calls = []

    def served(arguments):
        calls.append((arguments, opening.environment()))
        return 0

    monkeypatch.setattr(opening, "_served", served)
    monkeypatch.setattr(opening, "find_spec", lambda name: True)
    return calls


def test_the_server_is_on_this_machine_only(run, started):
    assert run("demo", "client-drift", "--port", "8123", "--no-browser")[0] == 0
    (arguments, env), = started
    assert arguments[0] == sys.executable and arguments[arguments.index("--host") + 1] == "127.0.0.1"
    assert arguments[arguments.index("--port") + 1] == "8123" and "--headless" in arguments
    assert arguments[-1] == str(DEMO.path) and env["MARIMO_SKIP_UPDATE_CHECK"] == "1"
    assert "run" in arguments and "--no-token" not in arguments


def test_what_is_edited_is_a_copy_that_stays(run, started, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("demo", "client-drift", "--edit")[0] == 0
    copy = tmp_path / "client_drift.py"
    assert copy.read_text() == DEMO.path.read_text()
    copy.write_text("mine")
    assert run("demo", "client-drift", "--edit")[0] == 0
    assert copy.read_text() == "mine" and os.listdir(tmp_path) == ["client_drift.py"]
    assert all(arguments[-1] == str(copy) and "edit" in arguments for arguments, _ in started)


ENDED = """
import sys
from verify.demos import opening
opening._served([sys.executable, "-c", "import os, time; print(os.getpid(), flush=True); time.sleep(60)"])
"""


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a process that is ended is told nothing")
def test_the_server_ends_with_the_command():
    with subprocess.Popen([sys.executable, "-c", ENDED], stdout=subprocess.PIPE, text=True) as command:
        server = int(command.stdout.readline())
        command.terminate()
        assert command.wait() == 128 + 15
        with pytest.raises(ProcessLookupError):
            os.kill(server, 0)
