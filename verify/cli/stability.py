"""The command about runs on neighbouring data sets: ``fedtheory stability``."""

import json as json_text
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from verify.cli import shared
from verify.cli.files import FIGURE, check_figure
from verify.cli.names import check_method, check_problem
from verify.cli.verify import Device, Dtype, InDtype, OnDevice

__all__ = ["stability"]

MOST_ROWS, MOST_TEST = 11, 64  # rounds in the table; samples over which suprema are taken


class Replacement(StrEnum):
    worst, random = "worst", "random"


def stability(
    method: Annotated[str, typer.Argument(help="A name from `fedtheory algorithms`.")],
    problem: Annotated[str, typer.Option(help="A problem with data, from `fedtheory problems`.")] = "linear-samples",
    rounds: Annotated[int, typer.Option(help="Communication rounds.")] = 20,
    local_steps: Annotated[int, typer.Option(help="Local steps per round.")] = 1,
    eta: Annotated[str, typer.Option(help="Local step size: a number, 1/L or 'theory', as for `run`.")] = "0.1",
    replacement: Annotated[Replacement, typer.Option(help="The worst replacement that a search finds, or random ones.")] = (
        Replacement.worst),
    tries: Annotated[int, typer.Option(help="Replacements to try.")] = 64,
    seeds: Annotated[int, typer.Option(help="Number of runs; one is enough for a deterministic method.")] = 8,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    data_sets: Annotated[int, typer.Option(help="Data sets for the generalisation gap; 0 leaves it out.")] = 20,
    samples: Annotated[int | None, typer.Option(
        help="Samples per client in these; by default half of those of the smallest client.")] = None,
    claim: Annotated[list[str] | None, typer.Option(
        help="A claim to measure on the runs, or 'all' about this method; may be given again.")] = None,
    settings: Annotated[list[str] | None, typer.Option(
        "--set", metavar="KEY=VALUE", help="A setting of the problem or the method; may be given again.")] = None,
    device: OnDevice = Device.cpu,
    dtype: InDtype = Dtype.float64,
    out: Annotated[Path | None, typer.Option(help=FIGURE)] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Measure stability and generalisation on neighbouring data sets.

    Makes coupled runs (same start, sampled clients and sample numbers) on data that differ in one sample of one client.
    Prints the gap of parameters and of losses by round, the generalisation gap measured directly and by replacing one
    sample, and both sides of claims about them.
    """
    for name, value, lowest in (("--rounds", rounds, 1), ("--local-steps", local_steps, 1), ("--tries", tries, 1),
                                ("--seeds", seeds, 1), ("--seed", seed, 0), ("--data-sets", data_sets, 0)):
        shared.at_least(name, value, lowest)
    check_figure("--out", out)
    check_method(method)
    check_problem(problem)
    from verify.cli.settings import settings_of, step_size

    shares = settings_of(settings, method, problem)
    from fedtheory.registry import arguments_of, make_algorithm
    from synthetic.data.federation import DataFederation
    from synthetic.registry import make_problem

    federation = make_problem(problem, **shares["problem"])
    if not isinstance(federation, DataFederation):
        raise ValueError(f"problem {problem!r} has no samples to replace; allowed are problems with data, for "
                         "example linear-samples, log-cosh, logistic, breast-cancer")
    arguments = {"eta_l": step_size(eta, federation, local_steps), "local_steps": local_steps, **shares["algorithm"]}
    if "local_steps" not in arguments_of(method, shares["algorithm"].get("base")):
        del arguments["local_steps"]
    algorithm, federation = make_algorithm(method, **arguments), federation.to(device.value, dtype.value)
    claims = _claims(claim or [], method)
    if out is not None:
        from verify.results.files import writable_directory

        writable_directory(out.parent)

    from fedtheory.run import run
    from fedtheory.stability import coupled_runs, random_replacements, samples_of, searched_replacement, single_samples
    from verify.evidence.beside_runs import compare

    numbers = list(range(seed, seed + seeds))
    tests = [(sign * a, y) for _, _, a, y in samples_of(federation)[: MOST_TEST // 2] for sign in (1, -1)]
    common = {"seeds": numbers, "test": single_samples(federation, tests)}
    if replacement is Replacement.worst:
        found = searched_replacement(algorithm, federation, rounds, tries=tries, seed=seed, **common)
    else:
        found = coupled_runs(algorithm, federation, random_replacements(federation, tries, seed), rounds, **common)
    trajectory = run(algorithm, federation, rounds, seeds=numbers, record=["x"])
    beside = [compare(c, trajectory, replacements=found.replacements) for c in claims]
    gap = _generalisation(algorithm, federation, rounds, samples, data_sets, numbers, seed) if data_sets else None
    title = f"{method} on {federation.name}, {replacement.value} replacement"
    if json:
        print(json_text.dumps(_as_data(title, found, gap, beside), indent=1))
    else:
        _show(title, found, gap, beside)
    if out is not None:
        from verify.evidence.stability_figure import stability_figure
        from verify.results.drawing import save_as

        paths = save_as(stability_figure(found, beside, title), out)
        if not json:
            print("figure:", ", ".join(str(path) for path in paths.values()))
    return 0


def _claims(names, method) -> list:
    from bounds.registry.claims import all_claims
    from verify.claims.needs import speaks_of_samples

    chosen = [shared.choose_claim(name) for name in names if name != "all"]
    if "all" in names:
        chosen += [c for c in all_claims().values() if c.statement is not None and c.explicit and speaks_of_samples(c)
                   and c.procedure.base == method]
    return list({c.id: c for c in chosen}.values())


def _generalisation(algorithm, federation, rounds, samples, data_sets, seeds, seed):
    """The number of samples, and the generalisation gap if each client draws that many from those that it has."""
    from fedtheory.stability import generalisation, samples_of, with_samples

    pools = [[z[2:] for z in samples_of(federation) if z[0] == k] for k in range(federation.clients)]
    count = samples or max(min(map(len, pools)) // 2, 1)
    return count, generalisation(algorithm, lambda rows: with_samples(federation, rows, federation.batch_size), pools, count,
                                 rounds, seeds=seeds[:1], data_sets=data_sets, seed=seed)


def _as_data(title, found, gap, beside) -> dict:
    replaced = [{"client": int(k), "sample": int(i), "features": list(map(float, a)), "target": list(map(float, y))}
                for k, i, a, y in found.replacements]
    said = {"title": title, "replacements": replaced, "parameter_gap": found.parameter_gap.tolist(),
            "loss_gap": found.loss_gap.tolist()}
    if gap is not None:
        said["generalisation"] = {"samples": gap[0], "direct": gap[1].direct, "identity": gap[1].identity,
                                  "data_sets": gap[1].data_sets, "standard_error_of_difference": gap[1].error}
    return said | {"claims": [
        {"claim": b.claim, "verdict": b.verdict, "reason": b.reason, "largest ratio left/right": b.ratio}
        | ({} if b.series is None else {
            "by": b.series.x_label, "at": b.series.x, "left": b.series.left, "right": b.series.right})
        for b in beside]}


def _show(title, found, gap, beside) -> None:
    import numpy as np

    from verify.cli import console

    k, i, features, target = found.replacements[found.worst]
    mean = found.parameter_gap.mean(axis=0), found.loss_gap.mean(axis=0)
    several = len(found.replacements) > 1
    rounds = np.unique(np.linspace(0, len(mean[0]) - 1, MOST_ROWS).round().astype(int))
    worst = found.parameter_gap[found.worst], found.loss_gap[found.worst]
    rows = [(str(r), *(f"{column[r]:.6g}" for column in (*worst, *(mean if several else ())))) for r in rounds]
    head = ("round", "parameter gap", "loss gap", *(("mean parameter gap", "mean loss gap") if several else ()))
    print(title)
    print(f"sample {i} of client {k} becomes features {_short(features)}, target {_short(target)}"
          + (f"; the worst of {len(found.replacements)}" if several else ""))
    console.out().print(console.names_table(head, rows))
    if gap is not None:
        print(f"generalisation gap with {gap[0]} samples a client, over {gap[1].data_sets} data sets: {gap[1].direct:.6g} "
              f"directly, {gap[1].identity:.6g} by replacing one sample (standard error of the difference "
              f"{gap[1].error:.2g})")
    measured = [b for b in beside if b.series is not None]
    if measured:
        console.out().print(console.names_table(("claim", "largest left/right", "where"), map(_row, measured)))
    reasons: dict[str, list[str]] = {}
    for one in beside:
        if one.series is None or one.series.note:
            reasons.setdefault(one.reason, []).append(one.claim)
    for reason, ids in reasons.items():
        print(f"{', '.join(ids[:3])}{f' and {len(ids) - 3} more' if len(ids) > 3 else ''}: {reason}")


def _short(numbers) -> str:
    from verify.results.numerals import significant

    text = ", ".join(significant(float(number)) for number in numbers[:4])
    return f"[{text}{', ...' if len(numbers) > 4 else ''}]"


def _row(beside) -> tuple[str, str, str]:
    from verify.results.verdict import ratio

    series = beside.series
    rows = list(zip(series.x, series.left, series.right, strict=True))
    place, left, right = max(rows, key=lambda row: ratio(row[1], row[2], series.relation))
    where = f"{series.x_label} {place}: {left:.4g} against {right:.4g}"
    return beside.claim, f"{beside.ratio:.6g}", where
