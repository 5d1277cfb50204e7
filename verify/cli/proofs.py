"""The commands about proofs and worst cases: ``fedtheory chain``, ``looseness`` and ``worst``."""

import json as json_text
from math import isfinite
from pathlib import Path
from typing import Annotated

import typer

from verify.cli.names import method_names
from verify.cli.shared import choose_claim

__all__ = ["add_commands"]


_SIZES = ("clients", "rounds", "local_steps", "participants", "layers")  # which are whole numbers
_STEPS_SHOWN = 6  # of those that claims allow, the best ones
_MOST_VALUES = 100  # of a range


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

    Measured quantities are free numbers, and recursions are unrolled. If a claim does not follow, exact numbers at small
    sizes show it: every step holds at every index, and the claim fails. A link that is neither proven nor broken in this way
    is not checkable, with the reason. With --out the steps are proven too, at the same sizes and numbers; `fedtheory check`
    checks that file.

    Exit status: 0 every link follows; 1 one does not follow, or no proof was found for --out; 2 bad input; 3 none is broken,
    and one is not checkable.
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
    answers = {one.answer for one in links}
    return 1 if "does not follow" in answers else 3 if "not checkable" in answers else 0


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
    """Measure the factor that each step of a theorem's proof loses.

    On the theorem's tightest instance and on a typical one; and, where a step has an exact worst case over a class of
    functions, the least factor over the class, at the sizes and numbers that `fedtheory worst STEP` names.
    """
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
        rows = [(link.id, link.number, *("" if f is None else f"{f:.4g}" for f in (link.worst, link.typical, link.least)),
                 link.reason)
                for link in (*found.steps, found.theorem)]
        head = ("step", "number", "right/left, tightest", "typical", "least of the class", "not measured because")
        console.out().print(console.names_table(head, rows))
    if out is not None:
        from verify.proofs.looseness_figure import waterfall_figure

        save(waterfall_figure(found), out.with_suffix(""), [out.suffix.lstrip(".")])
        console.out().print(f"wrote {out}")
    return 0


