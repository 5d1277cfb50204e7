"""C code of this package, compiled at first use and cached in the user's cache directory.

A cached library is loaded only from a folder into which nobody else can put one: see :func:`_is_private`.
"""

import ctypes
import hashlib
import os
import platform
import shutil
import stat
import subprocess
import tempfile
from functools import cache
from pathlib import Path

__all__ = ["NoLibrary", "cache_folder", "library"]

#: every operation as it is written; nothing may assume that numbers are finite
FLAGS = ("-std=gnu11", "-O3", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-shared", "-fPIC")
MACHINE = ("-march=native",)  # left out where the compiler refuses it


HEADERS = Path(__file__).parent


class NoLibrary(Exception):
    """The code cannot be compiled on this machine; the message says why."""


def cache_folder() -> Path:
    """The folder of compiled code: ``FEDTHEORY_CACHE``, or ``fedtheory`` in the user's cache directory."""
    if os.environ.get("FEDTHEORY_CACHE"):
        return Path(os.environ["FEDTHEORY_CACHE"])
    try:
        return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fedtheory"
    except RuntimeError:  # there is no home directory
        return Path(os.devnull) / "fedtheory"


def _compiler() -> list[str]:
    named = os.environ.get("CC", "").split()
    found = shutil.which(named[0]) if named else shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if not found:
        raise NoLibrary(f"there is no C compiler {named[0]!r}" if named else "there is no C compiler")
    return [found, *named[1:]]


def _execute(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoLibrary(f"the C compiler failed: {error}") from None
    if done.returncode:
        said = next((line for line in done.stderr.splitlines() if "error" in line), f"status {done.returncode}")
        raise NoLibrary(f"the C compiler failed: {said.strip()}")
    return done.stdout


def _processor() -> str:
    """The processor's model and features, which ``-march=native`` depends on."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    telling = {line for line in lines if line.startswith(("model name", "flags", "Features"))}
    return platform.machine() + "".join(sorted(telling))


def library(source: Path, *options: str) -> ctypes.CDLL:
    """``source`` compiled with ``options`` and loaded; compiled again if it, the compiler or the machine has changed.

    Files are written atomically, so several processes may compile at the same time. A damaged file is compiled again. A
    cache that others can write is not used: the code is then compiled for this process alone.

    Raises:
        NoLibrary: no compiler, or it fails.
    """
    found = _library(source, options, os.environ.get("CC", ""), str(cache_folder()))
    if isinstance(found, str):
        raise NoLibrary(found)
    return found


@cache
def _library(source, options, named, folder) -> ctypes.CDLL | str:
    """The library, or the reason why there is none."""
    try:
        return _loaded(source, options, folder)
    except NoLibrary as reason:
        return str(reason)


def _loaded(source, options, folder):
    compiler = _compiler()
    code = b"".join(path.read_bytes() for path in (source, *sorted(HEADERS.glob("*.h"))))
    about = repr((_execute([*compiler, "--version"]), compiler, FLAGS, options, _processor())).encode()
    target = Path(folder) / f"{source.stem}-{hashlib.sha256(code + about).hexdigest()[:24]}.so"
    try:
        for place in (*reversed(target.parent.parents), target.parent):  # each private, which parents=True would not do
            place.mkdir(mode=0o700, exist_ok=True)
        if not _is_private(target.parent):
            raise PermissionError(f"others can write to {target.parent}")
        if not _whole(target):
            _compile([*compiler, *FLAGS, f"-I{HEADERS}", *options], source, target)
        return ctypes.CDLL(str(target))
    except OSError:  # the cache cannot be written or read, or others can write to it: a copy for this process alone
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as private:  # some systems keep what is loaded
            target = Path(private, target.name)
            _compile([*compiler, *FLAGS, f"-I{HEADERS}", *options], source, target)
            try:
                return ctypes.CDLL(str(target))  # stays loaded when the file is gone
            except OSError as error:
                raise NoLibrary(f"what the C compiler made cannot be loaded: {error}") from None


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_private(folder: Path) -> bool:
    """Whether a folder is one of this user that nobody else can write to or replace.

    The folder itself must be a folder, not a link, of this user, and writable by this user alone. Each folder above it must
    belong to this user or to root, and be writable by its owner alone, unless it is sticky, as /tmp is. Where the system has
    no user ids (Windows), the rights of folders cannot be read here, and the user's own cache is trusted.
    """
    if not hasattr(os, "geteuid"):
        return True
    own, whole = folder.lstat(), folder.resolve()
    above = [place.stat() for place in whole.parents]
    return stat.S_ISDIR(own.st_mode) and _only_ours(own) and all(
        place.st_uid in (0, os.geteuid()) and (place.st_mode & stat.S_ISVTX or not place.st_mode & _BY_OTHERS)
        for place in above)


_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def _only_ours(found: os.stat_result) -> bool:
    """Whether something belongs to this user, and nobody else can write to it."""
    return not hasattr(os, "geteuid") or (found.st_uid == os.geteuid() and not found.st_mode & _BY_OTHERS)


def _whole(target: Path) -> bool:
    """Whether the file is there, ours and undamaged; loading a damaged one could end the process.

    The checksum beside the file tells damage alone: whoever can write the one can write the other.
    """
    digest = target.with_suffix(".sha256")
    try:
        ours = all(stat.S_ISREG(found.st_mode) and _only_ours(found) for found in (target.lstat(), digest.lstat()))
        return ours and digest.read_text(encoding="ascii") == _digest(target)
    except (OSError, UnicodeDecodeError):
        return False


def _compile(command: list[str], source: Path, target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as private:
        fresh, digest = Path(private, target.name), Path(private, "digest")
        try:
            _execute([*command, *MACHINE, str(source), "-o", str(fresh), "-lm"])
        except NoLibrary:
            _execute([*command, str(source), "-o", str(fresh), "-lm"])
        digest.write_text(_digest(fresh), encoding="ascii")
        for path in (fresh, digest):
            path.chmod(0o700)  # whatever the user's mask is
        os.replace(fresh, target)
        os.replace(digest, target.with_suffix(".sha256"))
