"""The verdicts of a directory, each on disk as soon as it is known: finished ones survive whatever happens to the run."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from verify.results.files import file_name, read_json, writable_directory, write_json
from verify.results.fingerprint import digest
from verify.results.records import as_record, from_record
from verify.results.verdict import Verdict

__all__ = ["FOLDER", "Store", "is_finished", "only_writer", "read_result", "stored_settings", "stored_verdict"]

FOLDER = "results"  # of a report
_WRITTEN = ("", FOLDER, "certificates", "claims", "figures", "papers")  # folders of a report
_FIELDS = ("fingerprint", "record", "sha256")


def is_finished(verdict: Verdict) -> bool:
    """Whether the claim was decided to the end; after an error, a dead process or a time limit the next run tries again."""
    return "stopped" not in verdict.details


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Hold the lock of ``folder``, and name this process in the file ``writer`` there.

    The system releases the lock of a process that dies. A writer on another machine counts until its file is removed,
    because not every network file system shares locks.

    Raises:
        ValueError: another process holds the lock.
    """
    lock, writer = FileLock(folder / "lock"), folder / "writer"
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise _held(folder, _writer(writer)) from None
    try:
        there = _writer(writer)
        if there.get("host") not in (None, socket.gethostname()):
            raise _held(folder, there)
        write_json(writer, {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")})
        try:
            yield
        finally:
            writer.unlink(missing_ok=True)
    finally:
        lock.release()


def _writer(path: Path) -> dict[str, Any]:
    try:
        found = read_json(path, "name of a writer")
    except ValueError:  # it is not there, or its writer died while it wrote it
        return {}
    return found if isinstance(found, dict) else {}


def _held(folder: Path, writer: Mapping[str, Any]) -> ValueError:
    who = f"process {writer.get('pid', 'unknown')} on {writer.get('host', 'this machine')}"
    since = f" since {writer['since']}" if "since" in writer else ""
    return ValueError(f"{who} is writing into {folder.parent}{since}; wait for it, or choose another --out; if it is no "
                      f"longer there, remove {folder / 'writer'}")


class Store:
    """The results in ``out``: one file per claim in ``out/results``, written whole or not at all; a context manager.

    A file carries the fingerprint of its claim and a checksum. A file that is damaged is set aside, and its claim is decided
    again. ``messages`` tells people what was set aside or written again.

    Args:
        out: directory of the report; made if it is not there.
        settings: budget, seeds, seed and device, as plain data; results of other settings are not mixed with these.
        fresh: delete the stored results.

    Raises:
        ValueError: another process writes into ``out``, it holds results of other settings, or it cannot be written.
    """

    def __init__(self, out: str | Path, settings: Mapping[str, Any], *, fresh: bool = False):
        self.out, self.settings, self.fresh = Path(out), dict(settings), fresh
        self.folder = self.out / FOLDER
        self.messages: list[str] = []

    def __enter__(self) -> Store:
        writable_directory(self.out)
        writable_directory(self.folder)
        with ExitStack() as stack:
            stack.enter_context(only_writer(self.folder))
            for folder in _WRITTEN:  # partial files of a process that died while it wrote
                for path in (self.out / folder).glob(".*.partial*"):
                    path.unlink(missing_ok=True)
            if self.fresh:
                for path in self.folder.glob("*.json"):
                    path.unlink()
            self._agree()
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_) -> None:
        self._open.close()

    @property
    def commands(self) -> list[str]:
        """The commands that wrote into this directory, in order."""
        return list(self._about.get("commands", []))

    def add_command(self, command: str) -> None:
        """Record that ``command`` writes into this directory."""
        commands = list(dict.fromkeys([*self.commands, command]))
        self._about = {"settings": self.settings, "commands": commands}
        write_json(self.folder / "about.json", self._about)

    def _agree(self) -> None:
        """Compare the settings with those of the stored results."""
        path = self.folder / "about.json"
        self._about = {}
        if path.exists():
            try:
                self._about = read_json(path, "description of results")
                there = dict(self._about["settings"])
            except (ValueError, KeyError, TypeError):
                self._about, there = {}, self.settings
                self._put_aside(path, "cannot be read")
            if there != self.settings:
                raise ValueError(f"{self.out} holds results with {_words(there)}; asked for {_words(self.settings)}: choose "
                                 "another --out, or start over in this one with --fresh")

    def holds(self, claim_id: str) -> bool:
        """Whether there is a result file for the claim, damaged or not."""
        return self._path(claim_id).exists()

    def load(self, fingerprints: Mapping[str, str]) -> dict[str, Verdict]:
        """The finished verdicts by claim id, for those claims whose fingerprint has not changed."""
        found, stale = {}, 0
        for claim_id, fingerprint in fingerprints.items():
            path = self._path(claim_id)
            if not self.holds(claim_id):
                continue
            try:
                data = read_result(path)
                verdict = from_record(data["record"])
                if verdict.id != claim_id:
                    raise ValueError(f"it is about {verdict.id}")
            except (ValueError, TypeError, KeyError) as problem:
                self._put_aside(path, str(problem))
                continue
            if data["fingerprint"] != fingerprint:
                stale += 1
            elif is_finished(verdict):
                self._restore_certificate(verdict)
                found[claim_id] = verdict
        if stale:
            self.messages.append(f"{stale} results are of another version of the claim or of the code: decided again")
        return found

    def add(self, verdict: Verdict, fingerprint: str) -> Verdict:
        """Write a verdict to disk; returns it as it will be read back."""
        record = json.loads(json.dumps(as_record(verdict), allow_nan=False))
        data = {"fingerprint": fingerprint, "record": record, "sha256": digest([fingerprint, record])}
        write_json(self._path(verdict.id), data)
        return from_record(record)

    def _path(self, claim_id: str) -> Path:
        return self.folder / f"{file_name(claim_id)}.json"

    def _restore_certificate(self, verdict: Verdict) -> None:
        """Write the certificate again where it is missing or differs from that of the verdict."""
        instance = verdict.details.get("instance")
        if not verdict.certificate or not instance:
            return
        path = self.out / verdict.certificate
        try:
            same = read_json(path, "certificate") == instance
        except ValueError:
            same = False
        if not same:
            write_json(path, instance)
            self.messages.append(f"the certificate of {verdict.id} was missing or damaged: written again")

    def _put_aside(self, path: Path, why: str) -> None:
        aside = writable_directory(self.folder / "set-aside") / path.name
        os.replace(path, aside)
        self.messages.append(f"a damaged result was set aside as {aside} and its claim is decided again ({why})")


def read_result(path: Path) -> dict[str, Any]:
    """The data of one result file.

    Raises:
        ValueError: it is not readable, cut off, or does not have its checksum.
    """
    data = read_json(path, "result")
    if not isinstance(data, dict) or set(data) != set(_FIELDS):
        raise ValueError(f"{path} is not a result: it must have {', '.join(_FIELDS)}")
    if digest([data["fingerprint"], data["record"]]) != data["sha256"]:
        raise ValueError(f"{path} does not have its checksum")
    return data


def stored_verdict(out: str | Path, claim_id: str) -> Verdict | None:
    """The verdict on a claim that is stored in a report, whatever its settings; None where none can be read."""
    path = Path(out) / FOLDER / f"{file_name(claim_id)}.json"
    try:
        return from_record(read_result(path)["record"])
    except (ValueError, TypeError, KeyError):
        return None


def stored_settings(out: str | Path) -> dict[str, Any]:
    """Budget, seeds, seed and device of the results in a report; empty where there are none."""
    try:
        return dict(read_json(Path(out) / FOLDER / "about.json", "description of results")["settings"])
    except (ValueError, KeyError, TypeError):
        return {}


def _words(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())
