"""The command ``fedtheory run``, and the reconstruction of its runs from their file."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from verify.cli import shared
from verify.cli.verify import Device, Dtype, InDtype, OnDevice, Seed

__all__ = ["rerun", "run"]

_RECIPE = "made by fedtheory run"


def run(
    algorithm: Annotated[str, typer.Argument(help="A name from `fedtheory algorithms`, or FILE.py:NAME of yours.")],
    problem: Annotated[str, typer.Option(help="A name from `fedtheory problems`.")],
    rounds: Annotated[int, typer.Option(help="Communication rounds.")] = 100,
    local_steps: Annotated[int, typer.Option(help="Local steps per round.")] = 1,
    eta: Annotated[str, typer.Option(help="Local step size: a number, a formula such as 1/L, or "
                                      "'theory': 2/(mu (t + max(8 L/mu, K))).")] = "theory",
    seeds: Annotated[int, typer.Option(help="How many runs.")] = 32,
    seed: Seed = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting of the problem or the algorithm; may be given again."),
    ] = None,
    device: OnDevice = Device.cpu,
    dtype: InDtype = Dtype.float64,
    out: Annotated[Path, typer.Option(help="File of the runs; the figure goes beside it.")] = Path("run.npz"),
) -> int:
    """Run an algorithm from many seeds.

    Saves the runs to a file, draws them (SVG, PDF and PNG beside it), and prints where they ended. `--set held_out=0.2`
    holds a fifth of the samples of a problem with data out of training, and measures loss and accuracy on them. Long runs
    first say how much memory they need, and are refused if this machine has less. `fedtheory compare CLAIM --run FILE`
    compares them with a claim.
    """
    from verify.cli.names import check_method, check_problem

    shared.at_least("--rounds", rounds, 1)
    shared.at_least("--local-steps", local_steps, 1)
    shared.at_least("--seeds", seeds, 1)
    shared.at_least("--seed", seed, 0)
    if ".py:" not in algorithm:
        check_method(algorithm)
    check_problem(problem)

    from verify.results.files import writable_directory

    recipe = {"algorithm": algorithm, "problem": problem, "local_steps": local_steps, "eta": eta,
              "settings": [*(settings or [])], "device": device.value, "dtype": dtype.value}
    shares = _settings_by_owner(recipe)
    shared.check_device(device)
    if out.is_dir():
        raise ValueError(f"cannot write {out}: it is a directory; give a file name")
    writable_directory(out.parent)

    import fedtheory
    from fedtheory.observables import DEFAULT, observables_of
    from fedtheory.run import memory_needed
    from verify.cli import console
    from verify.results.drawing import save
    from verify.results.figures import trajectory_figure

    federation, method = _make_parts(recipe, shares)
    record = (*DEFAULT, *(name for name in observables_of(federation) if name.startswith("held_out")))
    needed = partial(memory_needed, federation, record=record)
    shared.check_memory(needed, {"rounds": rounds, "local_steps": local_steps, "runs": seeds})
    with console.parts_done(rounds, f"{algorithm} on {problem}") as progress:
        trajectory = fedtheory.run(method, federation, rounds, seeds=range(seed, seed + seeds), record=record,
                                   progress=progress)
    trajectory = replace(trajectory, description=f"{algorithm} on {getattr(federation, 'name', problem)}")
    trajectory.dataset.attrs[_RECIPE] = recipe
    trajectory.save(out)
    paths = save(trajectory_figure(trajectory), out.with_suffix(""))
    console.out().print(console.run_summary(trajectory))
    print("runs:", out)
    print("figure:", ", ".join(str(path) for path in paths.values()))
    return 0


def rerun(path: Path, algorithm: str | None = None, device: str | None = None, dtype: str | None = None):
    """Loads a file of ``fedtheory run``, and makes its method and its federation again; returns the trajectory.

    ``algorithm``: the method, if it is one of a ``.py`` file; code that the file of runs names is never run. ``device`` and
    ``dtype``: those of the federation; None for those of the runs.

    Raises:
        ValueError: the file is of another kind, or its method, problem or device has changed since.
    """
    import fedtheory
    from fedtheory.run import fingerprint

    trajectory = fedtheory.load_trajectory(path)
    recipe = trajectory.dataset.attrs.get(_RECIPE)
    if not isinstance(recipe, Mapping):
        raise ValueError(f"{path} is not a file of fedtheory run, which says how its method and its federation were made")
    name = recipe.get("algorithm")
    if algorithm is not None:
        recipe = dict(recipe) | {"algorithm": algorithm}
    elif isinstance(name, str) and ".py:" in name:
        raise ValueError(f"{path} has runs of {name}; only --algorithm FILE.py:NAME runs a file")
    if device is not None:
        recipe = dict(recipe) | {"device": device}
    try:
        federation, method = _make_parts(recipe, _settings_by_owner(recipe))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{path} does not say how its runs were made: {error}") from error
    if fingerprint(method, federation) != trajectory.fingerprint:
        raise ValueError(f"the runs of {path} were made by another version of {recipe['algorithm']} or {recipe['problem']}")
    trajectory = replace(trajectory, algorithm=method, federation=federation)
    if dtype in (None, federation.backend.dtype):
        return trajectory
    # numbers that were not rounded before
    federation, _ = _make_parts(dict(recipe) | {"dtype": dtype}, _settings_by_owner(recipe))
    return replace(trajectory.to(dtype=dtype), federation=federation, fingerprint=fingerprint(method, federation))


def _settings_by_owner(recipe: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings of the method and those of the problem, by ``algorithm`` and ``problem``."""
    from fedtheory.testing.subject import subject_of
    from verify.cli.methods import method_of
    from verify.cli.settings import settings_of

    own: Sequence[str] | None = None
    if ".py:" in recipe["algorithm"]:
        own = [*subject_of(method_of(recipe["algorithm"])).parameters]
    return settings_of(recipe["settings"], recipe["algorithm"], recipe["problem"], own)


def _make_parts(recipe: Mapping[str, Any], shares: Mapping[str, Mapping[str, Any]]):
    """Makes the federation and the method of a recipe."""
    from fedtheory.testing.subject import subject_of
    from synthetic import make_problem
    from verify.cli.methods import method_of
    from verify.cli.settings import step_size

    federation = make_problem(recipe["problem"], **shares["problem"])
    steps = {"eta_l": step_size(recipe["eta"], federation, recipe["local_steps"]), "local_steps": recipe["local_steps"]}
    method = subject_of(method_of(recipe["algorithm"])).make(**steps, **shares["algorithm"])
    return federation.to(recipe["device"], recipe.get("dtype", "float64")), method  # older files have no dtype
