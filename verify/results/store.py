"""Verdicts of a directory, each on disk as soon as it is known: what is finished survives whatever happens to the run."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from verify.results.files import file_name, read_json, writable_directory, write_json
from verify.results.fingerprint import digest
from verify.results.records import as_record, from_record
from verify.results.verdict import Verdict

__all__ = ["FOLDER", "Lock", "Store", "is_finished", "read_result", "stored_settings", "stored_verdict"]

try:
    import fcntl
except ImportError:  # not a POSIX system: only the text of the lock file says who holds it
    fcntl = None

FOLDER = "results"  # of a report
_WRITTEN = ("", FOLDER, "certificates", "claims", "figures", "papers")  # folders of a report
_FIELDS = ("fingerprint", "record", "sha256")


def is_finished(verdict: Verdict) -> bool:
    """Whether the claim was decided to the end; an error, a dead worker or a time limit leaves it to the next run."""
    return "stopped" not in verdict.details


class Lock:
    """Says in ``path`` which process writes into its directory; a context manager.

    The file names process and host. The system releases the lock of a process that dies, so its file is taken over.

    Raises:
        ValueError: another process holds it.
    """

    def __init__(self, path: str | Path):
        self.path, self._file = Path(path), None

    def __enter__(self) -> Lock:
        while True:
            file = self.path.open("a+", encoding="utf-8")
            try:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = _owner(file)
                file.close()
                raise self._held(owner) from None
            if self.path.exists() and os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                break
            file.close()  # its owner removed it meanwhile: there is a new file to ask for
        owner = _owner(file)
        if owner.get("host") not in (None, socket.gethostname()) or (fcntl is None and _runs(owner.get("pid"))):
            file.close()
            raise self._held(owner)
        file.seek(0)
        file.truncate()
        json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M:%S")}, file)
        file.flush()
        self._file = file
        return self

    def __exit__(self, *_) -> None:
        self.path.unlink(missing_ok=True)
        self._file.close()

    def _held(self, owner: Mapping[str, Any]) -> ValueError:
        who = f"process {owner.get('pid', 'unknown')} on {owner.get('host', 'this machine')}"
        since = owner.get("since", "some time")
        return ValueError(f"{who} is writing into {self.path.parent.parent} since {since}; wait for it, or choose another "
                          f"--out; if it is no longer there, remove {self.path}")


def _owner(file) -> dict[str, Any]:
    file.seek(0)
    try:
        owner = json.loads(file.read())
    except ValueError:  # empty, or cut off: its writer died before it had written anything else
        return {}
    return owner if isinstance(owner, dict) else {}


def _runs(pid) -> bool:
    try:
        os.kill(int(pid), 0)
    except (OSError, TypeError, ValueError):
        return False
    return True


class Store:
    """The results in ``out``: one small file per claim in ``out/results``, written whole or not at all.

    A file carries its claim's fingerprint and a checksum. One that does not read back as it was written is put aside,
    and its claim is decided again. ``messages`` says what was put aside or taken over, for people.

    Args:
        out: directory of the report; made if it is not there.
        settings: budget, seeds, seed and device, as plain data; results of other settings are not mixed with these.
        fresh: forget the results that are there.

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
        self._lock = Lock(self.folder / "lock")
        self._lock.__enter__()
        try:
            for folder in _WRITTEN:  # what a process left behind that died while it wrote
                for path in (self.out / folder).glob(".*.partial*"):
                    path.unlink(missing_ok=True)
            if self.fresh:
                for path in self.folder.glob("*.json"):
                    path.unlink()
            self._agree()
        except BaseException:
            self._lock.__exit__()
            raise
        return self

    def __exit__(self, *_) -> None:
        self._lock.__exit__()

    @property
    def commands(self) -> list[str]:
        """The commands whose results are here, in order."""
        return list(self._about.get("commands", []))

    def add_command(self, command: str) -> None:
        """Remember that ``command`` wrote into this directory."""
        commands = list(dict.fromkeys([*self.commands, command]))
        self._about = {"settings": self.settings, "commands": commands}
        write_json(self.folder / "about.json", self._about)

    def _agree(self) -> None:
        """Compare the settings with those of the results that are here."""
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
        """Whether there is a result file for the claim, good or not."""
        return self._path(claim_id).exists()

    def load(self, fingerprints: Mapping[str, str]) -> dict[str, Verdict]:
        """The finished verdicts by claim id, of those claims that still have the fingerprint they were decided with."""
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
        """Write a verdict to disk, and return it as it will be read back."""
        record = json.loads(json.dumps(as_record(verdict), allow_nan=False))
        data = {"fingerprint": fingerprint, "record": record, "sha256": digest([fingerprint, record])}
        write_json(self._path(verdict.id), data)
        return from_record(record)

    def _path(self, claim_id: str) -> Path:
        return self.folder / f"{file_name(claim_id)}.json"

    def _restore_certificate(self, verdict: Verdict) -> None:
        """Write a certificate again that is gone or is not what the verdict rests on."""
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
    """One result file.

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
    """The verdict on a claim that lies in a report, whatever its settings; None where there is none that can be read."""
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
