"""Decides claims on a cluster: each claim is a task of dask, on whatever workers its scheduler has."""

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bounds.language.claim import Claim
from bounds.registry.claims import find_claim, forget_files
from bounds.registry.user_claims import PATHS
from fedtheory.cluster import cluster
from verify.referee.workers import decide_or_say_why, stopped
from verify.results.files import replacing
from verify.results.fingerprint import code_version
from verify.results.verdict import Verdict

__all__ = ["decide_on_cluster"]

_ALONE = threading.Lock()  # claims of one process are decided one after the other: they share its runs


def decide_on_cluster(claims: Sequence[Claim], settings, address) -> Iterator[Verdict]:
    """Verdicts on registered claims, each as soon as it is known, from the workers of a scheduler of dask.

    A claim whose worker dies is given to another one, a few times (dask's ``allowed-failures``), and then is undecided.
    Certificates are written by this process. Files of claims must have the same path on the workers.

    Args:
        address: of the scheduler, such as ``tcp://host:8786``, or a ``distributed.Client``.

    Raises:
        ImportError: dask's distributed is not installed. ValueError: no scheduler answers.
        RuntimeError: a worker has another version of the code, whose verdicts would not be these.
    """
    with cluster(address) as client:
        from distributed import KilledWorker, as_completed

        order = sorted(claims, key=lambda claim: claim.setting != "run")
        asked = replace(settings, out=None), os.environ.get(PATHS, ""), code_version()
        waiting = {client.submit(_decided, claim.id, *asked, pure=False): claim for claim in order}
        for future in as_completed(list(waiting)):
            try:
                verdict, files = future.result()
            except KilledWorker:
                yield stopped(waiting[future], settings, "the workers that decided it died (too little memory?)")
                continue
            for name, content in files.items():
                if settings.out is not None:
                    path = Path(settings.out) / name
                    path.parent.mkdir(parents=True, exist_ok=True)
                    with replacing(path) as temporary:
                        Path(temporary).write_bytes(content)
            yield verdict if settings.out is not None else replace(verdict, certificate=None)


def _decided(claim_id: str, settings, files: str, code: str) -> tuple[Verdict, dict[str, bytes]]:
    """Referee the claim on a worker: the verdict, and the files that were written beside it."""
    if code_version() != code:
        raise RuntimeError("a worker of the cluster has another version of fedtheory or of its libraries; all need the same")
    with _ALONE, TemporaryDirectory() as folder:
        if os.environ.get(PATHS, "") != files:
            os.environ[PATHS] = files
            forget_files()
        verdict = decide_or_say_why(find_claim(claim_id), replace(settings, out=Path(folder)))
        written = [path for path in Path(folder).rglob("*") if path.is_file()]
        return verdict, {path.relative_to(folder).as_posix(): path.read_bytes() for path in written}
