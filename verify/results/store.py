"""The verdicts of a directory, each on disk as soon as it is known: finished ones survive whatever happens to the run."""

import json
import os
import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from filelock import FileLock, Timeout

from verify.results.files import file_name, read_json, writable_directory, write_json, write_text
from verify.results.fingerprint import digest
from verify.results.records import as_record, from_record
from verify.results.verdict import Verdict

__all__ = [
    "CERTIFICATES", "EARLIER", "FOLDER", "KEPT", "Store", "is_finished", "only_writer", "read_result", "stored_settings",
    "stored_verdict",
]

FOLDER = "results"  # of a report
CERTIFICATES, EARLIER = "certificates", f"{FOLDER}/earlier"
_WRITTEN = ("", FOLDER, EARLIER, CERTIFICATES, "claims", "figures", "papers")  # folders of a report
_FIELDS = {"fingerprint", "record", "sha256"}  # and the certificate, where there is one
KEPT = "kept"  #: name in the details of a verdict: why it is not current
_ANOTHER = "a result of another version of the claim or of the code"
_UNKNOWN = "a result on a claim that the last run did not know"


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
        raise _in_use(folder, _writer(writer)) from None
    try:
        there = _writer(writer)
        if there.get("host") not in (None, socket.gethostname()):
            raise _in_use(folder, there)
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


def _in_use(folder: Path, writer: Mapping[str, Any]) -> ValueError:
    who = f"process {writer.get('pid', 'unknown')} on {writer.get('host', 'this machine')}"
    since = f" since {writer['since']}" if "since" in writer else ""
    return ValueError(f"{who} is writing into {folder.parent}{since}; wait for it, or choose another --out; if it is no "
                      f"longer there, remove {folder / 'writer'}")


