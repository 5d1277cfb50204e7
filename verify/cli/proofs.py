"""The commands about a paper's own proofs: ``fedtheory chain`` and ``looseness``."""

import json as json_text
from math import inf
from pathlib import Path
from typing import Annotated

import typer

from verify.cli.names import method_names
from verify.cli.shared import choose_claim

__all__ = ["add_commands"]


def add_commands(app: typer.Typer) -> None:
    """Register the commands."""
    app.command()(chain)
    app.command()(looseness)
    app.command()(worst)


def chain(
    claim: Annotated[str, typer.Argument(help="A claim's id, as `fedtheory claims` lists them, or its file.")],
    deep: Annotated[bool, typer.Option("--deep", help="Also check each step from its own steps, and so on.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Prove the steps too, and write the proof here.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Check whether a claim follows from the steps of its proof, by arithmetic on the printed formulas.

    Measured quantities are free numbers, and recursions are unrolled. If a claim does not follow, numbers show it. With
    --out the steps are proven too, at the same sizes and numbers; `fedtheory check` checks that file.

    Exit status: 0 every link follows or cannot be checked; 1 one does not follow, or no proof was found for --out; 2 bad
    input.
    """
    top = choose_claim(claim)
    if not top.steps:
        raise ValueError(f"{top.id} lists no steps: its paper derives it from no other claim")

    from dataclasses import asdict

    from verify.proofs.follows import chain as links_of
    from verify.proofs.follows import link, premises_of

    if out is not None:
        return _proven_chain(top, out)
    links = list(links_of(top)) if deep else [link(top, premises_of(top))]
    if json:
        print(json_text.dumps([asdict(one) for one in links], indent=1))
    for one in links if not json else []:
        print(f"{one.conclusion}: {one.answer}: {one.text}")
        print("  from", ", ".join(one.premises))
        for need in one.needs:
            print("  needs", need)
        if one.numbers:
            print("  at", ", ".join(f"{name} = {value}" for name, value in one.numbers.items()))
        for name, meaning in one.quantities.items():
            print(f"  {name} is {meaning}")
    return 1 if any(one.answer == "does not follow" for one in links) else 0


def _proven_chain(claim, out: Path) -> int:
    from verify.proofs.chained import chained
    from verify.results.files import write_json

    found = chained(claim)
    if found.certificate is None:
        print(f"not proven: {found.reason}")
        return 1
    write_json(out, found.certificate)
    print("proven from", ", ".join(found.rests_on), "for", found.scope)
    return 0


def looseness(
    theorem: Annotated[str, typer.Argument(help="A claim that lists the steps of its proof.")],
    budget: Annotated[str, typer.Option(help="Effort of the search: quick, standard or thorough.")] = "quick",
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    out: Annotated[Path | None, typer.Option(help="A figure: .png, .svg or .pdf.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Measure the factor that each step of a theorem's proof loses, on its tightest and on a typical instance."""
    chosen = choose_claim(theorem)

    from dataclasses import asdict

    from verify.cli import console
    from verify.proofs.looseness import waterfall
    from verify.results.drawing import save

    _check_ending("--out", out)
    found = waterfall(chosen, budget, seed)
    if json:
        print(json_text.dumps({"theorem": asdict(found.theorem), "steps": [asdict(step) for step in found.steps]}, indent=1))
    else:
        rows = [(link.id, link.number, *("" if f is None else f"{f:.4g}" for f in (link.worst, link.typical)), link.reason)
                for link in (*found.steps, found.theorem)]
        head = ("step", "number", "right/left, tightest", "typical", "not measured because")
        console.out().print(console.names_table(head, rows))
    if out is not None:
        from verify.proofs.looseness_figure import waterfall_figure

        save(waterfall_figure(found), out.with_suffix(""), [out.suffix.lstrip(".")])
        console.out().print(f"wrote {out}")
    return 0


def worst(
    name: Annotated[str, typer.Argument(metavar="CLAIM|METHOD", help="A claim about runs (id or file), or a method.")],
    given: Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Sizes and numbers.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Of a claim: file for the proof.")] = None,
    functions: Annotated[str | None, typer.Option("--class", help="Of a method: smooth-strongly-convex, smooth-convex or "
                                                                  "smooth.")] = None,
    measure: Annotated[str | None, typer.Option(help="Of a method: distance, value, gradient or least-gradient.")] = None,
    tune: Annotated[str | None, typer.Option(help="Of a method: a parameter, eta_l or NAME=LOW:HIGH, to choose.")] = None,
    plot: Annotated[Path | None, typer.Option(help="A figure over rounds: .png, .svg or .pdf.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Find the worst case of a claim or of a method over every function of a class.

    Sizes and numbers are given, or defaults that the output names. Of a claim a proof in rational numbers is written to
    --out; `fedtheory check` checks it; --plot draws bound, worst case and runs on random quadratics over 5 rounds, or as
    many as rounds=N says. Of a method NAME is one of its arguments, or rounds, clients, L, mu, zeta (mean of
    |grad F_k(x_*)|^2 is at most its square), variates, or given (what is at most 1 at the start).

    Exit status: 0 a proof, or a finite worst case; 1 none; 2 bad input, or what has no worst case of this kind.
    """
    if name in method_names():
        if out is not None:
            raise ValueError("--out is for the proof of a claim; got a method")
        return _worst_of_method(name, given or [], {"functions": functions, "measure": measure}, tune, plot, json)
    options = {"--class": functions, "--measure": measure, "--tune": tune}
    if wrong := [option for option, value in options.items() if value is not None]:
        raise ValueError(f"{wrong[0]} is for a method, and {name} is none; `fedtheory algorithms` lists the methods")
    return _worst_of_claim(name, given or [], out, plot, json)


def _worst_of_claim(name: str, given: list[str], out: Path | None, plot: Path | None, json: bool) -> int:
    claim = choose_claim(name)

    from verify.cli import console
    from verify.cli.settings import exact_numbers
    from verify.results.files import write_json
    from verify.worst.lengths_proven import lengths_at
    from verify.worst.worst_case import worst_case
    from verify.worst.worst_of_lengths import about_lengths

    _check_ending("--plot", plot)
    if about_lengths(claim) and plot is not None:
        raise ValueError(f"{claim.id} is about lengths; --plot draws claims about squares")
    found = (lengths_at if about_lengths(claim) else worst_case)(claim, exact_numbers(given))
    if found.certificate and out:
        write_json(out, found.certificate)
    factors = [str(factor) if factor == inf else factor for factor in found.factors]  # JSON has no infinite number
    said = {"claim": found.claim, "scope": found.scope, "without a value": found.setting.unknown, "letters": found.letters,
            "factors": factors, "proven": found.certificate is not None, "reason": found.reason}
    if plot is not None:
        from verify.results.drawing import save
        from verify.worst.claim_figure import course, course_figure

        over = course(claim, exact_numbers(given))
        save(course_figure(over), plot.with_suffix(""), [plot.suffix.lstrip(".")])
        said["over rounds"] = {"exact": over.exact, "worst run found": over.found, "middle run": over.middle}
    if json:
        print(json_text.dumps(said, indent=1))
    else:
        rows = [(str(number), "-" if factor is None else f"{factor:.6f}") for number, factor in enumerate(found.factors)]
        console.out().print(console.names_table(("pair of sides", "least factor of the larger side"), rows))
        print("proven" if found.certificate else f"not proven: {found.reason}", "for", found.scope)
    return 0 if found.certificate else 1


def _worst_of_method(name: str, given: list[str], question: dict, tune: str | None, plot: Path | None, json: bool) -> int:
    from verify.cli import console
    from verify.results.drawing import save
    from verify.worst import tuning
    from verify.worst.chart import worst as worst_of

    _check_ending("--plot", plot)
    asked = {key: value for key, value in question.items() if value is not None} | _settings(given)
    if reserved := {"method", "low", "high", "functions"} & {text.partition("=")[0] for text in given}:
        raise ValueError(f"{name} takes no argument {min(reserved)!r}")
    if tune is not None:
        parameter, _, ends = tune.partition("=")
        bounds = _settings([f"{end}={value}" for end, value in zip(("low", "high"), ends.split(":"), strict=False) if value])
        found = tuning.tuned(name, parameter, **bounds, **asked)
        asked[parameter], found = found.value, found.worst
    else:
        found = worst_of(name, **asked)
    own = {key: value for key, value in asked.items() if key not in ("functions", "measure", "given", "rounds", "clients")}
    said = {"method": name, "settings": own, "class": found.functions, "measure": found.wanted.measure,
            "at most 1 at the start": found.wanted.given, "rounds": found.rounds, "clients": found.clients,
            "worst ratio": found.ratio if found.ratio < float("inf") else None, "tight": found.tight,
            "letters": found.letters, "seconds": round(sum(found.seconds), 4)}
    if plot is not None:
        rounds = [*tuning.over_rounds(name, **asked | {"rounds": found.rounds})]
        save(tuning.rounds_figure(rounds), plot.with_suffix(""), [plot.suffix.lstrip(".")])
        said["over rounds"] = [round(one.ratio, 6) for one in rounds]
    if json:
        print(json_text.dumps(said, indent=1))
    else:
        shown = said | {"worst ratio": f"{found.ratio:.6f}", "settings": [f"{key}={value}" for key, value in own.items()]}
        rows = [(key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)) for key, value in shown.items()]
        console.out().print(console.names_table(("what", "value"), rows))
    return 0 if found.ratio < float("inf") else 1


def _check_ending(option: str, figure: Path | None) -> None:
    from verify.results.drawing import FORMATS

    if figure is not None and figure.suffix.lstrip(".") not in FORMATS:
        raise ValueError(f"{option} must end in {', '.join('.' + f for f in FORMATS)}; got {figure}")


def _settings(texts) -> dict:
    """Arguments of a method: whole numbers, floats (1/3 is a third), and words."""
    from verify.cli.settings import exact_numbers, parse_settings

    found = parse_settings(texts)
    for key, value in found.items():
        if isinstance(value, bool) or value is None:
            continue
        try:
            number = exact_numbers([f"{key}={value}"])[key]
        except ValueError:
            continue  # a word
        found[key] = number.numerator if number.denominator == 1 else float(number)
    return found