def worst(
    name: Annotated[str, typer.Argument(metavar="CLAIM|METHOD", help="A claim about runs (id or file), or a method.")],
    given: Annotated[list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="Sizes and numbers.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Of a claim, or of --potential: file for the proof.")] = None,
    functions: Annotated[str | None, typer.Option("--class", help="Of a method: smooth-strongly-convex, smooth-convex or "
                                                                  "smooth.")] = None,
    measure: Annotated[str | None, typer.Option(help="Of a method: distance, value, gradient or least-gradient.")] = None,
    tune: Annotated[str | None, typer.Option(help="Of a method: a parameter, eta_l or NAME=LOW:HIGH, to choose.")] = None,
    potential: Annotated[bool, typer.Option("--potential", help="Of a method: prove a rate for every number of "
                                                                "rounds.")] = False,
    plot: Annotated[Path | None, typer.Option(help="A figure over rounds: .png, .svg or .pdf.")] = None,
    function: Annotated[Path | None, typer.Option(help="Of a method: a figure of the worst functions.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> int:
    """Find the worst case of a claim or of a method over every function of a class.

    Sizes and numbers are given, or defaults that the output names. Of a claim a proof in rational numbers is written to
    --out; `fedtheory check` checks it; --plot draws bound, worst case and runs on random quadratics over 5 rounds, or as
    many as rounds=N says, or over a range NAME=first:last[:count][:log]. Of a method NAME is one of its arguments, or
    rounds, clients, L, mu, zeta (mean of |grad F_k(x_*)|^2 is at most its square), variates, or given (what is at most 1 at
    the start).

    With --tune eta_l the largest steps that theorems and controls about the method allow at these numbers are shown, and how
    bad these are.

    With --potential a method on smooth strongly convex functions gets the least rate per round for which a potential is
    found, for every number of rounds: a quadratic form in its state, with exact weights and a proof for --out.

    Exit status: 0 a proof, or a finite worst case; 1 none; 2 bad input, or what has no worst case of this kind.
    """
    if potential:
        unused = {"--class": functions, "--measure": measure, "--tune": tune, "--plot": plot,
                  "--function": function}
        if wrong := [option for option, value in unused.items() if value is not None]:
            raise ValueError(f"{wrong[0]} does not go with --potential")
        return _potential(name, given or [], out, json)
    if name in method_names():
        if out is not None:
            raise ValueError("--out is for the proof of a claim, or with --potential; got a method")
        return _worst_of_method(name, given or [], {"functions": functions, "measure": measure}, tune, plot, function,
                                json)
    options = {"--class": functions, "--measure": measure, "--tune": tune, "--function": function}
    if wrong := [option for option, value in options.items() if value is not None]:
        raise ValueError(f"{wrong[0]} is for a method, and {name} is none; `fedtheory algorithms` lists the methods")
    return _worst_of_claim(name, given or [], out, plot, json)


def _worst_of_claim(name: str, given: list[str], out: Path | None, plot: Path | None, json: bool) -> int:
    claim = choose_claim(name)

    from verify.cli import console
    from verify.results.files import write_json
    from verify.worst.lengths_proven import lengths_at
    from verify.worst.worst_case import worst_case
    from verify.worst.worst_of_lengths import about_lengths

    _check_ending("--plot", plot)
    if about_lengths(claim) and plot is not None:
        raise ValueError(f"{claim.id} is about lengths; --plot draws claims about squares")
    numbers, along = _along(given)
    if along and plot is None:
        raise ValueError(f"{along['over']} has several values, which --plot draws; give one value, or --plot")
    found = (lengths_at if about_lengths(claim) else worst_case)(
        claim, numbers | ({along["over"]: along["values"][-1]} if along else {}))
    if found.certificate and out:
        write_json(out, found.certificate)
    factors = _as_json(found.reliable)
    said = {"claim": found.claim, "scope": found.scope, "without a value": found.setting.unknown, "letters": found.letters,
            "factors": factors, "proven": found.certificate is not None, "reason": found.reason}
    if plot is not None:
        from verify.results.drawing import save
        from verify.worst.claim_figure import course, course_figure

        over = course(claim, numbers, **along)
        save(course_figure(over), plot.with_suffix(""), [plot.suffix.lstrip(".")])
        columns = {"values": over.values, "exact": over.exact, "worst run found": over.found, "middle run": over.middle}
        said[f"over {over.over}"] = {name: _as_json(column) for name, column in columns.items()}
    if json:
        print(json_text.dumps(said, indent=1))
    else:
        rows = [(str(number), "not solved reliably" if factor is None else f"{factor:.6f}")
                for number, factor in enumerate(found.reliable)]
        console.out().print(console.names_table(("pair of sides", "least factor of the larger side"), rows))
        print("proven" if found.certificate else f"not proven: {found.reason}", "for", found.scope)
    return 0 if found.certificate else 1


def _as_json(numbers) -> list:
    """Numbers, and the names of those that JSON lacks."""
    return [number if number is None or isfinite(number) else str(number) for number in numbers]


def _along(given: list[str]) -> tuple[dict, dict]:
    """Numbers by name, and of one that is given as a range its name and values."""
    from fractions import Fraction

    from verify.cli.settings import exact_numbers, parse_numbers

    ranges = [text for text in given if ":" in text]
    if len(ranges) > 1:
        raise ValueError(f"one number may have several values; got {', '.join(ranges)}")
    numbers, along = exact_numbers([text for text in given if text not in ranges]), {}
    for name, values in parse_numbers(ranges, _SIZES, _MOST_VALUES).items():
        along = {"over": name, "values": [Fraction(str(value)).limit_denominator(10**9) for value in values.tolist()]}
    return numbers, along


def _worst_of_method(name: str, given: list[str], question: dict, tune: str | None, plot: Path | None,
                     function: Path | None, json: bool) -> int:
    from verify.cli import console
    from verify.results.drawing import save
    from verify.worst import tuning
    from verify.worst.method_worst_case import worst as worst_of

    _check_ending("--plot", plot)
    _check_ending("--function", function)
    asked = {key: value for key, value in question.items() if value is not None} | _settings(given)
    if reserved := {"method", "low", "high", "functions"} & {text.partition("=")[0] for text in given}:
        raise ValueError(f"{name} takes no argument {min(reserved)!r}")
    beside, unknown = [], ()
    if tune is not None:
        parameter, _, ends = tune.partition("=")
        bounds = _settings([f"{end}={value}" for end, value in zip(("low", "high"), ends.split(":"), strict=False) if value])
        found = tuning.tuned(name, parameter, **bounds, **asked)
        if parameter == "eta_l":
            from verify.worst.published_step_sizes import published_step_sizes  # which loads claims

            beside = published_step_sizes(name, **asked)
        asked[parameter], unknown, found = found.value, found.unknown, found.worst
    else:
        found = worst_of(name, **asked)
    own = {key: value for key, value in asked.items() if key not in ("functions", "measure", "given", "rounds", "clients")}
    said = {"method": name, "settings": own, "class": found.functions, "measure": found.question.measure,
            "at most 1 at the start": found.question.given, "rounds": found.rounds, "clients": found.clients,
            "worst ratio": found.ratio if found.ratio < float("inf") else None, "tight": found.tight,
            "letters": found.letters, "seconds": round(sum(found.seconds), 4)}
    if unknown:
        said[f"not solved reliably at {parameter}"] = [float(f"{value:.4g}") for value in unknown]
    if plot is not None:
        rounds = [*tuning.over_rounds(name, **asked | {"rounds": found.rounds})]
        save(tuning.rounds_figure(rounds), plot.with_suffix(""), [plot.suffix.lstrip(".")])
        said["over rounds"] = [float(f"{one.ratio:.6g}") for one in rounds]
    if function is not None:
        said["measured on the worst functions"] = _drawn(found, function)
    if json:
        ratios = [one._asdict() | {"ratio": one.ratio if one.ratio < float("inf") else None} for one in beside]
        print(json_text.dumps(said | {"largest steps that claims allow": ratios} if beside else said, indent=1))
    else:
        shown = said | {"worst ratio": f"{found.ratio:#.6g}", "settings": [f"{key}={value}" for key, value in own.items()]}
        rows = [(key, ", ".join(map(str, value)) if isinstance(value, list) else str(value)) for key, value in shown.items()]
        console.out().print(console.names_table(("what", "value"), rows))
        if beside:
            rows = [one.row() for one in beside[:_STEPS_SHOWN]]
            console.out().print(console.names_table(("claims about the method", "the largest step that they allow"), rows))
    return 0 if found.ratio < float("inf") else 1


def _drawn(found, file: Path) -> float:
    """Draw the worst functions, and run the method on them by torch: the ratio that is measured."""
    from synthetic.numbers.arrays import TORCH
    from verify.results.drawing import save
    from verify.worst.function import measured, worst_function
    from verify.worst.function_figure import function_figure

    functions = worst_function(found)
    save(function_figure(functions), file.with_suffix(""), [file.suffix.lstrip(".")])
    return measured(functions, TORCH)["ratio"]


def _potential(name: str, given: list[str], out: Path | None, json: bool) -> int:
    if name not in method_names():
        raise ValueError(f"--potential is for a method, and {name} is none; `fedtheory algorithms` lists the methods")

    from bounds.printing.render import letters_of, unicode
    from verify.cli import console
    from verify.results.files import write_json
    from verify.worst.potential import potential

    found = potential(name, **_settings(given, exact=True))
    proven = found.proven
    if proven is not None and out:
        write_json(out, found.certificate)
    rest = {} if proven is None else {
        "rate": str(proven.rate), "about": float(proven.rate), "floor": str(proven.floor),
        "potential": unicode(proven.potential, letters_of(proven.claim)), "for": proven.scope}
    said = {"method": name, "least rate of a potential": None if proven is None else found.best, "letters": found.letters,
            "proven": proven is not None, "reason": found.reason} | rest
    if json:
        print(json_text.dumps(said, indent=1))
    else:
        console.out().print(console.names_table(("what", "value"), [(key, str(value)) for key, value in rest.items()]))
        print(f"not proven: {found.reason}" if proven is None else _in_words(proven))
    return 1 if proven is None else 0


def _in_words(proven) -> str:
    """What a potential proves."""
    floor = f" + {float(proven.floor):.6g} zeta^2, if the mean of |grad F_k(x_*)|^2 is at most zeta^2" * (proven.floor > 0)
    return f"proven: |x_R - x_*|^2 <= {float(proven.rate):.9g}^R V(0){floor}"


def _check_ending(option: str, figure: Path | None) -> None:
    from verify.results.drawing import FORMATS

    if figure is not None and figure.suffix.lstrip(".") not in FORMATS:
        raise ValueError(f"{option} must end in {', '.join('.' + f for f in FORMATS)}; got {figure}")


def _settings(texts, exact: bool = False) -> dict:
    """Arguments of a method: whole numbers, floats (1/3 is a third) or exact fractions, and words."""
    from verify.cli.settings import exact_numbers, parse_settings

    found = parse_settings(texts)
    for key, value in found.items():
        if isinstance(value, bool) or value is None:
            continue
        try:
            number = exact_numbers([f"{key}={value}"])[key]
        except ValueError:
            continue  # a word
        found[key] = number.numerator if number.denominator == 1 else number if exact else float(number)
    return found
