"""Virtual environments for the peers, from the requirement files beside this module."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

__all__ = ["create"]

MARK = "# without dependencies:"


def create(peers, python=sys.executable) -> None:
    """Create ``.peers/<environment>`` for these peers where it is missing, and install what their files pin."""
    for name in sorted({peer.environment for peer in peers}):
        together = [peer for peer in peers if peer.environment == name]
        interpreter = together[0].default_python
        if not interpreter.exists():
            subprocess.run([str(python), "-m", "venv", str(interpreter.parent.parent)], check=True)
        halves = [peer.requirements.read_text(encoding="utf-8").split(MARK) for peer in together]
        for part, options in ((0, []), (1, ["--no-deps"])):
            lines = sorted({line for half in halves for line in half[part].splitlines() if line and line[0] != "#"})
            with tempfile.TemporaryDirectory() as folder:
                wanted = Path(folder, "requirements.txt")
                wanted.write_text("\n".join(lines) + "\n", encoding="utf-8")
                pip = [str(interpreter), "-m", "pip", "install", "--quiet", *options, "-r", str(wanted)]
                subprocess.run(pip, check=True)
