"""The command ``fedtheory sweep``."""

import shutil
from pathlib import Path
from typing import Annotated

import typer

from verify.cli import shared
from verify.cli.verify import Device, Dtype, InDtype, OnDevice, Seed

__all__ = ["sweep"]


def sweep(
    algorithm: Annotated[str, typer.Argument(help="A name from `fedtheory algorithms`, or FILE.py:NAME of yours.")],
    problem: Annotated[str, typer.Option(help="A name from `fedtheory problems`.")],
    grid: Annotated[list[str], typer.Option(
        metavar="NAME=VALUES", help="An argument of the algorithm with its values, as [1,2,4] or first:last[:count][:log]; "
        "may be given again.")],
    rounds: Annotated[int, typer.Option(help="Communication rounds.")] = 100,
    seeds: Annotated[int, typer.Option(help="How many runs at each point.")] = 8,
    seed: Seed = 0,
    measure: Annotated[list[str] | None, typer.Option(
        help="Measured after the last round, suboptimality if nothing is named; may be given again.")] = None,
    claim: Annotated[str | None, typer.Option(
        help="Also the worst ratio of this claim's left side to its right side, where its hypotheses hold.")] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the problem or the algorithm; may be given again."),
    ] = None,
    device: OnDevice = Device.cpu,
    dtype: InDtype = Dtype.float64,
    workers: Annotated[int, typer.Option(help="Processes that compute.")] = 1,
    cluster: Annotated[str | None, typer.Option(
        metavar="ADDRESS", help="Scheduler of dask on whose workers points are computed, such as tcp://host:8786.")] = None,
    out: Annotated[Path, typer.Option(help="File of the results: .nc, .zarr or .parquet; figures go beside it.")] = Path(
        "sweep.nc"),
) -> int:
    """Run an algorithm at every point of a grid of its arguments.

    Points that differ in step sizes and other rates run as one batch. Saves the results, draws each measure over a grid of
    two arguments, and prints the point where each measure is least. Finished parts are kept beside the file until all are
    done, so that the same command continues an interrupted one.
    """
    from verify.cli.names import check_method, check_problem

    for option, value in (("--rounds", rounds), ("--seeds", seeds), ("--workers", workers)):
        shared.at_least(option, value, 1)
    shared.at_least("--seed", seed, 0)
    if ".py:" not in algorithm:
        check_method(algorithm)
    check_problem(problem)
    asked = None if claim is None else shared.choose_claim(claim)
    shared.check_device(device)

    import fedtheory
    from fedtheory.sweep_files import check_ending, save
    from fedtheory.testing.subject import subject_of
    from synthetic import make_problem
    from synthetic.registry import problem_options
    from verify.cli import console
    from verify.cli.methods import method_of
    from verify.cli.settings import grid_of, parse_settings, share_out
    from verify.results.files import writable_directory

    check_ending(out)
    method = method_of(algorithm)
    parameters = subject_of(method).parameters
    values = grid_of(grid, {name for name, value in parameters.items() if isinstance(value, int) or name == "participants"})
    options = {*problem_options(problem)} - {"backend"}
    shares = share_out(parse_settings(settings or []), algorithm=parameters, problem=options)
    writable_directory(out.parent)
    measures = [*(measure or ["suboptimality"]), *([fedtheory.ratio(asked)] if asked is not None else [])]
    federation = make_problem(problem, **shares["problem"], device=device.value, dtype=dtype.value)
    kept = out.with_name(f".{out.name}.parts")
    with console.parts_done(0, f"{algorithm} on {problem}", "points") as progress:
        found = fedtheory.sweep(
            method, federation, rounds, values, seeds=range(seed, seed + seeds), measure=measures,
            arguments=shares["algorithm"], path=kept, workers=workers, client=cluster, progress=progress)
    save(found, out)
    shutil.rmtree(kept, ignore_errors=True)
    console.out().print(console.names_table(("measure", "least", "where"), _least_means(found)))
    print("results:", out)
    for paths in _figures(found, out):
        print("figure:", ", ".join(map(str, paths.values())))
    return 0


def _least_means(found):
    """Yields each measure, its least mean over the seeds, and the point of that mean."""
    for name, array in found.data_vars.items():
        if name == "diverged":
            continue
        means = array.mean([dim for dim in array.dims if dim == "seed"], skipna=False)
        means = means.where(abs(means) < float("inf"))
        if means.isnull().all():
            yield str(name), "-", "nowhere a finite value"
            continue
        at = means.isel(means.argmin([*means.dims]))
        values = {dim: at[dim].item() for dim in means.dims}
        where = [f"{dim} = {value:.4g}" if isinstance(value, float) else f"{dim} = {value}" for dim, value in values.items()]
        yield str(name), f"{at.item():.4g}", ", ".join(where)


def _figures(found, out: Path):
    """Draws a map of each measure with one number per point, if the grid has two arguments of several values."""
    from verify.results.drawing import save
    from verify.results.heat_map import heat_map

    for name, array in found.data_vars.items():
        sizes = [size for dim, size in array.sizes.items() if dim != "seed"]
        if name != "diverged" and len(sizes) == 2 and min(sizes) > 1:
            yield save(heat_map(found, str(name)).figure, out.with_name(f"{out.stem}-{name}"))
