"""Writes files whole or not at all: to a temporary name first, which is then renamed."""

import errno
import hashlib
import json
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["DEEPEST", "FULL", "file_name", "read_json", "replacing", "writable_directory", "write_json", "write_text"]

DEEPEST = 200  #: levels of lists and objects in a JSON file that is read
FULL = (errno.ENOSPC, errno.EDQUOT)  #: errors of a full disk


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path``, which is renamed to ``path`` when the block ends without an error.

    After an error the temporary file is removed, and an old ``path`` stays as it was.

    Raises:
        ValueError: the directory cannot be made or written.
    """
    path = Path(path)
    writable_directory(path.parent)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        yield temporary
        os.replace(temporary, path)
    except IsADirectoryError:
        raise ValueError(f"cannot write {path}: it is a directory; give a file name") from None
    except OSError as error:
        if error.filename is None and error.errno is not None:  # errors of a full disk do not name the file
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: str | Path, text: str) -> None:
    """Write ``text`` as UTF-8, whole or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: str | Path, data) -> None:
    """Write plain data as strict JSON (no NaN, no Infinity), whole or not at all; a list has a line for each entry."""
    if isinstance(data, list):
        text = "[" + ",".join("\n" + json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in data) + "\n]"
    else:
        text = json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def read_json(path: str | Path, what: str):
    """Plain data from a JSON file, at most ``DEEPEST`` deep; ``what`` names the kind of file in the error.

    Raises:
        ValueError: no such file, not readable, or damaged.
    """
    try:
        if not stat.S_ISREG(Path(path).stat().st_mode):  # reading a pipe or a device has no end
            raise OSError(errno.EINVAL, "it is no ordinary file")
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read {what} {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a {what}: it is not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"{path} is damaged, not a whole {what}: {error.msg} at line {error.lineno}") from None
    except RecursionError:
        raise _too_deep(path, what) from None
    except ValueError:  # Python's own limit
        most = sys.get_int_max_str_digits()
        raise ValueError(f"{path} is damaged, not a {what}: it has an integer of more than {most} digits") from None
    level = [data]
    for _ in range(DEEPEST):
        level = [part for whole in level if isinstance(whole, dict | list)
                 for part in (whole.values() if isinstance(whole, dict) else whole) if isinstance(part, dict | list)]
        if not level:
            return data
    raise _too_deep(path, what)


def _too_deep(path: str | Path, what: str) -> ValueError:
    return ValueError(f"{path} is damaged, not a {what}: brackets are nested deeper than {DEEPEST} levels")


def writable_directory(path: str | Path) -> Path:
    """Make the directory ``path`` unless it exists, and check that it can be written to.

    Raises:
        ValueError: it cannot be made or written; the message is one line.
    """
    path = Path(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise ValueError(f"cannot write to {path}: it is not a directory") from None
    except OSError as error:
        if error.errno in FULL:
            raise
        raise ValueError(f"cannot write to {path}: {error.strerror}") from None
    if not os.access(path, os.W_OK | os.X_OK):
        raise ValueError(f"cannot write to {path}: permission denied")
    return path


LONGEST_NAME = 200  # characters of a file's name for an id; file systems take 255, and the writer adds some
SPELLED = {"/": "__", "@": "_at_", "+": "_and_"}


def file_name(identifier: str) -> str:
    """A file name for an id, safe on every system and different for different ids.

    Example:
        >>> file_name("fedalign/theorem-1@G-max+as-printed")
        'fedalign__theorem-1_at_G-max_and_as-printed'
    """
    kept = (c if c.isascii() and (c.isalnum() or c in ".-") else SPELLED.get(c, f"_{ord(c):x}_") for c in identifier)
    name = "".join(kept)
    if len(name) > LONGEST_NAME:
        name = f"{name[: LONGEST_NAME - 17]}-{hashlib.sha256(identifier.encode()).hexdigest()[:16]}"
    return name if name.strip(".") else f"_{name}"
