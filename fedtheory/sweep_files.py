"""Sweeps on disk: finished blocks, each in a file of its own, and whole data sets as NetCDF, Zarr or Parquet."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np

from synthetic.base.checks import one_of

if TYPE_CHECKING:  # imported where a data set is made
    import xarray as xr

__all__ = ["ENDINGS", "check_ending", "load", "read_block", "save", "write_block"]

ENDINGS = (".nc", ".zarr", ".parquet")  #: of files of whole data sets


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A temporary path, renamed to ``path`` at the end; ValueError where that cannot be written."""
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        if temporary.is_dir() and path.is_dir():
            shutil.rmtree(path)
        os.replace(temporary, path)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            shutil.rmtree(temporary) if temporary.is_dir() else temporary.unlink(missing_ok=True)


def write_block(path: Path, answer: dict[str, Any]) -> None:
    """Writes the answer of a block, whole or not at all."""
    with _replacing(path) as temporary:
        np.savez(temporary, **answer)


def read_block(path: Path) -> dict[str, np.ndarray] | None:
    """The answer of a block; None where there is no such file, or a damaged one."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, KeyError, BadZipFile):
        return None


def save(dataset: xr.Dataset, path: str | Path) -> Path:
    """Writes the data set of a sweep by the ending of ``path``, whole or not at all: ``.nc`` (NetCDF 3), ``.zarr`` (a
    folder), or ``.parquet`` (a table with a row per point and seed). The last two need the extra ``sweeps``.

    Raises ValueError for another ending or a path that cannot be written, ImportError without the extra.
    """
    path = Path(path)
    check_ending(path)
    with _replacing(path) as temporary:
        if path.suffix == ".nc":
            dataset.to_netcdf(temporary, engine="scipy")
        elif path.suffix == ".zarr":
            dataset.to_zarr(temporary, mode="w", zarr_format=2)
        else:
            table = dataset.to_dataframe().reset_index()
            table.attrs = {"dataset": dict(dataset.attrs), "dims": list(map(str, dataset.sizes)), "variables": {
                str(name): dict(variable.attrs) for name, variable in dataset.variables.items()}}
            table.to_parquet(temporary, engine="pyarrow", index=False)
    return path


def load(path: str | Path) -> xr.Dataset:
    """Reads what :func:`save` wrote. Raises ValueError, with one clear line, for a missing, damaged or foreign file.

    From a table a measure with one number per point comes back with that number for every seed.
    """
    import xarray as xr

    path = Path(path)
    check_ending(path)
    try:
        if path.suffix == ".nc":
            return xr.load_dataset(path, engine="scipy")
        if path.suffix == ".zarr":
            return xr.open_zarr(path, chunks=None).load()
        import pandas

        table = pandas.read_parquet(path, engine="pyarrow")
        said = json.loads(json.dumps(table.attrs))
        dataset = table.set_index(said["dims"]).to_xarray().assign_attrs(said["dataset"])
        dataset = dataset.reindex({name: table[name].drop_duplicates().to_numpy() for name in said["dims"]})
        for name, attrs in said["variables"].items():
            dataset[name].attrs = attrs
        return dataset
    except Exception as error:  # of three libraries
        raise ValueError(f"cannot read a sweep from {path}: {' '.join(str(error).split())}") from error


def check_ending(path: Path) -> None:
    """ValueError for a path with an ending that is not in ``ENDINGS``; ImportError where its library is not installed."""
    ending = one_of("ending", path.suffix, ENDINGS)
    try:
        if ending == ".zarr":
            import zarr  # noqa: F401
        elif ending == ".parquet":
            import pyarrow  # noqa: F401
    except ImportError as error:
        raise ImportError(f'files that end in {ending} need {error.name}: pip install "fedtheory[sweeps]"; .nc needs '
                          "nothing more") from error