class Store:
    """The results in ``out``: one file per claim in ``out/results``, written whole or not at all; a context manager.

    A file carries the fingerprint of its claim, the certificate and a checksum. A file that is damaged is set aside, and its
    claim is decided again. ``messages`` tells people what was set aside or written again. Nothing else is lost: a result of
    another version is copied to ``out/results/earlier`` before a new one takes its place, and a certificate is never
    overwritten by another one. Those who decide write certificates into ``incoming``, from where :meth:`add` takes them.

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
        self.incoming = self.folder / "incoming"
        self.messages: list[str] = []

    def __enter__(self) -> Self:
        writable_directory(self.out)
        writable_directory(self.folder)
        with ExitStack() as stack:
            stack.enter_context(only_writer(self.folder))
            for folder in _WRITTEN:  # partial files of a process that died while it wrote
                for path in (self.out / folder).glob(".*.partial*"):
                    path.unlink(missing_ok=True)
            stack.callback(shutil.rmtree, self.incoming, ignore_errors=True)
            shutil.rmtree(self.incoming, ignore_errors=True)
            if self.fresh:
                self._delete()
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
                there, commands = dict(self._about["settings"]), self.commands
                if not all(isinstance(command, str) for command in commands):
                    raise ValueError("commands must be texts")
            except (ValueError, LookupError, TypeError, AttributeError):
                self._about, there = {}, self.settings
                self._put_aside(path, "cannot be read")
            if there != self.settings:
                raise ValueError(f"{self.out} holds results with {_words(there)}; asked for {_words(self.settings)}: choose "
                                 "another --out, or start over in this one with --fresh")

    def holds(self, claim_id: str) -> bool:
        """Whether there is a result file for the claim, damaged or not."""
        return self._path(claim_id).exists()

    def mentions(self, paper: str) -> bool:
        """Whether there is a result file for a claim of the paper."""
        return any(self.folder.glob(f"{file_name(f'{paper}/')}*.json"))

    def load(self, fingerprints: Mapping[str, str]) -> tuple[dict[str, Verdict], dict[str, Verdict]]:
        """The current verdicts and the others of the directory, by claim id.

        A verdict is current if it is finished and its claim has the fingerprint given here. The others say under ``kept`` in
        their details whether they are of another version, or of a claim without a fingerprint here.
        """
        current, others = {}, {}
        for path in sorted(path for path in self.folder.glob("*.json") if path.name != "about.json"):
            try:
                data = read_result(path)
                verdict = from_record(data["record"])
                if path != self._path(verdict.id):
                    raise ValueError(f"it is about {verdict.id}")
            except ValueError as problem:
                self._put_aside(path, str(problem))
                continue
            self._restore_certificate(verdict, data)
            verdict = _marked(verdict, data, fingerprints.get(verdict.id))
            (current if is_finished(verdict) and KEPT not in verdict.details else others)[verdict.id] = verdict
        return current, others

    def add(self, verdict: Verdict, fingerprint: str) -> Verdict:
        """Write a verdict and its certificate to disk; returns it as it will be read back."""
        certificate = {}
        if verdict.certificate:
            certificate = {"certificate": read_json(self.incoming / verdict.certificate, "certificate")}
            verdict = replace(verdict, certificate=self._place(verdict.id, certificate["certificate"]))
        if earlier := self._earlier(self._path(verdict.id), fingerprint):
            verdict = replace(verdict, details=verdict.details | {"earlier": earlier})
        record = json.loads(json.dumps(as_record(verdict), allow_nan=False))
        data = {"fingerprint": fingerprint, "record": record} | certificate
        write_json(self._path(verdict.id), data | {"sha256": digest(list(data.values()))})
        return from_record(record)

    def _path(self, claim_id: str) -> Path:
        return self.folder / f"{file_name(claim_id)}.json"

    def _place(self, claim_id: str, certificate: Any) -> str:
        """Write a certificate where no other one stands; returns its path relative to the report."""
        path = self.out / CERTIFICATES / f"{file_name(claim_id)}.json"
        if path.exists() and not _holds(path, certificate):  # another version's
            path = path.with_name(f"{path.stem}-{digest(certificate)[:8]}.json")
        if not _holds(path, certificate):
            write_json(path, certificate)
        return f"{CERTIFICATES}/{path.name}"

    def _restore_certificate(self, verdict: Verdict, data: Mapping[str, Any]) -> None:
        """Write the certificate again where it is missing or differs from that of the result."""
        if not verdict.certificate or "certificate" not in data:
            return
        path = self.out / CERTIFICATES / Path(verdict.certificate).name
        if not _holds(path, data["certificate"]):
            write_json(path, data["certificate"])
            self.messages.append(f"the certificate of {verdict.id} was missing or damaged: written again")

    def _earlier(self, path: Path, fingerprint: str) -> list[dict[str, Any]]:
        """Copy a finished result of another version to ``EARLIER``; returns a row on each result before the new one."""
        try:
            data = read_result(path)
            verdict = from_record(data["record"])
        except ValueError:  # there is none
            return []
        rows = {row["result"]: row for row in verdict.details.get("earlier", [])}
        if data["fingerprint"] != fingerprint and is_finished(verdict):
            place = f"{EARLIER}/{path.stem}-{data['fingerprint'][:8]}.json"
            write_text(self.out / place, path.read_text(encoding="utf-8"))
            rows[place] = {"verdict": verdict.verdict, "certificate": verdict.certificate, "result": place}
        return list(rows.values())

    def _delete(self) -> None:
        """Delete the results, and the certificates that they name."""
        for path in [*self.folder.glob("*.json"), *(self.out / EARLIER).glob("*.json")]:
            with suppress(ValueError):
                if certificate := from_record(read_result(path)["record"]).certificate:
                    (self.out / CERTIFICATES / Path(certificate).name).unlink(missing_ok=True)
            path.unlink()

    def _put_aside(self, path: Path, why: str) -> None:
        aside = writable_directory(self.folder / "set-aside") / path.name
        os.replace(path, aside)
        self.messages.append(f"a damaged result was set aside as {aside}; a run over its claim has it decided again ({why})")


def _holds(path: Path, certificate: Any) -> bool:
    """Whether a file is there and holds this certificate."""
    try:
        return read_json(path, "certificate") == certificate
    except ValueError:
        return False


def _marked(verdict: Verdict, data: Mapping[str, Any], fingerprint: str | None) -> Verdict:
    """The verdict of a result, with the reason under ``KEPT`` if it does not have the fingerprint."""
    if data["fingerprint"] == fingerprint:
        return verdict
    return replace(verdict, details=verdict.details | {KEPT: _UNKNOWN if fingerprint is None else _ANOTHER})


def read_result(path: Path) -> dict[str, Any]:
    """The data of one result file.

    Raises:
        ValueError: it is not readable, cut off, or does not have its checksum.
    """
    data = read_json(path, "result")
    if not isinstance(data, dict) or set(data) - {"certificate"} != _FIELDS or not isinstance(data["fingerprint"], str):
        raise ValueError(f"{path} is damaged, not a result: it must have {', '.join(sorted(_FIELDS))}")
    if digest(_checked(data)) != data["sha256"]:
        raise ValueError(f"{path} is damaged: it does not have its checksum")
    return data


def _checked(data: Mapping[str, Any]) -> list[Any]:
    """The parts of a result that its checksum covers."""
    return [data[name] for name in ("fingerprint", "record", "certificate") if name in data]


def stored_verdict(out: str | Path, claim_id: str, fingerprint: str | None = None) -> Verdict | None:
    """The verdict on a claim that is stored in a report, whatever its settings; None where there is none.

    Given a fingerprint, it says under ``kept`` in its details if it is of another version.

    Raises:
        ValueError: the result is damaged.
    """
    path = Path(out) / FOLDER / f"{file_name(claim_id)}.json"
    if not path.exists():
        return None
    data = read_result(path)
    return _marked(from_record(data["record"]), data, fingerprint or data["fingerprint"])


def add_details(out: str | Path, claim_id: str, more: Mapping[str, Any]) -> None:
    """Add to the details of a stored verdict, which the pages of the report show from the next run into it on.

    Raises:
        ValueError: the result is damaged, or another process writes into the report.
    """
    path = Path(out) / FOLDER / f"{file_name(claim_id)}.json"
    with only_writer(path.parent):
        data = read_result(path)
        data["record"] = data["record"] | {"details": data["record"].get("details", {}) | dict(more)}
        write_json(path, data | {"sha256": digest(_checked(data))})


def stored_settings(out: str | Path) -> dict[str, Any]:
    """Budget, seeds, seed and device of the results in a report; empty where there are none."""
    try:
        return dict(read_json(Path(out) / FOLDER / "about.json", "description of results")["settings"])
    except (ValueError, LookupError, TypeError):
        return {}


def _words(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())
