"""Nothing needs POSIX: the packages load and referee where modules and functions that only it has are missing.

Libraries of others are loaded before these are taken away, because they choose by the system themselves.
"""

import ast
import os
import subprocess
import sys

import pytest

from tests import ROOT
from tests.project import packages

MODULES = ("fcntl", "grp", "pty", "pwd", "resource", "syslog", "termios", "tty", "readline", "spwd", "crypt", "nis")
OF_OS = ("fork", "forkpty", "getuid", "geteuid", "getgid", "getegid", "getgroups", "getpgid", "getpgrp", "getsid", "setsid",
         "setpgid", "killpg", "wait3", "wait4", "mkfifo", "mknod", "nice", "getloadavg", "sysconf", "confstr", "statvfs",
         "pread", "pwrite", "chown", "lchown", "fchown", "chroot", "sched_getaffinity", "sched_setaffinity", "uname",
         "posix_fallocate", "posix_fadvise", "getpriority", "setpriority", "ttyname", "ctermid", "sync", "fdatasync")
OF_SIGNAL = ("SIGKILL", "SIGALRM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCHLD", "SIGPIPE", "SIGSTOP", "SIGCONT",
             "alarm", "setitimer", "getitimer", "pause", "pthread_sigmask", "pthread_kill", "sigwait", "siginterrupt")
LIBRARIES = ("array_api_compat", "cma", "filelock", "jinja2", "latex2mathml.converter", "matplotlib.figure", "numpy",
             "rich.table", "rich.progress", "scipy.optimize", "scipy.stats", "sklearn.datasets", "sympy", "torch", "typer",
             "typer.main", "xarray", "z3", "clarabel", "multiprocessing.connection", "concurrent.futures.process", "pytest",
             "hypothesis.strategies", "distributed", "zarr", "pyarrow.parquet", "matplotlib.backends.backend_pdf", "marimo")

WITHOUT = """
import importlib, os, signal, sys, warnings

for name in {libraries}:
    try:
        importlib.import_module(name)
    except ImportError:
        pass
for name in {modules}:
    sys.modules[name] = None
for module, names in ((os, {of_os}), (signal, {of_signal})):
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
warnings.filterwarnings("error", category=EncodingWarning, module=r"(verify|fedtheory|synthetic|bounds)([.]|$)")
"""


def without_posix(program: str, *flags: str, **environment):
    """Run a program where POSIX is missing: status and output."""
    start = WITHOUT.format(libraries=LIBRARIES, modules=MODULES, of_os=OF_OS, of_signal=OF_SIGNAL)
    done = subprocess.run([sys.executable, *flags, "-c", start + program], cwd=ROOT, capture_output=True, text=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1", **environment})
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
def test_every_module_loads_without_posix():
    names = [*packages.files(), "pytest_fedtheory"]
    status, said = without_posix(f"for name in {names}:\n    importlib.import_module(name)\nprint('loaded', len({names}))")
    assert status == 0 and f"loaded {len(names)}" in said, said


@pytest.mark.slow
def test_what_is_missing_is_missed():
    """The check above sees what would fail elsewhere."""
    wrong = ["import fcntl", "os.fork()", "signal.SIGKILL", "os.getuid()"]
    status, said = without_posix(f"""
for program in {wrong}:
    try:
        exec(program)
    except (AttributeError, ImportError):
        print("missed")
""")
    assert status == 0 and said.count("missed") == len(wrong)


@pytest.mark.slow
@pytest.mark.parametrize("arguments", [
    ["verify", "classical/gd-convex", "--budget", "quick", "--out"],
    ["run", "scaffold", "--problem", "quadratic", "--rounds", "3", "--out"],
], ids=["verify", "run"])
def test_a_claim_is_refereed_without_posix_in_utf_8_alone(arguments, tmp_path):
    """Also: every file is read and written in UTF-8, whatever the system's own encoding is."""
    out = tmp_path / ("run.npz" if arguments[0] == "run" else "report")
    program = f"from verify.cli.main import main\nif __name__ == '__main__':\n    sys.exit(main({[*arguments, str(out)]}))"
    status, said = without_posix(program, "-X", "warn_default_encoding")
    assert status == 0 and out.exists(), said


@pytest.mark.parametrize("arguments", [["show", "fedalign/theorem-1"], ["show", "no/such-claim-γ"]])
def test_what_is_printed_into_a_pipe_is_utf_8(arguments):
    done = subprocess.run([sys.executable, "-m", "verify", *arguments], cwd=ROOT, capture_output=True,
                          env={**os.environ, "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"})
    assert b"Traceback" not in done.stderr and ("γ" if done.returncode else "≤") in (done.stdout + done.stderr).decode()


@pytest.mark.parametrize("package", ["verify", "fedtheory"])
def test_the_command_is_also_a_module(package):
    done = subprocess.run([sys.executable, "-m", package, "--version"], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.startswith("fedtheory ")


def test_no_file_is_opened_in_the_encoding_of_the_system():
    wrong = []
    for name, path in packages.files().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            texts = isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("read_text", "write_text")
            if texts and not any(one.arg == "encoding" for one in node.keywords):
                wrong.append(f"{name}:{node.lineno}")
    assert wrong == []
