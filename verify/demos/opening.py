"""Opens a notebook in the browser: a server of its own that answers on this machine only and asks no network."""

import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from verify.demos.catalogue import Demo

__all__ = ["command", "environment", "open_demo"]

_HOST = "127.0.0.1"
#: of the server: it looks for no newer version of itself
_QUIET = {"MARIMO_SKIP_UPDATE_CHECK": "1"}


def command(demo: Demo, port: int | None = None, browser: bool = True, edit: Path | None = None) -> list[str]:
    """The command line of the server; ``edit``: the file to edit instead of the app."""
    arguments = [sys.executable, "-m", "marimo", "edit" if edit else "run", "--no-sandbox", "--host", _HOST]
    arguments += ["--port", str(port)] if port is not None else []
    return [*arguments, *["--headless"] * (not browser), str(edit or demo.path)]


def environment() -> dict[str, str]:
    """The variables of the server. It finds the packages that this process has found."""
    here = str(Path(__file__).resolve().parents[2])
    paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
    return os.environ | _QUIET | {"PYTHONPATH": os.pathsep.join(paths)}


def open_demo(demo: Demo, port: int | None = None, browser: bool = True, edit: bool = False) -> int:
    """Run the notebook until it is interrupted, and return the server's exit status.

    Args:
        port: where it answers; by default the first free one from 2718 on.
        browser: open it there.
        edit: open a copy in the working directory, with its code. A copy that is there already stays as it is.

    Raises:
        ImportError: marimo is not installed. ValueError: not a port. OSError: the copy cannot be written.
    """
    if port is not None and not 0 < port < 65536:
        raise ValueError(f"--port must be from 1 to 65535; got {port}")
    if find_spec("marimo") is None:
        raise ImportError('live notebooks need marimo; install it with: pip install "fedtheory[demos]"')
    copy = None
    if edit:
        copy = Path.cwd() / demo.path.name
        if not copy.exists():
            shutil.copyfile(demo.path, copy)
    return _served(command(demo, port, browser, copy))


def _served(arguments: list[str]) -> int:
    """Run the server until it ends or is interrupted. What ends this process ends the server too."""

    def end(number, frame):
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, end)
    try:
        with subprocess.Popen(arguments, env=environment()) as server:
            try:
                return server.wait()
            except KeyboardInterrupt:
                return 0
            finally:
                server.terminate()
    finally:
        signal.signal(signal.SIGTERM, before)
